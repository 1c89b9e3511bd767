// Every local context that a task can produce for a model, found by breadth-first search over the task's finite machine.
// The counterpart of tenfold's features/proofs/contexts.py: the same contexts in the same order.
import { contextLogits, Neighbours } from "./decoding.js";
import { largest, marginOf } from "./numerics.js";
import { END, REFUSED, truthOf } from "./problems.js";
import { writeProblem } from "./writing.js";

const MOST_CONTEXTS = 200000, BATCH_OF_CONTEXTS = 512;

// Why a model's contexts cannot be listed here; null where they can.
export function whyNotListed({ local, format, kind }) {
  if (local.columns === null) return `There is no proof for this model: ${local.reason}.`;
  if (kind === "encoder" || format.ends !== "each") {
    return "There is no proof for this model here: the page lists contexts where numbers are written without padding and the answer begins with its units.";
  }
  return null;
}

export class ContextSearch {
  constructor(model) {
    const { task, local } = model;
    this.task = task;
    this.symbols = (task.base + 1) ** task.terms;
    this.columns = local.columns;
    this.near = 1 + local.start;
    this.farthest = Math.max(local.columns + 1, this.near, 2);
    this.kept = Math.max(local.columns, 1);
    this.answers = local.answers;
    this.digits = Array.from({ length: this.symbols }, (_, symbol) => this.#digits(symbol));
    // The tree of nodes, situations between two columns, and the contexts: a node and the column that follows it.
    this.parent = []; this.symbol = []; this.written = []; this.state = [];
    this.node = []; this.column = []; this.output = [];
    this.moves = []; // [node, symbol, context key, next node or END]
    this.contextOf = new Map(); // context key -> number
  }

  #digits(symbol) {
    const digits = [];
    for (let m = 0; m < this.task.terms; m++, symbol = Math.floor(symbol / (this.task.base + 1))) {
      digits.unshift(symbol % (this.task.base + 1));
    }
    return digits;
  }

  // Whether a column may follow another: every operand begins with a digit, stays ended, and does not end in a leading zero.
  #mayFollow(far, last, next) {
    const { base } = this.task, after = this.digits[next];
    if (far === 0) return after.every((digit) => digit !== base);
    return this.digits[last].every((digit, m) => {
      if (digit === base) return after[m] === base;
      return after[m] !== base || digit !== 0 || far === 1;
    });
  }

  #key(far, columns, answers) {
    let key = far;
    for (const column of columns) key = key * (this.symbols + 1) + column;
    for (const answer of answers) key = key * (this.task.tokens + 1) + answer;
    if (key > Number.MAX_SAFE_INTEGER) throw new Error("This model sees too many columns for the page to number its contexts.");
    return key;
  }

  * run() {
    const { task, symbols } = this, nodes = new Map();
    let frontier = [{
      number: 0, far: 0, columns: new Array(this.kept).fill(symbols), answers: new Array(this.answers).fill(task.tokens), state: task.start,
    }];
    const add = (node, parent, symbol, written) => {
      node.number = this.parent.length;
      this.parent.push(parent); this.symbol.push(symbol); this.written.push(written); this.state.push(node.state);
      nodes.set(this.#key(node.far, node.columns, node.answers) * task.states + node.state, node.number);
    };
    add(frontier[0], -1, -1, -1);
    while (frontier.length) {
      const fresh = new Map(), next = [];
      for (const node of frontier) {
        for (let column = 0; column < symbols; column++) {
          const output = task.output[node.state * symbols + column];
          if (output === REFUSED || !this.#mayFollow(node.far, node.columns[this.kept - 1], column)) continue;
          const seen = node.columns.slice(this.kept - this.columns);
          const key = this.#key(Math.min(node.far, this.near), [...seen, column], node.answers);
          if (!this.contextOf.has(key) && !fresh.has(key)) fresh.set(key, [node.number, column, output]);
          const move = [node.number, column, key, END];
          this.moves.push(move);
          if (output === END) continue;
          const after = {
            far: Math.min(node.far + 1, this.farthest),
            columns: [...node.columns.slice(1), column],
            answers: [...node.answers, output].slice(1),
            state: task.next[node.state * symbols + column],
          };
          const name = this.#key(after.far, after.columns, after.answers) * task.states + after.state;
          if (!nodes.has(name)) { add(after, node.number, column, output); next.push(after); }
          move[3] = nodes.get(name);
        }
        if (this.contextOf.size + fresh.size > MOST_CONTEXTS) throw new Error(`This model has more than ${MOST_CONTEXTS} contexts, too many for a page.`);
        yield null;
      }
      for (const key of [...fresh.keys()].sort((a, b) => a - b)) {
        const [node, column, output] = fresh.get(key);
        this.contextOf.set(key, this.node.length);
        this.node.push(node); this.column.push(column); this.output.push(output);
      }
      frontier = next;
    }
    return this;
  }

  // The columns, units first, that end with a context.
  history(context) {
    const columns = [this.column[context]];
    for (let node = this.node[context]; this.parent[node] >= 0; node = this.parent[node]) columns.unshift(this.symbol[node]);
    return columns;
  }

  // The shortest problem with this context. Numbers that have not ended are continued by as few ones as make a problem.
  problem(context) {
    const { base, terms } = this.task, columns = this.history(context).map((symbol) => this.digits[symbol]);
    const ways = terms === 1 ? [[0], [1], [2]] : [[0, 0], [0, 1], [1, 0], [0, 2], [1, 1], [2, 0], [1, 2], [2, 1], [2, 2]];
    for (const further of ways) {
      const operands = Array.from({ length: terms }, (_, m) => {
        const digits = columns.map((each) => each[m]).filter((digit) => digit !== base);
        const going = columns[columns.length - 1][m] !== base;
        return Uint8Array.from([...digits, ...new Array(going ? further[m] : 0).fill(1)]);
      });
      const fine = operands.every((digits) => digits.length === 1 || digits[digits.length - 1] > 0);
      if (fine && !truthOf(operands, this.task).refused) return operands;
    }
    throw new Error("A context belongs to no problem of the task.");
  }
}

// All contexts of a model as batches of tokens. They do not depend on the weights, so any weights can be checked on them.
export class ContextTable {
  constructor(network) { this.network = network; this.byView = new Map(); this.problems = []; }

  * build() {
    const model = this.network.spec;
    this.search = yield* new ContextSearch(model).run();
    const { search } = this, end = model.vocabulary.end;
    this.count = search.node.length;
    this.target = Int32Array.from(search.output, (output) => (output === END ? end : output));
    this.depth = new Uint16Array(this.count);
    this.rows = [];
    for (let context = 0; context < this.count; context++) {
      const place = search.history(context).length - 1, operands = search.problem(context);
      const near = new Neighbours(this.network, writeProblem(operands, model));
      this.depth[context] = place + 1;
      this.problems.push(operands);
      this.rows.push([near, place]);
      this.byView.set(near.key(place), context);
      if (context % 1024 === 0) yield context / this.count;
    }
    return this;
  }

  // Margins of the right token, and the tokens that these weights write, for some contexts or for all.
  * check(network, contexts = null) {
    const count = contexts ? contexts.length : this.count, words = network.vocabulary;
    const margins = new Float32Array(count), tokens = new Int32Array(count);
    for (let from = 0; from < count; from += BATCH_OF_CONTEXTS) {
      const to = Math.min(count, from + BATCH_OF_CONTEXTS), rows = [];
      for (let n = from; n < to; n++) rows.push(this.rows[contexts ? contexts[n] : n]);
      const logits = contextLogits(network, rows);
      for (let n = from; n < to; n++) {
        margins[n] = marginOf(logits, (n - from) * words, words, this.target[contexts ? contexts[n] : n]);
        tokens[n] = largest(logits, (n - from) * words, words);
      }
      yield { done: to, count, margins, tokens };
    }
    return { margins, tokens };
  }

  // The context at every answer place of a problem, -1 where there is none.
  visited(written) {
    const near = new Neighbours(this.network, written);
    return Int32Array.from({ length: written.graded }, (_, place) => this.byView.get(near.key(place)) ?? -1);
  }
}
