// The digits of a problem in columns: carries, numbers, and below them what each model wrote. Long numbers are shown in part.
import { h, MARKS, replace, s, tag } from "./dom.js";
import { drawing } from "./figures.js";

const NARROWEST = 24, WIDEST = 46; // pixels of a column

// Which digit a model wrote in each column: {text, right, extra}; null where it rightly wrote none.
export function digitsByColumn(result, spec) {
  const { answer, target, columns, graded, states } = result, { symbols, end, pad } = spec.vocabulary;
  const length = states.length - 1, cells = [];
  for (let place = 0; place < answer.length; place++) {
    const column = columns[place], token = answer[place], right = place >= graded || token === target[place];
    const nothing = token === end || token === pad, padding = column >= length && token === 0 && right;
    if (right && (nothing || padding)) { cells[column] = null; continue; }
    cells[column] = { text: nothing ? "∅" : symbols[token], right, ended: nothing };
  }
  return cells;
}

// The widest column that anybody has something in.
export function columnCount(operands, truth, rows) {
  let count = Math.max(truth.answer.length, ...operands.map((digits) => digits.length));
  for (const row of rows) row?.forEach((cell, column) => { if (cell && column >= count) count = column + 1; });
  return count;
}

const CARRIES = { addition: "carry", successor: "carry", subtraction: "borrow" };

export function carryName(task) { return CARRIES[task.name] ?? "state"; }

export class ColumnsView {
  // `numbers` are those of the models whose answers are shown; `choose` is told which column and model were chosen.
  constructor(specs, numbers, choose) {
    this.specs = specs; this.numbers = numbers; this.choose = choose; this.from = 0;
    this.grid = h("div", { class: "columns" });
    this.slider = h("input", { type: "range", min: 0, class: "scroller", "aria-label": "Which columns are shown", on: { input: () => {
      this.from = this.most - Number(this.slider.value);
      this.draw();
    } } });
    this.where = h("span", { class: "where" });
    this.element = h("div", { class: "stage" }, this.grid, h("div", { class: "scrolling" }, this.slider, this.where));
    new ResizeObserver(() => { if (this.data && this.visible() !== this.shown) this.draw(); }).observe(this.element);
  }

  get room() { return this.grid.clientWidth - (this.grid.clientWidth > 580 ? 216 : 26); }

  visible() { return Math.max(6, Math.min(40, Math.floor(this.room / NARROWEST))); }

  // `column` is the one that is being written; those above it are not shown yet.
  show(data) {
    this.data = data;
    const { column, count } = data, visible = this.visible();
    if (column < this.from + 1) this.from = Math.max(0, column - 2);
    if (column > this.from + visible - 3) this.from = column - visible + 3;
    this.from = Math.max(0, Math.min(this.from, count - visible));
    this.draw();
  }

  draw() {
    const { operands, truth, rows, column, count, carryName } = this.data, visible = this.visible();
    this.shown = visible;
    this.most = Math.max(0, count - visible);
    const few = Math.min(visible, count), to = Math.min(count, this.from + few);
    this.slider.max = this.most;
    this.slider.value = this.most - this.from;
    this.slider.parentElement.hidden = count <= visible;
    this.where.textContent = `columns ${this.from + 1} to ${to} of ${count.toLocaleString("en")}, counted from the right`;
    this.grid.style.setProperty("--cell", `${Math.max(NARROWEST, Math.min(WIDEST, Math.floor(this.room / few)))}px`);
    const across = (cell) => { const list = []; for (let at = to - 1; at >= this.from; at--) list.push(cell(at)); return list; };
    const line = (name, kind, cells) => h("div", { class: `line ${kind}` }, h("div", { class: "name" }, name), h("div", { class: "cells" }, cells));
    const chain = carryChain(truth.states, column);
    const marked = (at) => (at === column ? " now" : "") + (at >= chain[0] && at <= chain[1] ? " chain" : "");
    const lines = [line(carryName, "carries", across((at) => {
      const carry = at > 0 && at <= column + 1 && at < truth.states.length && truth.states[at] > 0;
      return h("div", { class: `cell${marked(at)}${carry && at === column + 1 ? " fresh" : ""}` }, carry ? String(truth.states[at]) : "");
    }))];
    operands.forEach((digits, m) => lines.push(line(m ? this.specs[0].task.operator : "", "operand", across((at) => {
      const text = at < digits.length ? digits[at].toString(16) : "";
      return h("div", { class: `cell${marked(at)}` }, text);
    }))));
    this.numbers.forEach((number, n) => lines.push(line(tag(this.specs[number], number), `answer${n ? "" : " first"}`, across((at) => {
      const row = rows[number];
      const cell = row?.[at], shown = cell && at <= column;
      const kind = !shown ? " hidden" : cell.right ? " right" : " wrong";
      const label = cell && `${this.specs[number].name}, column ${at + 1}: ${cell.ended ? "nothing" : cell.text}${cell.right ? "" : ", wrong"}`;
      return h("button", {
        type: "button", class: `cell${kind}${marked(at)}${at === column && shown ? " new" : ""}`, tabindex: -1,
        "aria-label": shown ? label : `column ${at + 1}, not written yet`, on: { click: () => this.choose(at, number) },
      }, shown ? cell.text : "");
    }))));
    replace(this.grid, lines);
  }

  // The visible columns as a drawing, for files.
  picture() {
    const { operands, truth, rows, column, count } = this.data, to = Math.min(count, this.from + this.visible()), left = 180, size = 26;
    const width = left + (to - this.from) * size + 16, x = (at) => left + (to - 1 - at) * size + size / 2, parts = [];
    const put = (at, y, text, kind) => parts.push(s("text", { x: x(at), y, "text-anchor": "middle", class: `digit ${kind}` }, text));
    let y = 28;
    for (let at = this.from; at < to; at++) if (at > 0 && at <= column + 1 && truth.states[at] > 0) put(at, y, truth.states[at], "small");
    operands.forEach((digits, m) => {
      y += 32;
      if (m) parts.push(s("text", { x: left - 14, y, "text-anchor": "end", class: "digit" }, this.specs[0].task.operator));
      for (let at = this.from; at < Math.min(to, digits.length); at++) put(at, y, digits[at].toString(16), "");
    });
    y += 14;
    parts.push(s("line", { x1: left - 30, x2: width - 12, y1: y, y2: y, class: "rule" }));
    this.numbers.forEach((number) => {
      const row = rows[number];
      y += 32;
      parts.push(s("text", { x: 8, y, class: "label" }, s("tspan", { class: `marked m${number}` }, MARKS[number % MARKS.length]), ` ${this.specs[number].name}`));
      for (let at = this.from; at < to; at++) {
        const cell = row?.[at];
        if (cell && at <= column) put(at, y, cell.text, cell.right ? "" : "wrong");
      }
    });
    return drawing(width, y + 20, "The problem in columns with the answers of all models", ...parts);
  }
}

// The columns over which the carry at this column runs: from where it begins to where it is used.
function carryChain(states, column) {
  if (!(states[column] > 0) && !(states[column + 1] > 0)) return [-1, -2];
  let low = column, high = column;
  while (low > 0 && states[low] > 0) low--;
  while (high + 1 < states.length && states[high + 1] > 0 && high < column) high++;
  return [low, high];
}
