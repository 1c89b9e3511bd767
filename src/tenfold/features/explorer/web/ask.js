// Ask: the problem in columns, and the answers of all models digit by digit.
import { carryName, ColumnsView, columnCount, digitsByColumn } from "./columns.js";
import { announce, button, counted, h, percent, replace, tag } from "./dom.js";
import { saveFigure } from "./figures.js";

const AUTOMATIC = 40; // columns up to which an answer plays by itself

export class AskView {
  constructor(state, answers) {
    this.state = state; this.answers = answers; this.cursor = 0; this.count = 1; this.cells = []; this.timer = null; this.played = null;
    this.columns = new ColumnsView(state.specs, state.specs.map((_, number) => number), (column, model) => { this.stop(); state.set({ model }); this.move(column); });
    this.speed = h("input", { type: "range", min: 1, max: 20, value: 4, id: "speed" });
    this.playing = button("Play", () => (this.timer ? this.stop() : this.play()), { class: "play", title: "space" });
    this.where = h("output", { class: "where" });
    this.stage = h("div", {
      class: "board", tabindex: 0, role: "group",
      "aria-label": "The problem in columns. Left and right arrows move through the digits of the answer, space plays.",
      on: { keydown: (event) => this.#key(event) },
    }, this.columns.element);
    this.results = h("ul", { class: "results" });
    this.element = h("section", { class: "view", "aria-labelledby": "ask-title" },
      h("h2", { id: "ask-title" }, "Ask"),
      h("p", { class: "lead" }, "Every model reads the same problem and writes its answer from the units on, one digit at a time. A digit in a red box is wrong; the small numbers on top are the carries of the true sum."),
      this.stage,
      h("p", { class: "legend" }, h("span", { class: "cell wrong", "aria-hidden": "true" }, "7"), "wrong digit", h("span", { class: "cell wrong", "aria-hidden": "true" }, "∅"), "nothing written, wrongly", h("span", { class: "carried", "aria-hidden": "true" }, "1"), `${carryName(state.task)} from the column on the right`),
      h("div", { class: "controls" },
        button("First", () => { this.stop(); this.move(0); }, { "aria-label": "First digit" }),
        button("Back", () => { this.stop(); this.move(this.cursor - 1); }, { "aria-label": "One digit back", title: "right arrow" }),
        this.playing,
        button("Step", () => { this.stop(); this.move(this.cursor + 1); }, { "aria-label": "One digit further", title: "left arrow" }),
        button("Last", () => { this.stop(); this.move(this.count - 1); }, { "aria-label": "Last digit" }),
        h("label", { class: "speed", for: "speed" }, "Speed ", this.speed),
        this.where,
        h("span", { class: "tools" },
          button("SVG", () => saveFigure(this.#onPage(), "sum", "svg"), { class: "quiet", "aria-label": "Save the columns as SVG" }),
          button("PNG", () => saveFigure(this.#onPage(), "sum", "png"), { class: "quiet", "aria-label": "Save the columns as PNG" }))),
      this.results,
      h("div", { class: "offstage", "aria-hidden": "true" }));
    answers.onChange(() => this.#answered());
    state.onChange((changed) => { if (changed.has("column") && state.column !== null && state.column !== this.cursor) { this.stop(); this.move(state.column, false); } });
  }

  // A drawing takes its colours from the page, so it stands in it while it is saved.
  #onPage() {
    const picture = this.columns.picture();
    replace(this.element.querySelector(".offstage"), [picture]);
    return picture;
  }

  // What every model wrote in each column, and how many columns that takes.
  #collect() {
    const { operands, specs } = this.state;
    this.cells = this.answers.results.map((result, model) => (result && !result.error ? digitsByColumn(result, specs[model]) : null));
    this.count = columnCount(operands, this.answers.truth, this.cells);
  }

  #answered() {
    const { answers, state } = this;
    this.#collect();
    if (this.played !== state.operands) {
      this.stop();
      this.cursor = state.column ?? 0;
      if (answers.complete) {
        this.played = state.operands;
        const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
        if (state.column === null && (still || this.count > AUTOMATIC)) this.cursor = this.count - 1;
        else if (state.column === null) this.play();
      }
    }
    this.draw();
    this.#summarise();
  }

  draw() {
    const { state, answers } = this;
    if (!answers.truth) return;
    const { count, cells } = this;
    this.cursor = Math.max(0, Math.min(this.cursor, count - 1));
    this.columns.show({ operands: state.operands, truth: answers.truth, rows: cells, column: this.cursor, count, carryName: carryName(state.task) });
    this.where.textContent = `digit ${counted(this.cursor + 1)} of ${counted(count)}`;
  }

  move(column, told = true) {
    this.cursor = Math.max(0, Math.min(column, this.count - 1));
    this.draw();
    if (!told) return;
    this.state.set({ column: this.cursor });
    announce(this.#sentence());
  }

  #sentence() {
    const said = this.state.specs.map((spec, model) => {
      const cell = this.cells?.[model]?.[this.cursor];
      return `${spec.name} ${cell ? cell.text : "nothing"}${cell && !cell.right ? ", wrong" : ""}`;
    });
    return `Column ${this.cursor + 1}: ${said.join("; ")}.`;
  }

  play() {
    if (this.cursor >= this.count - 1) this.cursor = -1;
    const step = () => {
      this.cursor++;
      this.draw();
      if (this.cursor >= this.count - 1) { this.stop(); this.state.set({ column: this.cursor }); return; }
      this.timer = setTimeout(step, 1000 / Number(this.speed.value));
    };
    this.playing.textContent = "Pause";
    this.timer = setTimeout(step, 150);
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = null;
    this.playing.textContent = "Play";
  }

  #key(event) {
    const step = { ArrowLeft: 1, ArrowRight: -1 }[event.key];
    if (event.target !== this.stage && event.key === " ") return;
    if (step) { this.stop(); this.move(this.cursor + step); }
    else if (event.key === "Home") { this.stop(); this.move(this.count - 1); }
    else if (event.key === "End") { this.stop(); this.move(0); }
    else if (event.key === " ") (this.timer ? this.stop() : this.play());
    else return;
    event.preventDefault();
  }

  #summarise() {
    const { specs } = this.state;
    replace(this.results, specs.map((spec, model) => {
      const result = this.answers.results[model];
      const verdict = !result ? h("span", { class: "soft" }, `is computing … ${this.answers.progress[model] ? percent(this.answers.progress[model]) : ""}`)
        : result.error ? h("span", { class: "refused" }, result.error)
          : result.grade.right ? h("span", { class: "good" }, `right: all ${counted(result.states.length - 1)} digits`)
            : h("span", { class: "bad" }, `wrong: ${counted(result.grade.wrong)} of ${counted(result.grade.graded)} places, the first at column ${counted(result.columns[result.grade.first] + 1)}`);
      const time = result && !result.error ? h("span", { class: "soft time" }, `${result.milliseconds < 10 ? result.milliseconds.toFixed(1) : Math.round(result.milliseconds)} ms in this page`) : null;
      return h("li", {}, tag(spec, model), verdict, time);
    }));
    if (this.answers.complete) {
      announce(specs.map((spec, model) => {
        const result = this.answers.results[model];
        return `${spec.name} is ${result.error ? "refused" : result.grade.right ? "right" : "wrong"}.`;
      }).join(" "));
    }
  }
}
