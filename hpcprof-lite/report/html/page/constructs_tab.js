/* The tab of OpenMP's constructs: what their time was lost to, and the times of each. */
import { element, fill } from "./dom.js";
import { formatPercent, formatSeconds } from "./number_format.js";
import { onState, stateValue } from "./page_state.js";
import { loadTable } from "./table_data.js";
import { chosenRange, stateSums } from "./timeline/range_sums.js";
import { ConstructTable } from "./timeline/timeline_grids.js";
import { loadTrace } from "./timeline/trace_data.js";
import { contextOf, gridSection } from "./table_grid.js";
import { briefAnchor, loadContextFinder } from "./context_links.js";
import { ConstructSearch } from "./construct_search.js";
import { TreeRows } from "./tree_rows.js";

const BAR_LETTERS = 36;
const BARS = 30; /* regions that are drawn as bars; the table below has all */

/* ompP's four classes of lost time, and what is left. */
const classes = [
  { key: "useful_s", title: "Useful", style: "work" },
  { key: "sync_s", title: "Synchronisation", style: "lock_wait" },
  { key: "imbalance_s", title: "Imbalance", style: "idle" },
  { key: "limited_parallelism_s", title: "Limited parallelism", style: "blocked" },
  { key: "management_s", title: "Management", style: "overhead" },
];

function overheadBars(table, contextId, search) {
  const regions = Array.from({ length: table.rows }, (_, row) => row).filter((row) => table.text("region", row) !== "program");
  const longest = regions.reduce((most, row) => Math.max(most, table.number("total_s", row) || 0), 0), bars = [];
  for (const row of regions.slice(0, BARS)) {
    const total = table.number("total_s", row), track = element("div", { class: "bar-track" });
    for (const { key, title, style } of classes) {
      const value = table.number(key, row);
      if (!(value > 0))
        continue;
      const part = element("span", { class: "bar-part " + style, title: `${title}: ${formatSeconds(value)} (${formatPercent(100 * value / total)})` });
      part.style.width = 100 * value / longest + "%";
      track.append(part);
    }
    const bar = element("li", {}, element("span", { class: "bar-name" }, briefAnchor(contextId(row), table.text("name", row), BAR_LETTERS)),
      element("div", { class: "bar-line" }, track), element("span", { class: "number" }, formatSeconds(total)));
    search.addBar(bar, table, row);
    bars.push(bar);
  }
  return [element("ul", { class: "legend" }, classes.map(({ title, style }) => element("li", { class: style },
    element("span", { class: "swatch", "aria-hidden": "true" }), title))),
    element("ul", { class: "bars" }, bars)];
}

function overheadSection(table, contextId, search) {
  const section = element("section", { class: "card wide" }, element("h2", {}, "What regions lose their time to"));
  if (table && table.rows)
    section.append(...overheadBars(table, contextId, search));
  else
    section.append(element("p", {}, "No parallel region was timed."));
  return section;
}

/* Rows that are sums over threads, or those of no thread in particular. */
function sumRows(table) {
  const rows = [];
  for (let row = 0; table && row < table.rows; row++)
    if (table.text("thread", row) === "SUM")
      rows.push(row);
  return rows;
}

/* The sums of the region tree as a tree; its other rows, of single threads, are left out. */
function regionTree(table) {
  const rows = sumRows(table), ids = table.column("id").numbers, parents = table.column("parent_id").numbers;
  const tree = new TreeRows(rows.map((row) => ids[row]), rows.map((row) => parents[row]));
  for (const row of tree.roots)
    tree.setOpen(row, true);
  return { rows, tree };
}

/* Numbers of a tree's rows → rows of the table, for grids. */
class SumTree {
  constructor({ rows, tree }) {
    this.rows = rows;
    this.tree = tree;
    this.places = new Map(rows.map((row, place) => [row, place]));
  }

  visible() { return this.tree.visible().map((place) => this.rows[place]); }
  depth(row) { return this.tree.depth(this.places.get(row)); }
  parent(row) { return this.rows[this.tree.parent(this.places.get(row))] ?? -1; }
  hasChildren(row) { return this.tree.hasChildren(this.places.get(row)); }
  isOpen(row) { return this.tree.isOpen(this.places.get(row)); }
  setOpen(row, open) { this.tree.setOpen(this.places.get(row), open); }
  keep(matched) { this.tree.keep(matched && this.rows.map((row) => matched[row])); }
  sort(compare) { this.tree.sort((a, b) => compare(this.rows[a], this.rows[b])); }
}

/* The constructs in the part of the run that is chosen in the timeline: hidden if none is, or there is no trace. */
class RangeSection {
  constructor() {
    this.element = element("div", { class: "wide range-tables", hidden: true });
    for (const name of ["from", "to", "tab"])
      onState(name, this.follow ??= () => this.#show());
  }

  async #show() {
    const range = stateValue("tab") === "constructs" ? chosenRange() : null, trace = range ? await loadTrace() : null;
    this.element.hidden = !trace;
    if (!trace)
      return;
    if (!this.table) {
      this.table = new ConstructTable(trace, "Time of constructs in the chosen part of the run", await loadContextFinder());
      fill(this.element, this.table.element);
    }
    this.table.show(stateSums(trace, range.from, range.to));
  }
}

export async function drawConstructs(tab) {
  const names = ["overheads", "regions", "region-tree", "tasks", "locks", "devices"];
  const [overheads, regions, nested, tasks, locks, devices, finder] =
    await Promise.all([...names.map(loadTable), loadContextFinder()]);
  const range = new RangeSection(), sums = nested?.rows ? regionTree(nested) : null;
  const search = new ConstructSearch(sums && { table: nested, rows: sums.rows });
  const section = (options) => gridSection({ ...options, finder, regions, onmade: (grid, rows) => search.add(grid, options.table, rows, options.tree) });
  fill(tab, search.element, element("div", { class: "cards" },
    range.element, overheadSection(overheads, overheads ? contextOf(overheads, finder, regions) : null, search),
    section({ title: "Overheads", table: overheads, hidden: ["context_id"], missing: "No parallel region was timed." }),
    section({
      title: "Regions", note: "Sums over all threads.", table: regions, rows: sumRows(regions),
      hidden: ["thread", "context_id"], missing: "No construct was timed.",
    }),
    sums ? section({
      title: "Constructs as they were nested", note: "Sums over all threads.", table: nested, first: "name",
      tree: new SumTree(sums), rows: sums.rows, hidden: ["id", "parent_id", "depth", "thread", "context_id"],
    }) : null,
    section({ title: "Tasks", table: tasks, hidden: ["context_id"], missing: "No explicit task was created." }),
    section({ title: "Locks", table: locks, missing: "No thread waited for a lock, as far as is known." }),
    devices?.rows ? section({
      title: "Devices", table: devices, hidden: ["context_id"],
      note: "As the host knows them; below each, on what threads of the host worked while it was idle.",
    }) : null));
  search.apply();
  await range.follow();
}
