/* What the colours of the lanes stand for: categories, the functions with the most time, or the constructs with the
 * most time. */
import { styleValue } from "../dom.js";
import { laneCategories } from "./trace_data.js";

const NAMED = 10; /* functions or constructs that have a colour of their own: as many as --lane-N in page.css */

export const colourings = [
  {key: "category", title: "Category"},
  {key: "context", title: "Function"},
  {key: "construct", title: "Construct"},
];

const byCategory = (trace) => ({
  names:
    laneCategories.map((category) => ({ title: category.title, colour: category.colour, gap: category.key === "gap" })),
  classOf: trace.categoryOf,
});

/* The keys with the most time in work and overhead, and a class for each state: of those keys one each, `other`, and
 * one for each category of waiting. */
function byKey(trace, sums, keyOf, titleOf, otherTitle, noneTitle) {
  const totals = new Map(), busy = (state) => trace.categoryOf[state] <= 1;
  for (let state = 0; state < trace.stateCount; state++)
    if (busy(state) && keyOf(state) !== "")
      totals.set(keyOf(state), (totals.get(keyOf(state)) ?? 0) + sums[state]);
  const best = [...totals].sort((a, b) => b[1] - a[1]).slice(0, NAMED).map(([key]) => key);
  const numbers = new Map(best.map((key, number) => [key, number]));
  const names = best.map((key, number) => ({ title: titleOf(key), colour: `--lane-${number + 1}` }));
  const other = names.push({ title: otherTitle, colour: "--lane-other" }) - 1;
  const none = names.push({ title: noneTitle, colour: "--lane-none" }) - 1;
  const waiting = names.length - 2;
  names.push(...byCategory(trace).names.slice(2));
  const classOf = Uint8Array.from({ length: trace.stateCount }, (_, state) => {
    if (!busy(state))
      return waiting + trace.categoryOf[state];
    return keyOf(state) === "" ? none : numbers.get(keyOf(state)) ?? other;
  });
  return { names, classOf };
}

/* Returns { names: [class] { title, colour, gap }, classOf: [state] class }.  sums: [state] time in the whole run. */
export function colouring(trace, key, sums) {
  if (key === "context")
    return byKey(trace, sums, (state) => trace.contextOf[state] < 0 ? "" : trace.contexts.name(trace.contextOf[state]),
      (name) => name, "Other functions", "Without a sample");
  if (key === "construct")
    return byKey(trace, sums, (state) => String(trace.constructs[trace.constructOf[state]]?.number ?? ""),
      (number) => constructTitle(trace, Number(number)), "Other constructs", "Construct not known");
  return byCategory(trace);
}

export function constructTitle(trace, number) {
  const construct = trace.constructs.find((candidate) => candidate.number === number);
  return number === 0 ? "Outside all constructs" : `${construct.kind} ${construct.place || construct.name}`;
}

/* Colours of the style sheet as pixels of an ImageData, in the byte order of this machine's Uint32Array. */
export function pixelColours(names) {
  const canvas = new OffscreenCanvas(1, 1), context = canvas.getContext("2d", { willReadFrequently: true });
  return Uint32Array.from(names, (name) => {
    context.fillStyle = styleValue(name);
    context.fillRect(0, 0, 1, 1);
    return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
  });
}
