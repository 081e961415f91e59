/* The rows of a table that form a tree: who is below whom, in which order, and which of them are unfolded. */

export class TreeRows {
  /* `ids` and `parents` are columns of numbers; a parent stands before its children. */
  constructor(ids, parents) {
    this.rows = ids.length;
    const byId = new Map();
    this.parents = new Int32Array(this.rows).fill(-1);
    this.levels = new Int32Array(this.rows);
    this.childLists = new Map();
    this.roots = [];
    this.open = new Set();
    for (let row = 0; row < this.rows; row++) {
      byId.set(ids[row], row);
      const parent = Number.isNaN(parents[row]) ? -1 : byId.get(parents[row]) ?? -1;
      this.parents[row] = parent;
      if (parent < 0) {
        this.roots.push(row);
        continue;
      }
      this.levels[row] = this.levels[parent] + 1;
      const list = this.childLists.get(parent);
      if (list)
        list.push(row);
      else
        this.childLists.set(parent, [row]);
    }
    this.rowOfId = byId;
    this.compare = null;
    this.sortedLists = new Set();
  }

  parent(row) {
    return this.parents[row];
  }

  depth(row) {
    return this.levels[row];
  }

  hasChildren(row) {
    return this.childLists.has(row);
  }

  isOpen(row) {
    return this.open.has(row);
  }

  setOpen(row, open) {
    this.open[open ? "add" : "delete"](row);
  }

  /* Children in the present order. */
  children(row) {
    const list = this.childLists.get(row);
    if (list && this.compare && !this.sortedLists.has(row)) {
      list.sort(this.compare);
      this.sortedLists.add(row);
    }
    return list ?? [];
  }

  /* Orders siblings; lists are sorted when they are first shown. */
  sort(compare) {
    this.compare = compare;
    this.sortedLists.clear();
    this.roots.sort(compare);
  }

  /* Unfolds all that is above a row. */
  reveal(row) {
    for (let at = this.parents[row]; at >= 0; at = this.parents[at])
      this.open.add(at);
  }

  /* Unfolds the way from a row down, always through the first child, while it holds at least `share` of the row's
   * amount. */
  openHotPath(row, amounts, share) {
    for (let at = row; this.hasChildren(at);) {
      this.open.add(at);
      let heaviest = -1;
      for (const child of this.childLists.get(at))
        if (heaviest < 0 || amounts[child] > amounts[heaviest])
          heaviest = child;
      if (!(amounts[heaviest] >= share * amounts[row]))
        return;
      at = heaviest;
    }
  }

  /* The rows that are shown, in their order. */
  visible() {
    const shown = [], stack = [...this.roots].reverse();
    while (stack.length) {
      const row = stack.pop();
      shown.push(row);
      if (this.open.has(row)) {
        const children = this.children(row);
        for (let i = children.length - 1; i >= 0; i--)
          stack.push(children[i]);
      }
    }
    return shown;
  }
}
