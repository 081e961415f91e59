/* The pane with all that is known of one context: its path, every cell of its row, its place, and its source lines. */
import { element, fill } from "../dom.js";
import { changeState } from "../page_state.js";
import { hasTable } from "../table_data.js";
import { loadTrace } from "../timeline/trace_data.js";
import { formatColumnSeconds, formatCount } from "../number_format.js";
import { metricLines, placeText } from "./context_columns.js";

const SOURCE_MOST = 400; /* lines that the pane shows */
const SOURCE_METRICS =
  [["work_s", "work"], ["overhead_s", "overhead"], ["lockwait_s", "lock wait"], ["idleness_s", "idle"]];

function shellQuoted(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'";
}

/* The directories that were reported, for a command line. */
function reportedDirectories(about) {
  const found = [];
  for (let row = 0; about && row < about.rows; row++)
    if (about.text("item", row) === "directory")
      found.push(shellQuoted(about.text("value", row)));
  return found.join(" ");
}

/* What --root names to show the row's source; "" if nothing does. */
function sourceSelector(tree, row) {
  const kind = tree.text("kind", row), place = placeText(tree.table, row), name = tree.text("name", row);
  if (kind === "function" || kind === "inlined")
    return place ? name : "";
  return place;
}

/* The row and its callers, from the outside in: paths go through regions and tasks to the code that created them. */
function pathRows(tree, row) {
  const path = [];
  for (let at = row; at >= 0; at = tree.parent(at))
    path.unshift(at);
  return path;
}

function pathList(tree, row, onrow) {
  const path = pathRows(tree, row);
  return element("ol",
    { class: "context-path", "aria-label": tree.exclusive ? "From the function to its callers" : "Calling path" },
    path.map((at) => element("li", {},
               at === row ? element("strong", {}, tree.text("name", at))
                          : element("button", { type: "button", class: "context-link", onclick: () => onrow(at) },
                              tree.text("name", at)))));
}

function metricTable(tree, row) {
  const lines = metricLines(tree, row), own = lines.some((line) => line.own);
  return element("table", { class: "context-metrics" },
    own ? element("tr", {}, element("td", {}), element("th", { scope: "col" }, "with calls"),
            element("th", { scope: "col" }, "itself"))
        : null,
    lines.map(
      (line) => element("tr", {}, element("th", { scope: "row" }, line.title),
        element("td", { class: "number" }, line.value), own ? element("td", { class: "number" }, line.own) : null)));
}

function allCells(tree, row) {
  const list = element("details", { class: "context-all-cells" }, element("summary", {}, "All cells of the row"));
  list.append(element("table", { class: "context-metrics" },
    tree.table.columns.map((column) => element("tr", {}, element("th", { scope: "row" }, column.name),
                             element("td", {}, tree.text(column.name, row))))));
  return list;
}

/* The rows of the source table that belong to a context: those of its function, or of the function around its line. */
function sourceRows(source, tree, row) {
  const file = tree.text("file", row), line = tree.text("line", row), name = tree.text("name", row), rows = [];
  let wanted = name, at = -1;
  for (let i = 0; i < source.rows && at < 0; i++)
    if (source.text("function", i) === name)
      at = i;
  for (let i = 0; i < source.rows && at < 0; i++)
    if (file && source.text("file", i) === file && source.text("line", i) === line) {
      wanted = source.text("function", i);
      at = i;
    }
  for (let i = 0; at >= 0 && i < source.rows; i++)
    if (source.text("function", i) === wanted && source.text("line", i))
      rows.push(i);
  return rows;
}

/* `indent`: characters at the begin that all lines share. */
function sourceLine(source, row, metrics, wanted, indent) {
  return element("tr", { class: source.text("line", row) === wanted ? "context-wanted" : null },
    element("th", { scope: "row" }, source.text("line", row)),
    metrics.map(([name]) => element("td", { class: "number" },
                  source.number(name, row) > 0 ? formatColumnSeconds(source.number(name, row)) : "")),
    element("td", { class: "code" }, source.text("text", row).slice(indent)));
}

function sourceLines(source, tree, row) {
  if (!source)
    return element(
      "p", { class: "note" }, "This report holds no source text: hpcprof-lite -f html --sources embeds it.");
  const rows = sourceRows(source, tree, row);
  if (!rows.length)
    return element("p", { class: "note" }, "No source line of this row has figures.");
  const metrics = SOURCE_METRICS.filter(([name]) => rows.some((at) => source.number(name, at) >= 0.0005));
  const lines = [], wanted = tree.text("line", row), texts = rows.map((at) => source.text("text", at)).filter(Boolean);
  const indent = texts.reduce((least, text) => Math.min(least, text.search(/\S|$/)), Infinity);
  let before = null, lineBefore = 0;
  for (const at of rows.slice(0, SOURCE_MOST)) {
    const file = source.text("file", at);
    if (file !== before)
      lines.push(element("tr", {}, element("th", { class: "context-source-file", colspan: metrics.length + 2 }, file)));
    else if (source.number("line", at) > lineBefore + 1)
      lines.push(element("tr", { class: "context-source-gap", "aria-hidden": "true" }, element("th", {}, "\u22ee"),
        element("td", { colspan: metrics.length + 1 })));
    before = file;
    lineBefore = source.number("line", at);
    lines.push(sourceLine(source, at, metrics, wanted, indent));
  }
  return element("div", { class: "context-source-scroller", tabindex: "0", role: "region", "aria-label": "Source lines" },
    element("table", { class: "context-source" },
      element("tr", {}, element("th", { scope: "col" }, "line"),
        metrics.map(([, title]) => element("th", { scope: "col" }, title)),
        element("th", { scope: "col" }, "source")),
      lines),
    rows.length > SOURCE_MOST
      ? element("p", { class: "note" }, `${formatCount(rows.length - SOURCE_MOST)} more lines have figures.`)
      : null);
}

function commandLine(tree, row, about) {
  const selector = sourceSelector(tree, row);
  if (!selector)
    return element("p", { class: "note" }, "Its source is not known.");
  return element("p", {},
    element("code", { class: "context-command" },
      `hpcprof-lite --view source --root ${shellQuoted(selector)} ${reportedDirectories(about)}`));
}

/* A button that selects the longest interval of a context, or of what it calls, in the timeline; null without one. */
function timelineButton(tree, row) {
  if (tree.name !== "topdown" || !hasTable("timeline"))
    return null;
  const said = element("span", { class: "note", role: "status" });
  const show = async () => {
    const trace = await loadTrace(), longest = trace ? trace.longestIn(Number(tree.text("id", row))) : -1;
    if (longest < 0) {
      fill(said, " No sample of it is in the timeline.");
      return;
    }
    const lane = trace.laneOf(longest);
    changeState({ tab: "timeline", lane: `${lane.process}.${lane.thread}`, at: (trace.starts[longest] / 1e9).toFixed(9) });
  };
  return element("p", {}, element("button", { type: "button", class: "context-timeline", onclick: show }, "Show in the timeline"), said);
}

/* The contents of the pane.  onrow(row): the reader chose a caller. */
export function contextDetails({ tree, row, about, source, onrow }) {
  if (row < 0)
    return [element("h2", {}, "Details"), element("p", { class: "note" }, "Select a row or a box.")];
  const place = placeText(tree.table, row), kind = tree.text("kind", row), contexts = tree.contexts(row);
  const module = tree.text("module", row);
  return [
    element("h2", { class: "context-name" }, tree.text("name", row)),
    element("p", { class: "note" }, kind, module ? ` in ${module}` : "",
      contexts > 1 ? `; the sum of ${contexts} contexts, because recursion is collapsed` : ""),
    place ? element("p", { class: "context-place" }, place) : null,
    metricTable(tree, row),
    timelineButton(tree, row),
    element("h3", {}, source ? "Source, in seconds" : "Source"),
    sourceSelector(tree, row) ? sourceLines(source, tree, row) : null,
    commandLine(tree, row, about),
    tree.parent(row) >= 0 ? element("h3", {}, tree.exclusive ? "Called from" : "Called through") : null,
    tree.parent(row) >= 0 ? pathList(tree, row, onrow) : null,
    allCells(tree, row),
  ];
}
