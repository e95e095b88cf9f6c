import type { Controller } from "./controller.ts";
import { stepOf, type Place, type State } from "./state/state.ts";
import type { Store } from "./store.ts";

const PLACES: readonly Place[] = ["start", "setup", "result"];

/** The place that the address names: `#setup`, `#result`, else the start. */
export const placeOf = (hash: string): Place => PLACES.find((place) => hash === `#${place}`) ?? "start";

const addressOf = (place: Place): string => (place === "start" ? location.pathname + location.search : `#${place}`);

/** Back and Forward lead between start, setup and result; the title says what is shown. */
export function followHistory(store: Store, controller: Controller): void {
  let known = placeOf(location.hash);
  let isSettled = false;
  store.subscribe(() => {
    const state = store.get();
    document.title = titleOf(state);
    if (state.stored.status === "unknown") return; // a result may be about to be restored
    if (state.place !== known) {
      known = state.place;
      if (isSettled || known !== "start") history.pushState(null, "", addressOf(known));
      else history.replaceState(null, "", addressOf(known)); // what the address named is gone
    }
    isSettled = true;
  });
  window.addEventListener("popstate", () => {
    known = placeOf(location.hash);
    controller.go(known);
    const { place } = store.get();
    if (place === known) return;
    known = place; // what the address names is gone
    history.replaceState(null, "", addressOf(place));
  });
  window.addEventListener("beforeunload", (event) => {
    if (wouldLose(store.get())) event.preventDefault(); // the browser asks
  });
}

export function titleOf(state: State): string {
  const step = stepOf(state);
  const name = step === "result" ? state.result?.name : step === "start" ? undefined : state.stack?.name;
  return name === undefined ? "DualFocus: depth from focus" : `${name} – DualFocus`;
}

/** Whether something is lost that cannot be restored: a run, an opened stack without a result, or a result that could not be stored. */
export const wouldLose = ({ run, place, stack, result, resultStack, stored }: State): boolean =>
  run !== undefined ||
  (place === "setup" && stack !== undefined && stack.id !== resultStack) ||
  (result !== undefined && stored.status !== "stored");
