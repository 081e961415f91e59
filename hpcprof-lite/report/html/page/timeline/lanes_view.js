/* The lanes of the timeline, and how one moves in them by mouse and keyboard. */
import { element, fill } from "../dom.js";
import { changeState, onState, stateValue } from "../page_state.js";
import { LANE_HEIGHT, AxisCanvas, LaneCanvas } from "./lane_canvas.js";
import { CounterChart } from "./counter_chart.js";
import { LaneRows } from "./lane_rows.js";
import { isPrinting, onLook } from "../printing.js";
import { Messages } from "./messages.js";
import { chosenRange } from "./range_sums.js";

const SHORTEST = 1000, STEP = 1.25; /* ns that are shown at least; factor of a step of the zoom */
const ROWS_IN_SIGHT = 18, PRINTED_ROWS = 40;
const DRAG = 4;                     /* pixels; less is a click */

export function secondsText(ns) {
  return (ns / 1e9).toFixed(9);
}

/* counters: see counters.js; oncounter(counter, time, rate): the one that is pointed at, or null.
 * categorySums: the LaneSums of the categories.  messages: see messages.js, or null; onmessage(message): the one that is pointed at.
 * devices: see device_lanes.js; onuse(use): the use of a device that is pointed at, returns it in words.
 * onpoint(position): the interval that is pointed at, or -1; onselect(position): the one that is selected. */
export class LanesView {
  constructor(trace, phases, marks, { counters, categorySums, messages, devices, onpoint, onselect, onuse, oncounter, onphase, onmessage }) {
    this.chart = counters.length ?
      new CounterChart(counters, { onpoint: oncounter, onwheel: (event) => this.#wheel(event) }) : null;
    Object.assign(this, { trace, phases, marks, messages, onpoint, onselect, onuse, onphase, onmessage });
    this.rows = new LaneRows(trace, categorySums, devices);
    this.rows.foldsText = stateValue("folds");
    this.lines = [];   /* of messages, that are drawn */
    this.message = -1; /* the one that is pointed at */
    this.view = { from: trace.from, to: trace.until };
    this.selected = -1; /* position of an interval */
    this.use = null;    /* of a device, that is pointed at */
    this.row = 0;       /* place of the row in which the selection is */
    this.blame = { of: -1, found: null };
    this.#build();
    onState("from", () => this.draw());
    onState("to", () => this.draw());
    onState("view", () => {
      this.#readView();
      this.draw();
    });
    onState("folds", () => {
      this.rows.foldsText = stateValue("folds");
      this.row = Math.min(this.row, this.rows.shown.length - 1);
      this.#layOut();
      this.draw();
    });
    this.#readView();
    onLook(() => {
      this.#layOut();
      this.setColours(this.names, this.sums);
      this.drawNow();
    });
  }

  #build() {
    this.axis = new AxisCanvas(element("canvas", {
      class: this.marks.length ? "lanes-axis with-marks" : "lanes-axis",
      "aria-hidden": "true"
    }));
    this.canvas = new LaneCanvas(element("canvas", { class: "lanes-canvas", "aria-hidden": "true" }));
    this.corner = element("div", { class: "lanes-corner" }, "Phases");
    this.labels = element("div", { class: "lanes-labels", onclick: (event) => this.#clickLabel(event) });
    this.inner = element("div", { class: "lanes-inner" }, this.labels, this.canvas.canvas);
    this.scroller = element("div", {
      class: "lanes-scroller",
      tabindex: "0",
      role: "application",
      "aria-label": "Lanes of the threads",
      "aria-describedby": "lanes-keys",
      onscroll: () => this.draw(),
      onkeydown: (event) => this.#key(event),
    },
      this.inner);
    this.element = element(
      "div", { class: "lanes" }, element("div", { class: "lanes-head" }, this.corner, this.axis.canvas), this.scroller,
      this.messages ? this.messageNote = element("p", { class: "lanes-messages" }) : null, this.chart?.element ?? null);
    const canvas = this.canvas.canvas;
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#moved(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointercancel", () => this.#letGo());
    canvas.addEventListener("pointerleave", () => {
      this.message = -1;
      this.#pointUse(null);
      this.#point(-1);
    });
    canvas.addEventListener("dblclick", () => this.zoomToRange());
    this.axis.canvas.addEventListener("click", (event) => this.#clickPhase(event));
    this.axis.canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.axis.canvas.addEventListener("pointermove", (event) => this.#pointPhase(event));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.#layOut();
  }

  setColours(names, sums) {
    Object.assign(this, { names, sums });
    this.canvas.setColours(names);
    this.axis.setColours(names);
    this.draw();
  }

  /* ---- what is in sight ---- */

  #readView() {
    const [from, to] = stateValue("view").split("-").map((text) => Math.round(Number(text) * 1e9));
    this.view = from < to ? this.#within(from, to) : { from: this.trace.from, to: this.trace.until };
  }

  #within(from, to) {
    const { from: first, until: last } = this.trace, most = Math.max(SHORTEST, last - first);
    const length = Math.min(most, Math.max(SHORTEST, to - from));
    const begin = Math.max(first, Math.min(first + most - length, (from + to) / 2 - length / 2));
    return { from: begin, to: begin + length };
  }

  /* Shows a part of the time; the address follows when it rests. */
  show(from, to) {
    this.view = this.#within(from, to);
    this.draw();
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      const whole = this.view.from <= this.trace.from && this.view.to >= this.trace.until;
      changeState({ view: whole ? "" : `${secondsText(this.view.from)}-${secondsText(this.view.to)}` }, true);
    }, 200);
  }

  fit() {
    this.show(this.trace.from, this.trace.until);
  }

  zoom(factor, around = (this.view.from + this.view.to) / 2) {
    const { from, to } = this.view;
    const length = Math.min(this.trace.until - this.trace.from, Math.max(SHORTEST, (to - from) * factor));
    const begin = around - (around - from) / (to - from) * length;
    this.show(begin, begin + length);
  }

  pan(share) {
    const by = (this.view.to - this.view.from) * share;
    this.show(this.view.from + by, this.view.to + by);
  }

  zoomToRange() {
    const range = chosenRange();
    if (range)
      this.show(range.from, range.to);
  }

  choose(from, to) {
    const [first, last] =
      [from, to].map((time) => Math.min(this.trace.until, Math.max(this.trace.from, Math.round(time))));
    if (first < last)
      changeState({ from: secondsText(first), to: secondsText(last) });
  }

  chooseNothing() {
    changeState({ from: "", to: "" });
  }

  #layOut() {
    this.inner.style.height = this.rows.shown.length * LANE_HEIGHT + "px";
    const most = isPrinting() ? PRINTED_ROWS : ROWS_IN_SIGHT;
    const height = Math.min(most, Math.max(2, this.rows.shown.length)) * LANE_HEIGHT + "px";
    this.scroller.style.height = height;
    this.canvas.canvas.style.height = height;
  }

  draw() {
    this.due ??= requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.due);
    this.due = null;
    const top = this.scroller.scrollTop, height = this.scroller.clientHeight || 40 * LANE_HEIGHT;
    const first = Math.floor(top / LANE_HEIGHT),
          last = Math.min(this.rows.shown.length, Math.ceil((top + height) / LANE_HEIGHT));
    const shown =
      this.rows.shown.slice(first, last)
        .map(
          (row, i) =>
            ({ row, top: (first + i) * LANE_HEIGHT - top, picture: !this.rows.isGroup(row) || !this.rows.isOpen(row) }));
    this.#drawLabels(first, shown);
    if (!this.sums || !this.canvas.measure() || !this.axis.measure())
      return;
    const range = this.dragged ?? chosenRange();
    const marks = this.#shownMarks();
    this.canvas.draw(this.trace, shown, this.view, this.sums, this.#marked(range), marks);
    if (this.messages)
      this.#drawMessages(top);
    this.axis.drawAxis(this.view, this.#shownPhases(), range, marks);
    this.chart?.draw(this.view, range);
  }

  /* A message ends at the rows that show its lanes, also where these are folded or out of sight. */
  #drawMessages(top) {
    const places = new Map();
    this.rows.shown.forEach((row, place) => row.lanes.forEach((lane) => places.set(lane, place)));
    const { lines, more } = this.messages.lines(this.view, (lane, time) =>
      [this.canvas.x(time, this.view), (places.get(lane) + 0.5) * LANE_HEIGHT - top]);
    this.lines = lines;
    this.canvas.drawLines(lines, this.message);
    const { leftOut } = this.messages, shown = `${lines.length} message${lines.length === 1 ? "" : "s"} in sight`;
    const rest = `${more} more in sight` + (leftOut ? `, and ${leftOut} in the run that are not in this report` : "");
    fill(this.messageNote,
      more || leftOut ? `Lines: the ${shown} for which receivers waited longest; ${rest}.` :
                        `Lines: ${shown}, each from its send to the end of its receive.`);
  }

  #pointMessage(event) {
    const box = event.target.getBoundingClientRect();
    const found = Messages.near(this.lines, event.clientX - box.left, event.clientY - box.top);
    if (found === this.message)
      return found >= 0;
    this.message = found;
    this.pointed = -2; /* an interval is described anew */
    event.target.title = found >= 0 ? this.onmessage(this.messages.message(found)) : "";
    this.draw();
    return found >= 0;
  }

  /* Those of the process in which the selection is. */
  #shownPhases() {
    const lane = this.rows.shown[this.row].of;
    const of = lane.rank === "" ? "process" : "rank";
    const process = this.trace.title(lane) === lane.thread ? "" : `, ${of} ${this.trace.processTitle(lane)}`;
    fill(this.corner, "Phases" + process, this.marks.length ? element("div", { class: "lanes-marks" }, "Marks") : null);
    return this.phases.filter((phase) => phase.process === lane.process);
  }

  #shownMarks() {
    const lane = this.rows.shown[this.row].of;
    return this.marks.filter((mark) => mark.process === lane.process);
  }

  /* Moves a time into sight. */
  showTime(time) {
    const { from, to } = this.view;
    if (time < from || time > to)
      this.show(time - (to - from) / 2, time + (to - from) / 2);
  }

  /* Labels stay the same elements while nothing about them changes: a click has to end on the one on which it began. */
  #drawLabels(first, shown) {
    const present = JSON.stringify([first, this.row, shown.map(({ row }) => [row.id, this.rows.isOpen(row)])]);
    if (present === this.labelsPresent)
      return;
    this.labelsPresent = present;
    fill(this.labels, shown.map(({ row }, i) => {
      const group = this.rows.isGroup(row), place = first + i;
      const label = element("div", { class: "lanes-label" + (place === this.row ? " chosen" : ""), title: row.help ?? row.title },
        element("span", { class: "twisty", "aria-hidden": "true" },
          group ? (this.rows.isOpen(row) ? "\u25be" : "\u25b8") : ""),
        row.title);
      label.style.top = place * LANE_HEIGHT + "px";
      label.style.paddingLeft = 0.25 + row.depth * 0.75 + "rem";
      return label;
    }));
  }

  #clickLabel(event) {
    const place = Math.floor((event.clientY - this.labels.getBoundingClientRect().top) / LANE_HEIGHT),
          row = this.rows.shown[place];
    if (row && this.rows.isGroup(row))
      this.#toggle(place);
    else if (row)
      this.selectRow(place);
  }

  /* ---- the selected interval, and who is to blame for it ---- */

  #marked(range) {
    const at = this.pointed >= 0 ? this.pointed : this.selected, lane = at >= 0 ? this.trace.laneOf(at) : null;
    if (!lane)
      return { range, interval: null, use: this.use, blame: null };
    const interval = { lane, start: this.trace.starts[at], end: this.trace.starts[at + 1] };
    return { range, interval, use: this.use, blame: this.blameOf(at, lane) };
  }

  /* The states that an idle or lock-waiting interval waits for; null of others. */
  blameOf(position, lane = this.trace.laneOf(position)) {
    const { waitFor, start, end } = this.trace.interval(position);
    if (waitFor < 0)
      return null;
    if (this.blame.of !== waitFor)
      this.blame = { of: waitFor, found: this.trace.statesBelow(waitFor) };
    return { process: lane.process, from: start, to: end, states: this.blame.found };
  }

  #point(position) {
    if (position === this.pointed)
      return;
    this.pointed = position;
    this.onpoint(position >= 0 ? position : this.selected);
    this.draw();
  }

  /* A use of a device, or null.  Returns whether there is one. */
  #pointUse(use) {
    if (use?.device === this.use?.device && use?.start === this.use?.start)
      return Boolean(use);
    this.use = use;
    this.pointed = -2; /* an interval is described anew */
    this.canvas.canvas.title = use ? this.onuse(use) : "";
    this.draw();
    return Boolean(use);
  }

  #useAt(event) {
    const device = this.rows.shown[this.#placeAt(event)]?.device, at = device?.useAt(this.#timeAt(event)) ?? -1;
    return at >= 0 ? device.use(at) : null;
  }

  select(position) {
    this.use = null;
    this.selected = position;
    this.pointed = -1;
    const lane = this.trace.laneOf(position);
    this.row = this.rows.reveal(lane);
    this.#layOut();
    this.#scrollToRow();
    const { from, to } = this.view, start = this.trace.starts[position], end = this.trace.starts[position + 1];
    if (end < from || start > to)
      this.show(start - (to - from) / 2, start + (to - from) / 2);
    changeState({ lane: `${lane.process}.${lane.thread}`, at: secondsText(start), folds: this.rows.foldsText }, true);
    this.onselect(position);
    this.draw();
  }

  selectRow(place) {
    this.row = Math.max(0, Math.min(this.rows.shown.length - 1, place));
    const row = this.rows.shown[this.row], lane = row.of;
    const time = this.use?.start ?? this.selected >= 0 ? this.trace.starts[this.selected] : this.view.from;
    if (row.device)
      this.#pointUse(row.device.use(Math.max(0, row.device.lastAt(time))));
    else if (!this.rows.isGroup(row) && lane.end > lane.first)
      this.select(this.trace.positionAt(lane, Math.min(this.view.to, Math.max(this.view.from, time))));
    this.#scrollToRow();
    this.draw();
  }

  #scrollToRow() {
    const top = this.row * LANE_HEIGHT, height = this.scroller.clientHeight;
    if (top < this.scroller.scrollTop)
      this.scroller.scrollTop = top;
    else if (height && top + LANE_HEIGHT > this.scroller.scrollTop + height)
      this.scroller.scrollTop = top + LANE_HEIGHT - height;
  }

  #step(by) {
    const device = this.rows.shown[this.row].device, at = device ? device.lastAt(this.use?.start ?? this.view.from) + by : -1;
    if (device) {
      if (at >= 0 && at < device.count)
        this.#pointUse(device.use(at));
      return;
    }
    const lane = this.selected >= 0 ? this.trace.laneOf(this.selected) : null;
    if (!lane)
      this.selectRow(this.row);
    else if (this.selected + by >= lane.first && this.selected + by < lane.end)
      this.select(this.selected + by);
  }

  #toggle(place) {
    this.row = place;
    this.rows.toggle(this.rows.shown[place]);
    this.#layOut();
    changeState({ folds: this.rows.foldsText }, true);
    this.draw();
  }

  #enter() {
    const row = this.rows.shown[this.row];
    if (this.rows.isGroup(row))
      this.#toggle(this.row);
    else if (this.selected >= 0)
      this.show(this.trace.starts[this.selected], this.trace.starts[this.selected + 1]);
  }

  #chooseEdge(edge) {
    if (this.selected < 0)
      return;
    const range = chosenRange() ?? this.view, start = this.trace.starts[this.selected],
          end = this.trace.starts[this.selected + 1];
    if (edge === "from")
      this.choose(start, range.to > start ? range.to : end);
    else
      this.choose(range.from < end ? range.from : start, end);
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey)
      return;
    const actions = {
      ArrowLeft: () => (event.shiftKey ? this.pan(-0.1) : this.#step(-1)),
      ArrowRight: () => (event.shiftKey ? this.pan(0.1) : this.#step(1)),
      ArrowUp: () => this.selectRow(this.row - 1),
      ArrowDown: () => this.selectRow(this.row + 1),
      PageUp: () => this.pan(-0.9),
      PageDown: () => this.pan(0.9),
      Home: () => this.fit(),
      End: () => this.zoomToRange(),
      "+": () => this.zoom(1 / STEP),
      "=": () => this.zoom(1 / STEP),
      "-": () => this.zoom(STEP),
      w: () => this.zoom(1 / STEP),
      s: () => this.zoom(STEP),
      a: () => this.pan(-0.1),
      d: () => this.pan(0.1),
      Enter: () => this.#enter(),
      "[": () => this.#chooseEdge("from"),
      "]": () => this.#chooseEdge("to"),
      r: () => this.choose(this.view.from, this.view.to),
      Escape: () => this.chooseNothing(),
    };
    if (!actions[event.key])
      return;
    actions[event.key]();
    event.preventDefault();
  }

  /* ---- mouse ---- */

  #timeAt(event) {
    const box = event.target.getBoundingClientRect();
    return this.view.from + (event.clientX - box.left) / box.width * (this.view.to - this.view.from);
  }

  #placeAt(event) {
    return Math.floor((event.clientY - this.scroller.getBoundingClientRect().top + this.scroller.scrollTop) / LANE_HEIGHT);
  }

  #positionAt(event) {
    const time = this.#timeAt(event), row = this.rows.shown[this.#placeAt(event)];
    const lane = row?.kind === "thread" ? row.lanes[0] : null;
    return lane && time >= lane.from && time < lane.to ? this.trace.positionAt(lane, time) : -1;
  }

  #wheel(event) {
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
      this.pan((event.deltaX || event.deltaY) / 1000);
    else
      this.zoom(1.0015 ** Math.max(-400, Math.min(400, event.deltaY)), this.#timeAt(event));
  }

  #press(event) {
    if (event.button > 1)
      return;
    event.target.setPointerCapture(event.pointerId);
    this.pressed = {
      x: event.clientX,
      time: this.#timeAt(event),
      view: this.view,
      pans: event.shiftKey || event.button === 1
    };
    event.preventDefault();
    this.scroller.focus({ preventScroll: true });
  }

  #moved(event) {
    const { pressed } = this;
    if (!pressed) {
      if (!this.#pointMessage(event) && !this.#pointUse(this.#useAt(event)))
        this.#point(this.#positionAt(event));
      return;
    }
    if (pressed.pans) {
      const by = (pressed.x - event.clientX) / this.canvas.width * (pressed.view.to - pressed.view.from);
      this.show(pressed.view.from + by, pressed.view.to + by);
    } else if (this.dragged || Math.abs(event.clientX - pressed.x) >= DRAG) {
      const time = Math.min(this.view.to, Math.max(this.view.from, this.#timeAt(event)));
      this.dragged = { from: Math.min(time, pressed.time), to: Math.max(time, pressed.time) };
      this.draw();
    }
  }

  #letGo() {
    this.pressed = this.dragged = null;
    this.draw();
  }

  #release(event) {
    const { pressed, dragged } = this;
    this.#letGo();
    if (dragged)
      this.choose(dragged.from, dragged.to);
    else if (pressed && !pressed.pans)
      this.#clickLane(event);
  }

  #clickLane(event) {
    const row = this.rows.shown[this.#placeAt(event)];
    if (row?.kind === "alike" && !this.rows.isOpen(row))
      this.#toggle(this.#placeAt(event));
    else if (this.#positionAt(event) >= 0)
      this.select(this.#positionAt(event));
  }

  /* ---- phases ---- */

  #phaseAt(event) {
    const time = this.#timeAt(event);
    return this.#shownPhases().find((phase) => time >= phase.from && time < phase.to);
  }

  #clickPhase(event) {
    const phase = this.#phaseAt(event);
    if (phase)
      this.choose(phase.from, phase.to);
  }

  #pointPhase(event) {
    this.onphase(this.#phaseAt(event) ?? null);
  }
}
