/* Folds alike grains of a task graph into one node, and unfolds them again: grains of one construct that wait for the
 * same nodes and for which the same nodes wait. */

const FOLD_FROM = 4; /* alike grains */

/* Groups of alike nodes: arrays of their numbers. */
export function alikeGrains(nodes, edges) {
  const before = nodes.map(() => []), after = nodes.map(() => []), groups = new Map();
  for (const { from, to } of edges) {
    before[to].push(from);
    after[from].push(to);
  }
  nodes.forEach((node, number) => {
    if (node.kind !== "grain")
      return;
    const key = JSON.stringify([node.construct, node.name, node.file, node.line, before[number].sort(byNumber), after[number].sort(byNumber)]);
    if (groups.has(key))
      groups.get(key).push(number);
    else
      groups.set(key, [number]);
  });
  return [...groups.values()].filter((group) => group.length >= FOLD_FROM);
}

function byNumber(a, b) {
  return a - b;
}

/* The graph with these groups folded.  A folded node has `members`; its figures are the sums of theirs. */
export function foldGraph(nodes, edges, groups) {
  const target = nodes.map((_, number) => number), heads = new Map();
  for (const group of groups) {
    for (const number of group)
      target[number] = group[0];
    heads.set(group[0], group);
  }
  const place = new Map(), folded = [];
  nodes.forEach((node, number) => {
    if (target[number] !== number)
      return;
    place.set(number, folded.length);
    folded.push(heads.has(number) ? foldedNode(heads.get(number).map((member) => nodes[member]), heads.get(number)) : { ...node, number });
  });
  const seen = new Map();
  for (const edge of edges) {
    const from = place.get(target[edge.from]), to = place.get(target[edge.to]), key = from * nodes.length + to;
    if (from === to)
      continue;
    const known = seen.get(key);
    if (known)
      known.critical ||= edge.critical;
    else
      seen.set(key, { from, to, critical: edge.critical, kind: edge.kind });
  }
  return { nodes: folded, edges: [...seen.values()] };
}

function foldedNode(members, numbers) {
  const sum = (name) => members.reduce((total, node) => total + (node[name] || 0), 0);
  const problems = new Set(members.flatMap((node) => (node.problems ?? "").split(" ").filter(Boolean)));
  return {
    ...members[0], number: numbers[0], members: numbers, exec_s: sum("exec_s"), grains: sum("grains"),
    problem_grains: sum("problem_grains"), critical: members.some((node) => node.critical) ? 1 : 0,
    problems: [...problems].join(" "), path: "", grain_id: null, thread: null,
    width: Math.max(...members.map((node) => node.width)) * 1.6, height: Math.max(...members.map((node) => node.height)),
  };
}
