/* Columns of the tree of contexts for the part of the run that is chosen in the timeline: sums over its intervals.  As
 * in the columns of the whole run, idleness and lock waiting stand at the contexts that are to blame for them. */
import { chosenRange, contextsInRange, exclusiveInRange, inclusiveInRange } from "../timeline/range_sums.js";
import { laneCategories } from "../timeline/trace_data.js";

const RANGE_PREFIX = "range_";
const RANGE_TIMES = { work: "work", overhead: "overhead", lock_wait: "lockwait", idle: "idleness" };

/* Has the same members as a Column of table_data.js.  make() returns its numbers. */
class RangeColumn {
  constructor(name, make) {
    Object.assign(this, { name, make, isText: false, header: { name, bytes: 8, minimum: 0, decimals: 9, empty: false } });
  }

  get numbers() {
    this.made ??= this.make();
    return this.made;
  }

  number(row) {
    return this.numbers[row];
  }

  text(row) {
    return this.numbers[row].toFixed(this.header.decimals);
  }
}

/* The columns that are shown unless the reader chooses others. */
export function rangeColumnNames() {
  return Object.values(RANGE_TIMES).flatMap((name) => ["incl", "excl"].map((form) => `${RANGE_PREFIX}${name}_${form}_s`));
}

/* Tells parts of the run apart; "" is the whole run. */
export function rangeKey() {
  const range = chosenRange();
  return range ? `${range.from}-${range.to}` : "";
}

/* Promises the top-down table with the columns of the chosen part in front; the table itself if no part is chosen. */
export async function tableOfRange(table) {
  const sums = await contextsInRange();
  if (!sums)
    return table;
  const columns = [], ids = table.column("id").numbers, parents = table.column("parent_id").numbers;
  for (const [key, name] of Object.entries(RANGE_TIMES)) {
    const category = laneCategories.findIndex((candidate) => candidate.key === key);
    columns.push(new RangeColumn(`${RANGE_PREFIX}${name}_incl_s`, () => inclusiveInRange(sums, ids, parents, category)),
      new RangeColumn(`${RANGE_PREFIX}${name}_excl_s`,
        () => exclusiveInRange(sums, ids, parents, category)));
  }
  return table.withColumns(columns);
}
