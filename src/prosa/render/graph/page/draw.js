// The picture: edges by rel, nodes by dialect, labels that do not cover each other. Nothing here changes any state.

const dark = matchMedia("(prefers-color-scheme: dark)");
let onPaper = false;
const colours = () => {
  if (dark.matches && !onPaper) return { ground: "#16181d", text: "#e4e6eb", quiet: "#a3a9b5", accent: "#6fb0f2" };
  return { ground: onPaper ? "#fff" : "#fcfcfa", text: "#23262d", quiet: "#5d636f", accent: "#1f67ad" };
};
const paint = (light, deep) => (dark.matches && !onPaper ? deep : light);

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Sans", sans-serif';
const FINE = 1500;
const GHOST = data.dialects.length - 1;

const px = (node) => node.x * view.k + view.x;
const py = (node) => node.y * view.k + view.y;
// From afar nodes shrink less than the plane; where there are thousands, more, or they would hide the structure.
const SHRINK = nodes.length > 800 ? 0.72 : 0.5;
const radius = (node) => node.r * Math.min(Math.max(view.k ** SHRINK, 0.3), 1.7);
const isNear = (node, reach) => {
  const [x, y] = [px(node), py(node)];
  return x > -reach && y > -reach && x < view.width + reach && y < view.height + reach;
};

// The nodes that stand out, or null when all are equal.
function marked() {
  const middle = state.hovered ?? state.selected;
  if (middle) {
    const found = new Set([middle]);
    for (const edge of middle.out) if (isDrawn(edge)) found.add(edge.target);
    for (const edge of middle.back) if (isDrawn(edge)) found.add(edge.source);
    return found;
  }
  return state.found;
}

function draw(context) {
  const lit = marked();
  context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  context.fillStyle = colours().ground;
  context.fillRect(0, 0, view.width, view.height);
  drawEdges(context, lit);
  drawNodes(context, lit);
  drawLabels(context, lit);
}

function drawEdges(context, lit) {
  const middle = state.hovered ?? state.selected;
  const seen = edges.filter((edge) => isDrawn(edge) && (isNear(edge.source, 40) || isNear(edge.target, 40) || crosses(edge)));
  const fine = seen.length <= FINE;
  const bright = (edge) => middle && (edge.source === middle || edge.target === middle);
  const usual = seen.filter((edge) => !bright(edge));
  const alpha = fine ? 0.9 : Math.max(0.28, Math.min(0.7, view.k));
  strokeAll(context, usual, lit ? 0.13 : alpha, fine, fine && !lit && view.k > 0.45);
  if (middle) strokeAll(context, seen.filter(bright), 1, true, true);
  context.globalAlpha = 1;
}

function crosses(edge) {
  const [ax, ay, bx, by] = [px(edge.source), py(edge.source), px(edge.target), py(edge.target)];
  return Math.min(ax, bx) < view.width && Math.max(ax, bx) > 0 && Math.min(ay, by) < view.height && Math.max(ay, by) > 0;
}

function strokeAll(context, list, alpha, dashed, arrows) {
  const byRel = data.rels.map(() => []);
  for (const edge of list) byRel[edge.rel].push(edge);
  context.globalAlpha = alpha;
  byRel.forEach((group, rel) => {
    if (!group.length) return;
    const [, light, deep, width, dash] = data.rels[rel];
    context.strokeStyle = context.fillStyle = paint(light, deep);
    context.lineWidth = dashed ? width : width * 0.7;
    context.setLineDash(dashed ? dash : []);
    context.beginPath();
    const heads = group.map((edge) => line(context, edge));
    context.stroke();
    context.setLineDash([]);
    if (!arrows) return;
    context.beginPath();
    for (const head of heads) if (head) arrow(context, ...head);
    context.fill();
  });
}

// Adds one line to the path; gives the place and direction of its head.
function line(context, edge) {
  const [ax, ay, bx, by] = [px(edge.source), py(edge.source), px(edge.target), py(edge.target)];
  const [from, to] = [radius(edge.source) + 1.5, radius(edge.target) + 2.5];
  const length = Math.hypot(bx - ax, by - ay);
  if (edge.source === edge.target) {
    const size = from + 5;
    context.moveTo(ax + size * 0.9, ay - size * 0.5);
    context.arc(ax + size * 0.55, ay - size * 0.75, size * 0.45, 0.6, Math.PI * 2 + 0.2);
    return null;
  }
  if (length < from + to) return null;
  const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
  const bend = edge.bend * Math.min(view.k, 1.2) * 2;
  const [mx, my] = [(ax + bx) / 2 - uy * bend, (ay + by) / 2 + ux * bend];
  const start = Math.atan2(my - ay, mx - ax);
  const end = Math.atan2(by - my, bx - mx);
  const [tx, ty] = [bx - Math.cos(end) * to, by - Math.sin(end) * to];
  context.moveTo(ax + Math.cos(start) * from, ay + Math.sin(start) * from);
  if (bend) context.quadraticCurveTo(mx, my, tx, ty);
  else context.lineTo(tx, ty);
  return [tx, ty, end, length];
}

function arrow(context, x, y, angle, length) {
  const size = Math.min(7, length / 4);
  if (size < 3) return;
  const corner = (turn) => [x - Math.cos(angle + turn) * size, y - Math.sin(angle + turn) * size];
  context.moveTo(x, y);
  context.lineTo(...corner(0.42));
  context.lineTo(...corner(-0.42));
}

function drawNodes(context, lit) {
  const look = colours();
  const groups = new Map();
  for (const node of ranked) {
    if (!isShown(node) || !isNear(node, 30)) continue;
    const faded = lit && !lit.has(node);
    const key = node.dialect * 2 + (faded ? 0 : 1);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(node);
  }
  for (const [key, group] of [...groups].sort((a, b) => (a[0] % 2) - (b[0] % 2))) {
    const [, shape, light, deep] = data.dialects[key >> 1];
    context.globalAlpha = key % 2 ? 1 : 0.22;
    context.beginPath();
    for (const node of group) outline(context, shape, px(node), py(node), radius(node));
    const ghost = key >> 1 === GHOST;
    context.fillStyle = ghost ? look.ground : paint(light, deep);
    context.strokeStyle = ghost ? paint(light, deep) : look.ground;
    context.lineWidth = ghost ? 1.4 : 1;
    context.setLineDash(ghost ? [2.5, 2] : []);
    context.fill();
    if (ghost || view.k > 0.3) context.stroke();
    context.setLineDash([]);
  }
  context.globalAlpha = 1;
  for (const node of [state.selected, state.hovered]) {
    if (!node || !isShown(node)) continue;
    context.beginPath();
    context.arc(px(node), py(node), radius(node) + 5, 0, Math.PI * 2);
    context.strokeStyle = look.accent;
    context.lineWidth = node === state.selected ? 2.5 : 1.5;
    context.stroke();
  }
}

// The same shapes as in the still drawing (shapes.py).
function outline(context, shape, x, y, r) {
  const corners = (count, start, reach, inner = 1) => {
    for (let at = 0; at < count; at += 1) {
      const far = r * reach * (at % 2 ? inner : 1);
      const turn = start + (at * 2 * Math.PI) / count;
      context[at ? "lineTo" : "moveTo"](x + far * Math.cos(turn), y + far * Math.sin(turn));
    }
    context.closePath();
  };
  if (shape === "square") context.rect(x - r * 0.89, y - r * 0.89, r * 1.78, r * 1.78);
  else if (shape === "diamond") corners(4, -Math.PI / 2, 1.22);
  else if (shape === "triangle") corners(3, -Math.PI / 2, 1.3, 1);
  else if (shape === "wedge") corners(3, Math.PI / 2, 1.3, 1);
  else if (shape === "star") corners(10, -Math.PI / 2, 1.36, 0.48);
  else if (shape === "hexagon") corners(6, 0, 1.12);
  else if (shape === "pentagon") corners(5, -Math.PI / 2, 1.18);
  else if (shape === "heptagon") corners(7, -Math.PI / 2, 1.1);
  else if (shape === "octagon") corners(8, -Math.PI / 8, 1.08);
  else if (shape === "cross") {
    const [far, arm] = [r * 1.14, r * 1.14 * 0.38];
    const turns = [[-arm, -far], [arm, -far], [arm, -arm], [far, -arm], [far, arm], [arm, arm],
      [arm, far], [-arm, far], [-arm, arm], [-far, arm], [-far, -arm], [-arm, -arm]];
    turns.forEach(([dx, dy], at) => context[at ? "lineTo" : "moveTo"](x + dx, y + dy));
    context.closePath();
  } else {
    context.moveTo(x + r, y);
    context.arc(x, y, r, 0, Math.PI * 2);
  }
}

// From afar only hubs and a few others are named; close by, whatever has room.
const CLOSE = 0.6;
const FEW = 36;
const MOST_LABELS = 260;
const HUB = 9;

const widths = new Map();
const MOST_LETTERS = 34;
const shortName = (name) => ([...name].length > MOST_LETTERS ? [...name].slice(0, MOST_LETTERS - 1).join("") + "…" : name);

function drawLabels(context, lit) {
  const look = colours();
  const first = [state.hovered, state.selected].filter((node) => node && isShown(node));
  const seen = ranked.filter((node) => isShown(node) && isNear(node, 60));
  const [hubs, others] = [seen.filter((node) => node.r >= HUB), seen.filter((node) => node.r < HUB)];
  const taken = boxes();
  covers().forEach((box) => taken.add(box));
  for (const node of first) taken.add(around(node, radius(node) + 5));
  for (const node of hubs) taken.add(around(node, radius(node)));
  context.textAlign = "center";
  context.textBaseline = "top";
  context.lineJoin = "round";
  const put = (node) => (!lit || lit.has(node)) && label(context, node, taken, look, first.includes(node));
  first.forEach(put);
  const named = new Set(first);
  for (const node of hubs) if (!named.has(node)) put(node);
  for (const node of others) if (radius(node) > 2.5 && (!lit || lit.has(node))) taken.add(around(node, radius(node)));
  let room = lit || view.k >= CLOSE ? MOST_LABELS : nodes.length > 800 ? 0 : FEW;
  for (const node of others) {
    if (room <= 0) break;
    if (!named.has(node) && put(node)) room -= 1;
  }
}

// What lies over the picture: no label goes under it.
function covers() {
  const place = canvas.getBoundingClientRect();
  return [document.getElementById("legend"), document.getElementById("side")]
    .filter((each) => !each.hidden)
    .map((each) => each.getBoundingClientRect())
    .map((box) => [box.left - place.left, box.top - place.top, box.right - place.left, box.bottom - place.top]);
}

function label(context, node, taken, look, always) {
  const hub = node.r >= HUB || always;
  const text = shortName(node.name);
  const font = `${node.dialect === GHOST ? "italic " : ""}${hub ? "600 " : ""}12px ${FONT}`;
  const key = `${hub} ${text}`;
  context.font = font;
  if (!widths.has(key)) widths.set(key, context.measureText(text).width);
  const wide = widths.get(key) + 6;
  const [x, y, r] = [px(node), py(node), radius(node)];
  const places = [[x, y + r + 3], [x, y - r - 18], [x + r + 4 + wide / 2, y - 7.5], [x - r - 4 - wide / 2, y - 7.5]];
  const inside = ([cx]) => x < 0 || x > view.width || (cx - wide / 2 >= 0 && cx + wide / 2 <= view.width);
  const isFree = ([cx, top]) => !taken.hits([cx - wide / 2, top, cx + wide / 2, top + 15]);
  const free = places.find((place) => inside(place) && isFree(place));
  const place = free ?? (always ? places[0] : null);
  if (!place) return false;
  taken.add([place[0] - wide / 2, place[1], place[0] + wide / 2, place[1] + 15]);
  context.strokeStyle = look.ground;
  context.lineWidth = 3.5;
  context.strokeText(text, place[0], place[1] + 1);
  context.fillStyle = node.dialect === GHOST ? look.quiet : look.text;
  context.fillText(text, place[0], place[1] + 1);
  return true;
}

const around = (node, reach) => [px(node) - reach, py(node) - reach, px(node) + reach, py(node) + reach];

// Boxes that are taken, by squares of 64 pixels.
function boxes() {
  const cells = new Map();
  const each = function* ([left, top, right, bottom]) {
    for (let column = Math.floor(left / 64); column <= Math.floor(right / 64); column += 1) {
      for (let row = Math.floor(top / 64); row <= Math.floor(bottom / 64); row += 1) yield column * 4096 + row;
    }
  };
  return {
    add(box) {
      for (const cell of each(box)) {
        if (!cells.has(cell)) cells.set(cell, []);
        cells.get(cell).push(box);
      }
    },
    hits(box) {
      for (const cell of each(box)) {
        for (const other of cells.get(cell) ?? []) {
          if (other[0] < box[2] && box[0] < other[2] && other[1] < box[3] && box[1] < other[3]) return true;
        }
      }
      return false;
    },
  };
}
