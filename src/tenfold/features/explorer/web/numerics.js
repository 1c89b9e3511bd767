// Numbers in typed arrays: the operations that a transformer is made of. Matrices are row-major, weights as PyTorch has them.

export function decodeFloats(text) {
  const bytes = atob(text);
  const raw = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) raw[i] = bytes.charCodeAt(i);
  return new Float32Array(raw.buffer);
}

// out = x W^T + b for `rows` rows of x. Two rows and four columns at a time, so that a loaded number is used several times.
export function linear(x, rows, weight, bias, inner, outer, out) {
  let row = 0;
  for (; row + 1 < rows; row += 2) {
    const x0 = row * inner, x1 = x0 + inner, y0 = row * outer, y1 = y0 + outer;
    let col = 0;
    for (; col + 3 < outer; col += 4) {
      const w0 = col * inner, w1 = w0 + inner, w2 = w1 + inner, w3 = w2 + inner;
      let a0 = 0, a1 = 0, a2 = 0, a3 = 0, b0 = 0, b1 = 0, b2 = 0, b3 = 0;
      for (let k = 0; k < inner; k++) {
        const p = x[x0 + k], q = x[x1 + k];
        const u0 = weight[w0 + k], u1 = weight[w1 + k], u2 = weight[w2 + k], u3 = weight[w3 + k];
        a0 += p * u0; a1 += p * u1; a2 += p * u2; a3 += p * u3;
        b0 += q * u0; b1 += q * u1; b2 += q * u2; b3 += q * u3;
      }
      const c0 = bias[col], c1 = bias[col + 1], c2 = bias[col + 2], c3 = bias[col + 3];
      out[y0 + col] = a0 + c0; out[y0 + col + 1] = a1 + c1; out[y0 + col + 2] = a2 + c2; out[y0 + col + 3] = a3 + c3;
      out[y1 + col] = b0 + c0; out[y1 + col + 1] = b1 + c1; out[y1 + col + 2] = b2 + c2; out[y1 + col + 3] = b3 + c3;
    }
    for (; col < outer; col++) {
      out[y0 + col] = bias[col] + dot(x, x0, weight, col * inner, inner);
      out[y1 + col] = bias[col] + dot(x, x1, weight, col * inner, inner);
    }
  }
  for (; row < rows; row++) {
    const x0 = row * inner, y0 = row * outer;
    let col = 0;
    for (; col + 3 < outer; col += 4) {
      const w0 = col * inner, w1 = w0 + inner, w2 = w1 + inner, w3 = w2 + inner;
      let a0 = 0, a1 = 0, a2 = 0, a3 = 0;
      for (let k = 0; k < inner; k++) {
        const p = x[x0 + k];
        a0 += p * weight[w0 + k]; a1 += p * weight[w1 + k]; a2 += p * weight[w2 + k]; a3 += p * weight[w3 + k];
      }
      out[y0 + col] = a0 + bias[col]; out[y0 + col + 1] = a1 + bias[col + 1];
      out[y0 + col + 2] = a2 + bias[col + 2]; out[y0 + col + 3] = a3 + bias[col + 3];
    }
    for (; col < outer; col++) out[y0 + col] = bias[col] + dot(x, x0, weight, col * inner, inner);
  }
  return out;
}

export function dot(a, from, b, other, count) {
  let sum = 0;
  for (let k = 0; k < count; k++) sum += a[from + k] * b[other + k];
  return sum;
}

export function layerNorm(x, rows, width, scale, shift, out) {
  for (let row = 0; row < rows; row++) {
    const at = row * width;
    let mean = 0;
    for (let k = 0; k < width; k++) mean += x[at + k];
    mean /= width;
    let spread = 0;
    for (let k = 0; k < width; k++) { const d = x[at + k] - mean; spread += d * d; }
    const factor = 1 / Math.sqrt(spread / width + 1e-5);
    for (let k = 0; k < width; k++) out[at + k] = (x[at + k] - mean) * factor * scale[k] + shift[k];
  }
  return out;
}

// x Phi(x), with the error function of Abramowitz and Stegun 7.1.26, which is off by at most 1.5e-7.
export function gelu(x, count) {
  for (let i = 0; i < count; i++) {
    const v = x[i], z = Math.abs(v) * Math.SQRT1_2, t = 1 / (1 + 0.3275911 * z);
    const tail = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t * Math.exp(-z * z);
    x[i] = v >= 0 ? v * (1 - 0.5 * tail) : v * 0.5 * tail;
  }
  return x;
}

// Softmax of the first `count` numbers, in place. -Infinity has no weight; a row of nothing else stays without any.
export function softmax(x, count) {
  let top = -Infinity;
  for (let i = 0; i < count; i++) if (x[i] > top) top = x[i];
  if (top === -Infinity) { x.fill(0, 0, count); return x; }
  let sum = 0;
  for (let i = 0; i < count; i++) { x[i] = Math.exp(x[i] - top); sum += x[i]; }
  for (let i = 0; i < count; i++) x[i] /= sum;
  return x;
}

export function largest(x, from, count) {
  let best = 0;
  for (let i = 1; i < count; i++) if (x[from + i] > x[from + best]) best = i;
  return best;
}

// The logit of `right` minus the largest other one.
export function marginOf(x, from, count, right) {
  let other = -Infinity;
  for (let i = 0; i < count; i++) if (i !== right && x[from + i] > other) other = x[from + i];
  return x[from + right] - other;
}

// The 95% interval of Wilson for `right` of `n`.
export function wilson(right, n) {
  if (!n) return [0, 1];
  const z = 1.959963984540054, p = right / n, scale = 1 + (z * z) / n;
  const middle = (p + (z * z) / (2 * n)) / scale;
  const half = (z / scale) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return [right === 0 ? 0 : Math.max(0, middle - half), right === n ? 1 : Math.min(1, middle + half)];
}

// A small generator of random numbers (mulberry32), so that what is drawn can be drawn again.
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
