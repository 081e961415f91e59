/* A tree of calling contexts: its figures, and what the reader leaves out of it or joins.  Figures are those of the
 * table; only where recursion is collapsed they are sums over the contexts that were joined. */
import { TreeRows } from "../tree_rows.js";

const INCLUSIVE = /^samples$|_incl(_s)?$/, EXCLUSIVE = /_excl(_s)?$/;

/* The columns of threads' time; a tree without them has samples or events only. */
const TIME_COLUMNS = ["work", "overhead", "lockwait", "idleness"];

/* Whether a column's cells can be added up, and are shares of the whole. */
export function isAdditive(name) {
  return INCLUSIVE.test(name) || EXCLUSIVE.test(name);
}

/* A number for each row, the same for rows of the same function. */
function identities(table) {
  const names = table.column("name").codes, modules = table.column("module").codes, numbers = new Map();
  const found = new Int32Array(table.rows);
  for (let row = 0; row < table.rows; row++) {
    const key = names[row] * 65536 + modules[row];
    let number = numbers.get(key);
    if (number === undefined)
      numbers.set(key, number = numbers.size);
    found[row] = number;
  }
  return { found, count: numbers.size };
}

/* Joins recursive calls.  The result has for each row the row that stands for it: a function's outermost call for those
 * that it leads to; among what joined rows call, the first call of each function for all.  Rows stand in depth-first
 * order. */
class RecursionJoiner {
  constructor(table, parents) {
    const { found, count } = identities(table);
    Object.assign(this, { parents, identity: found, count });
    this.joined = new Int32Array(table.rows);
    this.outermost = new Int32Array(count).fill(-1); /* [function] the row that stands for it on the present path */
    this.isSum = new Uint8Array(table.rows);
    this.calls = new Map(); /* of sums: what they call, by row and function */
    this.firstCall = new Int32Array(table.rows).fill(-1);
    this.nextCall = new Int32Array(table.rows).fill(-1);
    this.path = [];
    this.began = []; /* whether that row of the path is the outermost of its function */
    for (let row = 0; row < table.rows; row++)
      this.#take(row);
  }

  #take(row) {
    const { path, began, parents, identity, outermost, joined } = this, number = identity[row];
    while (path.length && path[path.length - 1] !== parents[row]) {
      const left = path.pop();
      if (began.pop())
        outermost[identity[left]] = -1;
    }
    const caller = parents[row] < 0 ? -1 : joined[parents[row]], first = outermost[number] < 0;
    let into = outermost[number];
    if (first && caller >= 0 && this.isSum[caller])
      into = this.calls.get(caller * this.count + number) ?? -1;
    joined[row] = into < 0 ? row : into;
    if (into >= 0 && into !== row)
      this.#becomeSum(into);
    if (into < 0 && caller >= 0)
      this.#addCall(caller, row);
    outermost[number] = joined[row];
    path.push(row);
    began.push(first);
  }

  #addCall(caller, row) {
    this.nextCall[row] = this.firstCall[caller];
    this.firstCall[caller] = row;
    if (this.isSum[caller])
      this.calls.set(caller * this.count + this.identity[row], row);
  }

  #becomeSum(row) {
    if (this.isSum[row])
      return;
    this.isSum[row] = 1;
    for (let call = this.firstCall[row]; call >= 0; call = this.nextCall[call])
      this.calls.set(row * this.count + this.identity[call], call);
  }
}

export class ContextTree extends TreeRows {
  /* `exclusive`: rows are weighed by what happened in themselves, as in the bottom-up tree, whose rows are callers. */
  constructor(name, table, exclusive) {
    super(table.column("id").numbers, table.column("parent_id").numbers);
    Object.assign(this, { name, table, exclusive, ids: table.column("id").numbers, joined: null, sums: new Map() });
    this.called = this.parents; /* before recursion is collapsed */
    this.instances = null;
  }

  /* Takes the same table with other columns. */
  setTable(table) {
    this.table = table;
    this.sums.clear();
  }

  /* The row that shows the context with an id; -1 if there is none. */
  rowOf(id) {
    const row = id === "" ? undefined : this.rowOfId.get(Number(id));
    if (row === undefined)
      return -1;
    return this.joined ? this.joined[row] : row;
  }

  setCollapsed(collapsed) {
    if (collapsed === Boolean(this.joined))
      return;
    this.sums.clear();
    this.joined = collapsed ? new RecursionJoiner(this.table, this.called).joined : null;
    this.instances = null;
    if (!collapsed) {
      this.link(this.called);
      return;
    }
    const above = new Int32Array(this.rows), instances = new Int32Array(this.rows);
    for (let row = 0; row < this.rows; row++) {
      instances[this.joined[row]]++;
      above[row] = this.joined[row] !== row ? -2 : this.called[row] < 0 ? -1 : this.joined[this.called[row]];
    }
    this.instances = instances;
    this.link(above);
  }

  /* Of how many contexts a row is the sum. */
  contexts(row) {
    return this.instances ? this.instances[row] : 1;
  }

  /* A column's numbers, by row. */
  numbers(name) {
    const column = this.table.column(name);
    if (!column || !this.joined)
      return column?.numbers ?? null;
    if (!this.sums.has(name))
      this.sums.set(name, this.#summed(name, column.numbers));
    return this.sums.get(name);
  }

  number(name, row) {
    return this.joined ? this.numbers(name)?.[row] ?? NaN : this.table.number(name, row);
  }

  #summed(name, numbers) {
    const sums = new Float64Array(this.rows).fill(NaN);
    if (!isAdditive(name)) {
      for (let row = 0; row < this.rows; row++)
        sums[row] = this.instances[row] === 1 ? numbers[row] : NaN;
      return sums;
    }
    const inclusive = INCLUSIVE.test(name), own = inclusive ? numbers.slice() : numbers;
    for (let row = this.rows - 1; inclusive && row >= 0; row--)
      if (this.called[row] >= 0)
        own[this.called[row]] -= numbers[row] || 0;
    for (let row = 0; row < this.rows; row++) {
      const into = this.joined[row];
      if (!Number.isNaN(own[row]))
        sums[into] = (Number.isNaN(sums[into]) ? 0 : sums[into]) + own[row];
    }
    for (let row = this.rows - 1; inclusive && row >= 0; row--)
      if (this.parents[row] >= 0 && !Number.isNaN(sums[row]))
        sums[this.parents[row]] += sums[row];
    for (let row = 0; row < this.rows; row++)
      sums[row] = Math.round(sums[row] * 1e9) / 1e9;
    return sums;
  }

  /* A cell as in the CSV; a sum has no more decimals than that. */
  text(name, row) {
    const column = this.table.column(name);
    if (!column)
      return "";
    if (!this.joined || this.instances[row] === 1 && !isAdditive(name) || column.isText)
      return column.text(row);
    const number = this.number(name, row);
    return Number.isNaN(number) ? "" : number.toFixed(column.header.decimals);
  }

  /* The whole run's amount of a column: what 100 % is. */
  whole(name) {
    return this.rows ? this.table.number(name.replace("_excl", "_incl"), 0) : NaN;
  }

  /* Names of what rows can be weighed by: "time" is all time of threads. */
  weights() {
    const form = this.exclusive ? "_excl" : "_incl", found = [];
    const range = TIME_COLUMNS.map((time) => "range_" + time + form + "_s");
    if (this.table.has(range[0]))
      found.push({ key: "range", title: "All threads' time in the range", columns: range });
    const times = TIME_COLUMNS.filter((time) => this.#used(time + form + "_s"));
    if (times.length)
      found.push({ key: "time", title: "All threads' time", columns: times.map((time) => time + form + "_s") });
    for (const { name } of this.table.columns)
      if (name.includes(form) && this.#used(name))
        found.push({ key: name.replace(/_(incl|excl)(_s)?$/, ""), title: weightTitle(name), columns: [name] });
    if (!this.exclusive && this.#used("samples"))
      found.push({ key: "samples", title: "Samples", columns: ["samples"] });
    return found;
  }

  /* Whether the run has any of a column's amounts: its root tells, without decoding the column. */
  #used(name) {
    const column = this.table.column(name), whole = this.table.column(name.replace("_excl", "_incl"));
    return Boolean(column) && !column.isText && this.rows > 0 && whole?.number(0) > 0;
  }

  /* The sum of columns, by row. */
  weigh(columns) {
    if (columns.length === 1)
      return this.numbers(columns[0]);
    const sum = new Float64Array(this.rows);
    for (const name of columns) {
      const numbers = this.numbers(name);
      for (let row = 0; row < sum.length; row++)
        sum[row] += numbers[row] || 0;
    }
    return sum;
  }
}

function weightTitle(name) {
  const titles = {
    work: "Work",
    overhead: "Overhead",
    lockwait: "Lock wait",
    idleness: "Idleness",
    critical_path: "Critical path"
  };
  const base = name.replace(/_(incl|excl)(_s)?$/, "");
  const ofRange = base.startsWith("range_"), title = titles[base.replace("range_", "")];
  return title ? title + (ofRange ? " in the range" : "") : base;
}
