/* The first tab: what limited the run, where its time went, and how well it was measured. */
import { copyButton } from "./copying.js";
import { capitalised, element, fileName, fill } from "./dom.js";
import { formatCount, formatPercent, formatSeconds, significant } from "./number_format.js";
import { loadTable } from "./table_data.js";
import { briefAnchor, loadContextFinder } from "./context_links.js";
import { categories, otherStates } from "./categories.js";
import { plotSpeedups } from "./plot.js";

/* The rows of the summary by section and item. */
export function summaryItems(table) {
  const sections = new Map();
  for (let row = 0; row < table.rows; row++) {
    const section = table.text("section", row);
    if (!sections.has(section))
      sections.set(section, []);
    sections.get(section).push({
      item: table.text("item", row), value: table.text("value", row), number: table.number("value", row),
      unit: table.text("unit", row), note: table.text("note", row),
    });
  }
  return {
    rows: (section) => sections.get(section) ?? [],
    number: (section, item) => (sections.get(section) ?? []).find((row) => row.item === item)?.number ?? NaN,
    text: (section, item) => (sections.get(section) ?? []).find((row) => row.item === item)?.value ?? "",
  };
}

/* The summary's items of the categories; the first one that it has. */
const categoryItems = {
  work: ["work"], overhead: ["overhead"], lock_wait: ["lock wait charged", "lock wait"], idle: ["idleness", "idle"],
  mpi: ["mpi"], device: ["device"], blocked: ["blocked"], core_wait: ["no core"], waiting_no_core: ["waiting for a thread without a core"], tool: ["tool"],
  unexplained: ["unexplained"],
};

const unexplained = { key: "unexplained", title: "Unexplained" };

/* The categories of the threads' time, with their seconds.  The first four are always shown, others where there is
 * any. */
function timeParts(items) {
  return [...categories, ...otherStates, unexplained].filter(({ key }) => categoryItems[key])
    .map((category) => ({ ...category,
      seconds: categoryItems[category.key].map((item) => items.number("categories", item)).find(Number.isFinite) ?? NaN }))
    .filter((part, i) => i < categories.length || part.seconds > 0);
}

function timeBar(parts, whole) {
  return element("div", { class: "bar", role: "img", "aria-label": "Where the threads' time went" }, parts.map(({ key, title, seconds }) => {
    const part = element("span", { class: "bar-part " + key, title: `${title}: ${formatSeconds(seconds)}` });
    part.style.width = (whole > 0 && seconds > 0 ? 100 * seconds / whole : 0) + "%";
    return part;
  }));
}

function figure(title, value, help) {
  return value ? element("div", { class: "figure", title: help ?? null }, element("dt", {}, title), element("dd", {}, value)) : null;
}

/* Whether OpenMP was seen, and how many threads the page names: OpenMP's, or all without it. */
export const hasOpenmp = (items) => items.text("categories", "threads x elapsed") !== "";
export const threadsInUse = (items) => items.number("run", hasOpenmp(items) ? "threads_max" : "threads");

function verdict(items) {
  return element("p", { class: "verdict" }, items.text("run", "verdict").replace(/(\d) (?=%|s\b)/g, "$1\u00a0"));
}

function figures(items) {
  const efficiency = items.number("efficiency", "parallel_efficiency");
  const parallelism = items.number("parallelism", "parallelism");
  return element("dl", { class: "figures" },
    figure("Elapsed", formatSeconds(items.number("run", "elapsed"))),
    figure("CPU time", formatSeconds(items.number("run", "cpu"))),
    figure("Threads", formatCount(threadsInUse(items)),
      hasOpenmp(items) ? "most OpenMP threads in use at once in a process" : "threads of all processes"),
    figure("Processes", items.number("run", "processes") > 1 ? formatCount(items.number("run", "processes")) : ""),
    figure("Parallel efficiency", Number.isFinite(efficiency) ? formatPercent(100 * efficiency) : "",
      "the part of the threads' time in which they do the program's work"),
    figure("Parallelism", Number.isFinite(parallelism) ? significant(parallelism) : "",
      "work / span: the speedup with any number of cores is at most this"),
    figure("Samples", formatCount(items.number("run", "samples"))),
    figure("Runtime", items.text("run", "runtime"), "the OpenMP runtime of the first process that has one"));
}

function timeUse(items) {
  const parts = timeParts(items), whole = items.number("categories", "threads x elapsed");
  const others = items.number("categories", "threads outside OpenMP") || 0;
  const further = items.number("categories", "further threads") || 0, basis = (whole || 0) + others + further;
  const sum = parts.reduce((total, part) => total + (part.seconds || 0), 0), all = Math.max(basis, sum);
  return element("section", { class: "card time-use" }, element("h2", {}, "Where the threads' time went"),
    sum > 0 || whole > 0 ? timeBar(parts, all) : null,
    element("ul", { class: "legend" }, parts.map(({ key, title, seconds }) => element("li", { class: key },
      element("span", { class: "swatch", "aria-hidden": "true" }), `${title} `,
      element("strong", {}, formatSeconds(seconds)), " ",
      all > 0 && Number.isFinite(seconds) ? formatPercent(100 * seconds / all) : ""))),
    whole > 0 ? element("p", { class: "note" }, `Of ${formatSeconds(basis)}: ${items.number("run", "processes") > 1 ? "of each process, " : ""}` +
      "the most threads in use \u00d7 elapsed time" + (further > 0 ? `, ${formatSeconds(further)} of further threads` : "") +
      (others > 0 ? `, and ${formatSeconds(others)} outside OpenMP` : "")) : null);
}

/* The title of a class of findings, such as "Parallel regions too small" of "region-overhead". */
function findingTitle(about, name) {
  const row = about ? about.find("name", name) : -1;
  return capitalised(row < 0 ? name : about.text("value", row));
}

/* "low: threads often had no core" */
function confidence(advice, row) {
  const reason = advice.text("confidence_reason", row);
  return advice.text("confidence", row) + (reason ? `: ${reason}` : "");
}

const shownFindings = 3; /* the others are folded */

const PLACE_LETTERS = 60;

/* The place of a finding, which leads to its context. */
function findingPlace(advice, row, finder) {
  const [name, file, line, kind] = ["name", "file", "line", "class"].map((column) => advice.text(column, row));
  const context = advice.text("context_id", row) || (finder?.find({ kind, name, file, line }) ?? "");
  if (!name)
    return null;
  const where = file ? element("span", { class: "file", title: file }, ` ${fileName(file)}${line ? ":" + line : ""}`) : null;
  return element("span", { class: "place" }, " in ", briefAnchor(context, name, PLACE_LETTERS), where);
}

/* What to change; the evidence is folded, and a command that the finding before has named is left out. */
function finding(advice, about, row, before, finder) {
  const gain = advice.number("gain_s", row), command = advice.text("command", row);
  const sure = advice.text("confidence", row) ? `Confidence ${confidence(advice, row)}. ` : "";
  return element("li", { class: "finding" },
    element("div", { class: "finding-head" },
      element("strong", {}, findingTitle(about, advice.text("class", row))), findingPlace(advice, row, finder),
      gain > 0 ? element("span", { class: "gain" },
        `${formatSeconds(gain)} shorter (${formatPercent(advice.number("gain_pct", row))}; ` +
        `${formatSeconds(advice.number("gain_low_s", row))} to ${formatSeconds(advice.number("gain_high_s", row))})`) : null),
    element("p", { class: "remedy" }, advice.text("remedy", row)),
    element("details", {}, element("summary", {}, "Evidence"), element("p", {}, advice.text("evidence", row)),
      sure ? element("p", { class: "note" }, sure, command === before ? null : element("code", {}, command)) : null));
}

/* A finding for a mail: its heading, and a line for each of its paragraphs. */
function findingText(one, number) {
  const words = (part) => part.textContent.replace(/\s+/g, " ").trim();
  const heading = [...one.querySelector(".finding-head").children].map(words).join(" ");
  return `${number}. ${heading}\n${[...one.querySelectorAll("p")].map((part) => `   ${words(part)}\n`).join("")}`;
}

/* What makes findings less certain, without the reason that the page's notice has told. */
function doubtText(text, unreliable) {
  const told = unreliable.some((reason) => reason.toLowerCase().startsWith(text.split(": ")[0].toLowerCase()));
  return told && text.includes(": ") ? capitalised(text.slice(text.indexOf(": ") + 2)) : text;
}

/* A list of what to change, one of what makes these findings less certain, and one of what they do not explain. */
function findings(advice, about, finder, unreliable) {
  const list = [], doubts = [], rests = [];
  let command = "";
  for (let row = 0; advice && row < advice.rows; row++) {
    if (advice.text("class", row) === "unfit") {
      doubts.push(element("li", { class: "finding" }, element("p", {}, doubtText(advice.text("evidence", row), unreliable))));
      continue;
    }
    if (advice.text("class", row) === "unexplained" || advice.text("class", row) === "other") {
      rests.push(element("li", {}, `${findingTitle(about, advice.text("class", row))}: ` +
        `${formatSeconds(advice.number("loss_s", row))}. ${advice.text("evidence", row)}`));
      continue;
    }
    list.push(finding(advice, about, row, command, finder));
    command = advice.text("command", row);
  }
  const texts = list.map((one, number) => findingText(one, number + 1)), more = list.splice(shownFindings);
  const changes = list.length ? element("section", { class: "card wide" },
    element("h2", {}, "What to change first", copyButton(() => texts.join("\n"))),
    element("ol", { class: "findings" }, list),
    more.length ? element("details", { class: "more" },
      element("summary", {}, more.length > 1 ? `${more.length} more findings` : "1 more finding"),
      element("ol", { class: "findings", start: shownFindings + 1 }, more)) : null) : null;
  const rest = rests.length ? element("section", { class: "card wide" },
    element("h2", {}, "Lost time that no finding explains"), element("ul", { class: "rests" }, rests)) : null;
  return { changes, doubts, rest };
}

/* What hpcrun-lite --try measured, beside what was forecast; nothing where nothing was tried. */
function tried(table) {
  const rows = [], seconds = (name, row) => formatSeconds(table.number(name, row));
  for (let row = 0; table && row < table.rows; row++)
    if (table.text("verdict", row))
      rows.push(element("tr", {}, element("td", {}, table.text("setting", row)),
        element("td", { class: "number" }, seconds("gain_s", row)),
        element("td", { class: "number" }, seconds("gain_low_s", row)),
        element("td", { class: "number" }, seconds("gain_high_s", row)),
        element("td", { class: "number" }, seconds("forecast_s", row)),
        element("td", {}, table.text("verdict", row))));
  return rows.length ? element("section", { class: "card wide" }, element("h2", {}, "What settings gained when they were tried"),
    element("table", { class: "plain" },
      element("tr", {}, ["Setting", "Gain", "from", "to", "Forecast", "Verdict"].map((title) => element("th", {}, title))), rows),
    element("p", { class: "note" }, "From runs without measurement; from, to: 95 % interval of the gain.")) : null;
}

function speedups(table, items, finder) {
  if (!table || !table.rows)
    return null;
  const cores = table.column("cores").numbers, column = (name) => table.column(name)?.numbers ?? [];
  const known = (name) => [...column(name)].findIndex((value) => Number.isFinite(value)), measured = known("speedup_measured");
  return element("section", { class: "card" }, element("h2", {}, "Speedup on more cores"),
    plotSpeedups({
      label: "Speedup over the number of cores", xTitle: "cores", yTitle: "speedup over one core",
      bands: [{ title: "between the bounds", x: cores, low: column("speedup_lower"), high: column("speedup_upper") }],
      lines: [{ title: "estimate", x: cores, y: column("speedup_estimate") },
        { title: "with scheduling costs", kind: "dashed", x: cores, y: column("speedup_burdened") },
        { title: "simulated from the task graph", kind: "dotted", x: cores, y: column("speedup_simulated") }],
      points: measured < 0 ? [] : [{ title: "this run", x: cores[measured], y: column("speedup_measured")[measured] }],
    }),
    element("p", { class: "note" }, ["Shaded: between the bounds. Line: estimate", known("speedup_burdened") < 0 ? "" : "; dashed: with scheduling costs",
      known("speedup_simulated") < 0 ? "" : "; dotted: simulated", measured < 0 ? "" : "; dot: this run", ". "].join(""), limits(items, finder)));
}

/* Names of what has most of the critical path, which lead to their contexts. */
function limits(items, finder) {
  const names = items.rows("parallelism").filter((row) => row.note === "own part of the critical path").map((row) => row.item);
  return names.length ? ["Most of the critical path: ", ...names.flatMap((name, i) =>
    [i ? ", " : "", briefAnchor(finder?.find({ name }) ?? "", name, PLACE_LETTERS)]), "."] : null;
}

/* "samples dropped" of one sample, "processes that were killed" of one process. */
function singular(item) {
  const words = { processes: "process", were: "was", run: "runs", their: "its" };
  return item.startsWith("processes") ? item.replace(/\b(processes|were|run|their)\b/g, (word) => words[word]) :
                                        item.replace(/^(\w+)s\b/, "$1");
}

const lostItems = (items) => items.rows("health").filter((row) => row.number > 0);

/* Whether the figures can be relied on: a line, or what makes them less certain, beside the page's notices. */
function reliability(items, doubts) {
  if (doubts.length)
    return element("section", { class: "doubts" }, element("h2", {}, "Less certain:"), element("ul", { class: "findings" }, doubts));
  if (items.rows("cores").some((row) => row.item === "unreliable"))
    return null;
  const lost = lostItems(items).length;
  const notes = lost ? `see "How well it was measured" for ${lost > 1 ? `${lost} remarks` : "a remark"}` : "nothing was lost";
  return element("p", { class: "note" }, `Nothing found makes these figures less certain; ${notes}.`);
}

function health(items, about) {
  const lost = lostItems(items);
  const reasons = new Map(); /* to the views that lack for it */
  for (let row = 0; about && row < about.rows; row++)
    if (about.text("item", row) === "missing")
      reasons.set(about.text("value", row), [...reasons.get(about.text("value", row)) ?? [], about.text("name", row)]);
  const missing = [...reasons].map(([reason, names]) => element("li", {}, `${names.join(", ")}: ${reason}`));
  return element("section", { class: "card" }, element("h2", {}, "How well it was measured"),
    lost.length ? element("ul", {}, lost.map((row) => element("li", {}, `${formatCount(row.number)} ${row.number === 1 ? singular(row.item) : row.item}`, row.note ? ` (${row.note})` : "")))
      : element("p", {}, "Nothing was lost."),
    items.rows("modules").length ? element("p", {}, "Without symbols: " + items.rows("modules").map((row) => `${row.item} (${formatSeconds(row.number)})`).join(", ")) : null,
    missing.length ? [element("h3", {}, "Not in this report"), element("ul", {}, missing)] : null);
}

function hottest(items, finder) {
  const rows = items.rows("hottest");
  return rows.length ? element("section", { class: "card" }, element("h2", {}, "Functions with the most work and overhead"),
    element("table", { class: "plain" }, rows.map((row) => element("tr", {}, element("td", { class: "number" }, formatSeconds(row.number)), element("td", {}, briefAnchor(finder?.find({ name: row.item }) ?? "", row.item, PLACE_LETTERS)))))) : null;
}

export async function drawSummary(tab) {
  const [summary, advice, trial, speedup, about, finder] =
    await Promise.all([...["summary", "advice", "try", "speedup", "about"].map(loadTable), loadContextFinder()]);
  if (!summary) {
    fill(tab, element("p", { class: "notice" }, "This report has no summary: see the messages of hpcprof-lite."));
    return;
  }
  const items = summaryItems(summary), unreliable = items.rows("cores").filter((row) => row.item === "unreliable").map((row) => row.value);
  const { changes, doubts, rest } = findings(advice, about, finder, unreliable);
  fill(tab, verdict(items), figures(items), reliability(items, doubts), timeUse(items), changes, rest, tried(trial),
    element("div", { class: "columns" }, speedups(speedup, items, finder), hottest(items, finder), health(items, about)));
  addEventListener("beforeprint", () => tab.querySelectorAll("details").forEach((one) => one.setAttribute("open", "")));
}
