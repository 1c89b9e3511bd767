// Positional encodings. Each method does nothing by default, and attention calls all of them, for one pair at a time:
// q and k hold the places of queries and keys by axis, i and j number a query and a key in them.
import { dot } from "./numerics.js";
import { makeRelation } from "./relations.js";

class Encoding {
  embedAxes = []; // the axes by which `embed` changes the input
  turns = false; // whether `rotate` does something
  embed(x, width, at, count) {}
  rotate(x, heads, size, at, count) {}
  sees(head, q, i, k, j) { return true; }
  bias(head, q, i, k, j) { return 0; }
  score(query, from, size, q, i, k, j) { return 0; }
  addValue(weight, out, from, size, q, i, k, j) {}
  check(q, k) {}
}

class LearnedEncoding extends Encoding {
  constructor(spec, tensors) {
    super();
    this.axis = spec.axis; this.limit = spec.limit; this.table = tensors[spec.table]; this.embedAxes = [spec.axis];
  }

  embed(x, width, at, count) {
    const places = at[this.axis];
    for (let i = 0; i < count; i++) {
      if (places[i] < 0) continue;
      const from = places[i] * width, to = i * width;
      for (let c = 0; c < width; c++) x[to + c] += this.table[from + c];
    }
  }

  check(q, k) {
    let top = -1;
    for (const place of k[this.axis]) if (place > top) top = place;
    if (top >= this.limit) throw new Error(`Learned positions end at ${this.limit - 1}; this problem reaches ${top}.`);
  }
}

class SinusoidalEncoding extends Encoding {
  constructor(spec) { super(); this.spec = spec; this.embedAxes = [spec.axis]; }

  embed(x, width, at, count) {
    const places = at[this.spec.axis], { base, scale } = this.spec;
    for (let c = 0; c < width; c += 2) {
      const rate = base ** (-c / width);
      for (let i = 0; i < count; i++) {
        if (places[i] < 0) continue;
        x[i * width + c] += scale * Math.sin(places[i] * rate);
        if (c + 1 < width) x[i * width + c + 1] += scale * Math.cos(places[i] * rate);
      }
    }
  }
}

class RotaryEncoding extends Encoding {
  turns = true;
  constructor(spec) { super(); this.axis = spec.axis; this.rates = spec.rates; }

  rotate(x, heads, size, at, count) {
    const places = at[this.axis], half = this.rates.length;
    for (let i = 0; i < count; i++) {
      const place = Math.max(0, places[i]);
      for (let c = 0; c < half; c++) {
        const cos = Math.fround(Math.cos(place * this.rates[c])), sin = Math.fround(Math.sin(place * this.rates[c]));
        for (let h = 0; h < heads; h++) {
          const first = (i * heads + h) * size + c, second = first + half, a = x[first], b = x[second];
          x[first] = a * cos - b * sin;
          x[second] = b * cos + a * sin;
        }
      }
    }
  }
}

class AlibiEncoding extends Encoding {
  constructor(spec) { super(); this.axis = spec.axis; this.slopes = spec.slopes; }

  bias(head, q, i, k, j) {
    const a = q[this.axis][i], b = k[this.axis][j];
    return a < 0 || b < 0 ? 0 : -this.slopes[head] * Math.abs(a - b);
  }
}

class PairwiseEncoding extends Encoding {
  constructor(spec, tensors) {
    super();
    this.relation = makeRelation(spec.relation);
    this.first = spec.unrelated ? 0 : 1; // the class of the table's first row
    this.table = tensors[spec.table];
    this.values = spec.values === null ? null : tensors[spec.values];
  }

  score(query, from, size, q, i, k, j) {
    const row = this.relation.classOf(q, i, k, j) - this.first;
    return row < 0 ? 0 : dot(query, from, this.table, row * size, size);
  }

  addValue(weight, out, from, size, q, i, k, j) {
    if (this.values === null) return;
    const row = this.relation.classOf(q, i, k, j) - this.first;
    if (row < 0) return;
    for (let c = 0; c < size; c++) out[from + c] += weight * this.values[row * size + c];
  }

  check(q, k) { this.relation.check(q, k); }
}

const ANSWER_ROLE = 2;

class WindowEncoding extends Encoding {
  constructor(spec) { super(); this.spec = spec; }

  sees(head, q, i, k, j) {
    const { axis, behind, ahead, answers, hub } = this.spec;
    if (hub !== null && k.role[j] === hub) return true;
    if (hub !== null && q.role[i] === hub) return false;
    const a = q[axis][i], b = k[axis][j], back = a - b;
    if (a < 0 || b < 0 || back > behind || back < -ahead) return false;
    return answers === null || back <= answers || k.role[j] !== ANSWER_ROLE;
  }
}

// Of the distance n from a window, with a slope.
const DECAY_BIASES = {
  alibi: (n, slope) => -slope * n,
  "type-1": (n, slope) => -Math.log1p((slope * n) ** 2),
  "type-2": (n, slope) => -(Math.log(3 + slope * n) ** 2),
};

class SoftWindowEncoding extends Encoding {
  constructor(spec) { super(); this.spec = spec; this.logB = DECAY_BIASES[spec.decay]; }

  sees(head, q, i, k, j) {
    const { axis, unrelated } = this.spec;
    return unrelated || (q[axis][i] >= 0 && k[axis][j] >= 0);
  }

  bias(head, q, i, k, j) {
    const { axis, behind, ahead, answers, slopes } = this.spec, a = q[axis][i], b = k[axis][j], back = a - b;
    if (a < 0 || b < 0) return 0;
    const allowed = answers !== null && k.role[j] === ANSWER_ROLE ? Math.min(answers, behind) : behind;
    const outside = Math.max(back - allowed, -back - ahead, 0);
    return this.logB(outside, slopes[head]) - this.logB(0, slopes[head]);
  }
}

class CalibratedEncoding extends Encoding {
  constructor(spec) {
    super();
    this.spec = spec;
    this.byHead = Array.from({ length: spec.heads }, (_, head) => spec.lines.filter((line) => line.head === head + 1));
  }

  // The highest value of the lines that a pair lies on; -Infinity on none, 0 in a head without lines.
  value(head, q, i, k, j) {
    const lines = this.byHead[head];
    if (!lines.length) return 0;
    let best = -Infinity;
    for (const line of lines) if (line.value > best && this.#on(line, q, i, k, j)) best = line.value;
    return best;
  }

  #on(line, q, i, k, j) {
    if (!isMember(line.keys, k, j)) return false;
    if (line.digit !== null && k.significance[j] !== line.digit) return false;
    if (line.axis === null) return true;
    const a = q[line.axis][i], b = k[line.axis][j];
    if (a < 0 || b < 0) return false;
    if (line.step === null) return a - b === line.offset;
    const step = line.step[1], from = step < 0 && this.spec.crossing ? lastOf(k.index) : 0;
    const along = step * a - (b - from);
    return (step > 0 ? along : -along) === line.offset;
  }

  sees(head, q, i, k, j) {
    if (this.spec.itself && !isMember("answer", q, i)) return false;
    return this.spec.lines.length === 0 || this.value(head, q, i, k, j) > -Infinity;
  }

  bias(head, q, i, k, j) {
    if (this.spec.lines.length === 0) return 0;
    const value = this.value(head, q, i, k, j);
    return value === -Infinity ? this.spec.unseen : value;
  }
}

function lastOf(places) {
  let top = -1;
  for (const place of places) if (place > top) top = place;
  return top;
}

const OPERATOR_ROLE = 1, OPERAND_ROLE = 3;

function isMember(keys, at, j) {
  const role = at.role[j], placed = at.column[j] >= 0;
  switch (keys) {
    case "all": return role >= 0;
    case "text": return role === 0;
    case "operator": return role === OPERATOR_ROLE && !placed;
    case "start": return role === OPERATOR_ROLE && placed;
    case "answer": return role === ANSWER_ROLE || (role === OPERATOR_ROLE && placed);
    default: return role === OPERAND_ROLE + Number(keys.slice("operand ".length)) - 1;
  }
}

class ComposedEncoding extends Encoding {
  constructor(spec, tensors) {
    super();
    this.parts = spec.parts.map((part) => makeEncoding(part, tensors));
    this.embedAxes = this.parts.flatMap((part) => part.embedAxes);
    this.turns = this.parts.some((part) => part.turns);
  }

  embed(x, width, at, count) { for (const part of this.parts) part.embed(x, width, at, count); }
  rotate(x, heads, size, at, count) { for (const part of this.parts) part.rotate(x, heads, size, at, count); }
  sees(head, q, i, k, j) {
    for (const part of this.parts) if (!part.sees(head, q, i, k, j)) return false;
    return true;
  }
  bias(head, q, i, k, j) {
    let sum = 0;
    for (const part of this.parts) sum += part.bias(head, q, i, k, j);
    return sum;
  }
  score(query, from, size, q, i, k, j) {
    let sum = 0;
    for (const part of this.parts) sum += part.score(query, from, size, q, i, k, j);
    return sum;
  }
  addValue(weight, out, from, size, q, i, k, j) {
    for (const part of this.parts) part.addValue(weight, out, from, size, q, i, k, j);
  }
  check(q, k) { for (const part of this.parts) part.check(q, k); }
}

const ENCODINGS = {
  none: Encoding, learned: LearnedEncoding, sinusoidal: SinusoidalEncoding, rotary: RotaryEncoding, alibi: AlibiEncoding,
  pairwise: PairwiseEncoding, window: WindowEncoding, "soft-window": SoftWindowEncoding, calibrated: CalibratedEncoding, compose: ComposedEncoding,
};

export function makeEncoding(spec, tensors) { return new ENCODINGS[spec.name](spec, tensors); }
