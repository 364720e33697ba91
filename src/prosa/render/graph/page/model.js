// What is drawn: nodes and edges of the data block, who is next to whom, and what the reader wants to see.

const data = JSON.parse(document.getElementById("data").textContent);

// A tall window takes a wide drawing on its side; words stay level.
if (window.innerHeight > window.innerWidth * 1.2 && data.width > data.height * 1.2) {
  for (const row of data.nodes) [row[2], row[3]] = [data.height - row[3], row[2]];
  [data.width, data.height] = [data.height, data.width];
}

const nodes = data.nodes.map(([name, dialect, x, y, r, path, href, id, type], at) => ({
  at, name, dialect, x, y, r, path, href, id, type, out: [], back: [],
  words: `${name} ${path ?? ""} ${id ?? ""}`.toLowerCase(),
}));

const edges = data.edges.map(([source, target, rel, line]) => {
  const edge = { source: nodes[source], target: nodes[target], rel, line, bend: 0 };
  edge.source.out.push(edge);
  edge.target.back.push(edge);
  return edge;
});

// Lines between the same two nodes spread to both sides of the straight way.
const together = new Map();
for (const edge of edges) {
  const [low, high] = [edge.source.at, edge.target.at].sort((a, b) => a - b);
  const key = low * nodes.length + high;
  if (!together.has(key)) together.set(key, []);
  together.get(key).push(edge);
}
for (const group of together.values()) {
  group.forEach((edge, at) => {
    const bend = (at - (group.length - 1) / 2) * 11;
    edge.bend = edge.source.at <= edge.target.at ? bend : -bend;
  });
}

// The best linked first: they choose the places for their labels.
const ranked = [...nodes].sort((a, b) => b.r - a.r || b.back.length - a.back.length || a.at - b.at);

const wish = { dialects: data.dialects.map(() => true), rels: data.rels.map(() => true), query: "" };
const isShown = (node) => wish.dialects[node.dialect];
const isDrawn = (edge) => wish.rels[edge.rel] && isShown(edge.source) && isShown(edge.target);

function matches(query) {
  const wanted = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!wanted.length) return [];
  const begins = (node) => (node.name.toLowerCase().startsWith(wanted[0]) ? 0 : 1);
  return ranked
    .filter((node) => isShown(node) && wanted.every((word) => node.words.includes(word)))
    .sort((a, b) => begins(a) - begins(b));
}

// Nodes by squares of the plane, to find what lies under a pointer.
const SQUARE = 60;
const squares = new Map();
const squareOf = (x, y) => `${Math.floor(x / SQUARE)} ${Math.floor(y / SQUARE)}`;
for (const node of nodes) {
  const key = squareOf(node.x, node.y);
  if (!squares.has(key)) squares.set(key, []);
  squares.get(key).push(node);
}

function nearest(x, y, reach) {
  let best = null;
  let least = Infinity;
  for (let dx = -reach; dx <= reach + SQUARE; dx += SQUARE) {
    for (let dy = -reach; dy <= reach + SQUARE; dy += SQUARE) {
      for (const node of squares.get(squareOf(x + Math.min(dx, reach), y + Math.min(dy, reach))) ?? []) {
        const far = Math.hypot(node.x - x, node.y - y) - node.r;
        if (far < least && far <= reach && isShown(node)) [best, least] = [node, far];
      }
    }
  }
  return best;
}
