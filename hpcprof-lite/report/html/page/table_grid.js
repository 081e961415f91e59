/* A grid that shows a table as it is: one column for each of the CSV, numbers to the right. */
import { element, fileName } from "./dom.js";
import { Grid } from "./grid.js";
import { callersThatDiffer, contextAnchor } from "./context_links.js";

const NAMES = /^(?:(?:creator_)?name|function|held_by(?:_\d)?|caller|selector)$/; /* columns of symbols */
const FILES = /^(?:\w+_)?file$/;
const units = { s: "s", pct: "%" };

/* "exec_mean_s" → "exec mean (s)" */
export function columnTitle(name) {
  const unit = units[name.slice(name.lastIndexOf("_") + 1)];
  const words = (unit ? name.slice(0, name.lastIndexOf("_")) : name).replaceAll("_", " ").replace("lockwait", "lock wait");
  return unit ? `${words} (${unit})` : words;
}

/* A number as the grid shows it: fewer decimals than the CSV, which the cell's title still has. */
function shortNumber(column, row) {
  const value = column.numbers[row];
  if (Number.isNaN(value))
    return column.text(row);
  const decimals = column.isText ? (column.text(row).split(".")[1] ?? "").length : column.header.decimals;
  return value.toFixed(Math.min(decimals, column.name.endsWith("_pct") ? 1 : 6));
}

/* Whether every cell of the column is a number or empty, and some cell is not empty. */
function isNumeric(column) {
  if (!column.isText)
    return column.numbers.some((value) => !Number.isNaN(value));
  return column.strings.slice(0, -1).every((text) => text !== "" && !Number.isNaN(Number(text)));
}

/* Whether any row has something in the column: empty columns are left out. */
function isUsed(column) {
  return column.isText || column.numbers.some((value) => !Number.isNaN(value));
}

/* The grid's columns of a table.  `hidden`: names that are not shown. */
export function gridColumns(table, hidden = []) {
  return table.columns.filter((column) => !hidden.includes(column.name) && isUsed(column)).map((column) => {
    const numeric = isNumeric(column), path = FILES.test(column.name);
    const text = (row) => (path ? fileName(column.text(row)) : column.text(row)); /* the title has the whole path */
    return {
      key: column.name, title: columnTitle(column.name), numeric, help: column.help,
      wide: column.name === "name" || column.name === "selector", symbol: NAMES.test(column.name),
      text: (row) => (numeric ? shortNumber(column, row) : text(row)),
      full: path ? (row) => column.text(row) : null,
      value: (row) => (numeric ? column.numbers[row] : column.text(row)),
    };
  });
}

/* Locks have functions, constructs names. */
function nameColumn(table) {
  return table.has("name") ? "name" : "function";
}

/* What tells a construct from others in all tables. */
function constructKey(table, row) {
  return ["kind", "name", "file", "line"].map((name) => table.text(name, row)).join("\n");
}

/* The id of a row's context: its own, that of its construct in `regions`, or what the finder knows of its name; "" if
 * there is none. */
export function contextOf(table, finder, regions = null) {
  const ids = new Map();
  for (let row = 0; regions && row < regions.rows; row++)
    ids.set(constructKey(regions, row), ids.get(constructKey(regions, row)) || regions.text("context_id", row));
  const text = (name, row) => table.text(name, row);
  return (row) => text("context_id", row) || ids.get(constructKey(table, row)) ||
    (finder && text("kind", row) !== "program" ?
      finder.find({ kind: text("kind", row), name: text(nameColumn(table), row), file: text("file", row), line: text("line", row) }) : "");
}

/* What tells rows apart that have the same name, kind and place. */
function callerAside(table, rows, contextId, finder) {
  const keys = rows.map((row) => constructKey(table, row) + table.text(nameColumn(table), row));
  const asides = callersThatDiffer(keys, (i) => (finder && contextId(rows[i]) !== "" ? finder.callers(contextId(rows[i])) : []));
  const found = new Map(rows.map((row, i) => [row, asides[i]]));
  return (row) => found.get(row);
}

/* A titled section with a grid of a table, or with the reason why there is none.  Names lead to their contexts, where
 * there is a finder, or the table tells them; `regions`: see contextOf(); onmade(grid, rows). */
export function gridSection({ title, note, table, missing, hidden = [], rows = null, tree = null, first = null, finder = null, regions = null, onmade = () => {} }) {
  const section = element("section", { class: "card wide" }, element("h2", {}, title), note ? element("p", { class: "note" }, note) : null);
  if (!table || !table.rows) {
    section.append(element("p", {}, missing));
    return section;
  }
  const columns = gridColumns(table, hidden), named = columns.find((column) => column.key === nameColumn(table));
  const shown = rows ?? Array.from({ length: table.rows }, (_, row) => row);
  const contextId = contextOf(table, finder, regions);
  for (const column of columns.filter(({ symbol }) => symbol)) {
    const idOf = column === named ? contextId : (row) => finder?.find({ name: column.text(row) }) ?? "";
    column.node = (row, text) => contextAnchor(idOf(row), column.text(row), text, true);
  }
  if (named)
    named.aside = callerAside(table, shown, contextId, finder);
  if (first) /* the tree's column */
    columns.unshift(...columns.splice(columns.findIndex((column) => column.key === first), 1));
  const grid = new Grid({ label: title, columns, tree, rows: shown });
  section.append(grid.element);
  onmade(grid, shown);
  return section;
}
