/* The intervals of the timeline: what each thread did when.  interval_tables.h describes the tables.
 *
 * An interval is a position in two arrays, `starts` and `states`.  Those of a lane follow one another without a hole,
 * and one position more holds the lane's end, so that interval i lasts from starts[i] until starts[i + 1].  Times are
 * whole ns since the start of the run, as in the CSV. */
import { loadTable } from "../table_data.js";
import { categories, otherStates } from "../categories.js";

export const laneCategories = [...categories, ...otherStates];
export const GAP = laneCategories.findIndex((category) => category.key === "gap");
const categoryNumbers = new Map(laneCategories.map((category, number) => [category.key, number]));

/* A column of a small table as Int32Array; -1 where it is empty. */
function numbersOrNone(table, name) {
  return Int32Array.from(table.column(name).numbers, (number) => Number.isNaN(number) ? -1 : number);
}

/* Names and places of calling contexts, by their id. */
class Contexts {
  constructor(table) {
    this.table = table;
    const ids = table ? table.column("id").numbers : [];
    this.rows = new Int32Array(ids.reduce((most, id) => Math.max(most, id), -1) + 1).fill(-1);
    for (let row = 0; row < ids.length; row++)
      this.rows[ids[row]] = row;
  }

  rowOf(id) {
    return this.rows[id] ?? -1;
  }

  name(id) {
    const row = this.rowOf(id);
    return row < 0 ? "" : this.table.text("name", row);
  }

  place(id) {
    const row = this.rowOf(id);
    return row < 0 ? "" : shortPlace(this.table.text("file", row), this.table.text("line", row));
  }

  /* "called by main", for contexts of which no place is known. */
  caller(id) {
    const row = this.rowOf(id), above = row < 0 ? -1 : this.rowOf(this.table.number("parent_id", row));
    return above < 0 ? "" : "called by " + this.table.text("name", above);
  }

  /* Names from the program's start to the context, without the root. */
  path(id) {
    const names = [];
    for (let row = this.rowOf(id); row > 0; row = this.rowOf(this.table.number("parent_id", row)))
      names.unshift(this.table.text("name", row));
    return names;
  }

  /* The first row behind those that the context contains; rows stand depth-first. */
  end(id) {
    const row = this.rowOf(id), depths = this.table?.column("depth").numbers;
    let end = row + 1;
    while (row >= 0 && end < this.table.rows && depths[end] > depths[row])
      end++;
    return end;
  }
}

/* "heat.c:33" */
export function shortPlace(file, line) {
  return file ? file.replace(/^.*\//, "") + (line ? ":" + line : "") : "";
}

export class Trace {
  constructor(intervals, lanes, states, constructs, extent, contexts) {
    this.count = intervals.rows;
    this.from = extent.number("from_ns", 0);
    this.end = extent.number("to_ns", 0);
    this.until = extent.number("until_ns", 0);
    this.leftOut = extent.number("left_out", 0);
    this.contexts = new Contexts(contexts);
    this.#readLanes(intervals, lanes);
    this.#nameLanes();
    this.stateCount = states.rows;
    this.categoryOf =
      Uint8Array.from({ length: states.rows }, (_, row) => categoryNumbers.get(states.text("category", row)));
    this.contextOf = numbersOrNone(states, "context_id");
    this.constructOf = numbersOrNone(states, "construct");
    this.waitFor = numbersOrNone(states, "wait_for");
    this.critical = numbersOrNone(states, "on_critical_path");
    this.criticalKnown = this.critical.some((known) => known >= 0);
    this.constructs = Array.from({ length: constructs.rows }, (_, row) => ({
      parent: row ? constructs.number("parent", row) : -1,
      number: constructs.number("number", row),
      kind: constructs.text("kind", row),
      name: constructs.text("name", row),
      place: shortPlace(constructs.text("file", row), constructs.text("line", row)),
      executions: constructs.number("executions", row),
      bytes: constructs.number("bytes", row), /* of operations for devices; NaN: none */
    }));
    this.#findRegions();
  }

  #readLanes(intervals, lanes) {
    const durations = intervals.column("duration_ns").integers(), states = intervals.column("state").integers();
    this.starts = new Float64Array(this.count + lanes.rows);
    this.states = new (intervals.column("state").header.bytes > 2 ? Uint32Array : Uint16Array)(this.starts.length);
    this.lanes = [];
    let row = 0, at = 0;
    for (let number = 0; number < lanes.rows; number++) {
      const lane = {
        number,
        first: at,
        process: lanes.text("process", number),
        rank: lanes.text("rank", number),
        thread: lanes.text("thread", number),
        host: lanes.text("host", number),
        from: lanes.number("start_ns", number)
      };
      let time = lane.from;
      for (const end = row + lanes.number("intervals", number); row < end; row++, at++) {
        this.starts[at] = time;
        this.states[at] = states[row];
        time += durations[row];
      }
      lane.end = at;
      lane.to = time;
      this.starts[at++] = time;
      this.lanes.push(lane);
    }
  }

  /* Of each construct, the outermost parallel region around it, or -1. */
  #findRegions() {
    this.regionOf = new Int32Array(this.constructs.length).fill(-1);
    this.constructs.forEach((construct, row) => {
      const above = construct.parent >= 0 ? this.regionOf[construct.parent] : -1;
      this.regionOf[row] = above >= 0 ? above : construct.kind === "parallel" ? row : -1;
    });
  }

  /* The interval of a lane at a moment: the first or last one for moments before or after its life; -1 without any. */
  positionAt(lane, time, low = lane.first) {
    let high = lane.end;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] <= time)
        low = middle;
      else
        high = middle;
    }
    return lane.end > lane.first ? low : -1;
  }

  /* Finds out once what titles need, as there may be many thousand lanes. */
  #nameLanes() {
    this.processesOfRank = new Map();
    for (const { rank, process } of this.lanes)
      this.processesOfRank.set(rank, (this.processesOfRank.get(rank) ?? new Set()).add(process));
    const [first] = this.lanes;
    this.severalProcesses = this.lanes.some((lane) => lane.process !== first.process || lane.host !== first.host);
  }

  /* "3" of a thread; "7.3" with several processes, by rank or process id, or "2/7.3" by both. */
  title(lane) {
    return this.severalProcesses ? `${this.processTitle(lane)}.${lane.thread}` : lane.thread;
  }

  processTitle({ rank, process }) {
    return rank === "" ? process : this.processesOfRank.get(rank)?.size > 1 ? `${rank}/${process}` : rank;
  }

  laneOf(position) {
    let low = 0, high = this.lanes.length;
    while (low + 1 < high) { /* the last lane that begins there or before: empty ones hold their end only */
      const middle = (low + high) >> 1;
      if (this.lanes[middle].first <= position)
        low = middle;
      else
        high = middle;
    }
    return position < this.lanes[low].end ? this.lanes[low] : undefined;
  }

  category(position) {
    return this.categoryOf[this.states[position]];
  }

  /* The columns of an interval as the CSV has them, and what they mean. */
  interval(position) {
    const state = this.states[position], construct = this.constructs[this.constructOf[state]];
    const category = laneCategories[this.categoryOf[state]];
    return {
      start: this.starts[position],
      end: this.starts[position + 1],
      category,
      state,
      kind: category.key === "gap" ? "gap" : construct?.kind ?? "",
      construct: construct?.number ?? -1,
      name: construct?.name ?? "",
      place: construct?.place ?? "",
      context: this.contextOf[state],
      waitFor: this.waitFor[state],
      critical: this.critical[state],
    };
  }

  /* The position of the longest interval in which a thread runs a context, or what that calls; -1 without any. */
  longestIn(context) {
    const marked = this.statesBelow(context);
    let longest = -1, most = 0;
    for (const lane of this.lanes)
      for (let at = lane.first; at < lane.end; at++)
        if (marked[this.states[at]] && this.starts[at + 1] - this.starts[at] > most) {
          most = this.starts[at + 1] - this.starts[at];
          longest = at;
        }
    return longest;
  }

  /* Marks the states in which a thread runs a context, or what that calls. */
  statesBelow(context) {
    const first = this.contexts.rowOf(context), end = this.contexts.end(context),
          marked = new Uint8Array(this.stateCount);
    for (let state = 0; state < this.stateCount && first >= 0; state++) {
      const row =
        this.categoryOf[state] <= 1 && this.contextOf[state] >= 0 ? this.contexts.rowOf(this.contextOf[state]) : -1;
      marked[state] = Number(row >= first && row < end);
    }
    return marked;
  }
}

async function readTrace() {
  const names = ["timeline", "timeline-lanes", "timeline-states", "timeline-constructs", "timeline-extent", "topdown"];
  const tables = await Promise.all(names.map(loadTable));
  return tables.slice(0, 5).every(Boolean) ? new Trace(...tables) : null;
}

let loadedTrace = null;

/* Returns a promise of the trace; of null if the run was recorded without. */
export function loadTrace() {
  loadedTrace ??= readTrace();
  return loadedTrace;
}
