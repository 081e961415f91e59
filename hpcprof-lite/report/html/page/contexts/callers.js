/* What calls the rows of the flat tree that read alike, as the text report tells. */
import { withoutRawName } from "../names.js";
import { loadTable } from "../table_data.js";

const CALLERS_NAMED = 2;

/* What two rows of one function have in common, in both trees. */
function functionIdentity(table, row) {
  return ["name", "module", "file", "line"].map((column) => table.text(column, row)).join("\0");
}

/* The rows of functions and constructs that have the name of another one, or differ by a raw name only; by identity. */
function alikeRows(flat) {
  const groups = new Map(), kinds = ["function", "parallel", "task"];
  for (let row = 0; row < flat.rows; row++)
    if (kinds.includes(flat.text("kind", row))) {
      const read = withoutRawName(flat.text("name", row));
      groups.set(read, groups.get(read) ?? []);
      groups.get(read).push(row);
    }
  return new Map([...groups.values()].filter((rows) => rows.length > 1).flat().map((row) => [functionIdentity(flat, row), row]));
}

/* "called by alpha, beta and others", by row of the flat tree, where that tells the row apart.  The top-down tree is
 * loaded only if it is needed. */
export async function callersOfAlike(flat) {
  const alike = alikeRows(flat), calls = alike.size ? await loadTable("topdown") : null, callers = new Map();
  if (!calls)
    return callers;
  const names = new Set([...alike.values()].map((row) => flat.text("name", row))), { codes, strings } = calls.column("name");
  const wanted = [false, ...strings.map((name) => names.has(name))];
  const ids = calls.column("id").numbers, parents = calls.column("parent_id").numbers;
  const rowOf = new Map(Array.from(ids, (id, row) => [id, row]));
  for (let row = 0; row < calls.rows; row++) {
    const flatRow = wanted[codes[row]] ? alike.get(functionIdentity(calls, row)) : undefined, above = rowOf.get(parents[row]);
    if (flatRow === undefined || above === undefined || Number.isNaN(parents[above]) || codes[above] === codes[row])
      continue;
    const caller = calls.text("name", above).replace(/^\[(guessed|inferred)\] /, "");
    callers.set(flatRow, (callers.get(flatRow) ?? new Set()).add(caller));
  }
  const texts = new Map([...callers].map(([row, names]) => {
    const [first, second] = names;
    return [row, `called by ${first}` + (names.size > CALLERS_NAMED ? `, ${second} and others` : second === undefined ? "" : ` and ${second}`)];
  }));
  const reads = (row) => withoutRawName(flat.text("name", row)) + "\0" + texts.get(row), seen = new Map();
  for (const row of texts.keys())
    seen.set(reads(row), (seen.get(reads(row)) ?? 0) + 1);
  return new Map([...texts].filter(([row]) => seen.get(reads(row)) === 1));
}
