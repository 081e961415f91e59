/* The rates of counters below the lanes, on their axis. */
import { element, fill, styleValue } from "../dom.js";
import { significant } from "../number_format.js";
import { LaneCanvas } from "./lane_canvas.js";

export const CHART_HEIGHT = 48; /* of a row, in pixels of the style sheet; as in page.css */
const CHART_MARGIN = 4;

/* "29.8 k/s" */
export function formatRate(rate) {
  const units = [[1e9, "G"], [1e6, "M"], [1e3, "k"]], [unit, letter] = units.find(([size]) => rate >= size) ?? [1, ""];
  return `${rate > 0 ? significant(rate / unit) : "0"}${letter ? "\u00a0" + letter : ""}/s`;
}

class ChartCanvas extends LaneCanvas {
  /* Draws a row: how high the rate is in each column of pixels, of the highest one in sight, which it returns. */
  drawRow(counter, row, view) {
    const { context, ratio } = this, columns = Math.max(1, Math.round(this.width * ratio));
    const rates = counter.rates(view.from, view.to, columns), highest = rates.reduce((most, rate) => Math.max(most, rate), 0);
    const bottom = Math.round(((row + 1) * CHART_HEIGHT - CHART_MARGIN) * ratio), height = Math.round((CHART_HEIGHT - 2 * CHART_MARGIN) * ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.line;
    context.fillRect(0, bottom, columns, Math.max(1, Math.round(ratio)));
    context.fillStyle = this.colour;
    for (let x = 0; x < columns; x++) {
      const length = highest > 0 ? Math.max(rates[x] > 0 ? 1 : 0, Math.round(rates[x] / highest * height)) : 0;
      context.fillRect(x, bottom - length, 1, length);
    }
    return highest;
  }

  drawCharts(counters, view, range) {
    const { context, ratio } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = this.ground;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const highest = counters.map((counter, row) => this.drawRow(counter, row, view));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (range)
      this.drawRange(range, view);
    return highest;
  }

  readColours() {
    Object.assign(this, {
      ground: styleValue("--ground"),
      line: styleValue("--line"),
      colour: styleValue("--lane-1"),
      accent: styleValue("--accent")
    });
  }
}

export class CounterChart {
  /* onpoint(counter, time): null, if the pointer leaves. */
  constructor(counters, { onpoint, onwheel }) {
    Object.assign(this, { counters, onpoint });
    this.canvas = new ChartCanvas(element("canvas", { class: "counters-canvas", "aria-hidden": "true" }));
    this.labels = element("div", { class: "counters-labels" });
    this.element = element("div", { class: "counters" }, this.labels, this.canvas.canvas);
    const { canvas } = this.canvas, height = counters.length * CHART_HEIGHT + "px";
    this.element.style.height = canvas.style.height = height;
    canvas.addEventListener("wheel", onwheel, { passive: false });
    canvas.addEventListener("pointermove", (event) => this.#moved(event));
    canvas.addEventListener("pointerleave", () => this.onpoint(null, 0, 0));
  }

  draw(view, range) {
    if (!this.canvas.measure())
      return;
    this.view = view;
    this.canvas.readColours();
    const highest = this.canvas.drawCharts(this.counters, view, range);
    fill(this.labels, this.counters.map((counter, row) => {
      const label = element("div", { class: "counters-label", title: counter.name },
        element("span", { class: "counters-name" }, counter.name),
        element("span", { class: "counters-rate" }, `at most ${formatRate(highest[row])}`));
      label.style.top = row * CHART_HEIGHT + "px";
      return label;
    }));
  }

  #moved(event) {
    const box = event.target.getBoundingClientRect(), { from, to } = this.view ?? { from: 0, to: 1 };
    const counter = this.counters[Math.floor((event.clientY - box.top) / CHART_HEIGHT)];
    const step = (to - from) / Math.max(1, box.width), time = from + (event.clientX - box.left) * step;
    if (counter)
      this.onpoint(counter, time, counter.between(time - step / 2, time + step / 2) / step * 1e9);
  }
}
