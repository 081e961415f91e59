/* Where the boxes of an icicle are: a box for each row of a tree, below its caller's box, as wide as its weight.  All
 * is computed once; what is in sight is found by walking down from the root through boxes that are at least a pixel
 * wide. */

export class IcicleLayout {
  /* `weights`: of each row of the tree.  A row that weighs less than what is below it is as wide as that. */
  constructor(tree, weights) {
    this.tree = tree;
    this.width = Float64Array.from(weights, (weight) => (weight > 0 ? weight : 0));
    this.start = new Float64Array(tree.rows);
    this.end = new Float64Array(tree.rows); /* where a row's children end */
    this.descending =
      new Uint8Array(tree.rows).fill(1); /* whether its children stand from the widest to the thinnest */
    this.#widen();
    this.#place();
  }

  #widen() {
    const { tree, width, end } = this, { parents, leftOut } = tree;
    for (let row = tree.rows - 1; row >= 0; row--) {
      if (leftOut[row])
        continue;
      if (end[row] > width[row])
        width[row] = end[row];
      if (parents[row] >= 0)
        end[parents[row]] += width[row];
    }
  }

  #place() {
    const { tree, width, start, end, descending } = this, { parents, leftOut } = tree;
    const last = new Float64Array(tree.rows).fill(Infinity); /* width of the child before */
    let roots = 0;
    for (let row = 0; row < tree.rows; row++) {
      const parent = parents[row];
      if (leftOut[row] || parent === -2)
        continue;
      start[row] = parent < 0 ? roots : end[parent];
      end[row] = start[row];
      if (parent < 0) {
        roots += width[row];
        continue;
      }
      end[parent] += width[row];
      if (width[row] > last[parent])
        descending[parent] = 0;
      last[parent] = width[row];
    }
  }

  /* Calls emit(row, from, width, level) for each box in sight, in pixels; for neighbours that are each thinner than a
   * pixel once, with row -1.  `view`: root, from, scale (pixels for a unit of weight), pixels, firstLevel, levels. */
  visit(view, emit) {
    const { tree, start, width } = this, base = tree.levels[view.root], stack = [view.root];
    const lastLevel = view.firstLevel + view.levels;
    while (stack.length) {
      const row = stack.pop(), level = tree.levels[row] - base;
      if (level >= view.firstLevel)
        emit(row, (start[row] - view.from) * view.scale, width[row] * view.scale, level);
      if (level + 1 < lastLevel)
        this.#visitChildren(row, view, stack, emit, level + 1);
    }
  }

  #visitChildren(row, view, stack, emit, level) {
    const { tree, start, width, end, descending } = this, { leftOut, firstChild, nextSibling } = tree;
    const { from, scale, pixels } = view;
    let thinFrom = NaN, thinTo = NaN;
    const flush = () => {
      if ((thinTo - thinFrom) * scale >= 1 && level >= view.firstLevel)
        emit(-1, (thinFrom - from) * scale, (thinTo - thinFrom) * scale, level);
      thinFrom = NaN;
    };
    for (let child = firstChild[row]; child >= 0; child = nextSibling[child]) {
      if (leftOut[child])
        continue;
      const left = (start[child] - from) * scale;
      if (left >= pixels)
        break;
      if (width[child] * scale < 1) {
        if (Number.isNaN(thinFrom))
          thinFrom = start[child];
        thinTo = descending[row] ? end[row] : start[child] + width[child];
        if (descending[row])
          break;
        continue;
      }
      flush();
      if (left + width[child] * scale > 0)
        stack.push(child);
    }
    flush();
  }

  /* A row's own part of its width. */
  own(row) {
    return Math.max(0, this.start[row] + this.width[row] - this.end[row]);
  }
}
