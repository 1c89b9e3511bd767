// The finite machine of a model: a circle for each state, an arrow for each way from one to another.
import { h, s } from "./dom.js";
import { drawing } from "./figures.js";
import { END } from "./problems.js";

const HEIGHT = 250, RADIUS = 42;

function spot(state, states, wide) {
  if (states === 1) return [wide / 2, HEIGHT / 2];
  if (states === 2) return [134 + state * (wide - 200), HEIGHT / 2];
  const angle = Math.PI + (2 * Math.PI * state) / states;
  return [wide / 2 + 30 + (wide / 2 - 110) * Math.cos(angle), HEIGHT / 2 + 76 * Math.sin(angle)];
}

// `now` is {state, symbol, next}: where the machine stands and where it goes.
export function machineFigure(machine, nameOf, columnText, outputText, now, wide) {
  const parts = [s("defs", {}, ...["", "-now"].map((kind) => s("marker", { id: `tip${kind}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0 L8 4 L0 8 z", class: `tip${kind}` }))))];
  for (const { source, target, symbols } of machine.arrows) {
    const active = now && now.state === source && now.next === target;
    const [x, y] = spot(source, machine.states, wide), example = symbols[active ? symbols.indexOf(now.symbol) : Math.floor(symbols.length / 2)];
    const text = `${columnText(example)} → ${outputText(machine.output[source][example])}`, more = symbols.length > 1 ? `${symbols.length} columns` : "1 column";
    const kind = active ? "-now" : "";
    let path, at;
    if (target === END) {
      path = `M ${x} ${y + RADIUS} L ${x} ${y + RADIUS + 34}`;
      at = [x - 10, y + RADIUS + 26, "end"];
    } else if (target === source) {
      path = `M ${x - 20} ${y - RADIUS + 5} C ${x - 48} ${y - RADIUS - 52}, ${x + 48} ${y - RADIUS - 52}, ${x + 20} ${y - RADIUS + 5}`;
      at = [x, y - RADIUS - 42, "middle"];
    } else {
      const [a, b] = spot(target, machine.states, wide), dx = a - x, dy = b - y, far = Math.hypot(dx, dy), nx = -dy / far, ny = dx / far;
      const bend = -26, sx = x + (dx / far) * RADIUS + nx * -10, sy = y + (dy / far) * RADIUS + ny * -10, ex = a - (dx / far) * RADIUS + nx * -10, ey = b - (dy / far) * RADIUS + ny * -10;
      path = `M ${sx} ${sy} Q ${(x + a) / 2 + nx * bend * 1.4} ${(y + b) / 2 + ny * bend * 1.4}, ${ex} ${ey}`;
      at = [(x + a) / 2 + nx * bend * 1.5, (y + b) / 2 + ny * bend * 1.5 + (ny * bend < 0 ? -4 : 14), "middle"];
    }
    parts.push(s("path", { d: path, class: `arrow${kind}`, "marker-end": `url(#tip${kind})` }));
    parts.push(s("text", { x: at[0], y: at[1], "text-anchor": at[2], class: `note${active ? " strong" : ""}` }, active ? text : `${text}, …`, s("title", {}, more)));
  }
  for (let state = 0; state < machine.states; state++) {
    const [x, y] = spot(state, machine.states, wide);
    parts.push(s("circle", { cx: x, cy: y, r: RADIUS, class: `state${now && now.state === state ? " now" : ""}` }));
    parts.push(s("text", { x, y: y + 5, "text-anchor": "middle", class: "label" }, nameOf(state)));
  }
  const [x, y] = spot(0, machine.states, wide);
  parts.push(s("path", { d: `M ${x - RADIUS - 36} ${y} L ${x - RADIUS - 4} ${y}`, class: "arrow", "marker-end": "url(#tip)" }), s("text", { x: x - RADIUS - 42, y: y + 4, "text-anchor": "end", class: "note" }, "start"));
  return drawing(wide, HEIGHT, `The finite machine that the model computes: ${machine.states} states`, ...parts);
}

// Small columns of digits, as a context shows them: the highest on the left.
export function contextColumns(columns, base) {
  return h("span", { class: "little" }, [...columns].reverse().map((digits) => h("span", {}, digits.map((digit) => h("i", {}, digit === base ? "·" : digit.toString(16))))));
}
