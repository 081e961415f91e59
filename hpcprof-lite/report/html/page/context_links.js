/* Links from any name of the page to its calling context. */
import { element, fileName } from "./dom.js";
import { fittedName, withoutRawName } from "./names.js";
import { changeState } from "./page_state.js";
import { loadTable } from "./table_data.js";
import { RowNumbers } from "./tree_rows.js";

/* Finds contexts by what other tables name them; of several, the one with most samples. */
class ContextFinder {
  constructor(table) {
    this.table = table;
    this.rowOfId = new Map();
  }

  /* From each name, and from "parallel @ file.c:12" and the raw name of constructs, to its row. */
  get #rows() {
    if (this.rows)
      return this.rows;
    const { table } = this, column = table.column("name"), { codes } = column, best = new Int32Array(column.strings.length + 1).fill(-1);
    const samples = table.column("samples").numbers;
    for (let row = 0; row < table.rows; row++)
      if (best[codes[row]] < 0 || samples[row] > samples[best[codes[row]]])
        best[codes[row]] = row;
    this.rows = new Map();
    column.strings.forEach((name, number) => {
      const row = best[number + 1], place = withoutRawName(name), raw = name.slice(place.length + 2, -1);
      for (const brief of row < 0 ? [] : [place, raw])
        if (brief && !(samples[this.rows.get(brief)] >= samples[row]))
          this.rows.set(brief, row);
      if (row >= 0)
        this.rows.set(name, row);
    });
    return this.rows;
  }

  /* The id of the context of a construct or function; "" if there is none. */
  find({ kind = "", name, file = "", line = "" }) {
    const rows = this.#rows;
    const row = rows.get(`${kind} @ ${fileName(file)}:${line}`) ?? rows.get(`${kind} @ ${name}`) ?? rows.get(name);
    return row > 0 ? this.table.text("id", row) : ""; /* row 0 is the program */
  }

  /* The names of what calls a context, from the inside out. */
  callers(id) {
    const names = [], { table } = this, parents = table.column("parent_id").numbers;
    this.links ??= new RowNumbers(table.column("id").numbers);
    for (let row = this.links.get(parents[this.links.get(Number(id))]); row > 0; row = this.links.get(parents[row]))
      names.push(table.text("name", row));
    return names;
  }
}

/* What tells rows apart that would read alike: the innermost of each row's callers that others do not have at its place.
 * keys, [row] texts that are equal for such rows; callers(row): names from the inside out. */
export function callersThatDiffer(keys, callers) {
  const alike = new Map();
  keys.forEach((key, i) => (alike.has(key) ? alike.get(key).push(i) : alike.set(key, [i])));
  const found = keys.map(() => "");
  for (const rows of alike.values()) {
    const paths = rows.length > 1 ? rows.map(callers) : [[]];
    const longest = paths.reduce((most, path) => (path.length > most.length ? path : most));
    const at = longest.findIndex((name, level) => paths.some((path) => path[level] !== name));
    const brief = new Set(paths.map((path) => withoutRawName(path[at] ?? ""))).size === new Set(paths.map((path) => path[at])).size;
    paths.forEach((path, i) => {
      if (at >= 0 && at < path.length)
        found[rows[i]] = `called ${at ? "through" : "by"} ${brief ? withoutRawName(path[at]) : path[at]}`;
    });
  }
  return found;
}

let loadedFinder = null;

/* Returns a promise of the finder; of null if the page has no contexts. */
export function loadContextFinder() {
  loadedFinder ??= loadTable("topdown").then((table) => (table?.rows && table.has("samples") ? new ContextFinder(table) : null));
  return loadedFinder;
}

/* A name that leads to its context; plain text without an id.  `text`: what is shown of it.  In grids, Enter follows the
 * link of the selected row. */
export function contextAnchor(id, name, text = name, inGrid = false) {
  if (id === "")
    return element("span", { title: name }, text);
  return element("a", {
    href: "#tab=contexts&context=" + encodeURIComponent(id), title: name, tabindex: inGrid ? "-1" : null,
    onclick: (event) => {
      event.preventDefault();
      changeState({ tab: "contexts", context: id, row: "" });
    },
  }, text);
}

/* The same where there is room for about so many letters. */
export function briefAnchor(id, name, letters) {
  return contextAnchor(id, name, fittedName(name, (text) => text.length <= letters));
}
