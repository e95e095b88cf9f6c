import { useEffect, useState } from "preact/hooks";
import { INITIAL, reduce, type Action, type State } from "./state/state.ts";

/** The state of the page. */
export interface Store {
  readonly get: () => State;
  readonly dispatch: (action: Action) => void;
  readonly subscribe: (listener: () => void) => () => void;
}

export function createStore(initial: State = INITIAL): Store {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    dispatch: (action) => {
      state = reduce(state, action);
      for (const listener of [...listeners]) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The state; the component is rendered again whenever it changes. */
export function useStore(store: Store): State {
  const [state, setState] = useState(store.get());
  useEffect(() => {
    setState(store.get());
    return store.subscribe(() => {
      setState(store.get());
    });
  }, [store]);
  return state;
}
