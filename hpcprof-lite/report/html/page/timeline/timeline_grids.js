/* The tables below the lanes: threads, contexts and constructs in the chosen part, phases, and the intervals of a
 * thread for those who cannot see lanes. */
import { element, fill } from "../dom.js";
import { callersThatDiffer, contextAnchor } from "../context_links.js";
import { Grid } from "../grid.js";
import { formatCount, formatMoment, formatSeconds } from "../number_format.js";
import { laneCategories } from "./trace_data.js";
import { constructTitle } from "./lane_colours.js";
import { chosenRange, constructSums, contextSums, inclusiveInRange, stateSums } from "./range_sums.js";
import { formatRate } from "./counter_chart.js";
import { secondsText } from "./lanes_view.js";

const MOST_INTERVALS = 100000; /* in the list of intervals: a table cannot be of any height */
const WORK = 0, OVERHEAD = 1, LOCK_WAIT = 2, IDLE = 3;

/* A column of times, each with its unit, from an array of rows that have ns. */
function timeColumn(key, title, help, ns) {
  const full = (row) => (ns(row) ? secondsText(ns(row)) + " s" : "");
  return { key, title, help, numeric: true, value: ns, full, text: (row) => (ns(row) ? formatSeconds(ns(row) / 1e9) : "") };
}

/* A column of moments since the start of the run. */
function momentColumn(key, title, ns) {
  return {
    key, title: title + " (s)", help: "Since the start of the run", numeric: true, value: ns,
    full: (row) => secondsText(ns(row)) + " s", text: (row) => formatMoment(ns(row) / 1e9)
  };
}

function textColumnOfRange(key, title, text, wide = false) {
  return { key, title, text, value: text, wide };
}

/* A column of contexts, which leads to them. */
function nameOfContext(key, title, trace, id, wide) {
  const name = (row) => trace.contexts.name(id(row));
  return {
    ...textColumnOfRange(key, title, name, wide), symbol: true,
    node: (row, text) => contextAnchor(name(row) ? String(id(row)) : "", name(row), text, true)
  };
}

/* Shows other rows, for which the columns may have to be wider. */
function showRows(grid, rows) {
  grid.setColumns(grid.columns, rows);
}

function total(ns) {
  return ns.reduce((sum, amount) => sum + amount, 0);
}

/* A column for each category that the trace has.  ns(row): an amount for each of laneCategories. */
function categoryColumns(trace, ns) {
  return laneCategories.filter((_, number) => trace.categoryOf.includes(number))
    .map((category) => timeColumn(category.key, category.title, `Time of the category ${category.title}`,
           (row) => ns(row)[laneCategories.indexOf(category)]));
}

/* A heading with the part of the run, a note and a grid. */
function section(title, grid) {
  const note = element("p", { class: "note" }), part = element("span", { class: "part" });
  return { element: element("section", { class: "card" }, element("h2", {}, title, part), note, grid.element), note, grid, part };
}

/* Tells beside headings which part of the run they are about. */
function namePart({ part }) {
  const range = chosenRange();
  fill(part, range ? ` from ${formatMoment(range.from / 1e9)} to ${formatMoment(range.to / 1e9)} s` : " in the whole run");
}

/* The time of each construct in a part. */
export class ConstructTable {
  constructor(trace, label, finder) {
    const row = (number) => this.rows[number];
    Object.assign(this, { trace, rows: [] });
    const context = ({ kind, name, place }) => finder?.find({ kind, name, file: place.split(":")[0], line: place.split(":")[1] }) ?? "";
    this.section = section("Constructs", new Grid({
      label,
      columns: [
        {
          ...textColumnOfRange("construct", "Construct", (number) => row(number).title, true),
          node: (number, text) => contextAnchor(row(number).construct ? context(row(number).construct) : "", row(number).title, text, true)
        },
        ...categoryColumns(trace, (number) => row(number).ns),
        timeColumn("total", "Total", "All categories", (number) => total(row(number).ns))
      ]
    }));
    this.element = this.section.element;
  }

  /* `sums`: the time in each state. */
  show(sums) {
    const { trace, section: { grid, note } } = this;
    this.rows = [...constructSums(trace, sums)]
                  .map(([number, ns]) => ({ number, ns, title: constructTitle(trace, number),
                    construct: number ? trace.constructs.find((known) => known.number === number) : null }))
                  .sort((a, b) => total(b.ns) - total(a.ns));
    showRows(grid, this.rows.map((_, i) => i));
    fill(note, this.rows.length ? "The time of all threads, by the innermost construct." :
                                  "No thread was in a construct in this part.");
    grid.element.hidden = !this.rows.length;
    namePart(this.section);
  }
}

/* What was counted in a part. */
export class CounterTable {
  constructor(counters) {
    const row = (number) => this.rows[number];
    Object.assign(this, { counters, rows: [] });
    this.section = section("Counters", new Grid({
      label: "Counters in the chosen part",
      columns: [
        textColumnOfRange("counter", "Counter", (number) => row(number).name, true),
        textColumnOfRange("kind", "Counted by", (number) => row(number).event ? "-c" : "the program"),
        { key: "count", title: "Count", help: "Of all threads", numeric: true,
          value: (number) => row(number).count, text: (number) => formatCount(row(number).count) },
        { key: "mean", title: "Mean rate", help: "A second", numeric: true,
          value: (number) => row(number).mean, text: (number) => formatRate(row(number).mean) },
        { key: "highest", title: "Highest rate", help: "In a 400th of the part", numeric: true,
          value: (number) => row(number).highest, text: (number) => formatRate(row(number).highest) }
      ]
    }));
    this.element = this.section.element;
    fill(this.section.note, "Of all threads together. Where the part ends between two readings of an event's counter, " +
      "what was counted between them is divided by time.");
  }

  show(from, to) {
    this.rows = this.counters.map((counter) => {
      const count = counter.between(from, to);
      return { name: counter.name, event: counter.event, count, mean: to > from ? count / (to - from) * 1e9 : 0,
        highest: to > from ? counter.rates(from, to, 400).reduce((most, rate) => Math.max(most, rate), 0) : 0 };
    });
    showRows(this.section.grid, this.rows.map((_, i) => i));
    namePart(this.section);
  }
}

/* Sections whose rows change with the part. */
export class RangeTables {
  constructor(trace, sums, { onlane, finder }) {
    Object.assign(this, { trace, sums });
    this.threadRows = trace.lanes.map(() => new Float64Array(laneCategories.length));
    this.threads = section("Threads", new Grid({
      label: "Time of each thread in the chosen part",
      onselect: onlane,
      columns: [
        textColumnOfRange("thread", "Thread", (row) => trace.title(trace.lanes[row])),
        ...categoryColumns(trace, (row) => this.threadRows[row]),
        timeColumn("total", "Total", "All categories", (row) => total(this.threadRows[row]))
      ]
    }));
    this.contextRows = [];
    const context = (row) => this.contextRows[row];
    this.contexts = section("Contexts", new Grid({
      label: "Contexts with most time in the chosen part",
      columns: [
        {
          ...textColumnOfRange("name", "Context", (row) => context(row).name, true), symbol: true,
          aside: (row) => context(row).aside,
          node: (row, text) => contextAnchor(String(context(row).id), context(row).name, text, true)
        },
        textColumnOfRange("place", "Place", (row) => context(row).place),
        timeColumn("work", "Work", "Work of the context itself", (row) => context(row).ns[WORK]),
        timeColumn(
          "work_incl", "Work incl.", "Work of the context and of what it calls", (row) => context(row).workBelow),
        timeColumn("overhead", "Overhead", "Overhead of the context itself", (row) => context(row).ns[OVERHEAD]),
        timeColumn("idle", "Idle caused", "Idleness of threads that this context is to blame for",
          (row) => context(row).ns[IDLE]),
        timeColumn("lock_wait", "Lock wait caused", "Lock waiting that this context is to blame for",
          (row) => context(row).ns[LOCK_WAIT])
      ]
    }));
    this.constructs = new ConstructTable(trace, "Constructs with most time in the chosen part", finder);
    this.ids = trace.contexts.table?.column("id").numbers ?? [];
    this.parents = trace.contexts.table?.column("parent_id").numbers ?? [];
  }

  show(from, to) {
    const { trace } = this, sums = stateSums(trace, from, to);
    this.threadRows = trace.lanes.map((lane) => this.sums.between(lane, from, to).slice(0, laneCategories.length));
    showRows(this.threads.grid,
      trace.lanes.map((_, i) => i).filter((i) => trace.lanes[i].to > from && trace.lanes[i].from < to));
    const contexts = contextSums(trace, sums), below = inclusiveInRange(contexts, this.ids, this.parents, WORK);
    this.contextRows = [...contexts]
                         .map(([id, ns]) => ({
                           id,
                           ns,
                           name: trace.contexts.name(id),
                           place: trace.contexts.place(id) || trace.contexts.caller(id),
                           workBelow: below[trace.contexts.rowOf(id)]
                         }))
                         .sort((a, b) => total(b.ns) - total(a.ns));
    const asides = callersThatDiffer(this.contextRows.map(({ name, place }) => `${name} ${place}`),
      (i) => trace.contexts.path(this.contextRows[i].id).reverse().slice(1));
    this.contextRows.forEach((row, i) => { row.aside = asides[i]; });
    showRows(this.contexts.grid, this.contextRows.map((_, i) => i));
    this.constructs.show(sums);
    fill(this.threads.note, "The time of each category.");
    fill(this.contexts.note, this.contextRows.length ?
        "The time of the context itself, and that of others that waited for it. Contexts come from samples: time in which " +
          "none was taken is in no row." :
        "No sample was taken in this part.");
    this.contexts.grid.element.hidden = !this.contextRows.length;
    [this.threads, this.contexts].forEach(namePart);
  }
}

/* The phases, and below each that is repeated its slowest repetition. */
function phaseRows(phases) {
  return phases.flatMap((phase) => (phase.instances > 1 && phase.slowestTime > 0 ? [
    phase, {
      ...phase,
      title: `slowest of ${phase.instances} repetitions: number ${phase.slowest}`,
      indent: true,
      from: phase.slowestFrom,
      to: phase.slowestFrom + phase.slowestTime,
      efficiency: "",
      context: "",
      contextId: ""
    }
  ] : [phase]));
}

export function phaseTable(trace, allPhases, onselect) {
  const phases = phaseRows(allPhases), phase = (row) => phases[row], several = phases.some((other) => other.process !== phases[0].process);
  const processOf = (row) => trace.processTitle(phase(row));
  const made = section("Phases", new Grid({
    label: "Phases",
    rows: phases.map((_, i) => i),
    onselect: (row) => onselect(phase(row)),
    columns: [
      ...(several ? [textColumnOfRange("process", "Process", processOf)] : []), {
        key: "phase",
        title: "No",
        text: (row) => phase(row).number,
        value: (row) => Number(phase(row).number),
        numeric: true
      },
      textColumnOfRange("name", "Phase", (row) => (phase(row).indent ? "\u2514 " : "") + phase(row).title, true),
      momentColumn("start", "Start", (row) => phase(row).from),
      timeColumn("time", "Time", "How long it lasted", (row) => phase(row).to - phase(row).from), {
        key: "work",
        title: "Work %",
        help: "Work in percent of all threads' time in the phase: its parallel efficiency",
        text: (row) => (phase(row).efficiency ? Number(phase(row).efficiency).toFixed(1) : ""),
        value: (row) => Number(phase(row).efficiency || NaN),
        numeric: true
      },
      {
        ...textColumnOfRange("context", "Worst context", (row) => phase(row).context), symbol: true,
        node: (row, text) => contextAnchor(phase(row).contextId, phase(row).context, text, true)
      }
    ]
  }));
  fill(made.note, "Arrow keys or a click select the phase's part of the run, or that of the slowest repetition.");
  return made.element;
}

/* What the program has marked. */
export function markTable(trace, marks, onselect) {
  const several = marks.some((other) => other.process !== marks[0].process);
  const made = section("Marks", new Grid({
    label: "Marks",
    rows: marks.map((_, i) => i),
    onselect: (row) => onselect(marks[row]),
    columns: [
      ...(several ? [textColumnOfRange("process", "Process", (row) => trace.processTitle(marks[row]))] : []),
      textColumnOfRange("name", "Mark", (row) => marks[row].name, true),
      momentColumn("start", "Start", (row) => marks[row].at),
      textColumnOfRange("thread", "Thread", (row) => marks[row].thread)
    ]
  }));
  fill(made.note, "Set by the program. Arrow keys or a click bring the mark into sight.");
  return made.element;
}

/* The intervals of one thread. */
export class IntervalTable {
  constructor(trace, onselect) {
    this.trace = trace;
    const at = (position) => trace.interval(position);
    this.section = section("Intervals of a thread", new Grid({
      label: "Intervals of the selected thread in the chosen part",
      onselect,
      columns: [
        momentColumn("start_s", "Begin", (row) => at(row).start),
        timeColumn("duration", "Duration", "How long it lasted", (row) => at(row).end - at(row).start),
        textColumnOfRange("category", "Category", (row) => at(row).category.title),
        textColumnOfRange(
          "construct", "Construct", (row) => [at(row).kind, at(row).place || at(row).name].filter(Boolean).join(" ")),
        nameOfContext("context", "Context", trace, (row) => at(row).context, true),
        nameOfContext("wait_for", "Waits for", trace, (row) => at(row).waitFor),
        ...(
          trace.criticalKnown ? [textColumnOfRange("critical", "Critical", (row) => (at(row).critical > 0 ? "yes" : ""))] : [])
      ]
    }));
    this.element = this.section.element;
  }

  show(lane, from, to) {
    const { trace } = this, rows = [];
    let position = trace.positionAt(lane, from), count = 0;
    for (; position >= 0 && position < lane.end && trace.starts[position] < to && lane.to > from; position++, count++)
      if (count < MOST_INTERVALS)
        rows.push(position);
    showRows(this.section.grid, rows);
    fill(this.section.note,
      `Thread ${trace.title(lane)}: ${count} intervals` +
        (count > rows.length ? `, of which the first ${rows.length} are listed; choose a shorter part for the others.` :
                               "."));
    namePart(this.section);
  }

  mark(position) {
    this.section.grid.select(position, false);
  }
}
