/* Colours of an icicle's boxes: by module, or by the share that one kind of time has in a row.  Each is a fill with the
 * colour of the text on it, black or white, whichever is easier to read. */
import { element, styleValue } from "../dom.js";

const MODULE_COLOURS = 8;                               /* of the modules that cost most; the others share one */
const SHARE_STEPS = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75]; /* from which share on a box has the next colour */

function colourChannels(colour) {
  return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
}

function luminance(colour) {
  const [red, green, blue] = colourChannels(colour).map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export function fillWithText(fill) {
  return { fill, text: luminance(fill) > 0.179 ? "#000000" : "#ffffff" };
}

export function mixedColour(from, to, part) {
  const there = colourChannels(to);
  return "#" +
    colourChannels(from)
      .map((value, i) => Math.round(value + (there[i] - value) * part).toString(16).padStart(2, "0"))
      .join("");
}

/* What boxes can be coloured by: the part of a row's time in one category, or of the run's critical path. */
export const shareColourings = [
  { key: "idleness", title: "Idleness", colour: "--idle-share", columns: ["idleness"], of: "of the row's time" },
  { key: "lockwait", title: "Lock wait", colour: "--lock-wait", columns: ["lockwait"], of: "of the row's time" },
  { key: "overhead", title: "Overhead", colour: "--overhead", columns: ["overhead"], of: "of the row's time" },
  {
    key: "critical",
    title: "Critical path",
    colour: "--core-wait",
    columns: ["critical_path"],
    of: "of the critical path"
  },
];

/* The modules by their own weight, the heaviest first: their codes in the column. */
function heaviestModules(layout) {
  const { tree } = layout, codes = tree.table.column("module").codes;
  const sums = new Float64Array(tree.table.column("module").strings.length + 1);
  for (let row = 0; row < tree.rows; row++)
    if (tree.exclusive && tree.levels[row] === 1) /* a function; below it are its callers */
      sums[codes[row]] += layout.width[row];
    else if (!tree.exclusive && tree.parents[row] !== -2)
      sums[codes[row]] += layout.own(row);
  return [...sums.keys()].filter((code) => code && sums[code] > 0).sort((a, b) => sums[b] - sums[a]);
}

/* Colours by module.  Colours: 0 for rows without a module, then those of the heaviest modules, then all others. */
function moduleColouring(layout) {
  const column = layout.tree.table.column("module"), codes = column.codes, ranked = heaviestModules(layout);
  const place = new Uint8Array(column.strings.length + 1).fill(MODULE_COLOURS + 1);
  place[0] = 0;
  ranked.slice(0, MODULE_COLOURS).forEach((code, rank) => { place[code] = rank + 1; });
  const name = (code) => column.strings[code - 1].split("/").pop() || column.strings[code - 1];
  return {
    colourOf: (row) => place[codes[row]],
    palette: () => [fillWithText(styleValue("--box")),
      ...Array.from({ length: MODULE_COLOURS }, (_, rank) => fillWithText(styleValue(`--module-${rank + 1}`))),
      fillWithText(styleValue("--box"))],
    legend: () => [...ranked.slice(0, MODULE_COLOURS)
                     .map((code, rank) => ({ colour: rank + 1, title: name(code), help: column.strings[code - 1] })),
      ...(ranked.length > MODULE_COLOURS ? [{ colour: MODULE_COLOURS + 1, title: "other modules" }] : [])],
  };
}

function shareColouring(layout, { columns, colour, key, title, of }) {
  const { tree } = layout, form = tree.exclusive ? "_excl" : "_incl";
  const ofRange = key !== "critical" && tree.table.has("range_" + columns[0] + form + "_s"); /* else of the whole run */
  const name = (ofRange ? "range_" : "") + columns[0] + form + "_s", amounts = tree.numbers(tree.table.has(name) ? name : columns[0] + form);
  const whole = key === "critical" ? tree.whole(columns[0] + "_incl") : 0;
  const time =
    key === "critical" ? null : tree.weigh(tree.weights().find((weight) => weight.key === (ofRange ? "range" : "time"))?.columns ?? []);
  return {
    colourOf: (row) => {
      const share = amounts[row] / (time ? time[row] : whole);
      let step = 0;
      while (step < SHARE_STEPS.length && share >= SHARE_STEPS[step])
        step++;
      return step;
    },
    palette: () => [0, ...SHARE_STEPS].map(
      (_, step) => fillWithText(mixedColour(styleValue("--box"), styleValue(colour), step / SHARE_STEPS.length))),
    about: `${title}, ${of}:`,
    legend: () => [0, ...SHARE_STEPS].map((least, step) => ({
      colour: step,
      title: step ? `from ${100 * least} %` : `below ${100 * SHARE_STEPS[0]} %`,
    })),
  };
}

/* Which colourings the tree has figures for. */
export function availableColourings(tree) {
  const known = tree.weights().map((weight) => weight.key);
  return [
    { key: "module", title: "Module" }, ...shareColourings.filter(({ key,
      columns }) => known.includes(columns[0]) && (known.includes("time") || key === "critical"))
  ];
}

/* The colouring with that key. */
export function chooseColouring(layout, key) {
  const share = shareColourings.find((candidate) => candidate.key === key);
  return share ? shareColouring(layout, share) : moduleColouring(layout);
}

/* The legend of a colouring, as elements. */
export function colouringLegend(colouring) {
  const palette = colouring.palette();
  const about = colouring.about ? [element("li", {}, colouring.about)] : [];
  return about.concat(colouring.legend().map(({ colour, title, help }) => {
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = palette[colour].fill;
    return element("li", { title: help ?? null }, swatch, title);
  }));
}
