/* Places for the nodes of a task graph: each below all that it waits for, and near to these. */

const SWEEPS = 6;
const GAP_X = 14, GAP_Y = 34;

/* Nodes have width and height; edges are pairs of numbers of nodes and lead from earlier to later ones.  Sets x and y
 * (the middle) and layer of each node, and returns the size of the whole.  Layers by the longest path, the order within
 * a layer by the mean place of the neighbours (Sugiyama, Tagawa and Toda 1981). */
export function layoutGraph(nodes, edges) {
  const before = nodes.map(() => []), after = nodes.map(() => []);
  for (const [from, to] of edges) {
    after[from].push(to);
    before[to].push(from);
  }
  const layers = makeLayers(nodes, before, after);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const downwards = sweep % 2 === 0;
    for (const layer of downwards ? layers : [...layers].reverse())
      orderLayer(layer, nodes, downwards ? before : after);
  }
  let y = GAP_Y;
  for (const layer of layers) {
    const height = layer.reduce((most, number) => Math.max(most, nodes[number].height), 0);
    for (const number of layer)
      nodes[number].y = y + height / 2;
    y += height + GAP_Y;
  }
  return centreLayers(layers, nodes, y);
}

function makeLayers(nodes, before, after) {
  const waiting = before.map((list) => list.length), ready = [], layers = [];
  for (let number = 0; number < nodes.length; number++) {
    nodes[number].layer = 0;
    if (!waiting[number])
      ready.push(number);
  }
  for (let at = 0; at < ready.length; at++) {
    const number = ready[at];
    for (const next of after[number]) {
      nodes[next].layer = Math.max(nodes[next].layer, nodes[number].layer + 1);
      if (--waiting[next] === 0)
        ready.push(next);
    }
  }
  for (const number of ready)
    (layers[nodes[number].layer] ??= []).push(number);
  for (const layer of layers)
    place(layer, nodes);
  return layers;
}

/* Puts the nodes of a layer side by side, in its order. */
function place(layer, nodes) {
  let x = 0;
  for (const number of layer) {
    nodes[number].x = x + nodes[number].width / 2;
    x += nodes[number].width + GAP_X;
  }
  for (const number of layer)
    nodes[number].x -= x / 2;
}

function orderLayer(layer, nodes, neighbours) {
  const wanted = new Map(layer.map((number) => [number, meanPlace(neighbours[number], nodes) ?? nodes[number].x]));
  layer.sort((a, b) => wanted.get(a) - wanted.get(b) || a - b);
  place(layer, nodes);
}

function meanPlace(numbers, nodes) {
  if (!numbers.length)
    return null;
  return numbers.reduce((sum, number) => sum + nodes[number].x, 0) / numbers.length;
}

function centreLayers(layers, nodes, height) {
  let least = 0, most = 0;
  for (const layer of layers)
    for (const number of layer) {
      least = Math.min(least, nodes[number].x - nodes[number].width / 2);
      most = Math.max(most, nodes[number].x + nodes[number].width / 2);
    }
  for (const layer of layers)
    for (const number of layer)
      nodes[number].x += GAP_X - least;
  return { width: most - least + 2 * GAP_X, height };
}
