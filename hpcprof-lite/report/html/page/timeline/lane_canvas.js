/* Draws lanes: for each pixel the shares of the classes in its time, from below in their order; the critical path as a
 * line at the bottom; names of parallel regions; the interval that is pointed at, and who is to blame for it. */
import { styleValue } from "../dom.js";
import { deviceActions } from "./device_lanes.js";
import { ColumnSums, GroupSums } from "./lane_sums.js";
import { pixelColours } from "./lane_colours.js";
import { formatSeconds } from "../number_format.js";

export const LANE_HEIGHT = 24; /* of a row, in pixels of the style sheet; as in page.css */
const MARGIN = 2;
const GROUP_LANES = 48;  /* of groups with more lanes, several pixels are drawn at once, from GroupSums */
const MOST_MARKS = 5000; /* intervals of one lane that are looked at to mark who is to blame */

export class LaneCanvas {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.groupSums = new WeakMap(); /* of LaneSums → of rows → GroupSums */
  }

  /* Takes its size from the style sheet; returns false while it is not shown. */
  measure() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, ratio = devicePixelRatio;
    if (!width || !height)
      return false;
    if (this.width !== width || this.height !== height || this.ratio !== ratio) {
      Object.assign(this, { width, height, ratio });
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
    }
    return true;
  }

  setColours(names) {
    this.pixels = pixelColours([...names.map((name) => name.colour), "--text", "--ground", "--line"]);
    this.devicePixels = pixelColours([...deviceActions.map((action) => action.colour), "--text", "--ground", "--line"]);
    this.gaps = names.map((name) => Boolean(name.gap));
    this.ground = styleValue("--ground");
    this.text = styleValue("--text");
    this.accent = styleValue("--accent");
    this.font = "11px " + styleValue("--font");
  }

  /* Adds the time of each class in each column of pixels. */
  #columns(row, view, sums, columns) {
    if (row.device)
      return row.device.columns(view, columns);
    const group = row.lanes.length > GROUP_LANES ? this.#group(row, sums) : null;
    if (group?.suits(view, columns))
      return group.columns(view, columns);
    const found = new ColumnSums(sums, view, columns);
    row.lanes.forEach((lane) => found.add(lane));
    return found.sum;
  }

  #group(row, sums) {
    if (!this.groupSums.has(sums))
      this.groupSums.set(sums, new WeakMap());
    const known = this.groupSums.get(sums);
    if (!known.has(row))
      known.set(row, new GroupSums(sums, row.lanes));
    return known.get(row);
  }

  /* The picture of a row. */
  #picture(row, view, sums) {
    const width = this.canvas.width, step = Math.max(1, Math.ceil(row.lanes.length / GROUP_LANES));
    const columns = Math.max(1, Math.floor(width / step)), height = Math.round((LANE_HEIGHT - 2 * MARGIN) * this.ratio);
    const { classes, pixels, gaps } = row.device ? { classes: deviceActions.length, pixels: this.devicePixels, gaps: [] } :
                                                   { classes: sums.classes, pixels: this.pixels, gaps: this.gaps };
    const times = this.#columns(row, view, sums, columns), lanes = row.device ? 1 : row.lanes.length;
    const full = (view.to - view.from) / columns * lanes;
    const image = this.context.createImageData(width, height), out = new Uint32Array(image.data.buffer);
    const [text, ground, line] = pixels.slice(classes), strip = Math.max(2, Math.round(3 * this.ratio));
    for (let x = 0; x < width; x++) {
      const at = Math.min(columns - 1, Math.floor(x / step)) * (classes + 1);
      let sum = 0, top = height;
      for (let i = 0; i < classes; i++) {
        sum += times[at + i];
        const until = height - Math.round(Math.min(1, sum / full) * height);
        for (; top > until; top--)
          out[(top - 1) * width + x] = gaps[i] ? ((x + top) % 6 < 1    ? text :
                                                          (x + top) % 6 < 3 ? line :
                                                                              ground) :
                                                      pixels[i];
      }
      for (; top > 0; top--)
        out[(top - 1) * width + x] = ground;
      if (times[at + classes] > 0)
        for (let y = height - strip; y < height; y++)
          if (times[at + classes] >= full / 2 || (x + y) % 2)
            out[y * width + x] = text;
    }
    return image;
  }

  /* rows: { row, top } with `top` in pixels of the style sheet; view: from, to in ns; marked: see #mark; marks: of the
   * program, whose lines leave the names of regions readable. */
  draw(trace, rows, view, sums, marked, marks) {
    const { context, ratio } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.ground;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    for (const { row, top, picture } of rows)
      if (picture)
        context.putImageData(this.#picture(row, view, sums), 0, Math.round((top + MARGIN) * ratio));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawMarks(view, marks, 0, this.height);
    for (const { row, top } of rows)
      if (row.master)
        this.#regionNames(trace, row.lanes[0], top, view);
    this.#mark(trace, rows, view, marked);
  }

  /* lines: see messages.js; chosen: the number of the one that is pointed at.  An edge sets them off from the lanes. */
  drawLines(lines, chosen) {
    for (const line of lines) {
      const marked = line.number === chosen, colour = marked ? this.accent : this.text;
      this.#line(line, this.ground, 3, 4);
      this.#line(line, colour, marked ? 2 : 1, marked ? 4 : 2.5);
    }
  }

  #line({ x1, y1, x2, y2 }, colour, width, radius) {
    const { context } = this;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
    context.stroke();
    context.beginPath();
    context.arc(x2, y2, radius, 0, 2 * Math.PI);
    context.fill();
  }

  x(time, view) {
    return (time - view.from) / (view.to - view.from) * this.width;
  }

  /* Lines of marks, from one height to another one. */
  drawMarks(view, marks, top, bottom) {
    this.context.fillStyle = this.accent;
    for (const x of new Set(marks.map((mark) => Math.round(this.x(mark.at, view)))))
      if (x >= 0 && x < this.width)
        this.context.fillRect(x, top, 1, bottom - top);
  }

  /* Names of regions, as far as they have room: the region in the middle of each pixel counts. */
  #regionNames(trace, lane, top, view) {
    const { context } = this, step = (view.to - view.from) / this.width;
    const regionAt = (x) => {
      const time = view.from + (x + 0.5) * step;
      const position = time >= lane.from && time < lane.to ? trace.positionAt(lane, time) : -1;
      const construct = position < 0 ? -1 : trace.constructOf[trace.states[position]];
      return construct < 0 ? -1 : trace.regionOf[construct];
    };
    context.font = this.font;
    context.textBaseline = "middle";
    for (let x = 0, begin = 0, region = -1; x <= this.width; x++) {
      const here = x < this.width ? regionAt(x) : -2;
      if (here === region)
        continue;
      if (region >= 0)
        this.#label(trace.constructs[region], begin, x, top);
      [begin, region] = [x, here];
    }
  }

  #label(construct, begin, end, top) {
    const text = construct.place || construct.name, width = this.context.measureText(text).width;
    if (width + 12 > end - begin)
      return;
    this.context.fillStyle = this.ground;
    this.context.beginPath();
    this.context.roundRect(begin + 3, top + 4, width + 6, LANE_HEIGHT - 9, 3);
    this.context.fill();
    this.context.fillStyle = this.text;
    this.context.fillText(text, begin + 6, top + LANE_HEIGHT / 2);
  }

  /* range { from, to } or null; interval { lane, start, end } or null; use, see device_lanes.js, or null; blame, null or
   * { process, from, to, states }, the states of those to blame. */
  #mark(trace, rows, view, { range, interval, use, blame }) {
    const { context } = this;
    for (const { row, top } of rows) {
      if (blame && row.kind === "thread" && row.lanes[0].process === blame.process && row.lanes[0] !== interval?.lane)
        this.#markBlame(trace, row.lanes[0], top, view, blame);
      if (interval && row.kind === "thread" && row.lanes[0] === interval.lane)
        this.#frame(interval.start, interval.end, top, view, this.text);
      if (use && row.device === use.device)
        this.#frame(use.start, use.end, top, view, this.text);
    }
    if (range)
      this.drawRange(range, view);
  }

  drawRange(range, view) {
    const { context } = this, from = this.x(range.from, view), to = this.x(range.to, view);
    context.globalAlpha = 0.45;
    context.fillStyle = this.ground;
    context.fillRect(0, 0, Math.max(0, from), this.height);
    context.fillRect(to, 0, Math.max(0, this.width - to), this.height);
    context.globalAlpha = 1;
    context.fillStyle = this.accent;
    context.fillRect(from - 1, 0, 2, this.height);
    context.fillRect(to - 1, 0, 2, this.height);
  }

  #frame(start, end, top, view, colour) {
    const from = Math.max(-4, this.x(start, view)), to = Math.min(this.width + 4, this.x(end, view));
    this.context.strokeStyle = colour;
    this.context.lineWidth = 2;
    this.context.strokeRect(from, top + 1, Math.max(2, to - from), LANE_HEIGHT - 2);
  }

  /* Fades what a lane did meanwhile, but for the contexts to blame, which get a frame. */
  #markBlame(trace, lane, top, view, blame) {
    const from = Math.max(blame.from, lane.from, view.from), to = Math.min(blame.to, lane.to, view.to);
    if (from >= to)
      return;
    let at = trace.positionAt(lane, from), last = from;
    const found = [];
    for (let steps = 0; at < lane.end && trace.starts[at] < to && steps < MOST_MARKS; at++, steps++)
      if (blame.states[trace.states[at]])
        found.push([Math.max(from, trace.starts[at]), Math.min(to, trace.starts[at + 1])]);
    this.context.fillStyle = this.ground;
    this.context.globalAlpha = 0.7;
    for (const [begin, end] of [...found, [to, to]]) {
      this.context.fillRect(this.x(last, view), top, this.x(begin, view) - this.x(last, view), LANE_HEIGHT);
      last = end;
    }
    this.context.globalAlpha = 1;
    for (const [begin, end] of found)
      this.#frame(begin, end, top, view, this.accent);
  }
}

/* Draws the axis, and below it the phases, as far as their names have room. */
export class AxisCanvas extends LaneCanvas {
  drawAxis(view, phases, range, marks) {
    const { context, ratio } = this;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.ground;
    context.fillRect(0, 0, this.width, this.height);
    context.font = this.font;
    context.textBaseline = "middle";
    const step = niceStep((view.to - view.from) / Math.max(1, this.width / 110));
    const decimals = Math.max(0, -Math.floor(Math.log10(step / 1e9) + 1e-9));
    for (let time = Math.ceil(view.from / step) * step; time <= view.to; time += step) {
      const x = this.x(time, view), text = (time / 1e9).toFixed(decimals) + " s";
      context.fillStyle = styleValue("--line");
      context.fillRect(x, 0, 1, 22);
      context.fillStyle = this.text;
      if (x + 4 + context.measureText(text).width < this.width)
        context.fillText(text, x + 4, 10);
    }
    phases.forEach((phase, number) => this.#phase(phase, number, view));
    this.#markNames(view, marks);
    if (range) {
      const from = Math.max(0, this.x(range.from, view)), to = Math.min(this.width, this.x(range.to, view));
      context.fillStyle = this.accent;
      context.fillRect(from, 19, Math.max(2, to - from), 3);
    }
  }

  /* Below the phases: the names that the one before leaves room for, with a line beside them.  The other marks have a
   * line below the names. */
  #markNames(view, marks) {
    let free = 0;
    const named = marks.filter((mark) => {
      const x = this.x(mark.at, view), width = this.context.measureText(mark.name).width;
      if (x < free || x + 4 + width > this.width)
        return false;
      this.context.fillStyle = this.text;
      this.context.fillText(mark.name, x + 4, 53);
      free = x + 8 + width;
      return true;
    });
    this.drawMarks(view, named, 46, this.height);
    this.drawMarks(view, marks, 60, this.height);
  }

  #phase(phase, number, view) {
    const { context } = this, from = Math.max(-2, this.x(phase.from, view)),
                    to = Math.min(this.width + 2, this.x(phase.to, view));
    if (to < 0 || from > this.width)
      return;
    context.fillStyle = styleValue(number % 2 ? "--raised" : "--accent-ground");
    context.fillRect(from, 22, Math.max(1, to - from), 22);
    context.strokeStyle = styleValue("--line");
    context.lineWidth = 1;
    context.strokeRect(from + 0.5, 22.5, Math.max(0, to - from - 1), 21);
    const texts = [`${phase.title} \u00b7 ${formatSeconds((phase.to - phase.from) / 1e9)}`, phase.title, phase.number];
    const text = texts.find((candidate) => context.measureText(candidate).width + 8 < to - Math.max(0, from));
    context.fillStyle = this.text;
    if (text)
      context.fillText(text, Math.max(0, from) + 4, 33);
  }
}

/* 1, 2 or 5 times a power of ten, not less than a length. */
function niceStep(length) {
  const unit = 10 ** Math.floor(Math.log10(length));
  return [1, 2, 5, 10].map((factor) => factor * unit).find((step) => step >= length * 0.999);
}
