/* The search of the constructs' tab: only rows that match are shown, and it says which share of time they have. */
import { element, fill } from "./dom.js";
import { formatCount, formatPercent } from "./number_format.js";
import { changeState, onState, stateValue } from "./page_state.js";
import { matchingRows, searchExpression } from "./contexts/context_search.js";

const PAUSE_MS = 120; /* of typing */
const CONSTRUCT_COLUMNS = ["name", "file", "kind", "function", "lock", "region"];

export class ConstructSearch {
  /* nested: { table, rows } of the constructs as they were nested, the program first; null without. */
  constructor(nested) {
    this.nested = nested;
    this.grids = [];
    this.bars = [];
    this.input = element("input", {
      type: "search", placeholder: "regular expression", spellcheck: "false", autocomplete: "off",
      "aria-describedby": "constructs-found", oninput: () => this.#soon(),
    });
    this.found = element("output", { id: "constructs-found", class: "note" });
    this.element = element("div", { class: "context-controls construct-search" }, element("label", {}, element("span", {}, "Search"), this.input), this.found);
    onState("search", () => this.apply());
  }

  add(grid, table, rows, tree) {
    this.grids.push({ grid, table, rows, tree });
  }

  /* element: stands for a row of a table. */
  addBar(element, table, row) {
    this.bars.push({ element, table, row });
  }

  #soon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => changeState({ search: this.input.value }, true), PAUSE_MS);
  }

  apply() {
    const text = stateValue("search");
    let expression = null, wrong = "";
    if (document.activeElement !== this.input)
      this.input.value = text;
    try {
      expression = text ? searchExpression(text) : null;
    } catch (error) {
      wrong = error.message;
    }
    this.input.setAttribute("aria-invalid", String(Boolean(wrong)));
    for (const { grid, table, rows, tree } of this.grids) {
      const matched = expression ? matchingRows(table, expression, CONSTRUCT_COLUMNS) : null;
      if (tree) {
        tree.keep(matched);
        grid.refresh();
      } else {
        grid.setRows(matched ? rows.filter((row) => matched[row]) : rows);
      }
    }
    for (const { element, table, row } of this.bars)
      element.hidden = Boolean(expression) && !matchingRows(table, expression, CONSTRUCT_COLUMNS)[row];
    fill(this.found, wrong || (expression ? this.#shareText(expression) : ""));
  }

  /* "3 constructs match, 42.1 % of all threads' time": that of the outermost matches with all that is in them. */
  #shareText(expression) {
    const { nested } = this;
    if (!nested)
      return "";
    const { table, rows } = nested, matched = matchingRows(table, expression, CONSTRUCT_COLUMNS), path = [];
    let found = 0, part = 0;
    for (const row of rows) {
      const depth = table.number("depth", row), within = depth > 0 && path[depth - 1], matches = matched[row] && depth > 0;
      found += Number(matches);
      part += matches && !within ? table.number("incl_s", row) || 0 : 0;
      path[depth] = within || matches;
    }
    const whole = table.number("incl_s", rows[0]);
    return `${formatCount(found)} construct${found === 1 ? " matches" : "s match"}` +
      (whole > 0 ? `, ${formatPercent(100 * part / whole)} of all threads' time` : "");
  }
}
