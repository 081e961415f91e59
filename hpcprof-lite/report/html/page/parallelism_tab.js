/* The tab of work and span: what limits the speedup on any number of cores, and what faster code would change. */
import { element, fill } from "./dom.js";
import { formatPercent, formatSeconds, significant } from "./number_format.js";
import { loadTable } from "./table_data.js";
import { briefAnchor, loadContextFinder } from "./context_links.js";
import { gridSection } from "./table_grid.js";

const FACTORS = [1, 1.25, 1.5, 2, 3, 4, 8, 16, 64, Infinity];
const CANDIDATES = 12, SLIDER_LETTERS = 34;

/* An amount of work in the unit of the run. */
function amountText(table, value) {
  const unit = table.text("unit", 0);
  return unit === "s" ? formatSeconds(value) : `${significant(value)} ${unit}`;
}

/* The recorded scenario with only that place and that factor, or -1. */
function recordedScenario(whatif, name, factor) {
  for (let row = 0; whatif && row < whatif.rows; row++)
    if (whatif.text("selector", row) === name && whatif.number("factor", row) === factor)
      return row;
  return -1;
}

/* The row of the program; a job of several ranks stands before it. */
function programRow(parallelism) {
  for (let row = 0; row < parallelism.rows; row++)
    if (parallelism.text("kind", row) === "program")
      return row;
  return 0;
}

/* What the span becomes if a place of the critical path runs `factor` times as fast.  Only its own part of the path
 * shrinks, and another path may become the longest: that is a lower bound of the span. */
function scenarioText(tables, place, factor) {
  const { parallelism, whatif } = tables, program = programRow(parallelism);
  const span = parallelism.number("span", program), work = parallelism.number("work", program);
  const exact = recordedScenario(whatif, place.name, factor);
  if (exact >= 0)
    return `Span ${amountText(parallelism, whatif.number("span", exact))} instead of ${amountText(parallelism, span)}, ` +
      `parallelism ${significant(whatif.number("parallelism", exact))}: ${whatif.text("note", exact)}.`;
  const least = span - place.critical * (1 - 1 / factor);
  return `Span at least ${amountText(parallelism, least)} instead of ${amountText(parallelism, span)}, ` +
    (least > 0 ? `parallelism at most ${significant(work / least)}: ` : "") + "a bound, as another path may become the longest.";
}

/* The functions with the largest own parts of the critical path. */
function criticalPlaces(flat) {
  if (!flat || !flat.has("critical_path_excl"))
    return [];
  const amounts = flat.column("critical_path_excl").numbers, places = [];
  for (let row = 0; row < flat.rows; row++)
    if (amounts[row] > 0 && !["root", "runtime"].includes(flat.text("kind", row))) /* what nobody can make faster */
      places.push({ name: flat.text("name", row), critical: amounts[row] });
  return places.sort((a, b) => b.critical - a.critical).slice(0, CANDIDATES);
}

function whatIfSliders(tables, finder) {
  const places = criticalPlaces(tables.flat), span = tables.parallelism.number("span", programRow(tables.parallelism));
  if (!places.length || !(span > 0))
    return null;
  return element("section", { class: "card wide" }, element("h2", {}, "What if it ran faster?"),
    element("p", { class: "note" }, "Functions on the critical path. The amount of work stays the same."),
    element("div", { class: "sliders" }, places.map((place, number) => {
      const result = element("output", { for: "factor-" + number });
      const factorName = element("span", { class: "factor" });
      const show = (step) => {
        const factor = FACTORS[step];
        fill(factorName, factor === Infinity ? "no time" : factor + " \u00d7");
        fill(result, factor === 1 ? `${formatPercent(100 * place.critical / span)} of the critical path` : scenarioText(tables, place, factor));
      };
      show(0);
      return element("div", { class: "slider" }, element("label", { for: "factor-" + number }, briefAnchor(finder?.find({ name: place.name }) ?? "", place.name, SLIDER_LETTERS)),
        element("input", {
          type: "range", id: "factor-" + number, min: 0, max: FACTORS.length - 1, value: 0,
          oninput: (event) => show(Number(event.target.value)),
        }), factorName, result);
    })));
}

/* The job of several ranks: its efficiencies, the ranks, and their calls of MPI. */
function mpiSections(finder, efficiency, ranks, calls) {
  const job = efficiency && efficiency.has("kind") && efficiency.rows && efficiency.text("kind", 0) === "job";
  return [
    job && gridSection({
      title: "Efficiencies of the job and its threads", table: efficiency,
      note: "Those of the kind job multiply: global = MPI \u00d7 OpenMP, MPI = load balance \u00d7 communication, " +
        "communication = serialisation \u00d7 transfer, where these are known. " +
        "Gain: by how much the run would be shorter without that loss, at most.",
    }),
    ranks && ranks.rows && gridSection({ title: "Ranks", table: ranks, note: "Times are sums over the threads of a rank." }),
    calls && calls.rows && gridSection({ title: "Calls of MPI", table: calls, finder, note: "Exact, of all ranks." }),
  ].filter(Boolean);
}

export async function drawParallelism(tab) {
  const [finder, parallelism, regions, whatif, flat, ...mpi] = await Promise.all([loadContextFinder(),
    ...["parallelism", "regions", "whatif", "flat", "efficiency", "ranks", "mpi"].map(loadTable)]);
  if (!parallelism || !parallelism.rows) {
    fill(tab, element("p", { class: "notice" }, "This run has no logical clocks: they need an OpenMP program and 'hpcrun-lite -p online', the default."),
      element("div", { class: "cards" }, mpiSections(finder, ...mpi)));
    return;
  }
  const doubt = parallelism.text("note", programRow(parallelism));
  fill(tab, element("div", { class: "cards" },
    gridSection({
      title: "Work, span and parallelism of each construct", table: parallelism, finder, regions,
      note: "Work: what the initial thread and threads of OpenMP did. Span: the longest chain of work in which each part " +
        "waits for the one before. Critical path: the construct's own part of the program's span." +
        (doubt ? ` Program: ${doubt}.` : ""),
    }),
    whatIfSliders({ parallelism, whatif, flat }, finder),
    mpiSections(finder, ...mpi),
    gridSection({ title: "Most rewarding changes", table: whatif, finder, missing: "No code has a part of the critical path worth a scenario." })));
}
