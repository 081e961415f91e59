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
