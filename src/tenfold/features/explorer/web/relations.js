// Relations: which pairs of tokens share a vector. A relation numbers the pair of query i and key j; 0 is "unrelated".

class RelativeRelation {
  constructor(spec) { this.spec = spec; }

  classOf(q, i, k, j) {
    const { axis, reach } = this.spec, a = q[axis][i], b = k[axis][j];
    if (a < 0 || b < 0) return 0;
    return Math.max(-reach, Math.min(reach, a - b)) + reach + 1;
  }

  check(q, k) {
    const { axis, reach, clip } = this.spec;
    if (clip) return;
    const [qLow, qHigh] = bounds(q[axis]), [kLow, kHigh] = bounds(k[axis]);
    const far = Math.max(qHigh - kLow, kHigh - qLow);
    if (far > reach) throw new Error(`Relative positions reach ${reach}; this problem spans ${far}.`);
  }
}

class UniformRelation extends RelativeRelation {
  classOf(q, i, k, j) {
    const { axis, digits, role, first } = this.spec;
    const itself = q.index[i] >= 0 && q.index[i] === k.index[j] && q.role[i] === role;
    const digit = Math.min(k.significance[j], digits - 1);
    if (k.role[j] === role && digit >= 0 && q[axis][i] >= 0 && !itself) return first + digit;
    return super.classOf(q, i, k, j);
  }
}

class JointRelation extends RelativeRelation {
  classOf(q, i, k, j) {
    const { roles, differences, hub, digits, first } = this.spec, a = q.role[i], b = k.role[j];
    if (a < 0 || b < 0) return 0;
    if (hub !== null && b === hub) {
      return first + a * digits + Math.max(0, Math.min(k.significance[j], digits - 1));
    }
    return 1 + (a * roles + b) * differences + super.classOf(q, i, k, j);
  }
}

function bounds(places) {
  let low = Infinity, high = -Infinity;
  for (const place of places) {
    if (place > high) high = place;
    if (place >= 0 && place < low) low = place;
  }
  return [low, high];
}

const RELATIONS = {
  relative: RelativeRelation, significance: RelativeRelation, uniform: UniformRelation, joint: JointRelation,
};

export function makeRelation(spec) { return new RELATIONS[spec.name](spec); }
