/* The tab of several runs: what has changed between two, and how a program scales. */
import { element, fill } from "./dom.js";
import { formatPercent, formatSeconds, significant } from "./number_format.js";
import { loadTable } from "./table_data.js";
import { Grid } from "./grid.js";
import { contextAnchor, loadContextFinder } from "./context_links.js";
import { contextOf, gridColumns } from "./table_grid.js";
import { plotSpeedups } from "./plot.js";
import { ContextTree } from "./contexts/context_tree.js";
import { changeIcicle } from "./change_icicle.js";

const CHANGE_COLUMNS = ["name", "base", "new", "difference", "ratio", "significance"];
const SIGNIFICANT = 0.01; /* probability of a difference so large between equal runs */

/* Whether the page has anything for this tab. */
export function hasSeveralRuns() {
  return Boolean(document.getElementById("table-scaling") || document.getElementById("table-compared-summary"));
}

function rowsWhere(table, wanted) {
  return Array.from({ length: table.rows }, (_, row) => row).filter(wanted);
}

/* Whether equal runs hardly ever differ so much. */
function isCertain(table, row) {
  return table.number("significance", row) < SIGNIFICANT && table.number("difference", row) !== 0;
}

/* The change in a cell that is coloured if it is significant, and that says so without colour, too. */
function changeNode(table) {
  return (row) => {
    const difference = table.number("difference", row), certain = isCertain(table, row);
    const text = Number.isNaN(difference) ? table.text("difference", row) : (difference > 0 ? "+" : "") + difference.toFixed(6) + (certain ? " !" : "");
    return element("span", { class: certain ? (difference > 0 ? "grown" : "shrunk") : "" }, text);
  };
}

/* finder: leads from names to their contexts in the new run, which the other tabs show; or null. */
function changeColumns(table, names, finder) {
  const columns = gridColumns(table).filter((column) => names.includes(column.key));
  const named = columns.find((column) => column.key === "name"), contextId = contextOf(table, finder);
  if (named)
    named.node = (row, text) => contextAnchor(contextId(row), table.text("name", row), text, true);
  const difference = columns.find((column) => column.key === "difference");
  if (difference)
    difference.node = changeNode(table);
  return names.map((name) => columns.find((column) => column.key === name)).filter(Boolean);
}

/* What the marks mean, above a table that has some. */
function changeNote(table) {
  const marked = table?.has("significance") && rowsWhere(table, (row) => isCertain(table, row)).length;
  return marked ? element("p", { class: "note" },
    "The differences marked with ! are significant: equal runs differ so much in less than one of 100 cases.") : null;
}

function changeGrid(title, table, finder, { names = CHANGE_COLUMNS, rows = null } = {}) {
  const section = element("section", { class: "card wide" }, element("h2", {}, title), changeNote(table));
  if (!table || !table.rows) {
    section.append(element("p", {}, "There is nothing to compare."));
    return section;
  }
  const grid = new Grid({ label: title, columns: changeColumns(table, names, finder), rows: rows ?? rowsWhere(table, () => true) });
  section.append(grid.element);
  return section;
}

/* The compared top-down tree, with the way to the largest change unfolded. */
function changeTree(table) {
  const tree = new ContextTree("topdown", table, false);
  const changes = Float64Array.from(table.column("difference")?.numbers ?? [], (value) => Math.abs(value) || 0);
  for (const root of tree.roots)
    tree.openHotPath(root, changes, 0.5);
  return tree;
}

/* The same tree as an icicle and as a grid; what is chosen in the icicle is selected in the grid. */
function contextChanges(table) {
  if (!table || !table.rows)
    return null;
  const tree = changeTree(table), title = "Calling contexts: time";
  const grid = new Grid({ label: title, columns: changeColumns(table, CHANGE_COLUMNS, null), tree });
  const choose = (row) => {
    tree.reveal(row);
    grid.refresh();
    grid.select(row);
  };
  return element("section", { class: "card wide" }, element("h2", {}, title), changeNote(table),
    changeIcicle(table, tree, choose), grid.element);
}

/* Whether the change helped, in a sentence. */
function changeVerdict(summary) {
  const row = rowsWhere(summary, (at) => summary.text("section", at) === "run" && summary.text("item", at) === "elapsed")[0];
  const base = row === undefined ? NaN : summary.number("base", row), now = row === undefined ? NaN : summary.number("new", row);
  if (!(base > 0) || !(now > 0))
    return null;
  const change = 100 * (now - base) / base, probability = summary.number("significance", row);
  const chance = Number.isNaN(probability) ? "Whether this is chance is not known: it takes several runs of each (hpcrun-lite --repeat)." :
    probability < SIGNIFICANT ? "Equal runs differ so much in less than one of 100 cases." : "Equal runs can differ as much.";
  return element("p", { class: "verdict" }, `The new run took ${formatSeconds(now)}, the base ${formatSeconds(base)}: ` +
    `${change > 0 ? "+" : change < 0 ? "\u2212" : ""}${formatPercent(Math.abs(change))}. `, element("span", { class: "part" }, chance));
}

async function comparisonSections() {
  const [finder, summary, tree, flat, regions, parallelism, threads] = await Promise.all([loadContextFinder(),
    ...["summary", "topdown", "flat", "regions", "parallelism", "threads"].map((name) => loadTable("compared-" + name))]);
  if (!summary)
    return [];
  return [
    changeGrid("What has changed", summary, finder, { names: ["section", "item", "base", "new", "difference", "ratio", "significance"],
      rows: rowsWhere(summary, (row) => summary.text("base", row) !== "" || summary.text("new", row) !== "") }),
    changeGrid("Functions: time", flat, finder),
    contextChanges(tree),
    changeGrid("Regions and constructs", regions, finder, { names: ["kind", ...CHANGE_COLUMNS] }),
    changeGrid("Parallelism", parallelism, finder, { names: ["kind", ...CHANGE_COLUMNS] }),
    changeGrid("Threads: CPU time", threads, finder, { names: ["rank", "process", "thread", "base", "new", "difference", "ratio"] }),
  ];
}

function scalingPlot(table) {
  const runs = rowsWhere(table, (row) => table.text("kind", row) === "run" && table.number("threads", row) > 0);
  const pick = (name) => runs.map((row) => table.number(name, row)), threads = pick("threads"), least = Math.min(...threads);
  const shown = runs.map((row) => `${table.text("threads", row)} thread${table.number("threads", row) === 1 ? "" : "s"}: ${formatSeconds(table.number("elapsed_s", row))}, speedup ` +
    `${significant(table.number("speedup", row))}, efficiency ${formatPercent(100 * table.number("efficiency", row))}`);
  const forecast = rowsWhere(table, (row) => table.text("kind", row) === "estimate").length > 0;
  return element("section", { class: "card wide" }, element("h2", {}, "Speedup"),
    plotSpeedups({
      label: "Measured speedup over the number of threads", xTitle: "threads", yTitle: `speedup over ${least} thread${least === 1 ? "" : "s"}`,
      lines: [{ title: "ideal", kind: "ideal", x: threads, y: threads.map((count) => count / least) },
        { title: "forecast from the smallest run", kind: "dashed", x: threads, y: pick("forecast_base") },
        { title: "measured", x: threads, y: pick("speedup") }],
      points: runs.map((row) => ({ title: `${table.text("threads", row)} threads`, x: table.number("threads", row), y: table.number("speedup", row) })),
    }),
    element("p", { class: "note" }, forecast ? "Line: measured; dashed: forecast from the smallest run; grey: ideal." :
      "Line: measured; grey: ideal. There is no forecast: the program does not use more threads where more are asked for. " +
      "If it takes their number as an argument, write {N} there."),
    element("ul", {}, shown.map((text) => element("li", {}, text))));
}

function scalingGrid(table, kind, title, note, names) {
  const most = Math.max(...rowsWhere(table, (row) => table.text("kind", row) === "context").map((row) => table.number("threads", row)));
  const rows = rowsWhere(table, (row) => table.text("kind", row) === kind && (kind !== "context" || table.number("threads", row) === most));
  const columns = gridColumns(table).filter((column) => names.includes(column.key));
  if (!rows.length)
    return null;
  return element("section", { class: "card wide" }, element("h2", {}, title), element("p", { class: "note" }, note),
    new Grid({ label: title, rows, columns: names.map((name) => columns.find((column) => column.key === name)).filter(Boolean) }).element);
}

async function scalingSections() {
  const table = await loadTable("scaling");
  if (!table)
    return [];
  const losses = ["time_s", "loss_s", "inflation_s", "overhead_s", "lockwait_s", "idleness_s", "loss_pct"];
  return [
    scalingPlot(table),
    scalingGrid(table, "run", "Runs", "Each efficiency is a part of the one before it; work scaling: how much less the same work took on the smallest run.",
      ["threads", "runs", "elapsed_s", "speedup", "efficiency", "serial_fraction", "forecast_base", "forecast", "parallel_efficiency", "load_balance",
        "serialisation", "lock_waiting", "runtime_overhead", "work_scaling"]),
    scalingGrid(table, "context", "What contexts lose", "On the most threads. Loss: their time on all threads less that of the smallest run, and what it consists of.",
      ["threads", "name", ...losses, "context"]),
    scalingGrid(table, "estimate", "What it would cost on more threads", "Estimates: the loss goes on as between the two largest runs.",
      ["threads", "name", "elapsed_s", "speedup", "time_s", "loss_s", "loss_pct", "context"]),
  ];
}

export async function drawRuns(tab) {
  const sections = [...await scalingSections(), ...await comparisonSections()];
  const compared = await loadTable("compared-summary");
  const about = await loadTable("about"), text = (item) => rowsWhere(about, (row) => about.text("item", row) === item).map((row) => about.text("value", row));
  const base = text("base"), directories = text("directory");
  fill(tab, compared ? changeVerdict(compared) : null, element("p", { class: "note" }, base.length ? `New: ${directories.join(", ")}; base: ${base.join(", ")}. The other tabs show ${directories[0]}.`
    : `Runs: ${directories.join(", ")}. The other tabs show ${directories[directories.length - 1]}.`),
    element("div", { class: "cards" }, sections));
}
