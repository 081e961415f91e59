/* What was counted along the time: events of -c, and counters of the program, of all threads together.
 * counter_tables.h describes the tables. */
import { loadTable } from "../table_data.js";

/* A counter, whose counts are evenly distributed over the times for which they stand. */
export class Counter {
  /* counts: [{ start, end, value }] in ns */
  constructor(name, event, counts) {
    Object.assign(this, { name, event });
    const changes = new Map(), at = (time) => {
      if (!changes.has(time))
        changes.set(time, { jump: 0, slope: 0 });
      return changes.get(time);
    };
    for (const { start, end, value } of counts)
      if (start === end) {
        at(start).jump += value;
      } else {
        at(start).slope += value / (end - start);
        at(end).slope -= value / (end - start);
      }
    this.times = Float64Array.from(changes.keys()).sort();
    this.sums = new Float64Array(this.times.length);   /* before a moment, and its jump */
    this.slopes = new Float64Array(this.times.length); /* behind it */
    let sum = 0, slope = 0, last = 0;
    this.times.forEach((time, i) => {
      const { jump, slope: change } = changes.get(time);
      sum += slope * (time - last) + jump;
      slope = Math.abs(slope + change) < 1e-18 ? 0 : slope + change;
      [this.sums[i], this.slopes[i], last] = [sum, slope, time];
    });
  }

  /* How many were counted before a moment. */
  before(time) {
    let low = 0, high = this.times.length; /* the number of changes before it */
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle] < time)
        low = middle + 1;
      else
        high = middle;
    }
    return low ? this.sums[low - 1] + this.slopes[low - 1] * (time - this.times[low - 1]) : 0;
  }

  between(from, to) {
    return Math.max(0, this.before(to) - this.before(from));
  }

  /* How many a second in each of so many parts of a time. */
  rates(from, to, parts) {
    const step = (to - from) / parts, found = new Float64Array(parts);
    for (let i = 0, last = this.before(from); i < parts; i++) {
      const next = this.before(from + (i + 1) * step);
      found[i] = Math.max(0, next - last) / step * 1e9;
      last = next;
    }
    return found;
  }
}

/* Returns a promise of the counters: first those of -c, each by name. */
export async function loadCounters() {
  const [names, table] = [await loadTable("timeline-counter-names"), await loadTable("timeline-counters")];
  if (!names?.rows || !table?.rows)
    return [];
  const counts = Array.from({ length: names.rows }, () => []);
  const [numbers, starts, ends, values] =
    ["counter", "start_ns", "end_ns", "value"].map((name) => table.column(name).integers());
  for (let row = 0; row < table.rows; row++)
    counts[Number(numbers[row])].push({ start: Number(starts[row]), end: Number(ends[row]), value: Number(values[row]) });
  return counts.map((list, row) => new Counter(names.text("name", row) || "(no name)", names.text("event", row) === "1", list))
    .sort((a, b) => Number(b.event) - Number(a.event) || (a.name < b.name ? -1 : 1));
}
