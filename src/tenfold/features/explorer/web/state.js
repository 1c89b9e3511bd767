// What the visitor chose: problem, model, view, digit, length. It is kept in the address, after #, so that it can be shared.
import { parseProblem, questionOf } from "./problems.js";

export const VIEWS = ["ask", "look", "stretch", "prove", "share"];
const LONGEST_ADDRESS = 4000; // characters of a problem in the address

export class PageState {
  constructor(specs) {
    this.specs = specs; this.task = specs[0].task; this.listeners = [];
    this.view = "ask"; this.model = 0; this.column = null; this.length = 20; this.head = 0; this.layer = 0;
    this.problem = "";
    this.operands = null;
  }

  onChange(listener) { this.listeners.push(listener); }

  // Change some values and tell everybody which.
  set(values) {
    const changed = Object.keys(values).filter((name) => this[name] !== values[name]);
    Object.assign(this, values);
    if (!changed.length) return;
    this.#writeAddress();
    for (const listener of this.listeners) listener(new Set(changed));
  }

  // Throws one clear sentence for what is not a problem.
  ask(text) {
    const operands = parseProblem(text, this.task);
    this.set({ operands, problem: questionOf(operands, this.task), column: null });
  }

  askFor(operands) { this.set({ operands, problem: questionOf(operands, this.task), column: null }); }

  get spec() { return this.specs[this.model]; }

  address() {
    const fields = new URLSearchParams({ view: this.view, model: String(this.model + 1) });
    if (this.problem.length <= LONGEST_ADDRESS) fields.set("problem", this.problem);
    if (this.column !== null) fields.set("column", String(this.column));
    if (this.view === "stretch") fields.set("length", String(this.length));
    return `#${fields}`;
  }

  #writeAddress() {
    try { history.replaceState(null, "", this.address()); } catch { /* some browsers refuse this for files; the Share view shows the address */ }
  }

  // What an address says; the sentence of what could not be read, or "".
  readAddress(text) {
    const fields = new URLSearchParams(text.replace(/^#/, "")), number = (name) => Number.parseInt(fields.get(name) ?? "", 10);
    const values = {};
    if (VIEWS.includes(fields.get("view"))) values.view = fields.get("view");
    if (number("model") >= 1 && number("model") <= this.specs.length) values.model = number("model") - 1;
    if (number("length") >= 1 && number("length") <= 1000) values.length = number("length");
    let problem = "";
    if (fields.has("problem")) {
      try {
        values.operands = parseProblem(fields.get("problem"), this.task);
        values.problem = questionOf(values.operands, this.task);
      } catch (error) { problem = error.message; }
    }
    if (number("column") >= 0) values.column = number("column");
    this.set(values);
    return problem;
  }
}
