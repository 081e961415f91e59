/* The tab of calling contexts: an icicle above a grid of the same tree, and a pane about the selected row.  What is
 * shown follows from the address's fragment: controls change that, and apply() shows it. */
import { element, fill } from "../dom.js";
import { changeState, onState, stateValue } from "../page_state.js";
import { formatCount, formatPercent } from "../number_format.js";
import { hasTable, loadTable } from "../table_data.js";
import { Grid } from "../grid.js";
import { onLook } from "../printing.js";
import { callersOfAlike } from "./callers.js";
import { ContextTree } from "./context_tree.js";
import { IcicleLayout } from "./icicle_layout.js";
import { availableColourings, chooseColouring, colouringLegend } from "./icicle_colours.js";
import { Icicle } from "./icicle.js";
import { matchingRows, searchExpression } from "./context_search.js";
import { rangeKey, tableOfRange } from "./range_columns.js";
import { ColumnMenu, contextColumns, metricLines, usualColumns } from "./context_columns.js";
import { contextDetails } from "./context_details.js";

const HOT_SHARE = 0.2; /* of the whole: how far the hot path is unfolded at first */
const SEARCH_DELAY_MS = 120;

const contextTrees = [
  { name: "topdown", title: "Top-down" },
  { name: "bottomup", title: "Bottom-up", exclusive: true, note: "Rows below 0.01 % of all threads' time are left out" },
  { name: "critical-path", title: "Critical path", weight: "critical_path" },
  { name: "flat", title: "Functions", flat: true },
];

/* Parts of the fragment that this tab has.  `context`: the id of a row of the top-down tree, `row` that of one of
 * another tree; focus, zoom and hide are ids in the tree that is shown. */
const CONTEXT_STATE =
  ["tree", "context", "row", "focus", "zoom", "hide", "colour", "width", "search", "columns", "percent", "collapse",
    "from", "to"];
const OF_ONE_TREE = { context: "", row: "", focus: "", zoom: "", hide: "", width: "", columns: "" };

/* The tree that the address asks for. */
function chosenTree() {
  if (stateValue("context"))
    return contextTrees[0];
  return contextTrees.find((tree) => tree.name === stateValue("tree")) ?? contextTrees[0];
}

/* Whether the tree that is shown has times of a part of the run. */
export function showsRange() {
  return chosenTree() === contextTrees[0];
}

function choiceOption({ key, title }) {
  return element("option", { value: key }, title);
}

class ContextsTab {
  constructor(panel, about, source) {
    Object.assign(this, { panel, about, source, views: new Map(), view: null, expression: null, matches: [] });
    this.icicle = new Icicle({
      label: "Icicle of calling contexts. Arrow keys select, Enter zooms, Escape zooms out, plus and minus scale.",
      name: (row) => this.view.tree.text("name", row),
      onchoose: (row) => changeState({ ...this.#selection(row), zoom: this.#id(row) }),
      onselect: (row) => changeState(this.#selection(row), true),
      onhover: (row, x, y) => this.#hover(row, x, y),
      onout: () => this.#zoomOut(),
    });
    this.#makeControls();
    this.menu = new ColumnMenu((names) => changeState({ columns: names ? names.join() || "none" : "" }, true));
    this.gridHolder = element("div", { class: "context-grid" });
    this.details = element("aside", { class: "card context-details", "aria-label": "Details", tabindex: "-1" });
    this.legend = element("ul", { class: "legend" });
    this.tooltip = element("div", { class: "context-tooltip", role: "tooltip", hidden: true });
    this.chart = element("div", { class: "context-chart" }, this.icicle.canvas, this.legend,
      element("p", { class: "note" },
        "Click or Enter: zoom. Escape: out. Ctrl and wheel, + and \u2212: scale. Drag: move. " +
          "f: focus, h: hide, p: hot path, /: search."));
    this.status = element("p", { class: "visually-hidden", role: "status" });
    this.#arrange();
    panel.addEventListener("keydown", (event) => this.#key(event));
    for (const name of CONTEXT_STATE)
      onState(name, this.follow ??= () => this.apply());
    onState("tab", this.follow);
  }

  /* ---- controls ---- */

  #makeControls() {
    const select = (name) => element("select", { onchange: (event) => changeState({ [name]: event.target.value }) });
    const check = (name) => element(
      "input", { type: "checkbox", onchange: (event) => changeState({ [name]: event.target.checked ? "1" : "" }) });
    this.treeSelect =
      element("select", { onchange: (event) => changeState({ ...OF_ONE_TREE, tree: event.target.value }) },
        contextTrees.map(
          (tree) => element("option", { value: tree.name, disabled: !hasTable(tree.name) }, tree.title)));
    this.colourSelect = select("colour");
    this.widthSelect = select("width");
    this.percent = check("percent");
    this.collapse = check("collapse");
    this.search = element("input", {
      type: "search",
      placeholder: "regular expression",
      spellcheck: "false",
      autocomplete: "off",
      "aria-describedby": "context-found",
      oninput: () => this.#searchSoon(),
      onkeydown: (event) => this.#searchKey(event)
    });
    this.found = element("output", { id: "context-found", class: "note" });
    const button = (title, help, onclick) => element("button", { type: "button", title: help, onclick }, title);
    this.previous = button("\u2191", "previous match (Shift+Enter)", () => this.#step(-1));
    this.next = button("\u2193", "next match (Enter)", () => this.#step(1));
    this.previous.setAttribute("aria-label", "Previous match");
    this.next.setAttribute("aria-label", "Next match");
    this.focusButton = button("Focus", "show only the selected row and what is below it (f)", () => this.#focus());
    this.hideButton = button(
      "Hide", "leave out the selected row and what is below it (h); figures stay as they are", () => this.#hide());
    this.hotButton =
      button("Hot path", "unfold the hottest path below the selected row (p)", () => this.#unfoldHot());
    this.allButton =
      button("Show all", "undo focus, hiding and zoom", () => changeState({ focus: "", hide: "", zoom: "" }));
    this.leftOut = element("span", { class: "note" });
  }

  #arrange() {
    const label = (title, control) => element("label", {}, element("span", {}, title), control);
    this.collapseLabel = element("label", { class: "context-check" }, this.collapse, "Collapse recursion");
    this.iciclePart = [label("Colour", this.colourSelect), label("Width", this.widthSelect)];
    fill(this.panel,
      element("div", { class: "contexts" },
        element("div", { class: "context-controls" }, label("Tree", this.treeSelect), this.iciclePart,
          element("label", { class: "context-check" }, this.percent, "% of all"), this.collapseLabel, this.menu.element),
        element("div", { class: "context-controls" }, label("Search", this.search), this.previous, this.next, this.found,
          element("span", { class: "context-control-gap" }), this.focusButton, this.hideButton, this.hotButton,
          this.allButton, this.leftOut),
        element("div", { class: "context-main" },
          element("div", { class: "context-left" }, this.chart, this.gridHolder), this.details),
        this.tooltip, this.status));
  }

  #key(event) {
    const where = event.target;
    if (event.ctrlKey || event.altKey || event.metaKey || !this.view)
      return;
    const inView = where === this.icicle.canvas || where === this.view.grid.scroller;
    const keys = {
      f: () => this.#focus(),
      h: () => this.#hide(),
      p: () => this.#unfoldHot(),
      "/": () => this.search.focus()
    };
    if (inView && event.key in keys)
      keys[event.key]();
    else if (event.key === "Escape" && where === this.view.grid.scroller)
      this.#zoomOut();
    else
      return;
    event.preventDefault();
  }

  /* ---- what is asked for ---- */

  #id(row) {
    return this.view.table.text("id", row);
  }

  #selection(row) {
    const id = this.#id(row);
    return this.view.name === "topdown" ? { context: id, row: "" } : { context: "", row: id };
  }

  /* The selected row; -1 if none is. */
  #selected() {
    return this.view.tree.rowOf(this.view.name === "topdown" ? stateValue("context") : stateValue("row"));
  }

  #focus() {
    const row = this.#selected();
    if (row >= 0 && !this.view.flat)
      changeState({ focus: this.#id(row), zoom: "" });
  }

  #hide() {
    const { tree } = this.view, row = this.#selected(), hidden = stateValue("hide");
    if (row < 0 || (!this.view.flat && tree.parent(row) < 0))
      return;
    const next = tree.parent(row);
    changeState({
      hide: (hidden ? hidden + "," : "") + this.#id(row),
      ...(next >= 0 ? this.#selection(next) : { context: "", row: "" }),
      zoom: ""
    });
  }

  #zoomOut() {
    const { tree } = this.view, zoomed = tree.rowOf(stateValue("zoom")), root = this.icicle.root;
    if (zoomed >= 0 && zoomed !== root) {
      const next = tree.parent(zoomed);
      changeState({ zoom: next >= 0 && next !== root ? this.#id(next) : "" });
    } else if (stateValue("focus")) {
      changeState({ focus: "", zoom: "" });
    } else if (!this.view.flat) {
      this.icicle.zoom(root);
    }
  }

  /* ---- showing it ---- */

  async #load(wanted) {
    const known = this.views.get(wanted.name);
    if (known)
      return known;
    const table = await loadTable(wanted.name);
    if (!table || !table.rows)
      return null;
    const tree = new ContextTree(wanted.name, table, Boolean(wanted.exclusive || wanted.flat));
    if (wanted.flat)
      tree.link(new Int32Array(table.rows).fill(-1));
    const callers = wanted.flat ? await callersOfAlike(table) : new Map();
    const view = { ...wanted, table, whole: table, range: "", tree, callers, fresh: true };
    view.grid = new Grid({
      label: `Calling contexts, ${wanted.title}`,
      tree: wanted.flat ? null : tree,
      columns: [],
      rows: wanted.flat ? tree.visible() : [],
      onselect: (row) => changeState(this.#selection(row), true)
    });
    this.views.set(wanted.name, view);
    return view;
  }

  /* Gives the tree the columns of the part that is chosen in the timeline, when it is shown. */
  async #loadRange(view) {
    const range = rangeKey(), { tree } = view;
    if (range === view.range || view.name !== "topdown" || stateValue("tab") !== "contexts")
      return;
    const table = await tableOfRange(view.whole);
    if (range !== rangeKey()) /* another one was chosen meanwhile */
      return;
    Object.assign(view, { table, range, usual: null, columnsKey: null, shape: null });
    tree.setTable(table);
    this.shownRow = this.searched = null;
    tree.sort((a, b) => a - b); /* until it has its columns */
  }

  async apply() {
    const wanted = chosenTree();
    this.asked = wanted;
    const view = await this.#load(wanted);
    if (view)
      await this.#loadRange(view);
    if (this.asked !== wanted) /* another one was asked for meanwhile */
      return;
    this.treeSelect.value = wanted.name;
    if (!view) {
      fill(this.gridHolder,
        element("p", { class: "notice" }, "This report has no such tree: see 'Not in this report' in the summary."));
      this.chart.hidden = true;
      return;
    }
    const changed = view !== this.view;
    this.view = view;
    this.chart.hidden = Boolean(view.flat);
    if (changed)
      fill(this.gridHolder, view.grid.element);
    this.#applyTree(changed);
    this.#applySearch();
    this.#applyColumns();
    this.#applySelection(changed);
  }

  /* Hiding, focus and recursion; then where the boxes are, and their colours. */
  #applyTree(changed) {
    const { view } = this, { tree } = view, canCollapse = !tree.exclusive;
    this.collapse.disabled = !canCollapse;
    this.collapse.checked = canCollapse && stateValue("collapse") === "1";
    this.collapseLabel.title = canCollapse
      ? "join a function's recursive calls with its outermost one; figures are sums"
      : "only trees of calls have recursion";
    for (const part of this.iciclePart)
      part.hidden = Boolean(view.flat);
    const weights = tree.weights(), weight = this.#chooseWeight(weights);
    const shape = [this.collapse.checked, stateValue("hide"), weight?.key].join("|"), focus = stateValue("focus");
    const reshaped = shape !== view.shape;
    if (reshaped) {
      tree.setCollapsed(this.collapse.checked);
      tree.leftOut.fill(0);
      for (const id of stateValue("hide").split(",")) {
        const row = tree.rowOf(id);
        if (row > 0 || (row === 0 && view.flat))
          tree.leftOut[row] = 1;
      }
      view.layout =
        view.flat ? null : new IcicleLayout(tree, weight ? tree.weigh(weight.columns) : new Float64Array(tree.rows));
      view.shape = shape;
    }
    if (reshaped || focus !== view.focus)
      this.#applyFocus(focus);
    if (changed || reshaped || focus !== view.shownFocus)
      this.#showIcicle(focus);
    this.#applyColours(changed || reshaped);
    this.#tellLeftOut();
  }

  #chooseWeight(weights) {
    const chosen = weights.find(({ key }) => key === stateValue("width")) ??
      weights.find(({ key }) => key === this.view.weight) ?? weights[0];
    fill(this.widthSelect, weights.map(choiceOption));
    this.widthSelect.value = chosen?.key ?? "";
    return chosen;
  }

  #applyFocus(focus) {
    const { view } = this, { tree } = view, row = tree.rowOf(focus);
    view.focus = focus;
    tree.top = row >= 0 && !view.flat ? row : -1;
    if (tree.top >= 0)
      tree.setOpen(tree.top, true);
    if (view.fresh && !view.flat)
      tree.openHotPath(tree.roots[0], view.layout.width, HOT_SHARE);
    view.fresh = false;
    view.grid.setRows(tree.visible());
  }

  #showIcicle(focus) {
    const { view } = this, { tree } = view;
    view.shownFocus = focus;
    this.zoomed = "";
    if (view.flat)
      return;
    const root = tree.top >= 0 ? tree.top : tree.roots[0];
    let depth = 0;
    for (let row = 0; row < tree.rows; row++)
      depth = Math.max(depth, tree.levels[row]);
    this.icicle.selected = -1;
    this.icicle.show(view.layout, root, depth - tree.levels[root] + 1);
    this.icicle.canvas.style.height = Math.min(Math.max(depth + 1, 4), 16) * 20 + "px";
  }

  #applyColours(changed) {
    const { view } = this;
    if (view.flat)
      return;
    const available = availableColourings(view.tree),
          key = available.find((known) => known.key === stateValue("colour"))?.key ?? "module";
    if (!changed && key === this.colourKey)
      return;
    this.colourKey = key;
    fill(this.colourSelect, available.map(choiceOption));
    this.colourSelect.value = key;
    this.colouring = chooseColouring(view.layout, key);
    this.icicle.colour(this.colouring);
    fill(this.legend, colouringLegend(this.colouring));
  }

  recolour() {
    if (this.colouring)
      fill(this.legend, colouringLegend(this.colouring));
  }

  #tellLeftOut() {
    const { tree } = this.view, hidden = stateValue("hide").split(",").filter((id) => tree.rowOf(id) >= 0).length;
    const focus = tree.top >= 0 ? `Focus: ${tree.text("name", tree.top)}` : "";
    const count = hidden ? `${formatCount(hidden)} hidden row${hidden > 1 ? "s" : ""}, still counted in callers` : "";
    fill(this.leftOut, [focus, count, this.view.note].filter(Boolean).join("; "));
    this.allButton.disabled = !focus && !hidden && !stateValue("zoom");
  }

  #applyColumns() {
    const { view } = this, usual = view.usual ??= usualColumns(view.tree), asked = stateValue("columns");
    const names = asked === "none" ? [] : asked ? asked.split(",").filter((name) => view.table.has(name)) : usual;
    const percent = stateValue("percent") === "1",
          key = [names.join(), percent, this.expression, this.collapse.checked].join("|");
    this.percent.checked = percent;
    this.menu.show(view.tree, names);
    if (key === view.columnsKey)
      return;
    view.columnsKey = key;
    view.grid.setColumns(contextColumns(view.tree, names, { percent, expression: this.expression, callers: view.callers }));
  }

  #applySelection(changed) {
    const { view } = this, row = this.#selected();
    if (row >= 0 && !view.tree.isWithin(row)) { /* a link leads out of the focus */
      changeState({ focus: "", hide: "", zoom: "" }, true);
      return;
    }
    const shown = `${view.name} ${row} ${view.shape} ${view.focus}`, zoom = stateValue("zoom");
    if (shown !== this.shownRow) {
      this.shownRow = shown;
      if (row >= 0 && !view.flat) {
        view.tree.reveal(row);
        view.grid.setRows(view.tree.visible());
      }
      view.grid.select(row, false);
      if (!view.flat)
        this.icicle.select(row);
      this.#tellSelected(row);
    }
    for (const button of [this.focusButton, this.hideButton, this.hotButton])
      button.disabled = row < 0 && button !== this.hotButton || Boolean(view.flat) && button !== this.hideButton;
    if (view.flat || (zoom === this.zoomed && !changed))
      return;
    const zoomed = view.tree.rowOf(zoom);
    if (zoomed >= 0 || this.zoomed)
      this.icicle.zoom(zoomed >= 0 ? zoomed : this.icicle.root);
    this.zoomed = zoom;
  }

  #tellSelected(row) {
    const { view } = this, { tree } = view, shown = row >= 0 ? row : tree.roots[0] ?? -1;
    fill(this.details, contextDetails({
      tree,
      row: shown,
      about: this.about,
      source: this.source,
      onrow: (chosen) => changeState(this.#selection(chosen))
    }));
    this.details.scrollTop = 0;
    if (row < 0)
      return;
    const share = view.flat ? NaN : view.layout.width[row] / view.layout.width[tree.roots[0]];
    fill(this.status, `${tree.text("name", row)}${Number.isFinite(share) ? `, ${formatPercent(100 * share)}` : ""}`);
  }

  #unfoldHot() {
    const { view } = this;
    if (view.flat)
      return;
    const row = this.#selected() >= 0 ? this.#selected() : this.icicle.root;
    const last = view.tree.openHotPath(row, view.layout.width, HOT_SHARE);
    view.grid.refresh();
    changeState(this.#selection(last));
  }

  /* ---- search ---- */

  #searchSoon() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => changeState({ search: this.search.value }, true), SEARCH_DELAY_MS);
  }

  #searchKey(event) {
    if (event.key === "Enter") {
      clearTimeout(this.waiting);
      changeState({ search: this.search.value }, true);
      this.#step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape" && this.search.value) {
      this.search.value = "";
      changeState({ search: "" }, true);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  #applySearch() {
    const text = stateValue("search"), { view } = this, key = `${text} ${view.name} ${view.shape} ${view.focus}`;
    if (document.activeElement !== this.search || !this.search.value)
      this.search.value = text;
    if (key === this.searched)
      return;
    this.searched = key;
    this.expression = null;
    this.matches = [];
    let wrong = "";
    try {
      this.expression = text ? searchExpression(text) : null;
    } catch (error) {
      wrong = error.message;
    }
    this.search.setAttribute("aria-invalid", String(Boolean(wrong)));
    const matched = this.expression ? this.#findMatches() : null;
    this.icicle.match(matched);
    view.tree.keep(matched);
    view.grid.setRows(view.tree.visible());
    this.previous.disabled = this.next.disabled = !this.matches.length;
    fill(this.found, wrong || (text ? this.#matchesText() : ""));
  }

  /* "3 matches, 42.1 % of all threads' time": of what the icicle's widths are, with what the matches call. */
  #matchesText() {
    const { matches, view } = this, { tree, layout } = view;
    const text = `${formatCount(matches.length)} match${matches.length === 1 ? "" : "es"}`;
    const whole = layout ? layout.width[tree.top >= 0 ? tree.top : tree.roots[0]] : 0;
    if (!matches.length || !(whole > 0))
      return text;
    const covered = new Uint8Array(tree.rows); /* it matches, or is called by a match */
    let sum = 0;
    for (const row of matches)
      covered[row] = 1;
    for (let row = 0; row < tree.rows; row++) {
      const above = tree.parents[row] >= 0 && covered[tree.parents[row]];
      if (covered[row] && !above)
        sum += layout.width[row];
      covered[row] |= above;
    }
    const what = this.widthSelect.selectedOptions[0].textContent;
    return `${text}, ${formatPercent(100 * sum / whole)} of ${what.charAt(0).toLowerCase()}${what.slice(1)}`;
  }

  /* Rows that match and are shown, or would be once unfolded, in `matches`; returns a mark for each row. */
  #findMatches() {
    const { tree, table } = this.view, matched = matchingRows(table, this.expression);
    for (let row = 0; row < tree.rows; row++)
      if (matched[row] && tree.isWithin(row))
        this.matches.push(row);
    return matched;
  }

  #step(by) {
    const { matches } = this, count = matches.length;
    if (!count)
      return;
    const at = matches.indexOf(this.#selected()),
          next = (at < 0 ? (by > 0 ? 0 : count - 1) : at + by + count) % count;
    changeState(this.#selection(matches[next]), true);
    fill(this.found, `${formatCount(next + 1)} of ${formatCount(count)}`);
  }

  /* ---- the box under the pointer ---- */

  #hover(row, x, y) {
    const { tooltip } = this;
    tooltip.hidden = row < 0;
    if (row < 0) {
      this.tooltipRow = -1;
      return;
    }
    const { tree } = this.view;
    if (row !== this.tooltipRow)
      fill(tooltip, element("strong", {}, tree.text("name", row)),
        element("table", { class: "context-metrics" },
          metricLines(tree, row).map(
            (line) => element("tr", {}, element("th", {}, line.title), element("td", { class: "number" }, line.value),
              element("td", { class: "number" }, line.own ? `itself ${line.own}` : "")))));
    this.tooltipRow = row;
    const { offsetWidth, offsetHeight } = tooltip;
    tooltip.style.left = Math.max(4, Math.min(x + 14, innerWidth - offsetWidth - 8)) + "px";
    tooltip.style.top = (y + 18 + offsetHeight < innerHeight ? y + 18 : Math.max(4, y - offsetHeight - 12)) + "px";
  }
}

export async function drawContexts(panel) {
  const [about, source] = await Promise.all(["about", "source"].map(loadTable));
  if (!hasTable("topdown")) {
    fill(panel,
      element("p", { class: "notice" }, "This report has no calling contexts: see the messages of hpcprof-lite."));
    return;
  }
  const tab = new ContextsTab(panel, about, source);
  onLook(() => tab.recolour());
  await tab.apply();
}
