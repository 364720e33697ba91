// The window onto the plane: where it is, how it moves, and when it is drawn again.

const canvas = document.getElementById("picture");
const still = matchMedia("(prefers-reduced-motion: reduce)");
const view = { x: 0, y: 0, k: 1, width: 0, height: 0, ratio: 1 };
const state = { selected: null, hovered: null, found: null, moving: false };

const MOST = 4;
const LARGEST = 1.8;
let least = 0.05;

const toPlane = (x, y) => [(x - view.x) / view.k, (y - view.y) / view.k];

function resize() {
  const box = canvas.getBoundingClientRect();
  const before = { width: view.width, height: view.height };
  view.ratio = window.devicePixelRatio || 1;
  [view.width, view.height] = [box.width, box.height];
  canvas.width = Math.max(1, Math.round(box.width * view.ratio));
  canvas.height = Math.max(1, Math.round(box.height * view.ratio));
  if (before.width) {
    view.x += (view.width - before.width) / 2;
    view.y += (view.height - before.height) / 2;
  } else {
    fit();
  }
  redraw();
}

// The part of the window that neither the legend nor the side panel covers.
function room() {
  const box = canvas.getBoundingClientRect();
  const edge = view.width > 720 ? 56 : 28;
  const free = { left: edge, top: 32, right: view.width - edge, bottom: view.height - 32 };
  const legend = document.getElementById("legend");
  const side = document.getElementById("side");
  if (legend.open && view.width > 720) free.left = legend.getBoundingClientRect().right - box.left + edge;
  if (!side.hidden && view.width > 720) free.right = side.getBoundingClientRect().left - box.left - edge;
  if (!side.hidden && view.width <= 720) free.bottom = side.getBoundingClientRect().top - box.top - 12;
  return free;
}

function fit() {
  const free = room();
  const [wide, high] = [Math.max(free.right - free.left, 80), Math.max(free.bottom - free.top, 80)];
  const k = Math.min(wide / Math.max(data.width, 1), high / Math.max(data.height, 1), LARGEST);
  least = Math.min(k * 0.5, 0.5);
  glide({ k, x: free.left + (wide - data.width * k) / 2, y: free.top + (high - data.height * k) / 2 });
}

function centre(node) {
  const free = room();
  const k = Math.max(view.k, Math.min(1, MOST));
  glide({ k, x: (free.left + free.right) / 2 - node.x * k, y: (free.top + free.bottom) / 2 - node.y * k });
}

function zoom(factor, x = view.width / 2, y = view.height / 2) {
  const k = Math.min(Math.max(view.k * factor, least), MOST);
  view.x = x - ((x - view.x) / view.k) * k;
  view.y = y - ((y - view.y) / view.k) * k;
  view.k = k;
  moved();
}

function pan(dx, dy) {
  view.x += dx;
  view.y += dy;
  moved();
}

let gliding = 0;
function glide(to) {
  cancelAnimationFrame(gliding);
  if (still.matches || !view.started) {
    Object.assign(view, to);
    return moved();
  }
  const from = { x: view.x, y: view.y, k: view.k };
  const begun = performance.now();
  const step = (now) => {
    const part = Math.min((now - begun) / 260, 1);
    const eased = 1 - (1 - part) ** 3;
    for (const key of ["x", "y", "k"]) view[key] = from[key] + (to[key] - from[key]) * eased;
    moved();
    if (part < 1) gliding = requestAnimationFrame(step);
  };
  gliding = requestAnimationFrame(step);
}

// While the window moves, a drawing that takes long is shown as it was, shifted and scaled; it is drawn when it rests.
const SLOW = 22;
const shot = { canvas: document.createElement("canvas"), view: null, cost: 0 };
let asked = 0;
let resting = 0;

function moved() {
  if (shot.cost <= SLOW || !shot.view) return redraw();
  clearTimeout(resting);
  resting = setTimeout(redraw, 110);
  if (!asked) asked = requestAnimationFrame(shift);
}

function shift() {
  asked = 0;
  const context = canvas.getContext("2d");
  const k = view.k / shot.view.k;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = colours().ground;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(k, 0, 0, k, (view.x - shot.view.x * k) * view.ratio, (view.y - shot.view.y * k) * view.ratio);
  context.drawImage(shot.canvas, 0, 0);
}

function redraw() {
  clearTimeout(resting);
  if (asked) cancelAnimationFrame(asked);
  asked = requestAnimationFrame(() => {
    asked = 0;
    const begun = performance.now();
    draw(canvas.getContext("2d"));
    shot.cost = performance.now() - begun;
    if (shot.cost <= SLOW) return;
    [shot.canvas.width, shot.canvas.height] = [canvas.width, canvas.height];
    shot.canvas.getContext("2d").drawImage(canvas, 0, 0);
    shot.view = { x: view.x, y: view.y, k: view.k };
  });
}
