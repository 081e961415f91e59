/* Sums over a part of the run that is chosen in the timeline: of threads, calling contexts and constructs.  The part
 * stands in the address's fragment as `from` and `to`, in s, so that every tab can show it. */
import { stateValue } from "../page_state.js";
import { RowNumbers } from "../tree_rows.js";
import { laneCategories, loadTrace } from "./trace_data.js";

/* The chosen part in ns, or null. */
export function chosenRange() {
  const [from, to] = ["from", "to"].map((name) => stateValue(name));
  const range = { from: Math.round(Number(from) * 1e9), to: Math.round(Number(to) * 1e9) };
  return from !== "" && to !== "" && range.from < range.to ? range : null;
}

/* The time in each state from one moment to another one, over all lanes. */
export function stateSums(trace, from, to) {
  const sums = new Float64Array(trace.stateCount), { starts, states } = trace;
  for (const lane of trace.lanes) {
    if (lane.to <= from || lane.from >= to || lane.first === lane.end)
      continue;
    const first = trace.positionAt(lane, from);
    let at = first;
    for (; at < lane.end && starts[at] < to; at++)
      sums[states[at]] += starts[at + 1] - starts[at];
    sums[states[first]] -= Math.max(0, from - starts[first]);
    sums[states[at - 1]] -= Math.max(0, starts[at] - to);
  }
  return sums;
}

/* Adds sums of states that have the same key.  Returns a map from the key to the ns in each category; a negative key
 * means that there is none. */
function sumsBy(trace, sums, keyOf) {
  const found = new Map();
  for (let state = 0; state < trace.stateCount; state++) {
    const key = sums[state] > 0 ? keyOf(state) : -1;
    if (key < 0)
      continue;
    if (!found.has(key))
      found.set(key, new Float64Array(laneCategories.length));
    found.get(key)[trace.categoryOf[state]] += sums[state];
  }
  return found;
}

/* By the number of the construct, as in the CSV. */
export function constructSums(trace, sums) {
  return sumsBy(trace, sums, (state) => trace.constructs[trace.constructOf[state]]?.number ?? -1);
}

/* By the id of the context: work and the like of the context itself, and the waiting of others that it is to blame for,
 * as idleness and lock waiting in the tree of contexts. */
export function contextSums(trace, sums) {
  const waits = (state) => laneCategories[trace.categoryOf[state]].key === "idle" ||
    laneCategories[trace.categoryOf[state]].key === "lock_wait";
  return sumsBy(trace, sums, (state) => waits(state) ? trace.waitFor[state] : trace.contextOf[state]);
}

/* For a column "in the chosen part" of another tab: promises a map from the id of a context to seconds in each of
 * laneCategories, without what it calls; null if no part is chosen, or there is no trace. */
export async function contextsInRange() {
  const range = chosenRange(), trace = range ? await loadTrace() : null;
  if (!trace)
    return null;
  const seconds = new Map();
  for (const [id, ns] of contextSums(trace, stateSums(trace, range.from, range.to)))
    seconds.set(id, ns.map((amount) => amount / 1e9));
  return seconds;
}

const treeLinks = new WeakMap(); /* by the array of ids */

/* Finds rows by id, and the parent of each row, or -1. */
function linksOf(ids, parents) {
  if (!treeLinks.has(ids)) {
    const rows = new RowNumbers(ids);
    treeLinks.set(ids, { rows, above: Int32Array.from(parents, (id) => rows.get(id) ?? -1) });
  }
  return treeLinks.get(ids);
}

/* Amounts of contexts in one category for each row of a tree: `ids` and `parents` are its columns. */
export function exclusiveInRange(exclusive, ids, parents, category) {
  const { rows } = linksOf(ids, parents), amounts = new Float64Array(ids.length);
  for (const [id, seconds] of exclusive) {
    const row = rows.get(id);
    if (row !== undefined)
      amounts[row] = seconds[category];
  }
  return amounts;
}

/* The same with what each context calls; a parent stands before its children. */
export function inclusiveInRange(exclusive, ids, parents, category) {
  const { above } = linksOf(ids, parents), sums = exclusiveInRange(exclusive, ids, parents, category);
  for (let row = ids.length - 1; row > 0; row--)
    if (above[row] >= 0)
      sums[above[row]] += sums[row];
  return sums;
}
