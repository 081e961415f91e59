/* A plot of lines over a logarithmic axis with base 2, such as speedups over cores. */
import { svgElement } from "./dom.js";
import { significant } from "./number_format.js";

const WIDTH = 440, HEIGHT = 260, LEFT = 48, RIGHT = 16, TOP = 12, BOTTOM = 44;

/* Lines: { title, x[], y[], dash } drawn in their order; bands: { title, x[], low[], high[] }; points: { title, x, y }.
 * Values that are no numbers are left out. */
export function plotSpeedups({ label, xTitle, yTitle, lines = [], bands = [], points = [] }) {
  const xs = [...lines, ...bands].flatMap((line) => [...line.x]).concat(points.map((point) => point.x)).filter(Number.isFinite);
  const ys = [...lines.flatMap((line) => [...line.y]), ...bands.flatMap((band) => [...band.high]), ...points.map((point) => point.y)]
    .filter(Number.isFinite);
  const xEnd = Math.max(1, Math.ceil(Math.log2(Math.max(2, ...xs)))), yEnd = niceCeiling(Math.max(1, ...ys));
  const x = (value) => LEFT + Math.log2(Math.max(1, value)) / xEnd * (WIDTH - LEFT - RIGHT);
  const y = (value) => HEIGHT - BOTTOM - value / yEnd * (HEIGHT - TOP - BOTTOM);
  const path = (xsOf, ysOf) => [...xsOf].map((value, i) => [value, ysOf[i]]).filter(([, value]) => Number.isFinite(value))
    .map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  const parts = [];
  for (let power = 0; power <= xEnd; power++)
    parts.push(svgElement("line", { class: "plot-grid", x1: x(2 ** power), x2: x(2 ** power), y1: TOP, y2: HEIGHT - BOTTOM }),
      svgElement("text", { class: "plot-tick", x: x(2 ** power), y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, String(2 ** power)));
  for (let step = 0; step <= 4; step++)
    parts.push(svgElement("line", { class: "plot-grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(yEnd * step / 4), y2: y(yEnd * step / 4) }),
      svgElement("text", { class: "plot-tick", x: LEFT - 6, y: y(yEnd * step / 4) + 4, "text-anchor": "end" }, tick(yEnd * step / 4)));
  parts.push(svgElement("text", { class: "plot-title", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, xTitle),
    svgElement("text", { class: "plot-title", transform: `translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)`, "text-anchor": "middle" }, yTitle));
  for (const band of bands) {
    const known = [...band.x].map((value, i) => [value, band.low[i], band.high[i]]).filter((point) => point.every(Number.isFinite));
    if (known.length)
      parts.push(svgElement("path", {
        class: "plot-band",
        d: path(known.map((p) => p[0]), known.map((p) => p[2])) +
          path(known.map((p) => p[0]).reverse(), known.map((p) => p[1]).reverse()).replace("M", "L") + "Z",
      }, svgElement("title", {}, band.title)));
  }
  for (const line of lines)
    parts.push(svgElement("path", { class: "plot-line " + (line.kind ?? ""), d: path(line.x, line.y) || "M0 0" }, svgElement("title", {}, line.title)));
  for (const point of points)
    if (Number.isFinite(point.y))
      parts.push(svgElement("circle", { class: "plot-point", cx: x(point.x), cy: y(point.y), r: 4.5 },
        svgElement("title", {}, `${point.title}: ${significant(point.y)}`)));
  return svgElement("svg", { class: "plot", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label }, parts);
}

function tick(value) {
  return value >= 10 || value === Math.round(value) ? String(Math.round(value)) : value.toFixed(1);
}

function niceCeiling(value) {
  const unit = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 8, 10].map((factor) => factor * unit).find((end) => end >= value * 0.999);
}
