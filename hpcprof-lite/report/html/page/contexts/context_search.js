/* Search by regular expressions in the names and files of contexts. */
import { element } from "../dom.js";

/* The expression of a text: capitals matter only if it has any.  Throws a SyntaxError with the reason. */
export function searchExpression(text) {
  return new RegExp(text, text.toLowerCase() === text ? "giu" : "gu");
}

/* Which strings of a column match, by the string's number + 1. */
function matchingStrings(column, expression) {
  const found = new Uint8Array((column.isText ? column.strings.length : 0) + 1);
  if (!column.isText)
    return found;
  column.strings.forEach((text, number) => {
    expression.lastIndex = 0;
    if (text && expression.test(text))
      found[number + 1] = 1;
  });
  return found;
}

/* Which rows match in one of the columns of text: 1 for each. */
export function matchingRows(table, expression, columns = ["name", "file"]) {
  const found = new Uint8Array(table.rows);
  for (const name of columns) {
    const column = table.column(name);
    if (!column)
      continue;
    const strings = matchingStrings(column, expression), codes = column.codes;
    for (let row = 0; row < table.rows; row++)
      found[row] |= strings[codes[row]];
  }
  return found;
}

/* A text, which stands for a whole name, with what matches marked. */
export function markedText(text, expression, whole = text) {
  const parts = [];
  let at = 0;
  for (const found of expression ? text.matchAll(expression) : []) {
    if (!found[0])
      continue;
    parts.push(text.slice(at, found.index), element("mark", {}, found[0]));
    at = found.index + found[0].length;
  }
  parts.push(text.slice(at));
  return element("span", { title: whole }, parts);
}
