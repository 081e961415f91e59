/* How a lane's time divides among classes, such as categories, in any part of the run.
 *
 * The sums since the lane's begin are kept at every BLOCK-th interval.  So the sums of a part cost two searches and at
 * most 2 * BLOCK steps, and a picture costs a bounded number of steps for each pixel, however many intervals there
 * are. */
const BLOCK = 64;

export class LaneSums {
  /* classOf: [state] number of the class.  The sums have one more at their end: the time on the critical path. */
  constructor(trace, classOf, classes) {
    Object.assign(this, { trace, classOf, classes, width: classes + 1 });
    this.firstBlocks = [];
    let blocks = 0;
    for (const lane of trace.lanes) {
      this.firstBlocks.push(blocks);
      blocks += Math.ceil((lane.end - lane.first) / BLOCK);
    }
    this.kept = new Float64Array(blocks * this.width);
    for (const lane of trace.lanes)
      this.#keep(lane);
  }

  #keep(lane) {
    const { starts, states, critical } = this.trace, { width, classOf, classes, kept } = this;
    const sums = new Float64Array(width);
    let at = this.firstBlocks[lane.number] * width;
    for (let i = lane.first; i < lane.end; i++) {
      if ((i - lane.first) % BLOCK === 0) {
        kept.set(sums, at);
        at += width;
      }
      const state = states[i], time = starts[i + 1] - starts[i];
      sums[classOf[state]] += time;
      if (critical[state] > 0)
        sums[classes] += time;
    }
  }

  /* Sets `sums` to the time of each class from the lane's begin to a moment in the interval at a position. */
  #until(lane, position, time, sums) {
    const { trace, width, classOf, classes, kept } = this, { starts, states, critical } = trace;
    const block = Math.floor((position - lane.first) / BLOCK), from = (this.firstBlocks[lane.number] + block) * width;
    for (let i = 0; i < width; i++)
      sums[i] = kept[from + i];
    for (let at = lane.first + block * BLOCK; at <= position; at++) {
      const state = states[at], length = Math.min(starts[at + 1], time) - starts[at];
      sums[classOf[state]] += length;
      if (critical[state] > 0)
        sums[classes] += length;
    }
  }

  /* Adds the time of each class from one moment in the interval at a position to another one. */
  addBetween(lane, first, from, last, to, times, at) {
    const begin = new Float64Array(this.width), end = new Float64Array(this.width);
    this.#until(lane, first, from, begin);
    this.#until(lane, last, to, end);
    for (let i = 0; i < this.width; i++)
      times[at + i] += end[i] - begin[i];
  }

  /* The time of each class from one moment to another one. */
  between(lane, from, to) {
    const sums = new Float64Array(this.width), begin = Math.max(from, lane.from), end = Math.min(to, lane.to);
    if (begin < end)
      this.addBetween(lane, this.trace.positionAt(lane, begin), begin, this.trace.positionAt(lane, end), end, sums, 0);
    return sums;
  }
}

/* Goes through a lane from a moment on. */
export class LaneCursor {
  constructor(sums, lane, from) {
    Object.assign(this, { sums, lane, trace: sums.trace, time: Math.max(from, lane.from) });
    this.position = this.trace.positionAt(lane, this.time);
  }

  /* Adds the time of each class until a moment to times[at], times[at + 1], ...  Moments have to be in ascending
   * order. */
  addUntil(moment, times, at) {
    const { sums, lane } = this, { starts, states, critical } = this.trace, to = Math.min(moment, lane.to);
    if (to <= this.time)
      return;
    if (this.position + 2 * BLOCK < lane.end && starts[this.position + 2 * BLOCK] <= to) {
      const last = this.trace.positionAt(lane, to, this.position);
      sums.addBetween(lane, this.position, this.time, last, to, times, at);
      this.position = last;
    } else {
      for (let from = this.time; from < to; from = starts[this.position]) {
        const state = states[this.position], length = Math.min(starts[this.position + 1], to) - from;
        times[at + sums.classOf[state]] += length;
        if (critical[state] > 0)
          times[at + sums.classes] += length;
        if (starts[this.position + 1] > to)
          break;
        this.position++;
      }
    }
    this.time = to;
  }
}

/* Adds up the time of each class in columns of a picture, lane by lane.  Costs a few steps for each interval in sight, or
 * for each column where there are more intervals than columns. */
export class ColumnSums {
  constructor(sums, view, columns) {
    Object.assign(this, { sums, view, columns, step: (view.to - view.from) / columns });
    this.times = new Float64Array(columns * sums.width);
    this.begun = new Int32Array((columns + 1) * sums.width); /* intervals that fill all columns from here on, less those that end */
  }

  add(lane) {
    const { sums, view, columns, step } = this, from = Math.max(view.from, lane.from), to = Math.min(view.to, lane.to);
    if (from >= to || lane.first === lane.end)
      return;
    const first = sums.trace.positionAt(lane, from), last = sums.trace.positionAt(lane, to, first);
    if (last - first <= columns) {
      this.#addIntervals(first, last, from, to);
      return;
    }
    const cursor = new LaneCursor(sums, lane, view.from);
    for (let x = 0; x < columns; x++)
      cursor.addUntil(view.from + (x + 1) * step, this.times, x * sums.width);
  }

  #addIntervals(first, last, from, to) {
    const { classOf, classes, trace: { starts, states, critical } } = this.sums;
    for (let i = first; i <= last; i++) {
      const begin = Math.max(starts[i], from), end = Math.min(starts[i + 1], to);
      if (begin >= end)
        continue;
      this.#addPart(begin, end, classOf[states[i]]);
      if (critical[states[i]] > 0)
        this.#addPart(begin, end, classes);
    }
  }

  #addPart(begin, end, number) {
    const { times, begun, view, columns, step, sums: { width } } = this;
    const first = Math.min(columns - 1, Math.floor((begin - view.from) / step)), last = Math.min(columns - 1, Math.floor((end - view.from) / step));
    if (first === last) {
      times[first * width + number] += end - begin;
      return;
    }
    times[first * width + number] += view.from + (first + 1) * step - begin;
    times[last * width + number] += end - view.from - last * step;
    begun[(first + 1) * width + number]++;
    begun[last * width + number]--;
  }

  /* The time of each class in each column, once all lanes are added. */
  get sum() {
    const { times, begun, columns, step, sums: { width } } = this;
    for (let at = 0; at < columns * width; at++) {
      begun[at] += at < width ? 0 : begun[at - width];
      times[at] += begun[at] * step;
    }
    return times;
  }
}

/* The time of each class in all lanes of a group together, in BUCKETS equal parts of the run, added up from its begin:
 * a picture of the group then costs as much for each pixel as one of a single lane.  Within a bucket, time is taken as
 * evenly spread. */
const BUCKETS = 4096;
const LEAST_BUCKETS = 2; /* in a column of a picture: columns that are narrower are computed from the intervals */

export class GroupSums {
  constructor(sums, lanes) {
    const { trace, width } = sums;
    this.width = width;
    this.from = trace.from;
    this.step = Math.max(1, trace.end - trace.from) / BUCKETS;
    this.kept = new Float64Array((BUCKETS + 2) * width);
    for (const lane of lanes)
      this.#add(sums, lane);
    for (let i = width; i < this.kept.length; i++)
      this.kept[i] += this.kept[i - width];
  }

  /* Adds a lane's time in each bucket to the place of the bucket's end. */
  #add({ trace, classOf, classes, width }, lane) {
    const { starts, states, critical } = trace, { kept, from, step } = this;
    for (let i = lane.first; i < lane.end; i++) {
      const state = states[i], end = starts[i + 1];
      for (let begin = starts[i]; begin < end;) {
        const bucket = Math.floor((begin - from) / step), until = Math.min(end, Math.max(from + (bucket + 1) * step, begin + 1));
        const at = (bucket + 1) * width;
        kept[at + classOf[state]] += until - begin;
        if (critical[state] > 0)
          kept[at + classes] += until - begin;
        begin = until;
      }
    }
  }

  /* Whether the columns of a picture are wide enough. */
  suits(view, columns) {
    return (view.to - view.from) / columns >= LEAST_BUCKETS * this.step;
  }

  #until(time, i) {
    const at = Math.min(BUCKETS, Math.max(0, (time - this.from) / this.step)), bucket = Math.floor(at), place = bucket * this.width + i;
    return this.kept[place] + (at - bucket) * (this.kept[place + this.width] - this.kept[place]);
  }

  /* The time of each class in each column. */
  columns(view, columns) {
    const { width } = this, times = new Float64Array(columns * width), step = (view.to - view.from) / columns;
    for (let x = 0; x < columns; x++)
      for (let i = 0; i < width; i++)
        times[x * width + i] = this.#until(view.from + (x + 1) * step, i) - this.#until(view.from + x * step, i);
    return times;
  }
}
