/* Names of functions and constructs in less room, as in the terminal: parameters and template arguments are folded
 * before anything is cut, and then the middle, as similar names differ at their ends. */

const FEW_LETTERS = 8;
const OPERATOR = /operator\s*(?:<=>|<<=?|>>=?|->\*?|<=?|>=?)|->/g;

/* The name with the arguments of templates folded that are nested `depth` deep or deeper, from 1 on. */
function foldTemplates(name, depth) {
  const hidden = name.replace(OPERATOR, (found) => "\0".repeat(found.length)); /* what only looks like a bracket */
  let level = 0, kept = "";
  for (let i = 0; i < name.length; i++) {
    const folded = level >= depth;
    if (hidden[i] === ">" && level > 0 && level-- === depth)
      kept += "\u2026";
    if (!folded || level < depth)
      kept += name[i];
    if (hidden[i] === "<")
      level++;
  }
  return level ? name : kept;
}

/* The name with its last list of parameters folded, which stands behind the name or before "const". */
function foldParameters(name) {
  const end = name.lastIndexOf(")");
  let level = 0, open = end;
  for (; open > 0; open--) {
    level += name[open] === ")" ? 1 : name[open] === "(" ? -1 : 0;
    if (!level)
      break;
  }
  const remark = open > 0 && name[open - 1] === " "; /* "(12 contexts)" */
  return open <= 0 || remark || end - open < 3 ? name : name.slice(0, open + 1) + "\u2026" + name.slice(end);
}

/* Without " [raw name]" of a construct whose place is known. */
export function withoutRawName(name) {
  return name.replace(/^(\S+ @ \S+) \[.*\]$/, "$1");
}

function deepestTemplate(name) {
  let depth = 0, most = 0;
  for (const letter of name.replace(OPERATOR, ""))
    most = Math.max(most, depth += letter === "<" ? 1 : letter === ">" ? -1 : 0);
  return most;
}

/* Shorter and shorter forms of a name whose arguments are folded: without the type that it returns, without its list of
 * parameters, and without the outer namespaces. */
function* briefForms(name) {
  let brief = name;
  if (!/operator| @ /.test(brief))
    yield brief = brief.replace(/^[^(]* (?=[^ (]+\(\u2026?\))/, "");
  yield brief = brief.replace(/(?<!operator)\(\u2026?\)(?: const)?$/, "");
  while (/^[\w$]+::./.test(brief) && !brief.includes(" "))
    yield brief = brief.replace(/^[\w$]+::/, "");
}

/* The longest form of a name that fits(text). */
export function fittedName(name, fits) {
  if (fits(name))
    return name;
  let short = withoutRawName(name);
  if (!fits(short))
    short = foldParameters(short);
  for (let depth = deepestTemplate(short); depth > 0 && !fits(short); depth--)
    short = foldTemplates(short, depth);
  if (fits(short))
    return short;
  for (const brief of briefForms(short)) {
    if (fits(brief))
      return brief;
    short = brief;
  }
  let low = 1, high = short.length; /* the most letters that fit */
  while (low + 1 < high) {
    const middle = (low + high) >> 1;
    if (fits(cutMiddle(short, middle)))
      low = middle;
    else
      high = middle;
  }
  return cutMiddle(short, low);
}

/* The end, by which similar names differ, keeps more; of very few letters the first ones are left. */
function cutMiddle(name, letters) {
  if (letters < FEW_LETTERS)
    return name.slice(0, letters) + "\u2026";
  const head = Math.floor(letters * 0.4);
  return name.slice(0, head) + "\u2026" + name.slice(name.length - (letters - head));
}

/* The short names of rows, shorten(name, i): those that would read alike but differ have the part in which they do,
 * unless what stands beside(i) differs. */
export function distinctNames(names, shorten, beside = () => "") {
  const short = names.map(shorten), wholes = new Map(), read = (text, i) => text + "\0" + beside(i);
  short.forEach((text, i) => wholes.set(read(text, i), (wholes.get(read(text, i)) ?? new Set()).add(names[i])));
  return short.map((text, i) => {
    const other = [...wholes.get(read(text, i))].find((name) => name !== names[i]);
    return other === undefined || other.startsWith(names[i]) ? text : differingPart(names[i], other, text.length);
  });
}

/* The end of a name of so many letters, or what stands behind its last "::" if that is more. */
function lastPart(text, letters) {
  const begins = [...text.matchAll(/(?<=::)\w/g)].map(({ index }) => index);
  return text.slice(begins.find((begin) => text.length - begin <= letters) ?? begins.at(-1) ?? 0);
}

/* The name from its first letters, or those of the function whose parameters differ, to where it differs from another
 * one, as long as `letters`. */
function differingPart(name, other, letters) {
  let at = 0;
  while (at < name.length && name[at] === other[at])
    at++;
  while (at > 0 && /\w/.test(name[at - 1])) /* from the begin of the word */
    at--;
  let tail = Math.max(4, Math.floor(letters * 0.6));
  const head = Math.max(1, letters - tail - 2), open = name.lastIndexOf("(", at - 1), called = lastPart(name.slice(0, open + 1), head);
  const ofParameters = open > 0 && at > head && called.length <= letters - 6, first = ofParameters ? called : name.slice(0, Math.min(at, head));
  tail = Math.max(4, Math.min(tail, letters - first.length - 2));
  const gap = ofParameters ? at > open + 1 : at > head;
  return first + (gap ? "\u2026" : "") + name.slice(at, at + tail) + (at + tail < name.length ? "\u2026" : "");
}
