/* What devices did when: as far as the host knows, copies and the rest of target constructs; and as devices have recorded
 * it.  interval_tables.h describes the table. */
import { loadTable } from "../table_data.js";

/* By their numbers in the table. */
export const deviceActions = [
  { title: "Device: copy to it", colour: "--copy-to" },
  { title: "Device: copy from it", colour: "--copy-from" },
  { title: "Device: rest of target constructs", colour: "--on-device" },
];

/* Lanes of a device by their numbers in the table. */
const tracks = [
  { title: "", source: "as far as the host knows",
    help: "As far as the host knows: copies to it and from it, and the rest of its target constructs" },
  ...["copies to it", "copies from it", "regions"].map((what) =>
    ({ title: `: ${what}`, source: "as it recorded", help: `As the device recorded it: ${what}. Operations of which it kept no record are missing` })),
];

/* A lane of a device of a process.  lane: the first thread's.  Its uses do not overlap. */
class DeviceLane {
  constructor(lane, device, track, columns) {
    Object.assign(this, { lane, device, track, ...columns, count: columns.starts.length });
    this.title = `Device ${device}${tracks[track].title}`;
    this.help = tracks[track].help;
    this.source = tracks[track].source;
    this.sums = deviceActions.map(() => new Float64Array(this.count + 1)); /* [action][use] time before it */
    for (let at = 0; at < this.count; at++)
      this.sums.forEach((sums, action) => sums[at + 1] = sums[at] + (this.actions[at] === action ? this.durations[at] : 0));
  }

  /* An action in words: what a device has recorded is an operation. */
  whatOf(action) {
    return this.track && action === deviceActions.length - 1 ? "region" : deviceActions[action].title.replace("Device: ", "");
  }

  /* The last use that begins at a time or before, or -1. */
  lastAt(time) {
    let low = -1, high = this.count;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= time)
        low = middle;
      else
        high = middle;
    }
    return low;
  }

  /* The use at a time, or -1. */
  useAt(time) {
    const at = this.lastAt(time);
    return at >= 0 && time < this.starts[at] + this.durations[at] ? at : -1;
  }

  use(at) {
    const start = this.starts[at];
    return { device: this, start, end: start + this.durations[at], action: this.actions[at], construct: this.constructs[at] };
  }

  #until(time) {
    const at = this.lastAt(time), sums = this.sums.map((before) => before[Math.max(0, at)]);
    if (at >= 0)
      sums[this.actions[at]] += Math.min(this.durations[at], time - this.starts[at]);
    return sums;
  }

  /* The time of each action in each column of a picture, and 0 behind them, as no device is on the critical path. */
  columns(view, columns) {
    const width = deviceActions.length + 1, times = new Float64Array(columns * width), step = (view.to - view.from) / columns;
    let before = this.#until(view.from);
    for (let x = 0; x < columns; x++) {
      const after = this.#until(view.from + (x + 1) * step);
      after.forEach((sum, action) => times[x * width + action] = sum - before[action]);
      before = after;
    }
    return times;
  }
}

/* Returns a promise of the lanes of all devices, by process, number and track. */
export async function loadDevices(trace) {
  const table = await loadTable("timeline-devices"), found = [];
  if (!table?.rows)
    return found;
  const [lanes, devices, of, ...others] =
    ["lane", "device", "track", "start_ns", "duration_ns", "action", "construct"].map((name) => table.column(name).integers());
  const key = (row) => `${lanes[row]}.${devices[row]}.${of[row]}`;
  for (let first = 0, end; first < table.rows; first = end) {
    for (end = first; end < table.rows && key(end) === key(first);)
      end++;
    const [starts, durations, actions, constructs] = others.map((column) => column.slice(first, end));
    found.push(new DeviceLane(trace.lanes[lanes[first]], devices[first], of[first], { starts, durations, actions, constructs }));
  }
  return found;
}
