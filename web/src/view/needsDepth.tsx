import type { VNode } from "preact";

import type { ResultProps } from "./ResultView.tsx";

/** A view of depth, or why there is nothing to see in it. */
export function needsDepth(View: (props: ResultProps) => VNode): (props: ResultProps) => VNode {
  return (props) =>
    props.result.focusChange ? (
      <View {...props} />
    ) : (
      <p>No focus change was found, so depth is unknown and there is nothing to show here.</p>
    );
}
