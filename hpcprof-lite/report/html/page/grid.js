/* A table of any number of rows, of which only those in sight are elements.  Columns are sorted by a click on their
 * title or Enter, and the address keeps the order; arrow keys move the selection, Enter follows its first link, and Tab
 * leads to all of them; in a tree, left and right fold and unfold.
 * Follows the ARIA pattern of a (tree) grid with the selection in rows. */
import { alignedText, copyButton } from "./copying.js";
import { capitalised, element, fill } from "./dom.js";
import { distinctNames, fittedName } from "./names.js";
import { changeState, onState, stateValue } from "./page_state.js";
import { isPrinting, onLook } from "./printing.js";

const ROW_HEIGHT = 24; /* pixels, as in page.css */
const WIDTH_SAMPLES = 200; /* rows whose cells decide how wide a column is */
const TEXT_WIDTH = 42; /* characters that a column of text has at most, unless there is room */
const STEEP_LEVELS = 12; /* deeper ones are indented by less, so that their names stay in sight */
const COPIED_ROWS = 1000; /* that are copied as text at most */
const CELL_PADDING = 1.3; /* rem, as in page.css */
const ASIDE_SHARE = 0.4; /* of a cell's width, if the name needs the rest */
const FIRST_ROWS = 40; /* are in the document even while their tab is hidden */

/* What measures text as an element shows it. */
function measuringPen(shown) {
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  const { fontSize, fontFamily } = getComputedStyle(shown);
  pen.font = `${fontSize} ${fontFamily}`;
  return pen;
}

/* A title of which no line begins with a unit. */
function joinedUnit(title) {
  return title.replace(/ (?=\(\S+\)$|%$)/, "\u00a0");
}

/* Columns are objects:
 *   key, title, help      name in the CSV, heading, and its explanation
 *   text(row)             what the cell shows
 *   value(row)            what it is sorted by, a number or text
 *   numeric               aligned to the right, and sorted from the largest at first
 *   wide                  takes the room that is left, which otherwise the first column does
 *   symbol                a name that is shortened to the width of its column, as long as rows can be told apart
 *   aside(row)            what tells it from rows with the same name, behind it; "" if nothing has to
 *   node(row, text)       instead of text, which is shortened: an element
 *   full(row)             what the text is short for, shown where one points at the cell
 * Options: label, which no other grid has; columns; rows (numbers of rows, in their first order); tree, a TreeRows,
 * instead of rows; onselect(row). */
export class Grid {
  constructor({ label, columns, rows = [], tree = null, onselect = () => {} }) {
    Object.assign(this, { tree, onselect, rows, selected: -1 });
    this.address = "sort-" + label.toLowerCase().replace(/[^a-z]+/g, "-");
    this.head = element("div", { class: "grid-head", role: "row" });
    this.body = element("div", { class: "grid-body", role: "rowgroup" });
    this.left = element("p", { class: "grid-left note" });
    this.scroller = element("div", { class: "grid-scroller", tabindex: "0" }, element("div", { class: "grid-sheet" }, this.head, this.body));
    this.element = element("div", {
      class: "grid", role: tree ? "treegrid" : "grid", "aria-label": label,
    }, this.scroller, this.left, copyButton(() => this.asText()));
    this.scroller.addEventListener("scroll", () => this.draw());
    this.scroller.addEventListener("keydown", (event) => this.#key(event));
    this.body.addEventListener("click", (event) => this.#click(event));
    new ResizeObserver(() => this.#resized()).observe(this.scroller);
    onLook(() => this.#look());
    onState(this.address, () => this.setColumns(this.columns));
    this.setColumns(columns);
  }

  /* Shows other columns, and other rows if there are some. */
  setColumns(columns, rows = this.rows) {
    this.columns = columns;
    this.rows = rows;
    this.#sort();
    this.element.style.setProperty("--columns", columns.map((column, number) => this.#width(column, number)).join(" "));
    this.#drawHead();
    this.draw();
  }

  /* A column's width: that of its title or of the longest of some cells.  Rows are laid out one by one, so that widths
   * have to be the same for all. */
  #width(column, number) {
    const wide = this.columns.find((candidate) => candidate.wide) ?? this.columns[0];
    const step = Math.max(1, Math.floor(this.order.length / WIDTH_SAMPLES));
    const words = joinedUnit(column.title).split(" ").map((word) => word.length); /* a long title takes two lines */
    let longest = Math.max(...words, Math.ceil(column.title.length / (words.length > 1 ? 1.8 : 1))) + 3;
    for (let position = 0; position < this.order.length; position += step)
      longest = Math.max(longest, column.text(this.order[position]).length + (this.tree && number === 0 ? 30 : 2));
    if (column.numeric)
      return longest + "ch";
    const width = Math.min(1.1 * longest + 1, TEXT_WIDTH) + "ch"; /* letters can be wider than digits */
    return `minmax(${width}, ${column === wide ? "1fr" : width})`;
  }

  /* Shows other rows, in the order that is wanted. */
  setRows(rows) {
    this.rows = rows;
    this.order = this.tree ? rows : this.#sorted(rows);
    this.draw();
  }

  /* The rows that are not folded, in their present order. */
  asText() {
    const indented = (row, text) => " ".repeat(this.tree ? 2 * (this.tree.depth(row) - this.tree.depth(this.order[0])) : 0) + text;
    const lines = this.order.slice(0, COPIED_ROWS).map((row) => this.columns.map((column, number) =>
      number === 0 ? indented(row, column.text(row)) : column.text(row)));
    const left = this.order.length - lines.length;
    return alignedText(this.columns.map((column) => capitalised(column.title)), this.columns.map((column) => column.numeric), lines) +
      (left ? `${left} more row${left === 1 ? "" : "s"}\n` : "");
  }

  /* Shows the rows of the tree again, after it was changed. */
  refresh() {
    if (this.tree)
      this.setRows(this.tree.visible());
  }

  #drawHead() {
    const { key, descending } = this.#wantedOrder();
    fill(this.head, this.columns.map((column) => {
      const sorted = column.key === key;
      return element("button", {
        class: "grid-title" + (column.numeric ? " number" : ""), role: "columnheader", title: column.help, "data-column": column.key,
        "aria-sort": sorted ? (descending ? "descending" : "ascending") : null,
        onclick: () => this.#sortBy(column.key, sorted ? !descending : Boolean(column.numeric)),
      }, joinedUnit(capitalised(column.title)) + (sorted ? (descending ? " \u25be" : " \u25b4") : ""));
    }));
  }

  /* The order that the address asks for: "wait_s.descending". */
  #wantedOrder() {
    const text = stateValue(this.address), at = text.lastIndexOf(".");
    return { key: text.slice(0, Math.max(at, 0)), descending: text.slice(at + 1) === "descending" };
  }

  #sortBy(key, descending) {
    changeState({ [this.address]: `${key}.${descending ? "descending" : "ascending"}` }, true);
  }

  /* What compares rows as the address asks for; null if they stay as they are.  value(column, row) of a cell. */
  #comparison(value) {
    const { key, descending } = this.#wantedOrder(), sign = descending ? -1 : 1;
    const column = (this.allColumns ?? this.columns).find((candidate) => candidate.key === key);
    return column ? (a, b) => compareValues(value(column, a), value(column, b), sign) || a - b : null;
  }

  /* Rows in the order that is wanted.  Cells are computed once. */
  #sorted(rows) {
    const values = new Map();
    const compare = this.#comparison((column, row) => {
      if (!values.has(row))
        values.set(row, column.value(row));
      return values.get(row);
    });
    return compare ? [...rows].sort(compare) : rows;
  }

  #sort() {
    this.tree?.sort(this.#comparison((column, row) => column.value(row)) ?? ((a, b) => a - b));
    this.order = this.tree ? this.tree.visible() : this.#sorted(this.rows);
  }

  /* What the columns of symbols show of the rows from one position to another one, by column. */
  #symbols(first, last) {
    const rows = this.order.slice(first, last), pen = measuringPen(this.scroller), rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
    return new Map(this.columns.map((column, number) => [column, number]).filter(([column]) => column.symbol).map(([column, number]) => {
      const width = this.head.children[number]?.offsetWidth ?? 0;
      const room = (row) => (width ? width - rem * (CELL_PADDING + (this.tree && number === 0 ? this.#indent(row) + 1 : 0)) : Infinity);
      const wide = (text) => pen.measureText(text).width, fit = (text, most) => fittedName(text, (part) => wide(part) <= most);
      const aside = (row) => (column.aside?.(row) ? " " + column.aside(row) : "");
      const forName = (row) => Math.max(room(row) - wide(aside(row)), room(row) * (1 - ASIDE_SHARE));
      const fitted = rows.map((row) => fit(column.text(row), aside(row) ? forName(row) : room(row)));
      const asides = rows.map((row, i) => (aside(row) ? fit(aside(row), room(row) - wide(fitted[i])) : ""));
      const short = distinctNames(rows.map((row) => column.whole?.(row) ?? column.text(row)), (_, i) => fitted[i], (i) => asides[i]);
      return [column, { short, asides }];
    }));
  }

  #cell(column, number, row, symbol) {
    const cell = element("div", { class: "grid-cell" + (column.numeric ? " number" : ""), role: "gridcell" });
    const text = symbol?.short ?? column.text(row);
    if (this.tree && number === 0)
      cell.append(this.#twisty(row));
    cell.append(column.node ? column.node(row, text) : text);
    if (symbol?.aside)
      cell.append(element("span", { class: "grid-aside" }, symbol.aside));
    if (column.full || (!column.numeric && !column.node))
      cell.title = (column.full ?? column.text)(row);
    return cell;
  }

  #row(position, symbols) {
    const row = this.order[position], tree = this.tree;
    const made = element("div", {
      class: "grid-row", role: "row", "data-row": row, "aria-rowindex": position + 2,
      "aria-selected": row === this.selected ? "true" : "false",
      "aria-level": tree ? tree.depth(row) + 1 : null,
      "aria-expanded": tree && tree.hasChildren(row) ? String(tree.isOpen(row)) : null,
    }, this.columns.map((column, number) => this.#cell(column, number, row, symbols(column))));
    made.style.top = position * ROW_HEIGHT + "px";
    return made;
  }

  /* Of a row of a tree, in rem. */
  #indent(row) {
    const level = this.tree.depth(row) - this.tree.depth(this.order[0] ?? row);
    return 0.75 * Math.min(level, STEEP_LEVELS) + 0.15 * Math.max(0, Math.min(level, 60) - STEEP_LEVELS);
  }

  #twisty(row) {
    const mark = element("span", { class: "twisty", "aria-hidden": "true" },
      this.tree.hasChildren(row) ? (this.tree.isOpen(row) ? "\u25be" : "\u25b8") : "");
    mark.style.marginLeft = this.#indent(row) + "rem";
    return mark;
  }

  draw() {
    const height = this.scroller.clientHeight || FIRST_ROWS * ROW_HEIGHT;
    const first = isPrinting() ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - 4);
    const most = isPrinting() ? FIRST_ROWS : Math.max(FIRST_ROWS, Math.ceil(height / ROW_HEIGHT) + 8);
    const last = Math.min(this.order.length, first + most);
    const made = [], found = this.#symbols(first, last);
    for (let position = first; position < last; position++)
      made.push(this.#row(position, (column) => {
        const symbol = found.get(column), at = position - first;
        return symbol && { short: symbol.short[at], aside: symbol.asides[at] };
      }));
    this.body.style.height = (isPrinting() ? last : this.order.length) * ROW_HEIGHT + "px";
    this.element.setAttribute("aria-rowcount", this.order.length + 1);
    const focused = this.#links().indexOf(document.activeElement);
    fill(this.body, made);
    this.#links().forEach((link) => { link.tabIndex = 0; });
    this.#links()[focused]?.focus({ preventScroll: true });
  }

  /* Those of the selected row. */
  #links() {
    return [...this.body.querySelectorAll("[aria-selected=true] a")];
  }

  /* Printed are the first rows, and the columns for which there is room; a line says what is left out. */
  #look() {
    const all = this.allColumns ?? this.columns;
    this.allColumns = null;
    this.left.textContent = "";
    if (all.length !== this.columns.length)
      this.setColumns(all);
    if (isPrinting() && this.scroller.clientWidth) {
      const fits = [...this.head.children].filter((title) => title.offsetLeft + title.offsetWidth <= this.scroller.clientWidth + 1).length;
      const columns = all.length - fits, rows = Math.max(0, this.order.length - FIRST_ROWS);
      const counted = [[rows, "row"], [columns, "column"]].filter(([count]) => count)
        .map(([count, name]) => `${count} more ${name}${count === 1 ? "" : "s"}`);
      this.left.textContent = counted.length ? `Not printed: ${counted.join(" and ")}.` : "";
      if (columns) {
        this.allColumns = all;
        this.setColumns(all.slice(0, Math.max(1, fits)));
      }
    }
    this.draw();
  }

  /* Selects a row and brings it into sight; one that is not shown is only remembered. */
  select(row, tell = true) {
    const position = this.order.indexOf(row);
    this.selected = row;
    if (position >= 0) {
      const top = position * ROW_HEIGHT, height = this.scroller.clientHeight - this.head.offsetHeight;
      if (top < this.scroller.scrollTop)
        this.scroller.scrollTop = top;
      else if (height > 0 && top + ROW_HEIGHT > this.scroller.scrollTop + height)
        this.scroller.scrollTop = top + ROW_HEIGHT - height;
    }
    this.draw();
    if (tell)
      this.onselect(row);
  }

  /* What was selected while the tab was hidden is brought into sight now. */
  #resized() {
    const hidden = !this.height;
    this.height = this.scroller.clientHeight;
    if (hidden && this.height && this.selected >= 0)
      this.select(this.selected, false);
    else
      this.draw();
  }

  #fold(row, open) {
    this.tree.setOpen(row, open);
    this.refresh();
  }

  #click(event) {
    const made = event.target.closest(".grid-row");
    if (!made)
      return;
    const row = Number(made.dataset.row);
    if (event.target.closest(".twisty") && this.tree)
      this.#fold(row, !this.tree.isOpen(row));
    this.select(row, !event.target.closest("a")); /* a link leads elsewhere */
  }

  #key(event) {
    if (event.target !== this.scroller || event.ctrlKey || event.altKey || event.metaKey)
      return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const at = this.order.indexOf(this.selected);
    if (event.key in steps && this.order.length) {
      const next = Math.min(this.order.length - 1, Math.max(0, (at < 0 && steps[event.key] > 0 ? -1 : at) + steps[event.key]));
      this.select(this.order[next]);
    } else if (at >= 0 && event.key === "Enter" && !this.tree?.hasChildren(this.selected)) {
      this.#links()[0]?.click();
    } else if (this.tree && at >= 0 && (event.key === "ArrowRight" || event.key === "Enter") && !this.tree.isOpen(this.selected)) {
      this.#fold(this.selected, true);
    } else if (this.tree && at >= 0 && event.key === "Enter") {
      this.#fold(this.selected, false);
    } else if (this.tree && at >= 0 && event.key === "ArrowLeft") {
      if (this.tree.isOpen(this.selected) && this.tree.hasChildren(this.selected))
        this.#fold(this.selected, false);
      else if (this.tree.parent(this.selected) >= 0)
        this.select(this.tree.parent(this.selected));
    } else {
      return;
    }
    event.preventDefault();
  }
}

/* Compares two values of a column; `sign` -1 is descending.  Empty ones stand last. */
export function compareValues(a, b, sign) {
  if (typeof a === "number") {
    if (Number.isNaN(a) || Number.isNaN(b))
      return Number.isNaN(a) - Number.isNaN(b);
    return sign * (a - b);
  }
  if (!a || !b)
    return !a - !b;
  return sign * (a < b ? -1 : a > b ? 1 : 0);
}
