"""Check a certificate of a model without a window, without tenfold: numpy, and `independent_checker.py` beside this file.

    python soft_checker.py FOLDER      # with weights.safetensors and certificate.json

Near contexts are enumerated by the independent checker's own search. The model runs on near keys alone, in float64. What far
keys can do is bounded by this file's own sums, linear programme and second-order remainder (docs/soft-proof.md), and compared.
It reads one-layer decoders with a soft window (`alibi`, `type-1`), joint classes and roles, whose bound needed no refinement.

Shapes: N contexts, S near keys (the query first), H heads, K head size, D width, F hidden, V vocabulary, Y types of far keys.
"""

# fmt: off
from __future__ import annotations

import importlib.util
import json
import math
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

BATCH = 1024
CLOSE = 1e-5  # relative, between two ways to sum a series
OPTIONS = {"window": "name behind ahead axis answers slope decay", "relation": "name reach roles clip"}  # known here; see `hard.OPTIONS`
GELU_SLOPE, GELU_BEND, NORM_BEND = 1.13, 0.8, math.sqrt(2)


def beside() -> ModuleType:
    """The independent checker, from the same folder."""
    spec = importlib.util.spec_from_file_location("beside", Path(__file__).with_name("independent_checker.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["beside"] = module
    spec.loader.exec_module(module)
    return module


hard = beside()
Array = np.ndarray


class SoftStatement(NamedTuple):
    """What the certificate is about."""

    window: dict[str, Any]
    relation: dict[str, Any]
    heads: int


def read_statement(about: dict[str, Any]) -> SoftStatement:
    """The soft window, the relation and the heads of a model that this checker can run."""
    model, parts = about["model"], about["pe"].get("parts", []) if isinstance(about["pe"], dict) else []
    names = [part.get("name") for part in parts if isinstance(part, dict)]
    if (model["kind"], model["layers"], model["norm"]) != ("decoder", 1, "pre") or names != ["soft-window", "pairwise", "learned"]:
        raise hard.Refused("not a one-layer decoder with a soft window, pairwise classes and roles")
    window, pairwise, learned = parts
    relation = pairwise["relation"]
    known = [hard.OPTIONS["model"], hard.OPTIONS["learned"], OPTIONS["window"], hard.OPTIONS["pairwise"], OPTIONS["relation"]]
    for given, names in zip((model, learned, window, pairwise, relation), known, strict=True):
        if unknown := {key for key, value in given.items() if value is not None} - set(names.split()):
            raise hard.Refused(f"the options {', '.join(sorted(unknown))}")
    plain = about["format"] == "reversed" and not about["schemes"] and model.get("mixer", "attention") == "attention"
    plain = plain and (window.get("axis", "column"), window.get("ahead", 0), window.get("answers")) == ("column", 0, 0)
    fades = window.get("decay", "alibi") in ("alibi", "type-1") and window.get("slope", 0) > 0
    usual = (relation["name"], relation["reach"], relation["clip"], learned["axis"]) == ("joint", 1, True, "role")
    if not (plain and fades and usual and about["pe"] == {"name": "compose", "parts": parts}):
        raise hard.Refused("another soft window, relation or format")
    return SoftStatement(window, relation, model["heads"])


def decay_sum(window: dict[str, Any], first: int) -> float:
    """The sum of decays over all distances outside of the window, from `first` on."""
    slope = window["slope"]
    if window.get("decay", "alibi") == "alibi":
        return math.exp(-slope * first) / -math.expm1(-slope)
    n = np.arange(first, 1_000_000, dtype=np.float64)
    return float((1 / (1 + (slope * n) ** 2)).sum() + 1 / (slope**2 * (1_000_000 - 1)))


class CheckedModel:
    """The weights, with the gains of norms inside of the matrices that follow them."""

    def __init__(self, weights: dict[str, Array], said: SoftStatement) -> None:
        self.w, self.said, block = weights, said, "stack.blocks.0."
        self.out = weights[block + "attention.out.weight"]
        gain, shift = weights[block + "feedforward_norm.weight"], weights[block + "feedforward_norm.bias"]
        wide = weights[block + "expand.weight"] * gain
        self.wide = wide - wide.mean(1, keepdims=True)
        self.wide_bias = weights[block + "expand.weight"] @ shift + weights[block + "expand.bias"]
        self.narrow, self.narrow_bias = weights[block + "contract.weight"], weights[block + "contract.bias"]
        rows = weights["head.weight"] * weights["stack.norm.weight"]
        self.rows = rows - rows.mean(1, keepdims=True)
        self.bias = weights["head.weight"] @ weights["stack.norm.bias"] + weights["head.bias"]
        lengths = np.linalg.norm(self.narrow, axis=0)
        self.curved = np.linalg.norm((self.wide.T * lengths) @ self.wide, 2)
        self.norms = np.linalg.norm(self.wide, 2) * np.linalg.norm(self.narrow, 2)
        self.widest = np.linalg.norm(self.wide, axis=1).max()
        self.product = (self.narrow.T @ self.narrow) * (self.wide @ self.wide.T)

    def embedded(self, tokens: Array, roles: Array) -> Array:
        return self.w["stack.embedding.weight"][tokens] + self.w["stack.encodings.each.0.own.2.table"][roles]

    def keys(self, x: Array) -> tuple[Array, Array]:
        """Keys and values, (..., H, K) each."""
        block = "stack.blocks.0."
        normal = unit(x)[0] * self.w[block + "attention_norm.weight"] + self.w[block + "attention_norm.bias"]
        both = normal @ self.w[block + "attention.key_value.weight"].T + self.w[block + "attention.key_value.bias"]
        both = both.reshape(*x.shape[:-1], 2, self.said.heads, -1)
        return both[..., 0, :, :], both[..., 1, :, :]

    def queries(self, x: Array) -> Array:
        block = "stack.blocks.0."
        normal = unit(x)[0] * self.w[block + "attention_norm.weight"] + self.w[block + "attention_norm.bias"]
        q = normal @ self.w[block + "attention.query.weight"].T + self.w[block + "attention.query.bias"]
        return q.reshape(len(x), self.said.heads, -1)


def unit(x: Array) -> tuple[Array, Array]:
    """(x - mean) / s and 1 / s."""
    centred = x - x.mean(-1, keepdims=True)
    steep = 1 / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return centred * steep, steep


def through(rows: Array, normal: Array, steep: Array) -> Array:
    """Rows (N, V, D) times the derivative of a norm."""
    rows = rows - rows.mean(-1, keepdims=True)
    along = np.einsum("nvd,nd->nv", rows, normal) / normal.shape[-1]
    return (rows - along[..., None] * normal[:, None]) * steep[:, None]


def erf(x: Array) -> Array:
    return np.asarray(np.frompyfunc(math.erf, 1, 1)(x), dtype=np.float64)


def far_types(problem: Any, said: SoftStatement, query: int, written: list[int]) -> list[tuple[int, int, int, int, float]]:
    """Every type of far key, by groups: (group, token, role, class, sum of decays)."""
    first = 4 if problem.hub_digits else hard.OPERAND
    groups: list[tuple[Any, int, int, float]] = []
    for m in range(problem.operands):
        groups.append((range(problem.base), first + m, 1, decay_sum(said.window, 1)))
        groups.append((range(problem.base), first + m, -1, decay_sum(said.window, 1)))
    groups.append((written, hard.ANSWER, 1, decay_sum(said.window, 1)))
    nearest = math.exp(-said.window["slope"]) if said.window.get("decay", "alibi") == "alibi" else 1 / (1 + said.window["slope"] ** 2)
    groups.append(([problem.base + 3], hard.OPERATOR, 1, nearest))
    roles = said.relation.get("roles", 5)
    found = []
    for number, (tokens, role, side, total) in enumerate(groups):
        kind = 1 + (query * roles + role) * 4 + side + 2  # reach 1: classes of differences -1, 0, 1 after "none"
        found += [(number, token, role, kind, total) for token in tokens]
    return found


def influence(model: CheckedModel, problem: Any, sights: list[list[Any]], target: Array, written: list[int]) -> tuple[Array, ...]:
    """For contexts whose queries have one role: margins and losses (N, V), and far attention (N,)."""
    said, n = model.said, len(sights)
    query = sights[0][0].role
    width = max(map(len, sights))
    there = np.array([[s < len(seen) for s in range(width)] for seen in sights])
    padded = [seen + seen[:1] * (width - len(seen)) for seen in sights]
    tokens, roles = (np.array([[getattr(key, what) for key in seen] for seen in padded]) for what in ("token", "role"))
    x = model.embedded(tokens, roles)
    k, v = model.keys(x)  # (N, S, H, K)
    q = model.queries(x[:, 0])  # (N, H, K)
    table = model.w["stack.encodings.each.0.own.1.table"]
    classes = np.zeros((n, width), dtype=np.int64)
    classes[:, : width] = hard.classes_of(padded, said.relation)
    scale = 1 / math.sqrt(q.shape[-1])
    logits = np.einsum("nhk,nshk->nhs", q, k + table[classes][:, :, None]) * scale
    logits = np.where(there[:, None], logits, -np.inf)
    top = logits.max(-1, keepdims=True)
    total = top[..., 0] + np.log(np.exp(logits - top).sum(-1))  # (N, H)
    mixed = np.einsum("nhs,nshk->nhk", np.exp(logits - total[..., None]), v)
    x = x[:, 0] + mixed.reshape(n, -1) @ model.out.T + model.w["stack.blocks.0.attention.out.bias"]
    # far keys
    types = far_types(problem, said, query, written)
    group = np.array([t[0] for t in types])
    far = model.embedded(np.array([t[1] for t in types]), np.array([t[2] for t in types]))
    fk, fv = model.keys(far)  # (Y, H, K)
    content = np.einsum("nhk,yhk->nhy", q, fk + table[np.array([t[3] for t in types])][:, None]) * scale
    upper = np.exp(content - total[..., None]) * np.array([t[4] for t in types])
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    mass = np.maximum.reduceat(upper, starts, -1).sum(-1)  # (N, H)
    away = fv.transpose(1, 0, 2)[None] - mixed[:, :, None]  # (N, H, Y, K)
    # the part after attention, its gradient, and the linear programme
    normal, steep = unit(x)
    h = normal @ model.wide.T + model.wide_bias
    cumulative, bell = 0.5 * (1 + erf(h / math.sqrt(2))), np.exp(-h**2 / 2) / math.sqrt(2 * math.pi)
    z = x + (h * cumulative) @ model.narrow.T + model.narrow_bias
    last, last_steep = unit(z)
    out = last @ model.rows.T + model.bias
    rows = model.rows[target][:, None] - model.rows
    slope = cumulative + h * bell  # of gelu
    at_last = through(rows, last, last_steep)
    gradient = at_last + through(((at_last @ model.narrow) * slope[:, None]) @ model.wide, normal, steep)
    heads = model.out.reshape(len(model.out), said.heads, -1)  # (D, H, K)
    change = np.einsum("nvd,dhk,nhyk->nvhy", gradient, heads, away, optimize=True)
    change = change * upper[:, None] * np.where(change < 0, 1.0, 1 / (1 + mass)[:, None, :, None])
    # all heads have the same decay, so that one token of a place serves all of them
    first = -np.minimum(np.minimum.reduceat(change.sum(2), starts, -1), 0).sum(-1)
    _, turns = np.linalg.qr(heads.transpose(1, 0, 2))  # (H, K, K): lengths are as after the heads' outputs
    steps = np.linalg.norm(away @ turns.transpose(0, 2, 1), axis=-1)
    moved = np.maximum.reduceat((upper * steps).sum(1), starts, -1).sum(-1)
    # the remainder
    root, width = math.sqrt(x.shape[-1]), rows.shape[-1]
    steep = 1 / np.maximum(1 / steep[:, 0] - moved / root, 1e-300)
    local = np.sqrt(np.maximum(((slope @ model.product) * slope).sum(-1), 0))
    local = np.minimum(local + GELU_BEND * model.widest * moved * steep * model.norms, GELU_SLOPE * model.norms)
    whole = 1 + local * steep
    final = 1 / np.maximum(1 / last_steep[:, 0] - moved * whole / root, 1e-300)
    inner = (GELU_BEND * model.curved + local * NORM_BEND / root) * steep**2
    second = NORM_BEND * (whole * final) ** 2 / root + final * inner
    loss = first + second[:, None] * np.linalg.norm(rows, axis=-1) * moved[:, None] ** 2 / 2
    margin = out[np.arange(n), target][:, None] - out
    margin[np.arange(n), target] = np.inf
    return margin, loss, (mass / (1 + mass)).max(1)


def in_sight(context: Any, problem: Any, behind: int) -> list[Any]:
    """The near keys of a context: those of a window of this width, and operators, which have no column."""
    operators = problem.operands + (problem.hub_digits > 0) - 1
    plus = hard.Sight(problem.base + 4, hard.OPERATOR, None)
    return [*hard.in_sight(context, problem, behind, 0), *[plus] * operators]


def check(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """What was found, and where the certificate in this folder says something else."""
    stored = json.loads((folder / "certificate.json").read_bytes())
    weights, digest = hard.read_weights(folder / "weights.safetensors")
    said, problem, far = read_statement(stored["about"]), hard.problem_of(stored["about"]["task"]), stored["far"]
    behind = said.window["behind"]
    if (far["columns"], far["answers"], far["refined"]) != (behind, 0, 0):
        raise hard.Refused("another set of near keys than the window, or contexts that needed the refined bound")
    needed, model = hard.contexts_of(problem, behind, 1), CheckedModel(weights, said)
    written = sorted({output for output in needed.values() if output != hard.END})
    by_role: dict[bool, list[Any]] = {False: [], True: []}
    for context in needed:
        by_role[context.place > 0].append(context)
    least, left, attention, wrong = math.inf, math.inf, 0.0, 0
    for contexts in by_role.values():
        for start in range(0, len(contexts), BATCH):
            some = contexts[start : start + BATCH]
            target = np.array([problem.base + 1 if needed[c] == hard.END else needed[c] for c in some])
            margin, loss, mass = influence(model, problem, [in_sight(c, problem, behind) for c in some], target, written)
            wrong += int((~(margin > 0)).any(1).sum())
            least, attention = min(least, margin.min()), max(attention, mass.max())
            rest = np.where(np.isfinite(margin), margin - loss, np.inf)
            left = min(left, np.where(np.isnan(rest), -np.inf, rest).min())  # exponentials overflow
    found = {"weights": digest, "contexts": len(needed), "columns": behind + 1, "wrong": wrong}
    different = [f"{k} is {v}, the certificate says {stored[k]}" for k, v in found.items() if stored[k] != v]
    for name, ours, theirs in (("margin", least, stored["margin"]), ("far attention", attention, far["attention"]), ("left", left, far["left"])):
        if not abs(ours - theirs) <= CLOSE * (1 + abs(theirs)) * (1e-4 if name == "margin" else 1):
            different.append(f"the {name} is {ours}, the certificate says {theirs}")
    different += hard.false_claims(stored, wrong, left)
    return {**found, "margin": least, "attention": attention, "left": left}, different


def main(folder: str) -> int:
    """0: accepted, and it is a proof. 1: something differs, or it is none. 2: not a model that this checker reads."""
    try:
        found, different = check(Path(folder))
        verdict = json.loads((Path(folder) / "certificate.json").read_bytes())["verdict"]
    except (hard.Refused, OSError, ValueError, TypeError, AttributeError, KeyError) as reason:
        print(f"not checked: {type(reason).__name__}: {reason}")
        return 2
    print(f"{found['contexts']:,} contexts, {found['wrong']:,} wrong, least margin {found['margin']:.13g}")
    print(f"without a window: far attention at most {found['attention']:.6g}, at least {found['left']:.6g} left of a margin")
    print("\n".join(f"differs: {line}" for line in different) or f"accepted: {verdict}")
    return int(bool(different) or verdict not in hard.VERDICTS.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
