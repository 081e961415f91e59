/* A grid that shows a table as it is: one column for each of the CSV, numbers to the right. */
import { element, fileName } from "./dom.js";
import { Grid } from "./grid.js";
import { changeState } from "./page_state.js";

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
    const numeric = isNumeric(column), path = column.name === "file";
    const text = (row) => (path ? fileName(column.text(row)) : column.text(row)); /* the title has the whole path */
    return {
      key: column.name, title: columnTitle(column.name), numeric, help: column.help,
      wide: column.name === "name",
      text: (row) => (numeric ? shortNumber(column, row) : text(row)),
      full: path ? (row) => column.text(row) : null,
      value: (row) => (numeric ? column.numbers[row] : column.text(row)),
    };
  });
}

/* The name of a construct, with a link to its calling context where it has one. */
export function contextLink(table) {
  return (row) => {
    const name = table.text("name", row), context = table.text("context_id", row);
    if (!context)
      return document.createTextNode(name);
    return element("a", {
      href: "#tab=contexts&context=" + encodeURIComponent(context), tabindex: "-1", title: name,
      onclick: (event) => {
        event.preventDefault();
        changeState({ tab: "contexts", context });
      },
    }, name);
  };
}

/* A titled section with a grid of a table, or with the reason why there is none. */
export function gridSection({ title, note, table, missing, hidden = [], rows = null, tree = null, first = null }) {
  const section = element("section", { class: "card wide" }, element("h2", {}, title), note ? element("p", { class: "note" }, note) : null);
  if (!table || !table.rows) {
    section.append(element("p", {}, missing));
    return section;
  }
  const columns = gridColumns(table, hidden), named = columns.find((column) => column.key === "name");
  if (named && table.has("context_id"))
    named.node = contextLink(table);
  if (first) /* the tree's column */
    columns.unshift(...columns.splice(columns.findIndex((column) => column.key === first), 1));
  const grid = new Grid({ label: title, columns, tree, rows: rows ?? Array.from({ length: table.rows }, (_, row) => row) });
  section.append(grid.element);
  return section;
}
