/* The tab of grains: the graph of the run, groups of grains with their problems, and single grains. */
import { element, fileName, fill, styleValue, svgElement } from "../dom.js";
import { contextAnchor, loadContextFinder } from "../context_links.js";
import { formatCount, formatSeconds, significant } from "../number_format.js";
import { loadDocument, loadTable } from "../table_data.js";
import { Grid } from "../grid.js";
import { gridSection, columnTitle } from "../table_grid.js";
import { layoutGraph } from "./graph_layout.js";
import { alikeGrains, foldGraph } from "./graph_folding.js";
import { GraphCanvas } from "./graph_canvas.js";

const PIXELS = 64; /* of a unit of width and height in the graph */
const PROBLEMS = ["parallel_benefit", "instantaneous_parallelism", "scatter", "memory_utilisation", "work_deviation", "load_balance"];

function nodeColour(node, problem) {
  if (node.kind !== "grain")
    return styleValue("--raised");
  const has = problem ? (node.problems ?? "").split(" ").includes(problem) : Boolean(node.problems);
  return styleValue(has ? "--problem" : "--grain");
}

function nodeTitle(node) {
  if (node.members)
    return `${node.members.length} \u00d7 ${node.construct} ${node.name}`;
  return node.grains > 1 ? `${formatCount(node.grains)} grains of ${node.construct} ${node.name}` : `${node.construct ?? node.kind} ${node.name ?? ""}`;
}

/* All that is known of a node, as a list; its title leads to the context of its construct. */
function nodeDetails(node, finder) {
  if (!node)
    return element("p", { class: "note" }, "Choose a node to see its figures.");
  const hidden = new Set(["id", "width", "height", "r", "g", "b", "x", "y", "layer", "label", "number", "members"]);
  const known = Object.entries(node).filter(([name, value]) => !hidden.has(name) && value !== null && value !== "" && value !== undefined);
  const context = finder && node.construct ? finder.find({ ...node, kind: node.construct }) : "";
  return [element("h3", {}, contextAnchor(context, nodeTitle(node))), element("dl", { class: "details" }, known.map(([name, value]) =>
    [element("dt", {}, columnTitle(name)), element("dd", {}, typeof value === "number" && !Number.isInteger(value) ? significant(value) : String(value))]))];
}

class GraphSection {
  constructor(graph, finder) {
    this.graph = graph;
    this.groups = alikeGrains(graph.nodes, graph.edges);
    this.unfolded = new Set();
    this.details = element("aside", { class: "graph-details" });
    this.problem = element("select", { id: "graph-problem", onchange: () => this.canvas.draw() },
      element("option", { value: "" }, "any problem"), PROBLEMS.map((name) => element("option", { value: name }, columnTitle(name))));
    this.canvas = new GraphCanvas({
      label: nodeTitle, colour: (node) => nodeColour(node, this.problem.value),
      onselect: (node) => fill(this.details, nodeDetails(node, finder)), onopen: (node) => this.#unfold(node),
    });
    this.element = element("section", { class: "card wide" }, element("h2", {}, "Grain graph"),
      element("p", { class: "note" }, graph.note + ". Time flows downwards; the critical path has thick edges."),
      element("div", { class: "toolbar" },
        element("label", { for: "graph-problem" }, "Highlight "), this.problem,
        element("button", { onclick: () => this.canvas.zoom(1.25) }, "Zoom in"), element("button", { onclick: () => this.canvas.zoom(0.8) }, "Zoom out"),
        element("button", { onclick: () => this.canvas.fit() }, "Fit"),
        this.groups.length ? element("button", { onclick: () => this.#foldAll() }, "Fold alike grains") : null,
        this.groups.length ? element("button", { onclick: () => this.#unfoldAll() }, "Unfold all") : null),
      element("div", { class: "graph-area" }, this.canvas.element, this.details));
    fill(this.details, nodeDetails(null, finder));
    this.#layout();
  }

  #layout() {
    const folded = foldGraph(this.graph.nodes, this.graph.edges, this.groups.filter((group) => !this.unfolded.has(group[0])));
    for (const node of folded.nodes) {
      node.width = Math.max(node.width * PIXELS, 10);
      node.height = Math.max(node.height * PIXELS, 10);
    }
    const size = layoutGraph(folded.nodes, folded.edges.map((edge) => [edge.from, edge.to]));
    this.canvas.setGraph(folded.nodes, folded.edges, size);
  }

  #unfold(node) {
    if (!node.members)
      return;
    this.unfolded.add(node.members[0]);
    this.#layout();
  }

  #foldAll() {
    this.unfolded.clear();
    this.#layout();
  }

  #unfoldAll() {
    this.groups.forEach((group) => this.unfolded.add(group[0]));
    this.#layout();
  }
}

/* How many grains could run at once, over the longest chain. */
function curveSection(curve) {
  const width = 720, height = 180, left = 48, bottom = 26, top = 8;
  const most = Math.max(1, ...curve.map((part) => part.most));
  const x = (part) => left + part / curve.length * (width - left - 8);
  const y = (value) => height - bottom - (value > 0 ? Math.log2(value) + 1 : 0) / (Math.log2(most) + 1) * (height - top - bottom);
  const steps = (name) => curve.map((part, i) => `${i ? "L" : "M"}${x(i).toFixed(1)} ${y(part[name]).toFixed(1)}L${x(i + 1).toFixed(1)} ${y(part[name]).toFixed(1)}`).join("");
  const ticks = [1, 2, 4, 8, 16, 64, 256, 1024, 4096, 65536, 1048576].filter((value) => value <= most);
  return element("section", { class: "card wide" }, element("h2", {}, "How many grains could run at once"),
    element("p", { class: "note" }, "On unlimited cores, from the begin to the end of the longest chain; upper line: grains that run in that part, lower line: grains that run through all of it."),
    svgElement("svg", { class: "curve", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Instantaneous parallelism" },
      ticks.map((value) => [svgElement("line", { class: "plot-grid", x1: left, x2: width - 8, y1: y(value), y2: y(value) }),
        svgElement("text", { class: "plot-tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, String(value))]).flat(),
      svgElement("path", { class: "plot-band", d: steps("most") + `L${x(curve.length)} ${y(0)}L${x(0)} ${y(0)}Z` }),
      svgElement("path", { class: "plot-line", d: steps("most") }), svgElement("path", { class: "plot-line dashed", d: steps("least") }),
      svgElement("text", { class: "plot-title", x: (left + width) / 2, y: height - 6, "text-anchor": "middle" }, "begin \u2192 end of the longest chain")));
}

/* What tells where the constructs in columns of names are. */
const GROUP_PLACES = { name: ["construct", "file", "line"], creator_name: ["creator", "creator_file", "creator_line"] };

/* The context of the construct that a group's column names; "" if it is not known. */
function groupContext(group, name, finder) {
  const [kind, file, line] = GROUP_PLACES[name].map((key) => group[key] ?? ""), own = name === "name" ? group.context_id : null;
  return String(own ?? finder?.find({ kind, name: group[name] ?? "", file, line }) ?? "");
}

/* Groups of grains: rows of the JSON document. */
function groupsSection(groups, finder) {
  const names = groups.columns.filter((name) => name !== "context_id" && groups.rows.some((row) => row[name] !== null && row[name] !== 0 && row[name] !== ""));
  const grid = new Grid({
    label: "Groups of grains", rows: groups.rows.map((_, row) => row),
    columns: names.map((name) => {
      const numeric = groups.rows.some((row) => typeof row[name] === "number");
      const value = (row) => groups.rows[row][name] ?? (numeric ? NaN : ""), symbol = name in GROUP_PLACES, path = name.endsWith("file");
      const whole = (row) => (numeric && Number.isNaN(value(row)) ? "" : name.endsWith("_s") ? formatSeconds(value(row)) : String(value(row)));
      return {
        key: name, title: columnTitle(name).replace(" (s)", ""), numeric, wide: name === "name", value, symbol,
        text: (row) => (path ? fileName(whole(row)) : whole(row)), full: path ? whole : null,
        node: symbol ? (row, text) => contextAnchor(groupContext(groups.rows[row], name, finder), whole(row), text, true) : null,
      };
    }),
  });
  return element("section", { class: "card wide" }, element("h2", {}, "Groups of grains"),
    element("p", { class: "note" }, "Grains by the construct that created them; the last columns count those with each problem."), grid.element);
}

export async function drawGrains(tab) {
  const [graph, groups, grains, about, finder] =
    await Promise.all([loadDocument("grain-graph"), loadDocument("grain-groups"), loadTable("grains"), loadTable("about"), loadContextFinder()]);
  const reason = (name) => {
    for (let row = 0; about && row < about.rows; row++)
      if (about.text("item", row) === "missing" && about.text("name", row) === name)
        return about.text("value", row);
    return "There are no grains.";
  };
  if (!groups?.rows.length) {
    fill(tab, element("p", { class: "notice" }, reason("grain-groups")));
    return;
  }
  fill(tab, element("div", { class: "cards" },
    graph && graph.nodes.length ? new GraphSection(graph, finder).element : element("p", { class: "notice" }, reason("grain-graph")),
    groups.curve ? curveSection(groups.curve) : null, groupsSection(groups, finder),
    gridSection({ title: "Single grains", table: grains, missing: reason("grains"), hidden: ["context_id"], finder })));
}
