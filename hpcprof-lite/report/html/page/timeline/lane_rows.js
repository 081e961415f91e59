/* The rows of the timeline: a thread's lane each, below their process and node where there are several of these. */

const UNFOLDED_LANES = 200; /* of more lanes, those of processes are folded at first */

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

export class LaneRows {
  constructor(trace) {
    this.folded = new Set();
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
        const depth = several ? (nodes.length > 1 ? 2 : 1) : 0;
        process.lanes.forEach((lane, i) => this.#add("thread", depth, `Thread ${lane.thread}`, [lane], i === 0));
      }
    }
    if (trace.lanes.length > UNFOLDED_LANES)
      this.all.filter((row) => row.kind === "process").forEach((row) => this.folded.add(row.id));
    this.refresh();
  }

  #add(kind, depth, title, lanes, master = false) {
    this.all.push({ id: this.all.length, kind, depth, title, lanes, master });
  }

  refresh() {
    this.shown = [];
    let hiddenBelow = Infinity;
    for (const row of this.all) {
      if (row.depth > hiddenBelow)
        continue;
      hiddenBelow = this.folded.has(row.id) ? row.depth : Infinity;
      this.shown.push(row);
    }
  }

  isGroup(row) {
    return row.kind !== "thread";
  }

  isOpen(row) {
    return !this.folded.has(row.id);
  }

  toggle(row) {
    this.folded[this.isOpen(row) ? "add" : "delete"](row.id);
    this.refresh();
  }

  /* Shows a lane, and returns the place of its row among those that are shown. */
  reveal(lane) {
    const holds = (row) => row.lanes.includes(lane);
    this.all.filter((row) => this.isGroup(row) && holds(row)).forEach((row) => this.folded.delete(row.id));
    this.refresh();
    return this.shown.findIndex((row) => !this.isGroup(row) && holds(row));
  }
}
