// What the reader does: mouse, touch, keys, filters; then the first picture.

const tip = document.getElementById("tip");
const pointers = new Map();
let travelled = 0;

const at = (event) => {
  const box = canvas.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
const under = (x, y, reach) => nearest(...toPlane(x, y), reach / view.k);

canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  pointers.set(event.pointerId, at(event));
  travelled = pointers.size > 1 ? Infinity : 0;
  cancelAnimationFrame(gliding);
});

canvas.addEventListener("pointermove", (event) => {
  const [x, y] = at(event);
  const before = pointers.get(event.pointerId);
  if (!before) return hover(event.pointerType === "touch" ? null : under(x, y, 8), x, y);
  const others = [...pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
  pointers.set(event.pointerId, [x, y]);
  travelled += Math.hypot(x - before[0], y - before[1]);
  if (travelled < 4) return undefined;
  canvas.classList.add("moving");
  hover(null);
  if (!others.length) return pan(x - before[0], y - before[1]);
  const [ox, oy] = others[0];
  const grown = Math.hypot(x - ox, y - oy) / Math.max(Math.hypot(before[0] - ox, before[1] - oy), 1);
  pan((x - before[0]) / 2, (y - before[1]) / 2);
  return zoom(grown, (x + ox) / 2, (y + oy) / 2);
});

for (const name of ["pointerup", "pointercancel"]) {
  canvas.addEventListener(name, (event) => {
    const [x, y] = at(event);
    pointers.delete(event.pointerId);
    canvas.classList.remove("moving");
    if (name === "pointerup" && travelled < 4) select(under(x, y, event.pointerType === "touch" ? 18 : 8), { move: false });
  });
}
canvas.addEventListener("pointerleave", () => hover(null));
canvas.addEventListener("dblclick", (event) => { if (!under(...at(event), 8)) zoom(1.6, ...at(event)); });
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1;
  zoom(Math.exp(-Math.max(Math.min(event.deltaY * lines, 120), -120) * 0.0022), ...at(event));
}, { passive: false });

function hover(node, x = 0, y = 0) {
  tip.hidden = !node;
  canvas.classList.toggle("over", Boolean(node));
  if (node) {
    tip.replaceChildren(node.name, element("small", {}, node.path ?? "No such document"));
    const left = Math.min(x + 14, view.width - tip.offsetWidth - 8);
    const top = y + 18 + tip.offsetHeight > view.height ? y - tip.offsetHeight - 12 : y + 18;
    tip.style.transform = `translate(${Math.max(left, 8)}px, ${top}px)`;
  }
  if (state.hovered === node) return;
  state.hovered = node;
  redraw();
}

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

canvas.addEventListener("keydown", (event) => {
  const way = ARROWS[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (way && event.shiftKey) step(...way);
  else if (way) pan(-way[0] * 60, -way[1] * 60);
  else if (event.key === "+" || event.key === "=") zoom(1.25);
  else if (event.key === "-") zoom(0.8);
  else if (event.key === "0") fit();
  else if (event.key === "Enter") select(state.selected ?? middle());
  else return;
  event.preventDefault();
});

document.addEventListener("keydown", (event) => {
  const typing = event.target instanceof HTMLInputElement && event.target.type === "search";
  if (event.key === "/" && !typing) { event.preventDefault(); query.focus(); query.select(); }
  if (event.key === "Escape" && !typing) { clear(); leave(); }
});

const middle = () => nearest(...toPlane(view.width / 2, view.height / 2), Math.max(view.width, view.height) / view.k / 2);

// From the selected node to the nearest one in that direction.
function step(dx, dy) {
  const from = state.selected ?? middle();
  if (!state.selected) return select(from, { open: false });
  let best = null;
  let least = Infinity;
  for (const node of nodes) {
    const [x, y] = [node.x - from.x, node.y - from.y];
    const ahead = x * dx + y * dy;
    const beside = Math.abs(x * dy) + Math.abs(y * dx);
    const far = ahead + 2 * beside;
    if (isShown(node) && ahead > 0 && beside <= ahead * 1.5 && far < least) [best, least] = [node, far];
  }
  return best ? select(best, { open: !side.hidden }) : undefined;
}

for (const [kind, list] of [["dialect", wish.dialects], ["rel", wish.rels]]) {
  for (const box of document.querySelectorAll(`input[data-${kind}]`)) {
    box.addEventListener("change", () => {
      list[Number(box.dataset[kind])] = box.checked;
      if (state.selected && !isShown(state.selected)) select(null);
      if (query.value.trim()) search();
      redraw();
    });
  }
}

document.getElementById("zoom-in").addEventListener("click", () => zoom(1.4));
document.getElementById("zoom-out").addEventListener("click", () => zoom(1 / 1.4));
document.getElementById("zoom-fit").addEventListener("click", () => fit());
dark.addEventListener("change", redraw);
window.addEventListener("beforeprint", () => { onPaper = true; draw(canvas.getContext("2d")); });
window.addEventListener("afterprint", () => { onPaper = false; redraw(); });

document.documentElement.classList.add("js");
if (window.innerWidth <= 720) document.getElementById("legend").open = false;
for (const box of document.querySelectorAll("#legend input")) box.checked = true;
new ResizeObserver(resize).observe(canvas);
resize();
requestAnimationFrame(() => { view.started = true; });
