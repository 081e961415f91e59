/* The calling contexts of two compared runs as an icicle: as wide as the larger of the two times, coloured by how much
 * of it has come or gone. */
import { element, styleValue } from "./dom.js";
import { formatPercent, formatSeconds } from "./number_format.js";
import { Icicle } from "./contexts/icicle.js";
import { IcicleLayout } from "./contexts/icicle_layout.js";
import { colouringLegend, fillWithText, mixedColour } from "./contexts/icicle_colours.js";

const CHANGE_STEPS = [0.02, 0.1, 0.3]; /* parts of the larger time from which on a box has the next colour */
const LEVELS_IN_SIGHT = 14;

function largerTimes(table) {
  const base = table.column("base").numbers, now = table.column("new").numbers;
  return Float64Array.from(base, (value, row) => Math.max(value || 0, now[row] || 0));
}

/* Colours: 0 for hardly any change, then the steps of what has grown, then those of what has shrunk. */
function changeColouring(table, larger) {
  const changes = table.column("difference").numbers, steps = CHANGE_STEPS.length;
  const shades = (name) => CHANGE_STEPS.map((_, step) =>
    fillWithText(mixedColour(styleValue("--box"), styleValue(name), (step + 1) / steps)));
  return {
    colourOf: (row) => {
      const part = (changes[row] || 0) / (larger[row] || 1), step = CHANGE_STEPS.filter((least) => Math.abs(part) >= least).length;
      return !step ? 0 : part > 0 ? step : steps + step;
    },
    palette: () => [fillWithText(styleValue("--box")), ...shades("--core-wait"), ...shades("--blocked")],
    legend: () => [{ colour: 0, title: `changed by less than ${100 * CHANGE_STEPS[0]} %` },
      ...CHANGE_STEPS.map((least, step) => ({ colour: step + 1, title: `grown by ${100 * least} % or more` })),
      ...CHANGE_STEPS.map((least, step) => ({ colour: steps + step + 1, title: `shrunk by ${100 * least} % or more` }))],
  };
}

function changeText(table, row) {
  const base = table.number("base", row) || 0, now = table.number("new", row) || 0;
  const part = base > 0 ? `, ${now >= base ? "+" : "\u2212"}${formatPercent(Math.abs(100 * (now - base) / base))}` : "";
  return `${table.text("name", row)}: ${formatSeconds(base)} \u2192 ${formatSeconds(now)}${part}`;
}

/* Makes the icicle of a tree (ContextTree) over its table; onselect(row) tells which box was chosen.  Returns elements. */
export function changeIcicle(table, tree, onselect) {
  const larger = largerTimes(table), layout = new IcicleLayout(tree, larger);
  const root = tree.roots[0] ?? 0, depth = Math.max(0, ...new Set(tree.levels)) + 1, shown = element("output", { class: "note" });
  const choose = (row) => {
    icicle.select(row);
    shown.textContent = row < 0 ? "" : changeText(table, row);
    onselect(row);
  };
  const icicle = new Icicle({
    label: "Calling contexts by their change: arrow keys move, Enter zooms, Escape shows all",
    name: (row) => table.text("name", row), onselect: choose, onout: () => icicle.zoom(root),
    onchoose: (row) => {
      choose(row);
      icicle.zoom(row);
    },
    onhover: (row) => { icicle.canvas.title = row < 0 ? "" : changeText(table, row); },
  });
  const colouring = changeColouring(table, larger);
  icicle.canvas.style.height = Math.min(depth, LEVELS_IN_SIGHT) * 20 + "px";
  icicle.show(layout, root, depth);
  icicle.colour(colouring);
  return [icicle.canvas, element("ul", { class: "legend" }, colouringLegend(colouring)), shown];
}
