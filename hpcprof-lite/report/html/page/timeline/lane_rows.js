/* The rows of the timeline: a thread's lane each, below their process and node where there are several of these, and
 * then the devices of the process.  Where there are many, neighbours of a process that did alike stand below a row of
 * their own; devices never do. */
import { LaneCursor } from "./lane_sums.js";

const UNFOLDED_ROWS = 200; /* of more rows, those of processes are folded at first */
const MANY_LANES = 30;     /* of more lanes, those that did alike are grouped: as in the text reports */
const ALIKE = 0.15;        /* the part of their time in which they differ, at most; as in the text reports */
const ALIKE_LANES = 3;     /* in a group, at least */
const COLUMNS = 64;        /* into which the run is divided to compare lanes */

/* Groups lanes, which stand in the order of processes. */
function groups(lanes, keyOf) {
  const found = [];
  for (const lane of lanes) {
    if (found.at(-1)?.key !== keyOf(lane))
      found.push({ key: keyOf(lane), lanes: [] });
    found.at(-1).lanes.push(lane);
  }
  return found;
}

function processTitle(lane) {
  return lane.rank === "" ? `Process ${lane.process}` : `Rank ${lane.rank} (${lane.process})`;
}

/* The parts of a lane's time in each class, column by column; 0 where it has none. */
function shares(sums, lane) {
  const { trace, width, classes } = sums, times = new Float64Array(COLUMNS * width);
  if (lane.end > lane.first) {
    const cursor = new LaneCursor(sums, lane, trace.from), step = (trace.until - trace.from) / COLUMNS;
    for (let x = 0; x < COLUMNS; x++)
      cursor.addUntil(trace.from + (x + 1) * step, times, x * width);
  }
  for (let x = 0; x < COLUMNS; x++) {
    const part = times.subarray(x * width, x * width + classes), all = part.reduce((sum, time) => sum + time, 0);
    for (let i = 0; i < classes; i++)
      part[i] = all > 0 ? part[i] / all : 0;
  }
  return times;
}

/* The mean part of their time in which two lanes are in different classes. */
function difference(a, b, { width, classes }) {
  let sum = 0;
  for (let x = 0; x < COLUMNS; x++) {
    let differ = 0, lives = 0;
    for (let i = x * width; i < x * width + classes; i++) {
      differ += Math.abs(a[i] - b[i]);
      lives += (a[i] > 0) + (b[i] > 0);
    }
    sum += lives ? differ / 2 : 0;
  }
  return sum / COLUMNS;
}

/* Neighbours, each of which differs from the first one by little. */
function alikeGroups(lanes, sums) {
  const found = [];
  let first = null;
  for (const lane of lanes) {
    const own = shares(sums, lane);
    if (first && difference(first, own, sums) <= ALIKE) {
      found.at(-1).push(lane);
    } else {
      found.push([lane]);
      first = own;
    }
  }
  return found;
}

export class LaneRows {
  /* sums: the LaneSums of the categories.  devices: see device_lanes.js. */
  constructor(trace, sums, devices) {
    this.toggled = new Set(); /* keys of the rows that are folded otherwise than at first */
    this.foldedFirst = new Set();
    this.all = [];
    const byHost = [...trace.lanes].sort((a, b) => (a.host < b.host ? -1 : a.host > b.host ? 1 : a.number - b.number));
    const nodes = groups(byHost, (lane) => lane.host),
          several = groups(byHost, (lane) => lane.host + " " + lane.process).length > 1;
    for (const node of nodes) {
      if (nodes.length > 1)
        this.#add("node", 0, `Node ${node.key}`, node.lanes);
      for (const process of groups(node.lanes, (lane) => lane.process)) {
        if (several)
          this.#add("process", nodes.length > 1 ? 1 : 0, processTitle(process.lanes[0]), process.lanes);
        const depth = several ? (nodes.length > 1 ? 2 : 1) : 0, [master, ...others] = process.lanes;
        this.#add("thread", depth, `Thread ${master.thread}`, [master], true);
        const divided = trace.lanes.length > MANY_LANES ? alikeGroups(others, sums) : others.map((lane) => [lane]);
        divided.forEach((alike) => this.#addAlike(depth, alike));
        devices.filter((device) => process.lanes.includes(device.lane)).forEach((device) => this.#addDevice(depth, device));
      }
    }
    this.refresh();
    if (this.shown.length > UNFOLDED_ROWS)
      this.all.filter((row) => row.kind === "process").forEach((row) => this.foldedFirst.add(row.key));
    this.refresh();
  }

  #addAlike(depth, lanes) {
    const grouped = lanes.length >= ALIKE_LANES;
    if (grouped) {
      const row = this.#add("alike", depth, `Threads ${lanes[0].thread} to ${lanes.at(-1).thread} alike`, lanes);
      row.help = `${lanes.length} neighbours whose time differs by ${100 * ALIKE} % at most from that of the first: click to unfold`;
      this.foldedFirst.add(row.key);
    }
    lanes.forEach((lane) => this.#add("thread", depth + Number(grouped), `Thread ${lane.thread}`, [lane]));
  }

  #addDevice(depth, device) {
    const row = this.#add("device", depth, device.title, [device.lane]);
    row.help = device.help;
    Object.assign(row, { device, lanes: [] });
  }

  /* `of`: the first lane, of whose process the row is. */
  #add(kind, depth, title, lanes, master = false) {
    const [{ host, process, thread }] = lanes, key = { node: host, process: `${host}:${process}`, alike: `${host}:${process}.${thread}` }[kind];
    const row = { id: this.all.length, key: key && `${kind}:${key}`, kind, depth, title, of: lanes[0], lanes, master };
    this.all.push(row);
    return row;
  }

  refresh() {
    this.shown = [];
    let hiddenBelow = Infinity;
    for (const row of this.all) {
      if (row.depth > hiddenBelow)
        continue;
      hiddenBelow = this.isOpen(row) ? Infinity : row.depth;
      this.shown.push(row);
    }
  }

  isGroup(row) {
    return row.kind !== "thread" && row.kind !== "device";
  }

  isOpen(row) {
    return this.toggled.has(row.key) === this.foldedFirst.has(row.key);
  }

  toggle(row) {
    this.toggled[this.toggled.has(row.key) ? "delete" : "add"](row.key);
    this.refresh();
  }

  /* Which groups are folded otherwise than at first, as text for the page's address. */
  get foldsText() {
    return [...this.toggled].join(" ");
  }

  set foldsText(text) {
    this.toggled = new Set(text ? text.split(" ") : []);
    this.refresh();
  }

  /* Shows a lane, and returns the place of its row among those that are shown. */
  reveal(lane) {
    const holds = (row) => row.lanes.includes(lane);
    this.all.filter((row) => this.isGroup(row) && holds(row) && !this.isOpen(row)).forEach((row) => this.toggle(row));
    return this.shown.findIndex((row) => !this.isGroup(row) && holds(row));
  }
}
