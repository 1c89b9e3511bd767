// A stack of blocks: tokens with places in, hidden vectors of the last `read` tokens out. Shapes are rows x tokens x width.
import { attend, KeyValueCache, Watched } from "./attention.js";
import { makeEncoding } from "./encodings.js";
import { gelu, layerNorm, linear } from "./numerics.js";

export const AXES = ["index", "role", "significance", "column"];

// Tokens of some rows with their places; `valid` is null where no token is padding.
export function makeSide(rows, count, valid = null) {
  const at = {};
  for (const axis of AXES) at[axis] = new Int32Array(rows * count).fill(-1);
  return { rows, count, tokens: new Int32Array(rows * count), at, valid };
}

// What a decoder has read so far: places and padding of its tokens, keys and values of every layer.
export class StackCaches {
  constructor(stack, rows, capacity) {
    this.capacity = capacity; this.rows = rows; this.length = 0;
    this.seen = makeSide(rows, capacity);
    this.own = stack.blocks.map(() => new KeyValueCache(rows, capacity, stack.width));
    this.cross = stack.blocks.map(() => null);
  }

  append(side) {
    const { rows, capacity, length } = this;
    if (side.valid && !this.seen.valid) this.seen.valid = new Uint8Array(rows * capacity).fill(1);
    for (let row = 0; row < rows; row++) {
      const from = row * side.count, to = row * capacity + length;
      for (const axis of AXES) this.seen.at[axis].set(side.at[axis].subarray(from, from + side.count), to);
      if (side.valid) this.seen.valid.set(side.valid.subarray(from, from + side.count), to);
    }
    this.length += side.count;
  }
}

export class Stack {
  constructor(spec, tensors) {
    const get = (name) => tensors[`${spec.name}.${name}`];
    const pair = (name) => ({ weight: get(`${name}.weight`), bias: get(`${name}.bias`) });
    this.width = spec.width; this.heads = spec.heads; this.size = spec.width / spec.heads;
    this.causal = spec.causal; this.pre = spec.pre;
    this.embedding = get("embedding.weight");
    this.encodings = spec.encodings.map((each) => makeEncoding(each, tensors));
    this.crossEncodings = spec.cross ? spec.cross.map((each) => makeEncoding(each, tensors)) : null;
    this.blocks = Array.from({ length: spec.layers }, (_, n) => {
      const named = (name) => pair(`blocks.${n}.${name}`);
      const mixing = (name) => ({ query: named(`${name}.query`), keyValue: named(`${name}.key_value`), out: named(`${name}.out`) });
      return {
        attention: mixing("attention"), attentionNorm: named("attention_norm"),
        cross: spec.cross ? mixing("cross") : null, crossNorm: spec.cross ? named("cross_norm") : null,
        expand: named("expand"), contract: named("contract"), feedforwardNorm: named("feedforward_norm"),
      };
    });
    this.norm = spec.pre ? pair("norm") : null;
  }

  // `caches` continue a sequence; `memory` is what cross-attention reads; `bare` leaves out what encodings add to the
  // input; `watched`, an array, is given what every attention did.
  forward(side, { read = side.count, caches = null, memory = null, bare = false, watched = null } = {}) {
    const { width } = this, { rows, count } = side;
    const now = caches ?? new StackCaches(this, rows, count);
    const before = now.length;
    now.append(side);
    let { x, index } = this.#embed(side, bare);
    const last = this.blocks.length - 1;
    this.blocks.forEach((block, layer) => {
      const wanted = layer === last ? read : count;
      const normed = this.pre ? this.#norm(x, block.attentionNorm) : x;
      const cache = now.own[layer], pairs = project(normed, width, block.attention.keyValue, 2 * width);
      this.#rotateKeys(cache, pairs, index, side, this.encodings[layer], watched);
      const queries = lastRows(normed, index, rows, count, wanted, width);
      x = lastRows(x, index, rows, count, wanted, width);
      const self = {
        encoding: this.encodings[layer], k: now.seen.at, kStride: now.capacity, valid: now.seen.valid, causal: this.causal, crossing: false,
      };
      const from = { rows, wanted, q: now.seen.at, qStride: now.capacity, qFirst: before + count - wanted };
      x = this.#mix(x, queries, block.attention, block.attentionNorm, cache, { ...from, ...self }, layer, watched);
      if (block.cross && memory) {
        now.cross[layer] ??= this.#crossCache(block, memory, layer, watched);
        const asking = this.pre ? this.#norm(x, block.crossNorm) : x;
        const other = {
          encoding: this.crossEncodings[layer], k: memory.at, kStride: memory.count, valid: memory.valid, causal: false, crossing: true,
        };
        x = this.#mix(x, asking, block.cross, block.crossNorm, now.cross[layer], { ...from, ...other }, layer, watched);
      }
      x = this.#feedForward(x, block);
      index = identity(rows * wanted);
    });
    if (!this.blocks.length) x = lastRows(x, index, rows, count, read, width);
    return this.norm ? this.#norm(x, this.norm) : x;
  }

  // The distinct inputs, and which one each token has: what depends on a token alone is computed once.
  #embed(side, bare) {
    const { width } = this, encoding = this.encodings[0], total = side.rows * side.count;
    const index = new Int32Array(total), known = new Map(), members = [];
    for (let i = 0; i < total; i++) {
      let key = side.tokens[i];
      for (const axis of encoding.embedAxes) key = key * 2097152 + side.at[axis][i] + 1;
      let number = known.get(key);
      if (number === undefined) { number = members.length; known.set(key, number); members.push(i); }
      index[i] = number;
    }
    const x = new Float32Array(members.length * width), at = {};
    members.forEach((i, n) => x.set(this.embedding.subarray(side.tokens[i] * width, (side.tokens[i] + 1) * width), n * width));
    for (const axis of AXES) at[axis] = Int32Array.from(members, (i) => side.at[axis][i]);
    if (!bare) encoding.embed(x, width, at, members.length);
    return { x, index };
  }

  #rotateKeys(cache, pairs, index, side, encoding, watched) {
    const { rows, capacity, width } = cache, first = cache.length;
    cache.append(pairs, index, side.count, watched);
    if (!encoding.turns) return;
    for (let row = 0; row < rows; row++) {
      const at = {};
      for (const axis of AXES) at[axis] = side.at[axis].subarray(row * side.count, (row + 1) * side.count);
      const from = (row * capacity + first) * width;
      encoding.rotate(cache.keys.subarray(from, from + side.count * width), this.heads, this.size, at, side.count);
    }
  }

  #crossCache(block, memory, layer, watched) {
    const cache = new KeyValueCache(memory.rows, memory.count, this.width);
    const pairs = project(memory.x, this.width, block.cross.keyValue, 2 * this.width);
    const encoding = this.crossEncodings[layer];
    this.#rotateKeys(cache, pairs, identity(memory.rows * memory.count), memory, encoding, watched);
    return cache;
  }

  #mix(x, asking, weights, norm, cache, where, layer, watched) {
    const { width, heads, size } = this, { rows, wanted, encoding } = where;
    const plain = project(asking, width, weights.query, width);
    let queries = plain;
    if (encoding.turns) {
      queries = plain.slice();
      const at = {};
      for (const axis of AXES) {
        at[axis] = new Int32Array(rows * wanted);
        for (let row = 0; row < rows; row++) {
          const from = row * where.qStride + where.qFirst;
          at[axis].set(where.q[axis].subarray(from, from + wanted), row * wanted);
        }
      }
      encoding.rotate(queries, heads, size, at, rows * wanted);
    }
    const seen = watched ? new Watched(layer, where.crossing, heads, wanted, cache.length) : null;
    if (seen) watched.push(seen);
    const mixed = attend({ ...where, heads, size, queries, plain, cache, watched: seen });
    return this.#add(x, project(mixed, width, weights.out, width), norm);
  }

  #feedForward(x, block) {
    const inner = block.expand.bias.length, hidden = this.pre ? this.#norm(x, block.feedforwardNorm) : x;
    const wide = project(hidden, this.width, block.expand, inner);
    gelu(wide, wide.length);
    return this.#add(x, project(wide, inner, block.contract, this.width), block.feedforwardNorm);
  }

  #add(x, update, norm) {
    for (let i = 0; i < x.length; i++) update[i] += x[i];
    return this.pre ? update : this.#norm(update, norm);
  }

  #norm(x, { weight, bias }) {
    return layerNorm(x, x.length / this.width, this.width, weight, bias, new Float32Array(x.length));
  }
}

export function project(x, inner, { weight, bias }, outer) {
  const rows = x.length / inner;
  return linear(x, rows, weight, bias, inner, outer, new Float32Array(rows * outer));
}

function lastRows(x, index, rows, count, wanted, width) {
  const out = new Float32Array(rows * wanted * width);
  for (let row = 0; row < rows; row++) {
    for (let t = 0; t < wanted; t++) {
      const from = index[row * count + count - wanted + t] * width;
      out.set(x.subarray(from, from + width), (row * wanted + t) * width);
    }
  }
  return out;
}

function identity(count) {
  const numbers = new Int32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = i;
  return numbers;
}
