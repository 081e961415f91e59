/* The rows of a table that form a tree: who is below whom, in which order, and which of them are unfolded.  A tree may
 * have a million rows: links are typed arrays, and only what is shown is sorted. */

/* Finds rows by their numbers in a column. */
export class RowNumbers {
  constructor(ids) {
    let largest = 0, dense = true;
    for (const id of ids) {
      dense &&= Number.isInteger(id) && id >= 0;
      largest = Math.max(largest, id);
    }
    dense &&= largest < 8 * ids.length + 1024;
    this.rows = dense ? new Int32Array(largest + 1).fill(-1) : null;
    this.map = dense ? null : new Map();
    for (let row = 0; row < ids.length; row++) {
      if (dense)
        this.rows[ids[row]] = row;
      else
        this.map.set(ids[row], row);
    }
  }

  /* Undefined where no row has that number. */
  get(id) {
    if (this.map)
      return this.map.get(id);
    const row = this.rows[id] ?? -1;
    return row < 0 ? undefined : row;
  }
}

export class TreeRows {
  /* `ids` and `parents` are columns of numbers; a parent stands before its children. */
  constructor(ids, parents) {
    this.rows = ids.length;
    this.rowOfId = new RowNumbers(ids);
    this.open = new Uint8Array(this.rows);
    this.leftOut = new Uint8Array(this.rows); /* 1: neither the row nor what is below it is shown */
    this.kept = null;       /* of a search, rows that are shown; null: all */
    this.openBefore = null; /* the search */
    this.top = -1; /* the row that is shown as root; -1: all roots */
    this.compare = null;
    const above = new Int32Array(this.rows);
    for (let row = 0; row < this.rows; row++) {
      const parent = Number.isNaN(parents[row]) ? -1 : this.rowOfId.get(parents[row]) ?? -1;
      above[row] = parent < row ? parent : -1;
    }
    this.link(above);
  }

  /* Sets the parent of each row: -1 for roots, -2 for rows that are not in the tree. */
  link(parents) {
    this.parents = parents;
    this.levels = new Int32Array(this.rows);
    this.firstChild = new Int32Array(this.rows).fill(-1);
    this.nextSibling = new Int32Array(this.rows).fill(-1);
    this.roots = [];
    this.sorted = new Map();
    for (let row = 0; row < this.rows; row++) {
      if (parents[row] >= 0)
        this.levels[row] = this.levels[parents[row]] + 1;
      else if (parents[row] === -1)
        this.roots.push(row);
    }
    for (let row = this.rows - 1; row >= 0; row--)
      if (parents[row] >= 0) {
        this.nextSibling[row] = this.firstChild[parents[row]];
        this.firstChild[parents[row]] = row;
      }
    if (this.compare)
      this.roots.sort(this.compare);
  }

  parent(row) {
    return this.parents[row];
  }

  depth(row) {
    return this.levels[row];
  }

  hasChildren(row) {
    return this.firstChild[row] >= 0;
  }

  isOpen(row) {
    return this.open[row] === 1;
  }

  setOpen(row, open) {
    this.open[row] = open ? 1 : 0;
  }

  /* Whether a row is the root that is shown, or below it, and not left out. */
  isWithin(row) {
    for (let at = row; at >= 0; at = this.parents[at]) {
      if (this.leftOut[at] || this.parents[at] === -2)
        return false;
      if (at === this.top)
        return true;
    }
    return this.top < 0;
  }

  /* Children in the present order. */
  children(row) {
    const known = this.sorted.get(row);
    if (known)
      return known;
    const list = [];
    for (let child = this.firstChild[row]; child >= 0; child = this.nextSibling[child])
      list.push(child);
    if (this.compare && list.length > 1) {
      list.sort(this.compare);
      this.sorted.set(row, list);
    }
    return list;
  }

  /* Orders siblings; lists are sorted when they are first shown. */
  sort(compare) {
    this.compare = compare;
    this.sorted.clear();
    this.roots.sort(compare);
  }

  /* Unfolds all that is above a row. */
  reveal(row) {
    for (let at = this.parents[row]; at >= 0; at = this.parents[at])
      this.open[at] = 1;
  }

  /* Unfolds the way from a row down, always through the heaviest child, while it holds at least `share` of the row's
   * amount.  Returns the last row of the way. */
  openHotPath(row, amounts, share) {
    let at = row;
    while (this.hasChildren(at)) {
      this.open[at] = 1;
      let heaviest = -1;
      for (let child = this.firstChild[at]; child >= 0; child = this.nextSibling[child])
        if (!this.leftOut[child] && (heaviest < 0 || amounts[child] > amounts[heaviest]))
          heaviest = child;
      if (heaviest < 0 || !(amounts[heaviest] >= share * amounts[row]) || !(amounts[heaviest] > 0))
        break;
      at = heaviest;
    }
    return at;
  }

  /* Shows only the rows that match (1 for each), what is below them, and what leads to them, which is unfolded.  Null:
   * shows all, folded as before. */
  keep(matched) {
    const { parents } = this;
    this.open = this.openBefore ?? this.open;
    this.openBefore = this.kept = null;
    if (!matched)
      return;
    this.openBefore = this.open.slice();
    this.kept = Uint8Array.from(matched);
    for (let row = 0; row < this.rows; row++)
      if (parents[row] >= 0)
        this.kept[row] |= this.kept[parents[row]];
    const leads = Uint8Array.from(matched);
    for (let row = this.rows - 1; row >= 0; row--)
      if (parents[row] >= 0 && leads[row])
        this.open[parents[row]] = leads[parents[row]] = this.kept[parents[row]] = 1;
  }

  /* The rows that are shown, in their order. */
  visible() {
    const shown = [], stack = this.top >= 0 ? [this.top] : [...this.roots].reverse();
    while (stack.length) {
      const row = stack.pop();
      if (this.leftOut[row] || (this.kept && !this.kept[row]))
        continue;
      shown.push(row);
      if (this.open[row]) {
        const children = this.children(row);
        for (let i = children.length - 1; i >= 0; i--)
          stack.push(children[i]);
      }
    }
    return shown;
  }
}
