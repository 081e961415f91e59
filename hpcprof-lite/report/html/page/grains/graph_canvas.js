/* Draws a task graph: drag or arrow keys move it, the wheel or + and - zoom, a click or Tab and Enter choose a node. */
import { onLook } from "../printing.js";
import { element, styleValue } from "../dom.js";

const ZOOM_STEP = 1.25, LEAST_SCALE = 0.001, MOST_SCALE = 4, LABEL_FROM = 11;

export class GraphCanvas {
  /* label(node) and colour(node), a CSS colour; onselect(node); onopen(node): a double click or Enter. */
  constructor({ label, colour, onselect, onopen }) {
    Object.assign(this, { label, colour, onselect, onopen, nodes: [], edges: [], scale: 1, left: 0, top: 0, selected: -1 });
    this.canvas = element("canvas", { class: "graph-canvas", tabindex: "0", role: "application",
      "aria-label": "Task graph: arrow keys move it, plus and minus zoom, n and p go to the next and previous node, Enter unfolds" });
    this.element = element("div", { class: "graph-frame" }, this.canvas);
    this.canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    this.canvas.addEventListener("pointerdown", (event) => this.#press(event));
    this.canvas.addEventListener("dblclick", (event) => this.#open(this.#nodeAt(event)));
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    new ResizeObserver(() => this.#resize()).observe(this.element);
    onLook(() => this.#resize());
  }

  /* Shows another graph, whose nodes have places; `size` is that of the whole. */
  setGraph(nodes, edges, size) {
    Object.assign(this, { nodes, edges, size });
    this.selected = -1;
    this.fit();
  }

  fit() {
    if (!this.size)
      return;
    const width = this.canvas.clientWidth || 800, height = this.canvas.clientHeight || 500;
    this.scale = Math.min(1.5, width / this.size.width, Math.max(height / this.size.height, 0.35));
    this.left = (width - this.size.width * this.scale) / 2;
    this.top = 8;
    this.draw();
  }

  #resize() {
    const ratio = devicePixelRatio || 1, { clientWidth, clientHeight } = this.canvas;
    if (!clientWidth)
      return;
    const first = !this.canvas.dataset.sized;
    this.canvas.width = clientWidth * ratio;
    this.canvas.height = clientHeight * ratio;
    this.canvas.dataset.sized = "true";
    if (first)
      this.fit();
    this.draw();
  }

  zoom(factor, x = this.canvas.clientWidth / 2, y = this.canvas.clientHeight / 2) {
    const scale = Math.min(MOST_SCALE, Math.max(LEAST_SCALE, this.scale * factor));
    this.left = x - (x - this.left) * scale / this.scale;
    this.top = y - (y - this.top) * scale / this.scale;
    this.scale = scale;
    this.draw();
  }

  #wheel(event) {
    event.preventDefault();
    this.zoom(event.deltaY < 0 ? ZOOM_STEP : 1 / ZOOM_STEP, event.offsetX, event.offsetY);
  }

  #press(event) {
    const start = { x: event.clientX - this.left, y: event.clientY - this.top };
    const at = { x: event.clientX, y: event.clientY };
    this.canvas.setPointerCapture(event.pointerId);
    const move = (moved) => {
      this.left = moved.clientX - start.x;
      this.top = moved.clientY - start.y;
      this.draw();
    };
    const letGo = new AbortController(), { signal } = letGo; /* ends all three listeners, whichever comes first */
    const release = (released) => {
      letGo.abort();
      if (Math.hypot(released.clientX - at.x, released.clientY - at.y) < 4)
        this.select(this.#nodeAt(released));
    };
    this.canvas.addEventListener("pointermove", move, { signal });
    this.canvas.addEventListener("pointerup", release, { signal });
    this.canvas.addEventListener("pointercancel", () => letGo.abort(), { signal });
  }

  #nodeAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = (event.clientX - box.left - this.left) / this.scale, y = (event.clientY - box.top - this.top) / this.scale;
    return this.nodes.findIndex((node) => Math.abs(node.x - x) <= node.width / 2 && Math.abs(node.y - y) <= node.height / 2);
  }

  select(number) {
    this.selected = number;
    if (number >= 0)
      this.#bringIntoSight(this.nodes[number]);
    this.draw();
    this.onselect(this.nodes[number] ?? null);
  }

  #bringIntoSight(node) {
    const x = this.left + node.x * this.scale, y = this.top + node.y * this.scale;
    if (x < 0 || x > this.canvas.clientWidth)
      this.left = this.canvas.clientWidth / 2 - node.x * this.scale;
    if (y < 0 || y > this.canvas.clientHeight)
      this.top = this.canvas.clientHeight / 2 - node.y * this.scale;
  }

  #open(number) {
    if (number >= 0)
      this.onopen(this.nodes[number]);
  }

  #key(event) {
    const step = 60, moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (event.ctrlKey || event.altKey || event.metaKey)
      return;
    if (event.key in moves) {
      this.left += moves[event.key][0];
      this.top += moves[event.key][1];
      this.draw();
    } else if (event.key === "+" || event.key === "-") {
      this.zoom(event.key === "+" ? ZOOM_STEP : 1 / ZOOM_STEP);
    } else if (event.key === "0") {
      this.fit();
    } else if ((event.key === "n" || event.key === "p") && this.nodes.length) {
      const next = this.selected + (event.key === "n" ? 1 : -1);
      this.select((next + this.nodes.length) % this.nodes.length);
    } else if (event.key === "Enter") {
      this.#open(this.selected);
    } else {
      return;
    }
    event.preventDefault();
  }

  draw() {
    const context = this.canvas.getContext("2d"), ratio = devicePixelRatio || 1;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.translate(this.left, this.top);
    context.scale(this.scale, this.scale);
    this.#drawEdges(context);
    this.#drawNodes(context);
  }

  /* Whether what lies between two heights is in sight. */
  #inSight(from, to) {
    return this.top + to * this.scale >= 0 && this.top + from * this.scale <= this.canvas.clientHeight;
  }

  #drawEdges(context) {
    for (const critical of [false, true]) {
      context.strokeStyle = styleValue(critical ? "--critical" : "--edge");
      context.lineWidth = (critical ? 2.5 : 1) / Math.min(1, Math.max(this.scale, 0.2));
      context.beginPath();
      for (const edge of this.edges) {
        const from = this.nodes[edge.from], to = this.nodes[edge.to];
        if (Boolean(edge.critical) !== critical || !this.#inSight(from.y, to.y))
          continue;
        const start = from.y + from.height / 2, end = to.y - to.height / 2, middle = (start + end) / 2;
        context.moveTo(from.x, start);
        context.bezierCurveTo(from.x, middle, to.x, middle, to.x, end);
      }
      context.stroke();
    }
  }

  #drawNodes(context) {
    context.textAlign = "center";
    context.textBaseline = "middle";
    this.nodes.forEach((node, number) => {
      if (!this.#inSight(node.y - node.height, node.y + node.height))
        return;
      const x = node.x - node.width / 2, y = node.y - node.height / 2;
      context.fillStyle = this.colour(node);
      context.fillRect(x, y, node.width, node.height);
      context.strokeStyle = styleValue(number === this.selected ? "--text" : node.critical ? "--critical" : "--quiet");
      context.lineWidth = (number === this.selected ? 4 : node.critical ? 2.5 : 0.75) / Math.min(1, Math.max(this.scale, 0.3));
      context.strokeRect(x, y, node.width, node.height);
      if (node.kind === "grain" && LABEL_FROM * this.scale > 7 && node.height > LABEL_FROM + 4)
        this.#drawLabel(context, node);
    });
  }

  #drawLabel(context, node) {
    context.save();
    context.beginPath();
    context.rect(node.x - node.width / 2, node.y - node.height / 2, node.width, node.height);
    context.clip();
    context.fillStyle = styleValue("--on-node");
    context.font = `${LABEL_FROM}px ${styleValue("--font")}`;
    context.fillText(this.label(node), node.x, node.y, Math.max(node.width - 4, 1));
    context.restore();
  }
}
