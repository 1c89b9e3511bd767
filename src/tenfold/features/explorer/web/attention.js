// Softmax attention of some queries over stored keys and values, for every row and head.
import { dot, softmax } from "./numerics.js";

// Keys and values of one attention, and while it is watched the keys before rotation. Room for `capacity` tokens a row.
export class KeyValueCache {
  constructor(rows, capacity, width) {
    this.rows = rows; this.capacity = capacity; this.width = width; this.length = 0;
    this.keys = new Float32Array(rows * capacity * width);
    this.values = new Float32Array(rows * capacity * width);
    this.plain = null;
  }

  // Append `count` tokens to each row: `pairs` has a key and a value side by side, `index` says which pair a token has.
  append(pairs, index, count, watched) {
    const { rows, capacity, width, length } = this;
    for (let row = 0; row < rows; row++) {
      for (let t = 0; t < count; t++) {
        const from = index[row * count + t] * 2 * width, to = (row * capacity + length + t) * width;
        for (let c = 0; c < width; c++) {
          this.keys[to + c] = pairs[from + c];
          this.values[to + c] = pairs[from + width + c];
        }
      }
    }
    this.length += count;
    if (watched) this.plain = this.keys.slice();
  }
}

// What one attention did, for one row: the weights, all of the logits, and the part of the logits that is content.
export class Watched {
  constructor(layer, across, heads, queries, keys) {
    Object.assign(this, { layer, across, heads, queries, keys });
    this.weights = new Float32Array(heads * queries * keys);
    this.total = new Float32Array(heads * queries * keys).fill(-Infinity);
    this.content = new Float32Array(heads * queries * keys);
  }
}

// Queries (rows x wanted x width) -> mixed values of the same shape. `q` and `k` are places; a query's number is
// row * qStride + qFirst + t, a key's row * kStride + s. In self-attention a token sees itself whatever else it sees.
export function attend({
  rows, wanted, heads, size, queries, plain, cache, encoding, q, qStride, qFirst, k, kStride, valid, causal, crossing, watched,
}) {
  const width = heads * size, keys = cache.length, scale = 1 / Math.sqrt(size);
  const out = new Float32Array(rows * wanted * width), logits = new Float64Array(keys);
  for (let row = 0; row < rows; row++) {
    const base = row * cache.capacity * width;
    for (let t = 0; t < wanted; t++) {
      const place = qFirst + t, i = row * qStride + place, stop = causal ? place + 1 : keys;
      for (let h = 0; h < heads; h++) {
        const from = (row * wanted + t) * width + h * size;
        for (let s = 0; s < stop; s++) {
          const j = row * kStride + s, itself = !crossing && s === place;
          if (!itself && ((valid && !valid[j]) || !encoding.sees(h, q, i, k, j))) { logits[s] = -Infinity; continue; }
          const at = base + s * width + h * size;
          const met = dot(queries, from, cache.keys, at, size) + encoding.score(plain, from, size, q, i, k, j);
          logits[s] = met * scale + encoding.bias(h, q, i, k, j);
        }
        if (watched && row === 0) watch(watched, h, t, stop, logits, plain, from, cache, base + h * size, size);
        softmax(logits, stop);
        if (watched && row === 0) watched.weights.set(logits.subarray(0, stop), (h * wanted + t) * keys);
        for (let s = 0; s < stop; s++) {
          const weight = logits[s];
          if (weight === 0) continue;
          const at = base + s * width + h * size;
          for (let c = 0; c < size; c++) out[from + c] += weight * cache.values[at + c];
          encoding.addValue(weight, out, from, size, q, i, k, row * kStride + s);
        }
      }
    }
  }
  return out;
}

function watch(watched, h, t, stop, logits, plain, from, cache, base, size) {
  const at = (h * watched.queries + t) * watched.keys, scale = 1 / Math.sqrt(size);
  for (let s = 0; s < stop; s++) {
    watched.total[at + s] = logits[s];
    watched.content[at + s] = dot(plain, from, cache.plain, base + s * cache.width, size) * scale;
  }
}
