// A model as a run exported it: its stacks, its head, and its logits for a written problem.
import { decodeFloats } from "./numerics.js";
import { project, Stack, StackCaches } from "./stack.js";

export class Network {
  constructor(spec, weights = decodeFloats(spec.weights)) {
    this.spec = spec;
    this.tensors = {};
    for (const [name, [offset, ...shape]] of Object.entries(spec.tensors)) {
      this.tensors[name] = weights.subarray(offset, offset + shape.reduce((a, b) => a * b, 1));
    }
    this.weights = weights;
    this.stack = new Stack(spec.stack, this.tensors);
    this.encoder = spec.encoder ? new Stack(spec.encoder, this.tensors) : null;
    this.head = { weight: this.tensors["head.weight"], bias: this.tensors["head.bias"] };
    this.vocabulary = spec.vocabulary.symbols.length;
    this.local = spec.local.columns === null ? null : spec.local;
  }

  // The same model with these weights instead of its own.
  withWeights(weights) { return new Network(this.spec, weights); }

  // Throws one clear sentence where a problem is beyond what an encoding can represent.
  check({ sequence, source }) {
    this.stack.encodings[0].check(sequence.at, sequence.at);
    if (!source) return;
    this.encoder.encodings[0].check(source.at, source.at);
    this.stack.crossEncodings?.[0].check(sequence.at, source.at);
  }

  encode(source, options = {}) {
    if (!source) return null;
    return { ...source, x: this.encoder.forward(source, options) };
  }

  // Logits of the last `read` tokens of a sequence: rows x read x vocabulary.
  logits(sequence, source, read, options = {}) {
    const { bare = false } = options;
    const memory = options.memory ?? this.encode(source, { bare });
    const hidden = this.stack.forward(sequence, { ...options, read, memory });
    return project(hidden, this.stack.width, this.head, this.vocabulary);
  }

  newCaches(capacity) { return new StackCaches(this.stack, 1, capacity); }
}
