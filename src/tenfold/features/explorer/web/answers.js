// The answers of all models to the problem, shared by the views: computed once for each problem, beside the page.
import { truthOf } from "./problems.js";

export class Answers {
  constructor(service, state) {
    this.service = service; this.state = state; this.listeners = []; this.calls = []; this.results = []; this.truth = null;
    state.onChange((changed) => { if (changed.has("operands")) this.compute(); });
  }

  onChange(listener) { this.listeners.push(listener); }

  compute() {
    const { operands, specs, task } = this.state;
    for (const call of this.calls) call.stop();
    this.truth = truthOf(operands, task);
    this.results = specs.map(() => null);
    this.progress = specs.map(() => 0);
    this.#tell();
    this.calls = specs.map((_, model) => {
      const call = this.service.call("answer", { model, operands }, (share) => { this.progress[model] = share; this.#tell(); });
      const settle = (result) => { this.results[model] = result; this.#tell(); };
      call.promise.then(settle, (error) => settle({ error: error.message }));
      return call;
    });
  }

  get complete() { return this.results.length > 0 && this.results.every((result) => result !== null); }

  #tell() { for (const listener of this.listeners) listener(); }
}
