/* The columns of a grid of contexts, and the menu in which the reader chooses them. */
import { element, fill } from "../dom.js";
import { withoutRawName } from "../names.js";
import { formatCount, formatPercent, formatSeconds } from "../number_format.js";
import { columnTitle } from "../table_grid.js";
import { rangeColumnNames } from "./range_columns.js";
import { isAdditive } from "./context_tree.js";
import { markedText } from "./context_search.js";

const USUAL_COLUMNS = ["work_incl_s", "work_excl_s", "overhead_incl_s", "lockwait_incl_s", "idleness_incl_s",
  "rel_idleness_pct", "critical_path_incl"];
const USUAL_OF_EXCLUSIVE = ["work_excl_s", "work_incl_s", "overhead_excl_s", "lockwait_excl_s", "idleness_excl_s",
  "critical_path_excl"];
const SECONDS_DECIMALS = 9;
const STRUCTURE = new Set(["id", "parent_id", "depth", "line"]); /* numbers that are no metrics */

function isPlace(name) {
  return /_(rank|process|thread)$/.test(name);
}

/* Whether a column tells anything in this table. */
function isTold(column) {
  column.told ??= column.isText || column.header.bytes > 1 || column.header.minimum !== 0 || !column.header.empty ||
    column.cells.some((cell) => cell !== 255);
  return column.told;
}

function hasTime(tree) {
  return tree.weights().some(({ key }) => key === "time");
}

/* The columns that are shown unless the reader chooses others. */
export function usualColumns(tree) {
  const names = tree.name === "critical-path" ? ["critical_path_incl", "critical_path_excl"] : [];
  const file = tree.table.column("file");
  if (file?.isText && file.strings.some(Boolean))
    names.unshift("file"); /* beside the name, in sight */
  if (tree.table.has(rangeColumnNames()[0]))
    names.push(...rangeColumnNames());
  else if (hasTime(tree))
    names.push(...(tree.exclusive ? USUAL_OF_EXCLUSIVE : USUAL_COLUMNS));
  else
    names.push("samples", ...tree.weights().flatMap(({ columns }) => columns));
  return [...new Set(names)].filter((name) => tree.table.has(name) && isTold(tree.table.column(name)) &&
    (!isAdditive(name) || tree.whole(name) > 0 || name === "work_incl_s" || name === "range_work_incl_s" || name === "samples"));
}

/* A number of seconds or events, with decimals that suit the run. */
function metricFormat(tree, name) {
  const decimals = tree.table.column(name).header.decimals, whole = tree.whole(name);
  if (!decimals)
    return formatCount;
  const shown = Math.min(decimals, whole >= 100 ? 3 : whole >= 1 ? 4 : 6);
  return (number) => (Number.isFinite(number) ? number.toFixed(shown) : "");
}

function metricColumn(tree, name, percent) {
  const whole = percent && isAdditive(name) ? tree.whole(name) : NaN, absolute = metricFormat(tree, name);
  const share = whole > 0 ? (number) => formatPercent(100 * number / whole) : null;
  const inUnits = name.endsWith("_pct") ? formatPercent : share ?? absolute;
  const format = (number) => (number === 0 ? "0" : inUnits(number)); /* quieter than 0.000000 */
  return {
    key: name,
    numeric: true,
    help: tree.table.column(name).help,
    title: columnTitle(name).replace(share ? " (s)" : " (%)", ""), /* cells have their "%" */
    text: (row) => format(tree.number(name, row)),
    value: (row) => tree.numbers(name)[row],
  };
}

function textColumn(tree, name, expression) {
  const text = name === "file" ? (row) => placeText(tree.table, row) : (row) => tree.text(name, row);
  const short = name === "file" || name === "module" ? (row) => text(row).split("/").pop() : text;
  return {
    key: name,
    title: name === "file" ? "place" : columnTitle(name),
    help: tree.table.column(name).help,
    text: short,
    value: text,
    node: name === "file" && expression ? (row) => markedText(short(row), expression) : null,
  };
}

/* "file:line", or what is known of it. */
export function placeText(table, row) {
  const file = table.text("file", row), line = table.text("line", row);
  return file && line ? `${file}:${line}` : file;
}

/* The grid's columns with these names, after the column of names.  callers: what stands beside names, by row. */
export function contextColumns(tree, names, { percent, expression, callers }) {
  const name = {
    key: "name",
    title: "name",
    help: "function, construct or line",
    wide: true,
    symbol: true,
    text: (row) => (callers.has(row) ? withoutRawName(tree.text("name", row)) : tree.text("name", row)),
    value: (row) => tree.text("name", row),
    whole: (row) => tree.text("name", row),
    aside: (row) => (tree.contexts(row) > 1 ? `(${tree.contexts(row)} contexts)` : callers.get(row) ?? ""),
    node: (row, text) => markedText(text, expression, tree.text("name", row)),
  };
  return [
    name,
    ...names.filter((key) => tree.table.has(key))
      .map((key) => (tree.table.column(key).isText || key === "file" ? textColumn(tree, key, expression)
                                                                     : metricColumn(tree, key, percent)))
  ];
}

/* A cell with its unit: amounts with nine decimals are seconds. */
function metricText(tree, name) {
  if (tree.table.column(name).header.decimals === SECONDS_DECIMALS)
    return (row) => formatSeconds(tree.number(name, row));
  return metricColumn(tree, name, false).text;
}

/* A row's metrics for the eye: what it includes and what is its own on one line. */
export function metricLines(tree, row) {
  const lines = [];
  for (const column of tree.table.columns) {
    const { name } = column;
    if (column.isText || STRUCTURE.has(name) || isPlace(name) || !isTold(column) || /_excl(_s)?$/.test(name))
      continue;
    const number = tree.number(name, row), whole = isAdditive(name) ? tree.whole(name) : NaN;
    if (Number.isNaN(number) || isAdditive(name) && !(whole > 0))
      continue;
    const own = name.replace("_incl", "_excl"), format = metricText(tree, name);
    lines.push({
      title: columnTitle(name).replace(" incl", "").replace(/ \((s|%)\)$/, ""),
      value: format(row) + (whole > 0 ? ` (${formatPercent(100 * number / whole)})` : ""),
      own: own !== name && tree.table.has(own) ? metricText(tree, own)(row) : "",
    });
  }
  return lines;
}

/* The menu of columns: a check box for each.  onchange(names). */
export class ColumnMenu {
  constructor(onchange) {
    this.list = element("fieldset", { class: "context-menu-list" });
    this.onchange = onchange;
    this.element = element("details", { class: "context-menu", onkeydown: (event) => this.#key(event) },
      element("summary", {}, "Columns"), this.list);
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.contains(event.target))
        this.element.open = false;
    });
  }

  #key(event) {
    if (event.key !== "Escape" || !this.element.open)
      return;
    this.element.open = false;
    this.element.querySelector("summary").focus();
    event.stopPropagation();
  }

  show(tree, chosen) {
    const names = tree.table.columns.map((column) => column.name).filter((name) => name !== "name");
    const key = tree.name + " " + chosen.join();
    if (this.shown === key)
      return;
    this.shown = key;
    const focused = document.activeElement?.value;
    fill(this.list, element("legend", {}, "Columns of the grid"), names.map((name) => {
      const box = element("input", { type: "checkbox", value: name, checked: chosen.includes(name) });
      box.addEventListener("change", () => {
        const checked = [...this.list.querySelectorAll("input:checked")].map((input) => input.value);
        this.onchange(checked);
      });
      return element("label", {}, box, " ", columnTitle(name));
    }),
      element("button", { type: "button", onclick: () => this.onchange(null) }, "Usual columns"));
    [...this.list.querySelectorAll("input")].find((input) => input.value === focused && this.element.open)?.focus();
  }
}
