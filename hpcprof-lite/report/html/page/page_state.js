/* What the page shows: the tab, and what is chosen in it.  It stands in the address's fragment, so that a link shows
 * the same again, and the browser's "back" goes to what was shown before. */

const listeners = new Map();
let lastState = parsed();

function parsed() {
  return new URLSearchParams(location.hash.slice(1));
}

/* The value of a part of the state; "" if it is not set. */
export function stateValue(name) {
  return parsed().get(name) ?? "";
}

/* Changes parts of the state; empty values are removed.  `replace`: the browser's history gets no entry. */
export function changeState(changes, replace = false) {
  const next = parsed(), before = next.toString(), changed = [];
  for (const [name, value] of Object.entries(changes)) {
    if ((next.get(name) ?? "") !== String(value))
      changed.push(name);
    if (value === "" || value === null)
      next.delete(name);
    else
      next.set(name, value);
  }
  if (next.toString() === before)
    return;
  history[replace ? "replaceState" : "pushState"](null, "", "#" + next.toString());
  lastState = next;
  notify(changed);
}

/* Calls a function whenever a part of the state changes. */
export function onState(name, listener) {
  if (!listeners.has(name))
    listeners.set(name, []);
  listeners.get(name).push(listener);
}

function notify(names) {
  const called = new Set();
  for (const name of names)
    for (const listener of listeners.get(name) ?? [])
      if (!called.has(listener)) {
        called.add(listener);
        listener();
      }
}

addEventListener("popstate", () => {
  const before = lastState;
  lastState = parsed();
  notify([...listeners.keys()].filter((name) => lastState.get(name) !== before.get(name)));
});
