// Stretch: accuracy against length, measured in the page on problems drawn here, beside the committed curves.
import { announce, counted, h, MARKS, percent, replace, s, tag } from "./dom.js";
import { drawing, figure } from "./figures.js";

const LONGEST = 1000, STEPS = 120, PROBLEMS = 200, BUDGET = 2500; // milliseconds a model and length
const TICKS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const TALL = 340, LEFT = 52, RIGHT = 24, TOP = 18, BOTTOM = 46;

function lengthAt(step) { return Math.round(LONGEST ** (step / STEPS)); }
function stepAt(length) { return Math.round((STEPS * Math.log(length)) / Math.log(LONGEST)); }
function up(share) { return TALL - BOTTOM - (TALL - BOTTOM - TOP) * share; }

export class StretchView {
  constructor(state, service) {
    this.state = state; this.service = service; this.calls = []; this.measured = state.specs.map(() => new Map()); this.seed = 1;
    this.slider = h("input", { type: "range", min: 0, max: STEPS, id: "length", on: { input: () => this.#moved(), change: () => this.#settled() } });
    this.output = h("output", { for: "length", class: "big" });
    this.rows = h("tbody"); this.status = h("p", { class: "soft", role: "status" });
    this.figure = figure("accuracy", "Exactly right answers against the length. Lines: the committed evaluation of each model, with 95% intervals. Filled marks with whiskers: measured in this page.");
    this.element = h("section", { class: "view", "aria-labelledby": "stretch-title" },
      h("h2", { id: "stretch-title" }, "Stretch"),
      h("p", { class: "lead" }, `Drag the length: the page draws random problems of that length and lets every model answer them, here and now. The lines were measured when the models were made; the models were trained on ${lengthsTrained(state.specs)}.`),
      h("div", { class: "slider" }, h("label", { for: "length" }, "Length of the longer number"), this.slider, this.output),
      this.status, this.figure.element,
      h("div", { class: "wide" }, h("table", {}, h("thead", {}, h("tr", {}, ...["Model", "Right here", "Problems", "95% interval", "Committed"].map((name) => h("th", { scope: "col" }, name)))), this.rows)));
    state.onChange((changed) => { if ((changed.has("view") || changed.has("length")) && state.view === "stretch") this.open(); });
  }

  open() {
    this.slider.value = stepAt(this.state.length);
    this.#show();
    if (!this.measured[0].has(this.state.length)) this.#measure();
  }

  #moved() { this.#stop(); this.output.textContent = digitsText(lengthAt(Number(this.slider.value))); this.#show(lengthAt(Number(this.slider.value))); }

  #settled() {
    const length = lengthAt(Number(this.slider.value));
    if (length === this.state.length) { if (!this.measured[0].has(length)) this.#measure(); } else this.state.set({ length });
  }

  #stop() { for (const call of this.calls) call.stop(); this.calls = []; }

  #measure() {
    this.#stop();
    const { length } = this.state;
    this.status.textContent = `Drawing problems of ${digitsText(length)} …`;
    let open = this.state.specs.length;
    this.calls = this.state.specs.map((_, model) => {
      const keep = (found) => { this.measured[model].set(length, found); this.#show(); };
      const call = this.service.call("accuracy", { model, length, n: PROBLEMS, seed: this.seed, budget: BUDGET }, keep);
      const done = () => { if (!--open) this.#said(); };
      call.promise.then((found) => { keep(found); done(); }, (error) => { keep({ error: error.message }); done(); });
      return call;
    });
  }

  #said() {
    const { length, specs } = this.state;
    const text = specs.map((spec, model) => {
      const found = this.measured[model].get(length);
      return found?.error ? `${spec.name} refuses.` : `${spec.name}: ${found.right} of ${found.n} right.`;
    }).join(" ");
    this.status.textContent = `At ${digitsText(length)}: ${text}`;
    announce(this.status.textContent);
  }

  #show(length = this.state.length) {
    this.output.textContent = digitsText(length);
    this.slider.setAttribute("aria-valuetext", digitsText(length));
    replace(this.rows, this.state.specs.map((spec, model) => {
      const found = this.measured[model].get(length), row = spec.curve.find((each) => each.length === length);
      const cells = !found ? ["…", "", ""] : found.error ? [found.error, "", ""]
        : [percent(found.right / found.n), counted(found.n), `${percent(found.interval[0])} to ${percent(found.interval[1])}`];
      const committed = row ? `${percent(row.value)} (${percent(row.low)} to ${percent(row.high)}), n ${counted(row.n)}` : "not at this length";
      return h("tr", {}, h("th", { scope: "row" }, tag(spec, model)), ...cells.map((cell) => h("td", {}, cell)), h("td", { class: "soft" }, committed));
    }));
    this.figure.show(this.#curve(length));
  }

  #curve(length) {
    const { specs } = this.state, parts = [], wide = Math.max(330, Math.min(860, this.element.clientWidth));
    const across = (digits) => LEFT + ((wide - LEFT - RIGHT) * Math.log(digits)) / Math.log(LONGEST);
    for (const tick of TICKS.filter((each) => wide > 500 || /^1/.test(each))) {
      parts.push(s("line", { x1: across(tick), x2: across(tick), y1: TOP, y2: TALL - BOTTOM, class: "gridline" }));
      parts.push(s("text", { x: across(tick), y: TALL - BOTTOM + 18, "text-anchor": "middle", class: "note" }, counted(tick)));
    }
    for (const share of [0, 0.25, 0.5, 0.75, 1]) {
      parts.push(s("line", { x1: LEFT, x2: wide - RIGHT, y1: up(share), y2: up(share), class: "gridline" }));
      parts.push(s("text", { x: LEFT - 8, y: up(share) + 4, "text-anchor": "end", class: "note" }, percent(share)));
    }
    parts.push(s("text", { x: (LEFT + wide) / 2, y: TALL - 8, "text-anchor": "middle", class: "note" }, "digits of the longer number"));
    parts.push(s("line", { x1: across(length), x2: across(length), y1: TOP, y2: TALL - BOTTOM, class: "cursor" }));
    specs.forEach((spec, model) => {
      const rows = spec.curve.filter((row) => row.length <= LONGEST);
      if (rows.length) {
        const band = [...rows.map((row) => `${across(row.length)},${up(row.high)}`), ...[...rows].reverse().map((row) => `${across(row.length)},${up(row.low)}`)];
        parts.push(s("polygon", { points: band.join(" "), class: `band m${model}` }));
        parts.push(s("polyline", { points: rows.map((row) => `${across(row.length)},${up(row.value)}`).join(" "), class: `curve m${model} d${model}` }));
        for (const row of rows) parts.push(s("circle", { cx: across(row.length), cy: up(row.value), r: 2.5, class: `dot m${model}` }, s("title", {}, `${spec.name}, ${row.length} digits: ${percent(row.value)} of ${row.n}`)));
      }
    });
    specs.forEach((spec, model) => {
      const shift = 7 * (model - (specs.length - 1) / 2);
      for (const [at, found] of this.measured[model]) {
        if (found.error) continue;
        const x = across(at) + shift, share = found.right / found.n;
        parts.push(s("line", { x1: x, x2: x, y1: up(found.interval[0]), y2: up(found.interval[1]), class: `whisker m${model}` }));
        parts.push(s("text", { x, y: up(share) + 5, "text-anchor": "middle", class: `point m${model}` }, MARKS[model % MARKS.length], s("title", {}, `${spec.name}, ${digitsText(at)}, measured here: ${found.right} of ${found.n}`)));
      }
    });
    specs.forEach((spec, model) => parts.push(s("text", { x: LEFT + 0.5 * (wide - LEFT), y: TALL / 2 - 30 + 22 * model, class: "label" }, s("tspan", { class: `marked m${model}` }, MARKS[model % MARKS.length]), ` ${spec.name}`)));
    return drawing(wide, TALL, "Accuracy against length", ...parts);
  }
}

function digitsText(length) { return length === 1 ? "1 digit" : `${counted(length)} digits`; }

function lengthsTrained(specs) {
  const lengths = specs.map((spec) => spec.trained), same = lengths.every((length) => length === lengths[0]);
  return `up to ${same ? lengths[0] : `${lengths.slice(0, -1).join(", ")} and ${lengths[lengths.length - 1]}`} digits`;
}
