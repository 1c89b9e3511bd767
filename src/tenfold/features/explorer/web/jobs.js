// What is computed beside the page, in a worker where there is one. A job is a generator: what it yields is reported, and
// between two steps it can be stopped.
import { ContextTable, whyNotListed } from "./contexts.js";
import { answerProblem, grade } from "./decoding.js";
import { smallestMachine } from "./machine.js";
import { Network } from "./network.js";
import { randomNumbers, wilson } from "./numerics.js";
import { drawProblem, textOf, truthOf } from "./problems.js";
import { writeProblem } from "./writing.js";

const SUSPECTS = 1024; // contexts of the smallest margins, which noise breaks first
const TRIED = 400; // random problems a length in the search for a failure

class Jobs {
  constructor(specs) { this.networks = specs.map((spec) => new Network(spec)); this.tables = new Map(); }

  // The model's answer to one problem.
  * answer({ model, operands }) {
    const began = performance.now(), network = this.networks[model];
    const { written, answer } = yield* answerProblem(network, operands);
    const [target, columns, states] = [written.target, written.columns, written.truth.states].map((list) => Int32Array.from(list));
    return { answer, target, columns, graded: written.graded, states, grade: grade(written, answer), milliseconds: performance.now() - began };
  }

  // How many of `n` random problems of a length are right; reported after each.
  * accuracy({ model, length, n, seed, budget }) {
    const network = this.networks[model], random = randomNumbers(seed + 1000 * length), began = performance.now();
    let right = 0, done = 0;
    while (done < n && (done < 4 || performance.now() - began < budget)) {
      const { written, answer } = yield* quietly(answerProblem(network, drawProblem(random, length, network.spec.task), { stopWhenWrong: true }));
      right += grade(written, answer).right ? 1 : 0;
      done++;
      yield { right, n: done, interval: wilson(right, done) };
    }
    return { right, n: done, interval: wilson(right, done) };
  }

  // The shortest problem found that a model answers wrongly: all sums of one digit, then random ones, length by length.
  * failure({ model }) {
    const network = this.networks[model], { task } = network.spec, random = randomNumbers(7);
    for (const length of [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 24, 40]) {
      for (let n = 0; n < TRIED; n++) {
        const operands = length === 1 && n < task.base ** task.terms ? small(n, task) : drawProblem(random, length, task);
        if (truthOf(operands, task).refused) continue;
        const { written, answer } = yield* quietly(answerProblem(network, operands, { stopWhenWrong: true }));
        if (!grade(written, answer).right) return { operands, length };
        if (n % 16 === 0) yield { length };
      }
    }
    return null;
  }

  // The context table of a model with the margin of every context, and the machine that it computes.
  * prove({ model }) {
    const kept = this.tables.get(model);
    if (kept) return kept.summary;
    const network = this.networks[model], reason = whyNotListed(network.spec);
    if (reason) throw new Error(reason);
    const began = performance.now(), table = yield* new ContextTable(network).build();
    const { margins, tokens } = yield* progress(table.check(network));
    let least = 0, wrong = 0;
    margins.forEach((margin, n) => { if (margin < margins[least]) least = n; if (!(margin > 0)) wrong++; });
    const machine = wrong ? null : smallestMachine(table.search, (context) => tokens[context], network.spec.vocabulary.end);
    const order = Int32Array.from(margins.keys()).sort((a, b) => margins[a] - margins[b]);
    const summary = { count: table.count, wrong, margins, least: margins[least], machine, seconds: (performance.now() - began) / 1000 };
    this.tables.set(model, { table, margins, order, summary });
    return summary;
  }

  // The context at every column of a problem.
  * visited({ model, operands }) {
    const { table } = this.tables.get(model);
    return table.visited(writeProblem(operands, this.networks[model].spec));
  }

  // Some rows of the context table: all by number or by margin, one number, or those that a problem passes through.
  * rows({ model, order, number, operands, from, count }) {
    const kept = this.tables.get(model), { table, margins } = kept;
    let chosen = null;
    if (number) chosen = number <= table.count ? [number - 1] : [];
    else if (operands) chosen = [...new Set(table.visited(writeProblem(operands, this.networks[model].spec)))].filter((n) => n >= 0);
    const total = chosen ? chosen.length : table.count, rows = [];
    for (let n = from; n < Math.min(total, from + count); n++) {
      const context = chosen ? chosen[n] : order === "margin" ? kept.order[n] : n;
      rows.push({
        number: context + 1, margin: margins[context], depth: table.depth[context], output: table.target[context],
        problem: table.problems[context].map(textOf), columns: table.search.history(context).map((symbol) => table.search.digits[symbol]),
      });
    }
    return { total, rows };
  }

  // The contexts again, with noise on all weights: first those of the smallest margins, then all from the shortest on.
  * noise({ model, level, seed }) {
    const { table, order } = this.tables.get(model), network = this.networks[model];
    const noisy = network.withWeights(perturbed(network, level, seed));
    const suspects = order.subarray(0, SUSPECTS), quick = yield* quietly(table.check(noisy, suspects));
    let wrong = quick.margins.reduce((sum, margin) => sum + (margin > 0 ? 0 : 1), 0), counterexample = null;
    yield { wrong, done: 0, count: table.count, least: Math.min(...quick.margins), sure: wrong > 0 };
    const check = table.check(noisy);
    wrong = 0;
    let least = Infinity, seen = 0;
    for (let step = check.next(); !step.done; step = check.next()) {
      const { done, count, margins, tokens } = step.value;
      for (; seen < done; seen++) {
        if (margins[seen] < least) least = margins[seen];
        if (margins[seen] > 0) continue;
        wrong++;
        if (!counterexample) counterexample = yield* this.#failing(noisy, table, seen, margins[seen], tokens[seen]);
      }
      yield { wrong, done, count, least, counterexample, sure: wrong > 0 };
    }
    return { wrong, done: table.count, count: table.count, least, counterexample, sure: true };
  }

  // The problem of a wrong context, answered whole by the noisy model; null where the answer is right nevertheless.
  * #failing(noisy, table, context, margin, token) {
    const operands = table.problems[context];
    const { written, answer } = yield* quietly(answerProblem(noisy, operands));
    if (grade(written, answer).right) return null;
    return { context: context + 1, operands, answer, target: written.target, columns: written.columns, graded: written.graded, margin, token };
  }
}

// Weights with normal noise of this standard deviation, in parts of each tensor's own.
function perturbed(network, level, seed) {
  const weights = network.weights.slice(), random = randomNumbers(seed);
  for (const [offset, ...shape] of Object.values(network.spec.tensors)) {
    const size = shape.reduce((a, b) => a * b, 1);
    let squares = 0;
    for (let i = offset; i < offset + size; i++) squares += weights[i] * weights[i];
    const deviation = level * Math.sqrt(squares / size);
    for (let i = offset; i < offset + size; i++) {
      weights[i] += deviation * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    }
  }
  return weights;
}

function small(n, task) {
  return Array.from({ length: task.terms }, (_, m) => Uint8Array.of(Math.floor(n / task.base ** m) % task.base));
}

function* progress(check) {
  for (;;) {
    const step = check.next();
    if (step.done) return step.value;
    yield step.value.done / step.value.count;
  }
}

// A job without its reports.
function* quietly(job) {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
    yield null;
  }
}

const SLICE = 24; // milliseconds of work before others have their turn

// Run a job in slices. `report` is given what it yields, at most once a slice; `stopped` ends it.
async function runInSlices(job, report, stopped) {
  let began = performance.now(), latest = null;
  for (;;) {
    const { value, done } = job.next();
    if (done) return value;
    if (value !== null && value !== undefined) latest = value;
    if (performance.now() - began < SLICE) continue;
    if (latest !== null) { report(latest); latest = null; }
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (stopped()) return undefined;
    began = performance.now();
  }
}

// Answers messages {id, name, args}, {id, stop} and {specs}; posts {id, progress}, {id, result} or {id, error}.
export class JobServer {
  constructor(post) { this.post = post; this.jobs = null; this.stopped = new Set(); }

  async receive({ id, name, args, specs, stop }) {
    if (specs) { this.jobs = new Jobs(specs); return; }
    if (stop) { this.stopped.add(id); return; }
    try {
      const result = await runInSlices(this.jobs[name](args), (progress) => this.post({ id, progress }), () => this.stopped.delete(id));
      this.post({ id, result });
    } catch (error) {
      this.post({ id, error: error.message });
    }
  }
}
