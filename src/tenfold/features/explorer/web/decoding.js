// The model's own answer. Generators yield now and then, so that a page or a worker can do other things in between.
import { largest } from "./numerics.js";
import { AXES, makeSide } from "./stack.js";
import { withoutAnswer, writeProblem } from "./writing.js";

const CHUNK = 512; // contexts computed at a time
const OFTEN = 4096; // looked-up digits between two yields
export const MOST_WHOLE = 2000; // digits that a model may read that looks at the whole input

// {written, answer}: the tokens at the answer's places, in the order of `written.target`.
export function* answerProblem(network, operands, { stopWhenWrong = false } = {}) {
  const longest = Math.max(...operands.map((digits) => digits.length));
  if (!network.local && longest > MOST_WHOLE) {
    throw new Error(
      `refused: this model looks at the whole input for every digit, so ${longest.toLocaleString("en")} digits would take too long here; `
      + `up to ${MOST_WHOLE.toLocaleString("en")} are answered.`,
    );
  }
  const model = network.spec, truth = writeProblem(operands, model);
  network.check(truth);
  const written = withoutAnswer(truth, model);
  if (model.kind === "encoder") return { written: truth, answer: inOnePass(network, written) };
  const answer = network.local ? yield* bySweeps(network, written) : yield* inOrder(network, written, stopWhenWrong);
  return { written: truth, answer: closed(answer, model.vocabulary.end) };
}

// The result of a job that is run at once.
export function finished(job) {
  for (;;) {
    const step = job.next();
    if (step.done) return step.value;
  }
}

function inOnePass(network, { sequence, source, target }) {
  const logits = network.logits(sequence, source, target.length), answer = new Int32Array(target.length);
  for (let a = 0; a < answer.length; a++) answer[a] = largest(logits, a * network.vocabulary, network.vocabulary);
  return answer;
}

function part(side, from, to) {
  const piece = makeSide(1, to - from);
  piece.tokens.set(side.tokens.subarray(from, to));
  for (const axis of AXES) piece.at[axis].set(side.at[axis].subarray(from, to));
  return piece;
}

// Token by token, with a cache of keys and values.
function* inOrder(network, { sequence, source, given, target }, stopWhenWrong) {
  const { end, pad } = network.spec.vocabulary, answer = new Int32Array(target.length).fill(end);
  const memory = network.encode(source), caches = network.newCaches(sequence.count);
  let from = 0, to = given;
  for (let place = 0; place < target.length; place++) {
    const logits = network.logits(part(sequence, from, to), null, 1, { memory, caches });
    answer[place] = largest(logits, 0, network.vocabulary);
    if (answer[place] === end || (stopWhenWrong && target[place] !== pad && answer[place] !== target[place])) break;
    if (to < sequence.count) sequence.tokens[to] = answer[place];
    from = to;
    to = from + 1;
    yield place / target.length;
  }
  return answer;
}

// For a local model: predict every digit from the few tokens in its sight, then again those that saw a change, until nothing
// changes. That is the answer of decoding token by token, in time that grows with the length.
function* bySweeps(network, written) {
  const near = new Neighbours(network, written), places = written.target.length, reach = network.local.answers;
  const answer = new Int32Array(places).fill(-1), tokens = written.sequence.tokens;
  let digits = Int32Array.from({ length: places }, (_, place) => place), looked = 0;
  while (digits.length) {
    for (let from = 0; from < digits.length; from += OFTEN) {
      yield* near.learn(digits.subarray(from, from + OFTEN));
      looked += OFTEN;
      if (digits.length === places) yield from / places;
    }
    const next = new Set();
    for (const place of digits) {
      const token = near.known.get(near.key(place));
      if (token === answer[place]) continue;
      answer[place] = token;
      near.changed.push(place);
      for (let later = place + 1; later <= Math.min(places - 1, place + reach); later++) next.add(later);
    }
    for (const place of near.changed) if (written.given + place < tokens.length) tokens[written.given + place] = answer[place];
    near.changed.length = 0;
    digits = Int32Array.from(next).sort();
    if (looked > OFTEN * 16) { looked = 0; yield null; }
    looked += 64;
  }
  return answer;
}

// The tokens that each answer place depends on, in the order of the text, and what the model writes there.
export class Neighbours {
  constructor(network, written, known = new Map()) {
    this.network = network; this.written = written; this.known = known; this.changed = [];
    const { columns, answers, start } = network.local;
    this.sequence = new ColumnIndex(written.sequence, start, Math.min(start, answers - 1));
    this.source = written.source ? new ColumnIndex(written.source, columns, 0) : null;
  }

  // A text for what a place sees: the tokens with their roles and columns, counted from the place's own.
  key(place) {
    const column = this.written.columns[place];
    return this.sequence.key(column) + (this.source ? `|${this.source.key(column)}` : "");
  }

  // Compute the contexts of these places that are not known yet.
  * learn(places) {
    const fresh = new Map();
    for (const place of places) {
      const key = this.key(place);
      if (!this.known.has(key) && !fresh.has(key)) fresh.set(key, place);
    }
    const keys = [...fresh.keys()];
    for (let from = 0; from < keys.length; from += CHUNK) {
      const some = keys.slice(from, from + CHUNK);
      const logits = contextLogits(this.network, some.map((key) => [this, fresh.get(key)]));
      some.forEach((key, n) => this.known.set(key, largest(logits, n * this.network.vocabulary, this.network.vocabulary)));
      yield null;
    }
  }

  sides(place) {
    const column = this.written.columns[place];
    return [this.sequence.slots(column), this.source ? this.source.slots(column) : null];
  }
}

class ColumnIndex {
  constructor(side, behind, answersBehind) {
    Object.assign(this, { side, behind, answersBehind });
    this.byColumn = [];
    for (let i = 0; i < side.count; i++) {
      const column = side.at.column[i];
      if (column >= 0) (this.byColumn[column] ??= []).push(i);
    }
  }

  slots(column) {
    const found = [];
    for (let at = Math.max(0, column - this.behind); at <= column; at++) {
      for (const i of this.byColumn[at] ?? []) {
        if (this.side.at.role[i] !== 2 || column - at <= this.answersBehind) found.push(i);
      }
    }
    return found.sort((a, b) => a - b);
  }

  key(column) {
    let key = "";
    for (let at = Math.max(0, column - this.behind); at <= column; at++) {
      for (const i of this.byColumn[at] ?? []) {
        const role = this.side.at.role[i];
        if (role === 2 && column - at > this.answersBehind) continue;
        key += String.fromCharCode(256 + this.side.tokens[i] * 8 + role);
      }
      key += "/";
    }
    return key;
  }
}

// Logits of the last token of each context, given as [neighbours, place]: contexts x vocabulary.
export function contextLogits(network, contexts) {
  const slots = contexts.map(([near, place]) => near.sides(place));
  const sequence = gather(contexts.map(([near]) => near.written.sequence), slots.map(([own]) => own));
  const crossing = contexts[0][0].source !== null;
  const source = crossing ? gather(contexts.map(([near]) => near.written.source), slots.map(([, other]) => other)) : null;
  return network.logits(sequence, source, 1);
}

function gather(sides, slots) {
  const rows = slots.length, count = Math.max(1, ...slots.map((each) => each.length));
  const side = makeSide(rows, count, new Uint8Array(rows * count));
  slots.forEach((each, row) => {
    const first = row * count + count - each.length;
    each.forEach((i, n) => {
      side.tokens[first + n] = sides[row].tokens[i];
      for (const axis of AXES) side.at[axis][first + n] = sides[row].at[axis][i];
      side.valid[first + n] = 1;
    });
  });
  return side;
}

// Nothing but the end token after the end.
function closed(answer, end) {
  let ended = false;
  for (let place = 0; place < answer.length; place++) {
    if (ended) answer[place] = end;
    ended ||= answer[place] === end;
  }
  return answer;
}

// How an answer compares with the truth: for each place whether it is right; places after the end do not count.
export function grade({ target, graded }, answer) {
  let wrong = 0, first = -1;
  for (let place = 0; place < graded; place++) {
    if (answer[place] === target[place]) continue;
    wrong++;
    if (first < 0) first = place;
  }
  return { right: wrong === 0, wrong, first, graded };
}
