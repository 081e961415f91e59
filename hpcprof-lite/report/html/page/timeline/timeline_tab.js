/* The timeline: lanes of threads, details of an interval, and tables of the chosen part. */
import { element, fill } from "../dom.js";
import { formatPercent, formatSeconds } from "../number_format.js";
import { loadTable } from "../table_data.js";
import { contextAnchor, loadContextFinder } from "../context_links.js";
import { changeState, onState, stateValue } from "../page_state.js";
import { formatRate } from "./counter_chart.js";
import { loadCounters } from "./counters.js";
import { deviceActions, loadDevices } from "./device_lanes.js";
import { colouring, colourings } from "./lane_colours.js";
import { LaneSums } from "./lane_sums.js";
import { LanesView, secondsText } from "./lanes_view.js";
import { loadMessages } from "./messages.js";
import { chosenRange, stateSums } from "./range_sums.js";
import { CounterTable, IntervalTable, markTable, phaseTable, RangeTables } from "./timeline_grids.js";
import { laneCategories, loadTrace } from "./trace_data.js";

const MOST_CULPRITS = 200000; /* intervals that are added up to tell who is to blame */

const KEYS =
  "Wheel or + and \u2212: zoom; drag: select a part; Shift and drag, Shift and wheel, a and d: move; Home: all. " +
  "Arrow keys: intervals and threads; Enter: show the interval, fold a group; " +
  "[ and ]: the part begins or ends with the interval; " +
  "r: select what is in sight; End or a double click: zoom to the part; Escape: clear the selection.";

/* The phases of all processes; the rows of their steps are left out. */
function readPhases(table) {
  const phases = [];
  for (let row = 0; table && row < table.rows; row++)
    if (table.text("step", row) === "")
      phases.push({
        number: table.text("phase", row),
        named: table.text("kind", row) === "user",
        title: table.text("name", row),
        context: table.text("context", row),
        contextId: table.text("context_id", row),
        from: Math.round(table.number("start_s", row) * 1e9),
        to: Math.round(table.number("end_s", row) * 1e9),
        efficiency: table.text("efficiency_pct", row),
        instances: table.number("instances", row),
        slowest: table.number("slowest", row),
        slowestFrom: Math.round(table.number("slowest_start_s", row) * 1e9),
        slowestTime: Math.round(table.number("slowest_s", row) * 1e9),
        process: table.text("process", row),
        rank: table.text("rank", row)
      });
  return phases;
}

/* What the program has marked; its phases are among the phases. */
function readMarks(table) {
  const marks = [];
  for (let row = 0; table && row < table.rows; row++)
    if (table.text("kind", row) === "mark")
      marks.push({
        name: table.text("name", row),
        at: Math.round(table.number("start_s", row) * 1e9),
        thread: table.text("thread", row),
        process: table.text("process", row),
        rank: table.text("rank", row)
      });
  return marks;
}

function legend(names) {
  return names.map((name) => {
    const swatch = element("span", { class: "swatch" + (name.gap ? " hatched" : "") });
    swatch.style.background = name.gap ? "" : `var(${name.colour})`;
    return element("li", {}, swatch, name.title);
  });
}

/* How long each other lane of the process ran what an interval waits for, meanwhile. */
function culprits(trace, lane, blame) {
  const found = [];
  let steps = 0;
  for (const other of trace.lanes) {
    if (other.process !== lane.process || other === lane || other.to <= blame.from || other.from >= blame.to)
      continue;
    let sum = 0;
    for (let at = trace.positionAt(other, blame.from);
         at < other.end && trace.starts[at] < blame.to && steps < MOST_CULPRITS; at++, steps++)
      if (blame.states[trace.states[at]])
        sum += Math.min(blame.to, trace.starts[at + 1]) - Math.max(blame.from, trace.starts[at]);
    if (sum > 0)
      found.push(`thread ${trace.title(other)} ${formatSeconds(sum / 1e9)}`);
  }
  return steps < MOST_CULPRITS ? found : [];
}

/* The path of a context, which leads to it; null without one. */
function contextPath(trace, id) {
  const place = trace.contexts.place(id), path = trace.contexts.path(id).join(" \u203a ");
  return path ? contextAnchor(String(id), path + (place ? ` (${place})` : "")) : null;
}

class TimelineTab {
  constructor(trace, phases, marks, { counters, messages, devices, finder }) {
    const named = phases.filter((phase) => phase.named);
    Object.assign(this, { trace, phases, marks, devices });
    this.wholeSums = stateSums(trace, trace.from, trace.end);
    this.categorySums = new LaneSums(trace, trace.categoryOf, laneCategories.length);
    this.lanes = new LanesView(trace, named.length ? named : phases, marks, {
      counters,
      categorySums: this.categorySums,
      messages,
      devices,
      onuse: (use) => this.#describeUse(use),
      onmessage: (message) => this.#describeMessage(message),
      oncounter: (counter, time, rate) => this.#describeCounter(counter, time, rate),
      onpoint: (position) => this.#describe(position),
      onselect: (position) => this.#select(position),
      onphase: (phase) => this.#describePhase(phase)
    });
    this.tables = new RangeTables(trace, this.categorySums,
      { onlane: (row) => this.#selectLane(trace.lanes[row]), finder });
    this.counters = counters.length ? new CounterTable(counters) : null;
    this.intervals = new IntervalTable(trace, (position) => this.lanes.select(position));
    this.legend = element("ul", { class: "legend lanes-legend" });
    this.details = element("dl", { class: "lane-details", "aria-live": "polite" });
    this.rangeText = element("span", { class: "range-text" });
    this.lane = trace.lanes[0];
  }

  start(tab) {
    const button = (text, action) => element("button", { type: "button", onclick: action }, text);
    const phaseSection = this.phases.length ?
      phaseTable(this.trace, this.phases, (phase) => this.lanes.choose(phase.from, phase.to)) :
      null;
    const markSection =
      this.marks.length ? markTable(this.trace, this.marks, (mark) => this.lanes.showTime(mark.at)) : null;
    this.colours = element("select", {
      id: "lane-colours",
      onchange: () => changeState({ colour: this.colours.value === "category" ? "" : this.colours.value }, true)
    },
      colourings.map(({ key, title }) => element("option", { value: key }, title)));
    const colourLabel = element("label", { for: "lane-colours"
    }, "Colour");
    fill(tab, this.#notice(),
      element("div", { class: "toolbar" }, colourLabel, this.colours, button("Zoom in", () => this.lanes.zoom(1 / 2)),
        button("Zoom out", () => this.lanes.zoom(2)), button("Show all", () => this.lanes.fit()),
        button("Zoom to selection", () => this.lanes.zoomToRange()),
        button("Clear selection", () => this.lanes.chooseNothing()), this.rangeText),
      this.lanes.element, this.legend, this.details,
      element("details", { class: "lanes-help" }, element("summary", {}, "Mouse and keyboard"),
        element("p", { class: "note", id: "lanes-keys" }, KEYS)),
      element("div", { class: "range-tables" }, phaseSection, markSection, this.counters?.element ?? null, this.tables.threads.element, this.tables.contexts.element,
        this.tables.constructs.element,
        element("div", { class: "screen-only" }, this.intervals.element)));
    for (const name of ["from", "to"])
      onState(name, () => this.#showRange());
    onState("colour", () => this.#colour());
    for (const name of ["lane", "at"])
      onState(name, this.restore ??= () => this.#restore());
    this.#colour();
    this.#describe(-1);
    this.#restore();
    this.#showRange();
  }

  #notice() {
    const { trace } = this, until = secondsText(trace.until);
    return trace.leftOut ? element("p", { class: "notice" },
                             `Only the first ${trace.count} intervals are in this report, until ${until} s: ` +
                               `it has no room for the other ${
                                 trace.leftOut}. For what follows, see hpcprof-lite --view timeline --from ${until}.`) :
                           null;
  }

  #colour() {
    const wanted = stateValue("colour"), key = colourings.some((known) => known.key === wanted) ? wanted : "category";
    const found = colouring(this.trace, key, this.wholeSums);
    this.colours.value = key;
    this.lanes.setColours(found.names,
      key === "category" ? this.categorySums : new LaneSums(this.trace, found.classOf, found.names.length));
    const used = new Set();
    for (let state = 0; state < this.trace.stateCount; state++)
      used.add(found.classOf[state]);
    fill(this.legend, legend(found.names.filter((_, number) => used.has(number))),
      this.devices.length ? legend(deviceActions) : null,
      this.trace.criticalKnown ?
        element("li", {}, element("span", { class: "swatch critical-mark" }), "Critical path") :
        null);
  }

  /* Selects the interval that the address names. */
  #restore() {
    const { trace } = this, [process, thread] = stateValue("lane").split(".");
    const lane = trace.lanes.find((candidate) => candidate.process === process && candidate.thread === thread);
    if (!lane)
      return;
    const position = trace.positionAt(lane, Math.round(Number(stateValue("at")) * 1e9));
    if (stateValue("at") && position >= 0 && position !== this.lanes.selected)
      this.lanes.select(position);
    else if (lane !== this.lane)
      this.#selectLane(lane);
  }

  #showRange() {
    const range = chosenRange(), { from, to } = range ?? { from: this.trace.from, to: this.trace.until };
    fill(this.rangeText,
      range ? `Selected: ${secondsText(from)} to ${secondsText(to)} s, ${formatSeconds((to - from) / 1e9)}` :
              "The whole run");
    this.counters?.show(from, to);
    this.tables.show(from, to);
    this.intervals.show(this.lane, from, to);
  }

  #select(position) {
    const lane = this.trace.laneOf(position);
    if (lane !== this.lane)
      this.#selectLane(lane);
    this.intervals.mark(position);
    this.#describe(position);
  }

  #selectLane(lane) {
    const { from, to } = chosenRange() ?? { from: this.trace.from, to: this.trace.until };
    this.lane = lane;
    this.intervals.show(lane, from, to);
  }

  #describePhase(phase) {
    if (!phase)
      return;
    this.#details([
      ["Phase", phase.named ? phase.title : `${phase.number}: ${phase.title}`], ["Begin", secondsText(phase.from) + " s"],
      ["Duration", formatSeconds((phase.to - phase.from) / 1e9)],
      ["Work", phase.efficiency ? formatPercent(Number(phase.efficiency)) : ""], 
      ["Worst context", phase.context ? contextAnchor(phase.contextId, phase.context) : ""]
    ]);
  }

  #describeCounter(counter, time, rate) {
    if (counter)
      this.#details([["Counter", counter.name], ["Time", secondsText(time) + " s"], ["Rate", formatRate(rate)]]);
  }

  /* Returns it in words. */
  #describeMessage({ from, to, sent, received, bytes, waited }) {
    const [first, last] = [from, to].map((lane) => this.trace.title(lane)), wait = formatSeconds(waited / 1e9);
    this.#details([
      ["Message", `from thread ${first} to thread ${last}`], ["Bytes", String(bytes)], ["Sent", secondsText(sent) + " s"],
      ["Received", secondsText(received) + " s"], ["Receiver waited", waited ? wait : "no"]
    ]);
    return `Message from thread ${first} to thread ${last}: ${bytes} bytes` +
      (waited ? `; its receiver waited ${wait}` : "");
  }

  /* Returns it in words. */
  #describeUse({ device, start, end, action, construct }) {
    const { constructs } = this.trace, { parent, bytes, executions } = constructs[construct];
    const named = ({ kind, name, place }) => [kind, name, place && `(${place})`].filter(Boolean).join(" ");
    const target = constructs[parent]?.kind.startsWith("target") ? named(constructs[parent]) : "";
    const size = bytes > 0 ? `${bytes} in ${executions} execution${executions === 1 ? "" : "s"} of this construct` : "";
    this.#details([
      ["Device", `${device.device}, ${device.source}`], ["Begin", secondsText(start) + " s"],
      ["Duration", formatSeconds((end - start) / 1e9)], ["What", device.whatOf(action)],
      ["Construct", named(constructs[construct])], ["Target", target], ["Bytes", size]
    ]);
    return [named(constructs[construct]), target && `in ${target}`, formatSeconds((end - start) / 1e9), size && `bytes: ${size}`]
      .filter(Boolean).join(", ");
  }

  #details(items) {
    const pair = ([title, text]) => element("div", {}, element("dt", {}, title), element("dd", {}, text));
    fill(this.details, items.filter(([, text]) => text).map(pair));
  }

  #describe(position) {
    const { trace } = this;
    if (position < 0) {
      this.#details([["Interval", "Point at a lane, or move through its intervals with the arrow keys."]]);
      return;
    }
    const at = trace.interval(position), lane = trace.laneOf(position), blame = this.lanes.blameOf(position, lane);
    this.#details([
      ["Thread", trace.title(lane)], ["Begin", secondsText(at.start) + " s"],
      ["Duration", formatSeconds((at.end - at.start) / 1e9)], ["Category", at.category.title],
      ["Construct", [at.kind, at.name, at.place && `(${at.place})`].filter(Boolean).join(" ")],
      ["Critical path", ["", "no", "yes"][at.critical + 1]], ["Context", contextPath(trace, at.context)],
      ["Waits for", contextPath(trace, at.waitFor)], ["To blame", blame ? culprits(trace, lane, blame).join(", ") : ""]
    ]);
  }
}

export async function drawTimeline(tab) {
  const [trace, phases, about] = [await loadTrace(), await loadTable("phases"), await loadTable("about")];
  if (trace) {
    const [counters, messages, devices, finder] =
      [await loadCounters(), await loadMessages(trace), await loadDevices(trace), await loadContextFinder()];
    new TimelineTab(trace, readPhases(phases), readMarks(await loadTable("marks")), { counters, messages, devices, finder })
      .start(tab);
    return;
  }
  const row = about ? about.find("name", "timeline") : -1;
  fill(tab,
    element("p", { class: "notice" },
      "This report has no timeline: " +
        (row < 0 ? "see the messages of hpcprof-lite." : about.text("value", row) + ".")));
}
