// Prove: every context of a certified model, the one that the chosen digit has, the machine, and noise that breaks the proof.
import { carryName, ColumnsView, columnCount, digitsByColumn } from "./columns.js";
import { announce, button, choice, counted, h, replace, shortened, tag } from "./dom.js";
import { figure } from "./figures.js";
import { contextColumns, machineFigure } from "./machine_figure.js";
import { END, exampleOf, parseProblem, questionOf, symbolAt } from "./problems.js";
import { whyNotListed } from "./contexts.js";

const PAGE = 12, LEVELS = 40, MOST_NOISE = 0.2;
const STATES = { addition: (n) => `carry ${n}`, successor: (n) => `carry ${n}`, subtraction: (n) => `borrow ${n}` };

export class ProveView {
  constructor(state, service, answers) {
    Object.assign(this, { state, service, answers, proofs: new Map(), visited: null, from: 0, order: "number", filter: {} });
    this.models = h("div");
    this.verdict = h("div", { class: "verdict" });
    this.bar = h("progress", { max: 1, value: 0, "aria-label": "Contexts checked" });
    this.here = h("p", { class: "big here", role: "status" });
    this.steps = h("div", { class: "controls" },
      button("One column back", () => this.#step(-1), { "aria-label": "One column back" }),
      button("One column further", () => this.#step(1), { "aria-label": "One column further" }));
    this.board = h("div", { class: "board" });
    this.word = h("p", { class: "word" });
    this.machine = figure("machine", "");
    this.search = h("input", { type: "search", id: "context-search", autocomplete: "off", spellcheck: "false", placeholder: `7, or ${exampleOf(state.task)}`, on: { input: () => this.#searched() } });
    this.found = h("p", { class: "soft", role: "status" });
    this.table = h("div", { class: "wide" });
    this.sorting = h("div"); this.paging = h("div", { class: "controls" });
    this.level = h("input", { type: "range", min: 0, max: LEVELS, value: 0, id: "noise", on: { input: () => this.#noiseMoved(), change: () => this.#noise() } });
    this.levelText = h("output", { for: "noise", class: "big" }, "none");
    this.broken = h("div", { class: "broken", role: "status" });
    this.body = h("div", { class: "proof" },
      h("h3", {}, "The digit that is written now"), this.here, this.board, this.steps,
      h("h3", {}, "The machine inside"), this.word, this.machine.element,
      h("h3", {}, "Break it"),
      h("p", {}, "Add random noise to all weights and check every context again. Its size is relative to the weights of each matrix, and the slider scales the same noise up."),
      h("div", { class: "slider" }, h("label", { for: "noise" }, "Noise"), this.level, this.levelText), this.broken,
      h("h3", {}, "All contexts"),
      h("div", { class: "slider" }, h("label", { for: "context-search" }, "A number, or a problem whose contexts are wanted"), this.search), this.sorting, this.found, this.table, this.paging);
    this.element = h("section", { class: "view", "aria-labelledby": "prove-title" },
      h("h2", { id: "prove-title" }, "Prove"),
      h("p", { class: "lead" }, "A model that sees two columns at a time can only ever meet a limited number of situations, its contexts. If it is right in every one of them, it is right for numbers of any length, and here your own browser checks them all."),
      this.models, this.verdict, this.body);
    state.onChange((changed) => { if (["view", "model", "operands", "column"].some((name) => changed.has(name))) this.update(changed); });
  }

  get proof() { return this.proofs.get(this.state.model); }

  update(changed) {
    const { state } = this;
    if (state.view !== "prove") return;
    replace(this.models, [choice("Model", state.specs.map((spec, n) => tag(spec, n)), state.model, (model) => { this.#quiet(); state.set({ model }); })]);
    const reason = whyNotListed(state.spec);
    this.body.hidden = Boolean(reason) || !this.proof;
    if (reason) { this.#refused(reason); return; }
    if (!this.proof) { this.#prove(); return; }
    if (!changed || changed.has("model") || changed.has("view")) { this.#proved(); this.#rows(); }
    this.#where();
  }

  // Without a window no list of contexts is enough; a certificate may be there all the same.
  #refused(reason) {
    const other = this.state.specs.findIndex((spec, number) => number !== this.state.model && !whyNotListed(spec));
    const { certificate } = this.state.spec;
    const said = certificate?.proved && certificate.far ? [
      h("p", { class: "headline good" }, "Proved right at every length, without a window."),
      h("p", { class: "soft" }, `So says its certificate, made in Python: ${certificate.verdict}, ${counted(certificate.contexts)} near contexts, least margin ${certificate.margin.toPrecision(3)}. Attention on far digits is at most ${certificate.far.attention.toPrecision(2)}, and they take at most ${(certificate.far.first + certificate.far.remainder).toPrecision(2)} of a lead where it is least. This page cannot check it; tenfold certify does.`),
    ] : [h("p", {}, reason)];
    replace(this.verdict, [...said, ...(other < 0 ? [] : [button(`Show ${this.state.specs[other].name}`, () => this.state.set({ model: other }))])]);
  }

  #prove() {
    const { model } = this.state;
    replace(this.verdict, [h("p", {}, "Listing the contexts and running the model on each …"), this.bar]);
    this.checking?.stop();
    this.checking = this.service.call("prove", { model }, (share) => { if (typeof share === "number") this.bar.value = share; });
    this.checking.promise.then((proof) => { this.proofs.set(model, proof); this.update(null); }, (error) => this.#refused(error.message));
  }

  #proved() {
    const { spec } = this.state, { count, wrong, least, seconds } = this.proof, { certificate } = spec;
    const lines = [h("p", { class: `headline ${wrong ? "bad" : "good"}` }, wrong
      ? `Not right: wrong on ${counted(wrong)} of ${counted(count)} contexts.`
      : `Right on all ${counted(count)} contexts, so right at every length.`)];
    lines.push(h("p", { class: "soft" }, `Checked in this page in ${seconds.toFixed(1)} s; the least margin of a right token is ${least.toFixed(2)}. ${
      certificate ? `The certificate, made in Python, says: ${certificate.verdict}, ${counted(certificate.contexts)} contexts${certificate.margin === null ? "" : `, margin ${certificate.margin.toFixed(2)}`}${certificate.bound ? `, of which float32 rounding can take at most ${certificate.bound.toFixed(2)}` : ""}.`
        : "There is no certificate beside this run; tenfold certify makes one, which also bounds rounding."}`));
    replace(this.verdict, lines);
    const { machine } = this.proof;
    replace(this.word, [machine ? `The contexts, merged where the model never answers differently, make a machine of ${machine.states} state${machine.states === 1 ? "" : "s"}. It reads a column and writes a digit; what it remembers in between is the state.` : "Without a proof there is no machine to show."]);
    this.machine.element.hidden = !machine || machine.states > 8;
    announce(lines[0].textContent);
  }

  // The context of the chosen column, and where the machine stands there.
  #where() {
    const { state } = this, { operands, model } = state;
    if (this.visitedFor !== operands || this.visitedModel !== model) {
      this.visitedFor = operands; this.visitedModel = model; this.visited = null;
      this.service.call("visited", { model, operands }).promise.then((visited) => { this.visited = visited; this.#where(); }, () => {});
      return;
    }
    if (!this.visited || !this.proof) return;
    const column = Math.max(0, Math.min(state.column ?? 0, this.visited.length - 1)), context = this.visited[column], { margins, count, machine } = this.proof;
    const question = shortened(state.problem);
    this.here.textContent = context < 0 ? `Column ${counted(column + 1)} of ${question} is in no context.`
      : `Column ${counted(column + 1)} of ${question} is context ${counted(context + 1)} of ${counted(count)}; margin ${margins[context].toFixed(1)}.`;
    this.context = context;
    this.#digits(column);
    if (!machine || machine.states > 8) return;
    const { task, spec } = state, { symbols } = spec.vocabulary, path = machinePath(machine, operands, task, column);
    const columnText = (symbol) => columnDigits(symbol, task).map((digit) => (digit === task.base ? "–" : digit.toString(16))).join(" ");
    const named = machine.states === task.states ? (STATES[task.name] ?? ((n) => `state ${n}`)) : (n) => `state ${n}`;
    this.machine.show(machineFigure(machine, named, columnText, (output) => (output === END ? "end" : symbols[output]), path, Math.max(330, Math.min(620, this.element.clientWidth))));
    this.machine.say(path ? `In ${named(path.state)} it reads ${columnText(path.symbol)} and writes ${path.output === END ? "the end" : symbols[path.output]}. Arrows show one column as an example; a dash is a number that has ended.` : "");
  }

  // The problem in columns with this model's answer up to the chosen column.
  #digits(column) {
    const { state, answers } = this, { model, operands } = state, result = answers.results[model];
    if (this.columnsOf !== model) {
      this.columnsOf = model;
      this.columns = new ColumnsView(state.specs, [model], (chosen) => state.set({ column: chosen }));
      replace(this.board, [this.columns.element]);
    }
    const rows = [];
    rows[model] = result && !result.error ? digitsByColumn(result, state.spec) : null;
    const count = Math.max(columnCount(operands, answers.truth, [rows[model]]), this.visited.length);
    this.columns.show({ operands, truth: answers.truth, rows, column, count, carryName: carryName(state.task) });
  }

  #step(by) {
    const last = this.visited ? this.visited.length - 1 : 0;
    this.state.set({ column: Math.max(0, Math.min(last, (this.state.column ?? 0) + by)) });
    announce(this.here.textContent);
  }

  #searched() {
    const text = this.search.value.trim();
    this.from = 0;
    this.filter = {};
    this.found.textContent = "";
    if (/^[\d,]+$/.test(text) && this.state.task.terms > 1) this.filter = { number: Number(text.replaceAll(",", "")) };
    else if (text) {
      try { this.filter = { operands: parseProblem(text, this.state.task) }; } catch (error) { this.found.textContent = error.message; return; }
    }
    this.#rows();
  }

  #rows() {
    const { state } = this, { spec, task } = state;
    replace(this.sorting, [choice("Order", ["in order", "smallest margin first"], this.order === "margin" ? 1 : 0, (n) => { this.order = n ? "margin" : "number"; this.from = 0; this.#rows(); })]);
    this.service.call("rows", { model: state.model, order: this.order, from: this.from, count: PAGE, ...this.filter }).promise.then(({ total, rows }) => {
      this.found.textContent = total ? `${counted(this.from + 1)} to ${counted(this.from + rows.length)} of ${counted(total)}` : "No context has this number.";
      const cells = (row) => [counted(row.number), contextColumns(row.columns, task.base), row.problem.join(task.operator), spec.vocabulary.symbols[row.output], row.margin.toFixed(2)];
      replace(this.table, [h("table", { class: "contexts" },
        h("thead", {}, h("tr", {}, ...["Context", "Columns read", "Shortest problem", "Right token", "Margin"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, rows.map((row) => h("tr", { class: row.number - 1 === this.context ? "now" : "" }, cells(row).map((cell) => h("td", {}, cell))))))]);
      replace(this.paging, [
        button("Previous", () => { this.from = Math.max(0, this.from - PAGE); this.#rows(); }, { disabled: this.from === 0 }),
        button("Next", () => { this.from += PAGE; this.#rows(); }, { disabled: this.from + PAGE >= total })]);
    }, (error) => { this.found.textContent = error.message; });
  }

  get #size() { return (MOST_NOISE * Number(this.level.value)) / LEVELS; }

  #noiseMoved() {
    this.levelText.textContent = this.#size ? `${(100 * this.#size).toFixed(1)}%` : "none";
    this.level.setAttribute("aria-valuetext", this.levelText.textContent);
  }

  #quiet() { this.shaking?.stop(); this.level.value = 0; this.#noiseMoved(); replace(this.broken, []); }

  #noise() {
    this.shaking?.stop();
    if (!this.#size) { this.#quiet(); return; }
    const { model } = this.state, level = this.#size;
    replace(this.broken, [h("p", { class: "soft" }, "Checking …")]);
    this.shaking = this.service.call("noise", { model, level, seed: 1 }, (found) => this.#shaken(found, level));
    this.shaking.promise.then((found) => this.#shaken(found, level), (error) => replace(this.broken, [h("p", { class: "bad" }, error.message)]));
  }

  #shaken({ wrong, done, count, least, counterexample }, level) {
    const { spec, task } = this.state, whole = done >= count, lines = [];
    lines.push(h("p", { class: `headline ${wrong ? "bad" : "good"}` }, wrong ? "The proof breaks." : whole ? "The proof holds." : "No error so far."));
    lines.push(h("p", {}, `With noise of ${(100 * level).toFixed(1)}%: ${counted(wrong)} wrong of ${counted(done || Math.min(count, 1024))} contexts checked${whole ? "" : `, of ${counted(count)}`}; least margin ${least.toFixed(2)}.`));
    if (counterexample) {
      const { operands, answer, target, columns, graded } = counterexample, { symbols, end, pad } = spec.vocabulary;
      const digits = (tokens) => Array.from(columns.keys()).filter((place) => place < graded && tokens[place] !== end && tokens[place] !== pad).sort((a, b) => columns[b] - columns[a]);
      const text = (tokens) => digits(tokens).map((place) => symbols[tokens[place]]).join("").replace(/^0+(?=.)/, "") || "nothing";
      lines.push(h("p", { class: "counterexample" }, "Shortest counterexample: ", h("b", {}, questionOf(operands, task)), ` = ${text(target)}, but the noisy model writes `, h("b", { class: "bad" }, text(answer)), ` (context ${counted(counterexample.context)}).`));
    }
    replace(this.broken, lines);
    if (whole || counterexample) announce(lines.map((line) => line.textContent).join(" "));
  }
}

function columnDigits(symbol, task) {
  const digits = [];
  for (let m = 0; m < task.terms; m++, symbol = Math.floor(symbol / (task.base + 1))) digits.unshift(symbol % (task.base + 1));
  return digits;
}

// Where the machine stands when it reads this column.
function machinePath(machine, operands, task, column) {
  let state = 0;
  for (let at = 0; ; at++) {
    const symbol = symbolAt(operands, at, task), output = machine.output[state][symbol], next = machine.next[state][symbol];
    if (at === column || output < 0) return { state, symbol, output, next: output === END ? END : next };
    state = next;
  }
}
