// Elements without markup: everything that is shown is text, so nothing that is typed becomes HTML.
const SVG = "http://www.w3.org/2000/svg";

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, action] of Object.entries(value)) element.addEventListener(event, action);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

export function h(tag, attributes = {}, ...children) { return filled(document.createElement(tag), attributes, children); }

export function s(tag, attributes = {}, ...children) { return filled(document.createElementNS(SVG, tag), attributes, children); }

export function replace(element, ...children) { element.replaceChildren(...children.flat().filter((child) => child !== null)); return element; }

export function button(label, action, attributes = {}) {
  return h("button", { type: "button", ...attributes, on: { click: action } }, label);
}

// A choice of one, as a row of buttons that the arrow keys move through.
export function choice(label, names, chosen, choose, classOf = () => "") {
  const pick = (number, focus) => { choose(number); if (focus) row.children[number]?.focus(); };
  const row = h("div", { class: "choice", role: "radiogroup", "aria-label": label, on: { keydown: (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    pick((chosen + step + names.length) % names.length, true);
  } } });
  names.forEach((name, number) => row.append(button(name, () => pick(number, true), {
    role: "radio", "aria-checked": String(number === chosen), tabindex: number === chosen ? 0 : -1, class: classOf(number),
  })));
  return row;
}

export function counted(number) { return number.toLocaleString("en"); }

export function percent(share) { return `${(100 * share).toFixed(1).replace(".0", "")}%`; }

export function shortened(text, most = 44) {
  return text.length <= most ? text : `${text.slice(0, Math.ceil(most / 2) - 1)}…${text.slice(1 - Math.floor(most / 2))}`;
}

// What a screen reader says, without moving the focus.
export function announce(text) {
  const place = document.getElementById("said");
  if (place.textContent !== text) place.textContent = text;
}

export const MARKS = ["●", "■", "▲", "◆", "▼", "★"];

// The name of a model with its mark, in its colour.
export function tag(spec, number) {
  return h("span", { class: `tag m${number}` }, h("span", { class: "mark", "aria-hidden": "true" }, MARKS[number % MARKS.length]), spec.name);
}
