/* An icicle on a canvas: callers above what they call, as wide as their weight.  Click or Enter zooms to a box, Escape
 * out; Control and the wheel zoom where the pointer is; dragging moves.  The grid beside it shows the same tree to
 * readers that cannot see a canvas. */
import { element, styleValue } from "../dom.js";
import { fittedName } from "../names.js";
import { onLook } from "../printing.js";

const ICICLE_LEVEL = 20, ICICLE_TEXT = 12, ICICLE_TEXT_LEAST = 28; /* pixels; narrower boxes have no text */
const ICICLE_ZOOM_MS = 180, ICICLE_WHEEL = 1.002, ICICLE_KEY_ZOOM = 1.6, NARROW_BOX = 3;

/* Options: label; name(row); onchoose(row): clicked or Enter; onselect(row): arrow keys; onhover(row, x, y): -1 for no
 * box; onout(): Escape. */
export class Icicle {
  constructor({ label, name, onchoose, onselect, onhover, onout }) {
    Object.assign(
      this, { name, onchoose, onselect, onhover, onout, layout: null, selected: -1, hovered: -1, matched: null });
    this.canvas = element("canvas", { class: "icicle", tabindex: "0", role: "application", "aria-label": label });
    this.context = this.canvas.getContext("2d", { alpha: false });
    this.view = { root: 0, from: 0, scale: 1, pixels: 0, firstLevel: 0, levels: 0 };
    this.range = [0, 1]; /* of weight, in sight */
    this.top = 0;        /* the first level in sight; may be a fraction */
    this.boxes = { count: 0, rows: new Int32Array(0) };
    this.pending = 0;
    this.reduced = matchMedia("(prefers-reduced-motion: reduce)");
    this.#listen();
    new ResizeObserver(() => this.#resized()).observe(this.canvas);
    onLook(() => {
      this.recolour();
      this.#draw();
    });
  }

  #listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => this.#press(event));
    canvas.addEventListener("pointermove", (event) => this.#move(event));
    canvas.addEventListener("pointerup", (event) => this.#release(event));
    canvas.addEventListener("pointercancel", () => { this.drag = null; });
    canvas.addEventListener("pointerleave", () => this.#hover(-1));
    canvas.addEventListener("wheel", (event) => this.#wheel(event), { passive: false });
    canvas.addEventListener("keydown", (event) => this.#key(event));
  }

  /* Shows a tree from a root on, all of it. */
  show(layout, root, depth) {
    Object.assign(this, { layout, root, depth });
    this.view.root = root;
    this.range = this.#rangeOf(root);
    this.top = 0;
    this.stop();
    this.redraw();
  }

  colour(colouring) {
    this.colouring = colouring;
    this.recolour();
  }

  /* Takes colours from the style sheet again: the scheme may have changed. */
  recolour() {
    if (!this.colouring)
      return;
    this.palette = this.colouring.palette();
    this.style = Object.fromEntries(
      ["ground", "text", "quiet", "raised", "line", "accent", "mark"].map((name) => [name, styleValue("--" + name)]));
    this.style.font = `${ICICLE_TEXT}px ${styleValue("--code")}`;
    this.redraw();
  }

  /* Rows whose names match the search; null: there is none. */
  match(matched) {
    this.matched = matched;
    this.redraw();
  }

  #rangeOf(row) {
    const { start, width } = this.layout;
    return [start[row], start[row] + (width[row] || 1e-9)];
  }

  /* What was selected while the tab was hidden is brought into sight now. */
  #resized() {
    const hidden = !this.view.pixels;
    this.redraw();
    this.view.pixels = this.canvas.clientWidth;
    if (hidden && this.view.pixels && this.selected >= 0)
      this.select(this.selected);
  }

  /* ---- moving ---- */

  stop() {
    cancelAnimationFrame(this.moving);
    this.moving = 0;
  }

  /* Shows a range of weight, and levels from `top` on; gradually, unless the reader prefers not to see motion. */
  #moveTo(range, top) {
    this.stop();
    if (this.reduced.matches || !this.view.pixels) {
      this.range = range;
      this.top = top;
      this.redraw();
      return;
    }
    const [from, to] = this.range, topBefore = this.top, begin = performance.now();
    const step = (now) => {
      const part = Math.min(1, Math.max(0, (now - begin) / ICICLE_ZOOM_MS)), eased = part * (2 - part);
      this.range = [from + (range[0] - from) * eased, to + (range[1] - to) * eased];
      this.top = topBefore + (top - topBefore) * eased;
      this.#draw();
      this.moving = part < 1 ? requestAnimationFrame(step) : 0;
    };
    this.moving = requestAnimationFrame(step);
  }

  #levelsInSight() {
    return Math.max(1, this.canvas.clientHeight / ICICLE_LEVEL);
  }

  #topFor(row) {
    const level = this.#level(row), sight = this.#levelsInSight();
    const most = Math.max(0, this.depth - sight);
    if (level >= this.top && level + 3 <= this.top + sight)
      return Math.min(this.top, most);
    return Math.min(most, Math.max(0, level - Math.floor(sight / 4)));
  }

  #level(row) {
    return this.layout.tree.levels[row] - this.layout.tree.levels[this.root];
  }

  /* Makes a box as wide as the canvas. */
  zoom(row) {
    if (this.layout && this.layout.tree.isWithin(row))
      this.#moveTo(this.#rangeOf(row), this.view.pixels ? this.#topFor(row) : 0);
  }

  /* Selects a box, and moves so that it is in sight. */
  select(row) {
    this.selected = row;
    if (!this.layout || !this.view.pixels || row < 0 || !this.layout.tree.isWithin(row)) {
      this.redraw();
      return;
    }
    const [from, to] = this.#rangeOf(row), [left, right] = this.range,
                 unit = (right - left) / (this.view.pixels || 1000);
    let range = this.range;
    if (to <= left || from >= right || to - from < NARROW_BOX * unit) {
      let around = row;
      while (around !== this.root && this.#width(around) < 30 * this.#width(row))
        around = this.layout.tree.parent(around);
      range = this.#rangeOf(around);
    }
    this.#moveTo(range, this.#topFor(row));
  }

  #width(row) {
    return this.layout.width[row];
  }

  /* Zooms by a factor around a place, 0 to 1 from left to right. */
  #scaleAt(place, factor) {
    const [whole, wholeEnd] = this.#rangeOf(this.root), [left, right] = this.range,
                  at = left + (right - left) * place;
    const span = Math.min(wholeEnd - whole, Math.max((right - left) / factor, (wholeEnd - whole) * 1e-9));
    this.#shift(at - span * place, span);
  }

  #shift(left, span) {
    const [whole, wholeEnd] = this.#rangeOf(this.root), from = Math.min(Math.max(left, whole), wholeEnd - span);
    this.stop();
    this.range = [from, from + span];
    this.redraw();
  }

  #pan(pixels) {
    const [left, right] = this.range;
    this.#shift(left + pixels * (right - left) / this.view.pixels, right - left);
  }

  /* Scrolls by levels.  Returns whether there was anything to scroll. */
  #scroll(levels) {
    const top = Math.min(Math.max(0, this.depth - this.#levelsInSight()), Math.max(0, this.top + levels)),
          before = this.top;
    this.stop();
    this.top = top;
    this.redraw();
    return top !== before;
  }

  /* ---- pointer and keyboard ---- */

  #at(event) {
    const { left, top } = this.canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  /* The row whose box is at a place; -1 if there is none. */
  rowAt(x, y) {
    const level = Math.floor(y / ICICLE_LEVEL + this.top),
          { count, rows, x: lefts, width, level: levels } = this.boxes;
    for (let i = 0; i < count; i++)
      if (levels[i] === level && x >= lefts[i] && x < lefts[i] + width[i])
        return rows[i];
    return -1;
  }

  #press(event) {
    if (event.button !== 0)
      return;
    const at = this.#at(event);
    this.drag = { ...at, range: this.range, top: this.top, moved: false };
    this.canvas.setPointerCapture(event.pointerId);
  }

  #move(event) {
    const at = this.#at(event);
    if (!this.drag) {
      this.#hover(this.rowAt(at.x, at.y), event.clientX, event.clientY);
      return;
    }
    this.drag.moved ||= Math.hypot(at.x - this.drag.x, at.y - this.drag.y) > 4;
    if (!this.drag.moved)
      return;
    this.#hover(-1);
    const [left, right] = this.drag.range;
    this.#shift(left + (this.drag.x - at.x) * (right - left) / this.view.pixels, right - left);
    this.#scroll(this.drag.top + (this.drag.y - at.y) / ICICLE_LEVEL - this.top);
  }

  #release(event) {
    const drag = this.drag, at = this.#at(event);
    this.drag = null;
    if (!drag || drag.moved)
      return;
    const row = this.rowAt(at.x, at.y);
    if (row >= 0)
      this.onchoose(row);
  }

  #hover(row, x = 0, y = 0) {
    if (row !== this.hovered) {
      this.hovered = row;
      this.redraw();
    }
    this.onhover(row, x, y);
  }

  #wheel(event) {
    const at = this.#at(event);
    if (event.ctrlKey || event.metaKey) {
      this.#scaleAt(at.x / this.view.pixels, ICICLE_WHEEL ** -event.deltaY);
      event.preventDefault();
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      this.#pan(event.deltaX || event.deltaY);
      event.preventDefault();
    } else if (this.#scroll(event.deltaY / ICICLE_LEVEL)) {
      event.preventDefault();
    }
    this.#hover(this.rowAt(at.x, at.y), event.clientX, event.clientY);
  }

  /* The row beside the selected one: its caller, the first that it calls, or the next or previous one of its caller. */
  #beside(key) {
    const { tree } = this.layout, row = this.selected;
    if (row < 0 || !tree.isWithin(row))
      return this.root;
    const calls = (of) => {
      const found = [];
      for (let child = tree.firstChild[of]; child >= 0; child = tree.nextSibling[child])
        if (!tree.leftOut[child] && this.#width(child) > 0)
          found.push(child);
      return found;
    };
    if (key === "ArrowDown")
      return calls(row)[0] ?? row;
    if (row === this.root)
      return row;
    if (key === "ArrowUp")
      return tree.parent(row);
    const siblings = calls(tree.parent(row));
    return siblings[siblings.indexOf(row) + (key === "ArrowRight" ? 1 : -1)] ?? row;
  }

  #key(event) {
    if (!this.layout || event.altKey || event.ctrlKey || event.metaKey)
      return;
    const { key } = event;
    if (key.startsWith("Arrow") && event.shiftKey)
      key === "ArrowLeft" || key === "ArrowRight" ? this.#pan((key === "ArrowLeft" ? -0.1 : 0.1) * this.view.pixels)
                                                  : this.#scroll(key === "ArrowUp" ? -1 : 1);
    else if (key.startsWith("Arrow"))
      this.onselect(this.#beside(key));
    else if (key === "Enter" && this.selected >= 0)
      this.onchoose(this.selected);
    else if (key === "Escape")
      this.onout();
    else if (key === "+" || key === "-")
      this.#scaleAt(0.5, key === "+" ? ICICLE_KEY_ZOOM : 1 / ICICLE_KEY_ZOOM);
    else if (key === "PageUp" || key === "PageDown")
      this.#scroll((key === "PageUp" ? -0.8 : 0.8) * this.#levelsInSight());
    else
      return;
    event.preventDefault();
  }

  /* ---- drawing ---- */

  redraw() {
    this.pending ||= requestAnimationFrame(() => {
      this.pending = 0;
      if (!this.moving)
        this.#draw();
    });
  }

  /* Fits the canvas's pixels to its size.  Returns whether there is anything to draw on. */
  #fit() {
    const { canvas } = this, ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height || !this.layout || !this.palette)
      return false;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.font = this.style.font;
    this.letter = this.context.measureText("0").width;
    const { view } = this;
    view.pixels = width;
    view.from = this.range[0];
    view.scale = width / (this.range[1] - this.range[0]);
    view.firstLevel = Math.floor(this.top);
    view.levels = Math.ceil(height / ICICLE_LEVEL) + 1;
    return true;
  }

  /* Collects the boxes in sight; their coordinates are kept for the pointer. */
  #collect() {
    const { boxes, view, palette, colouring, matched } = this, rest = palette.length;
    boxes.count = 0;
    this.layout.visit(view, (row, x, width, level) => {
      if (boxes.count === boxes.rows.length)
        growBoxes(boxes);
      const at = boxes.count++, left = Math.max(x, 0);
      boxes.rows[at] = row;
      boxes.x[at] = left;
      boxes.width[at] = Math.min(x + width, view.pixels) - left;
      boxes.level[at] = level;
      boxes.colour[at] = row < 0 || (matched && !matched[row]) ? rest : colouring.colourOf(row);
    });
  }

  #draw() {
    if (!this.#fit())
      return;
    const { context, canvas, style } = this;
    this.#collect();
    context.fillStyle = style.ground;
    context.fillRect(0, 0, canvas.clientWidth, canvas.clientHeight);
    const palette = [...this.palette, { fill: style.raised, text: style.quiet }];
    palette.forEach((colour, number) => this.#drawBoxes(colour.fill, number));
    palette.forEach((colour, number) => this.#drawNames(colour.text, number));
    this.#drawMarks();
  }

  #drawBoxes(fill, colour) {
    const { context, boxes, top } = this;
    context.fillStyle = fill;
    for (let i = 0; i < boxes.count; i++)
      if (boxes.colour[i] === colour) {
        const width = boxes.width[i];
        context.fillRect(
          boxes.x[i], (boxes.level[i] - top) * ICICLE_LEVEL, width > 2 ? width - 1 : width, ICICLE_LEVEL - 1);
      }
  }

  /* Names, cut to the letters that fit.  The font has letters of one width; others are squeezed. */
  #drawNames(colour, number) {
    const { context, boxes, top, letter } = this;
    context.fillStyle = colour;
    context.textBaseline = "middle";
    for (let i = 0; i < boxes.count; i++) {
      if (boxes.colour[i] !== number || boxes.width[i] < ICICLE_TEXT_LEAST || boxes.rows[i] < 0)
        continue;
      const room = boxes.width[i] - 9, letters = Math.max(1, Math.floor(room / letter));
      const text = fittedName(this.name(boxes.rows[i]), (part) => part.length <= letters);
      context.fillText(text, boxes.x[i] + 4, (boxes.level[i] - top + 0.5) * ICICLE_LEVEL, room);
    }
  }

  #frame(i, colour, width) {
    const { context, boxes, top } = this;
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.strokeRect(boxes.x[i] + width / 2, (boxes.level[i] - top) * ICICLE_LEVEL + width / 2,
      Math.max(boxes.width[i] - 1 - width, 1), ICICLE_LEVEL - 1 - width);
  }

  /* What is selected, under the pointer, or found. */
  #drawMarks() {
    const { boxes, matched, style } = this;
    for (let i = 0; i < boxes.count; i++) {
      const row = boxes.rows[i];
      if (row < 0)
        continue;
      if (matched && matched[row] && boxes.width[i] > 4)
        this.#frame(i, style.mark, 2);
      if (row === this.hovered)
        this.#frame(i, style.text, 1);
      if (row === this.selected)
        this.#frame(i, style.text, 2);
    }
  }
}

function growBoxes(boxes) {
  const room = Math.max(4096, 2 * boxes.rows.length);
  const grown = (old, Kind) => {
    const made = new Kind(room);
    made.set(old ?? []);
    return made;
  };
  boxes.rows = grown(boxes.rows, Int32Array);
  boxes.x = grown(boxes.x, Float64Array);
  boxes.width = grown(boxes.width, Float64Array);
  boxes.level = grown(boxes.level, Int32Array);
  boxes.colour = grown(boxes.colour, Uint8Array);
}
