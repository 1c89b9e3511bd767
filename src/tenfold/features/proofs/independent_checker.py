"""Check a certificate without tenfold: its own file reader, enumeration of contexts and forward pass; numpy alone.

    python independent_checker.py FOLDER      # with weights.safetensors and certificate.json

The statement is the certificate's: which weights (their hash), which task, format, encoding and model. Every context is
enumerated, the model runs on each in float64, and the number of contexts, of wrong ones and the least margin are compared.
It reads one-layer decoders on `reversed` problems with a window, a table of joint classes and a table of roles, and refuses
others. Bounds on rounding are compared with the margin, not computed again.

Shapes: N contexts, S tokens in sight (the query first), H heads, K head size, D width, V vocabulary.
"""

# fmt: off
from __future__ import annotations

import hashlib
import itertools
import json
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

END, BATCH, OPERATOR, ANSWER, OPERAND = -1, 8192, 1, 2, 3  # the last three: roles of tokens
Column = tuple[int | None, ...]  # the digit of each operand that is read by columns; None: it has ended
Step = Callable[[int, int, int, Column], tuple[int, int] | None]
Weights = dict[str, Any]
OPTIONS = {  # of a model and its encodings that this checker knows; any other could change what is computed
    "model": "kind layers width heads feedforward dropout embedding_dropout norm mixer encoder_layers", "learned": "name axis limit",
    "window": "name behind ahead axis answers hub", "pairwise": "name relation", "relation": "name reach roles clip hub digits"}
VERDICTS = {(True, True): "proved", (True, False): "proved in exact arithmetic"}  # by `proved`, `in_float32`


class Refused(Exception):
    """The certificate is of a kind that this checker does not read."""


def read_weights(path: Path) -> tuple[Weights, str]:
    """The tensors of a safetensors file in float64, and the SHA-256 of their names and float32 bytes."""
    data, digest, weights = path.read_bytes(), hashlib.sha256(), {}
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    for name, entry in sorted(header.items()):
        if entry["dtype"] != "F32":
            raise Refused(f"{name} is stored as {entry['dtype']}, not as float32")
        first, last = entry["data_offsets"]
        raw = data[start + first : start + last]
        digest.update(name.encode() + raw)
        weights[name] = np.frombuffer(raw, "<f4").reshape(entry["shape"]).astype(np.float64)
    return weights, digest.hexdigest()


class ColumnTask(NamedTuple):
    """A task as a rule over columns: step(hub, state, column number, digits) -> what is written, the next state."""

    base: int
    operands: int  # read by columns
    step: Step
    start: int = 0
    hubs: tuple[int, ...] = (0,)  # values of an operand that every column sees
    hub_digits: int = 0


def problem_of(task: Any) -> ColumnTask:
    """The tasks, each written down from its meaning."""
    options: dict[str, Any] = {"name": task} if isinstance(task, str) else dict(task)
    name, most = options.pop("name"), options.get("most")
    base, terms, size = options.get("base", 10), options.get("terms", 2), options.get("multiplier", 1)
    known = {"addition": {"base", "terms"}, "parity": set(), "multiplication": {"base", "multiplier", "most"}}
    if {k for k, v in options.items() if v not in (None, False)} - known.get(name, {"base"}):
        raise Refused(f"the options {options} of the task {name}")

    def plus(hub: int, carry: int, i: int, column: Column) -> tuple[int, int]:
        total, ended = carry + sum(digit or 0 for digit in column), not any(d is not None for d in column)
        return (END, 0) if ended and total == 0 else (total % base, total // base)

    def minus(hub: int, borrow: int, i: int, column: Column) -> tuple[int, int] | None:
        a, b = column
        if a is None:  # as long as the first number, which is not the smaller one
            return None if borrow or b is not None else (END, 0)
        return (left := a - (b or 0) - borrow) % base, int(left < 0)

    def times(hub: int, carry: int, i: int, column: Column) -> tuple[int, int]:
        (digit,) = column
        total = hub * (digit or 0) + carry
        ended = (digit is None and total == 0) or (hub == 0 and i > 0)
        return (END, 0) if ended else (total % base, total // base)

    def parity(hub: int, odd: int, i: int, column: Column) -> tuple[int, int]:
        return (END, 0) if column[0] is None else (odd ^ column[0], odd ^ column[0])

    def compare(hub: int, sign: int, i: int, column: Column) -> tuple[int, int]:
        a, b = (digit or 0 for digit in column)
        sign = sign if a == b else 1 if a > b else 2
        return (END, 0) if column == (None, None) else ((base + 3, base + 6, base + 5)[sign], sign)  # = > <

    tasks = {
        "addition": ColumnTask(base, terms, plus),
        "successor": ColumnTask(base, 1, plus, start=1),
        "subtraction": ColumnTask(base, 2, minus),
        "parity": ColumnTask(2, 1, parity),
        "comparison": ColumnTask(base, 2, compare),
        "multiplication": ColumnTask(base, 1, times, hubs=tuple(range((most or base**size - 1) + 1)), hub_digits=size),
    }
    if name not in tasks:
        raise Refused(f"the task {name}")
    return tasks[name]


class Context(NamedTuple):
    """What the model sees when it writes a digit: how far the start is, columns, answers so far, the hub."""

    place: int  # up to one more than the columns behind
    columns: tuple[Column, ...]
    answers: tuple[int, ...]
    hub: int


def following(problem: ColumnTask, place: int, last: Column | None) -> Iterator[Column]:
    """The columns that may follow: numbers have a digit, no leading zero unless they are 0, and stay ended."""
    digits = [*range(problem.base), None]
    choices = []
    for m in range(problem.operands):
        going = digits if last and (last[m] != 0 or place == 1) else digits[:-1]
        choices.append([None] if last and last[m] is None else going)
    yield from itertools.product(*choices)


def contexts_of(problem: ColumnTask, behind: int, answers: int) -> dict[Context, int]:
    """Every context that some problem brings, with what is to be written there."""
    needed: dict[Context, int] = {}
    todo: list[Any] = [(0, (), (), problem.start, hub) for hub in problem.hubs]
    seen = set(todo)
    while todo:
        place, columns, written, state, hub = todo.pop()
        for column in following(problem, place, columns[-1] if columns else None):
            done = problem.step(hub, state, place, column)
            if done is None:
                continue
            output, after = done
            context = Context(min(place, behind + 1), (*columns, column)[-behind - 1 :], written, hub)
            if needed.setdefault(context, output) != output:
                raise Refused(f"one context needs two outputs: {context}")
            if output == END:
                continue
            so_far = (*written, output)[-answers:]
            node = (min(place + 1, max(behind + 1, 2)), (*columns, column)[-max(behind, 1):], so_far, after, hub)
            todo += [] if node in seen else [node]
            seen.add(node)
    return needed


class Sight(NamedTuple):
    """One token in sight of a query: its number, role, columns behind the query (None: no column), digit of a hub."""

    token: int
    role: int
    behind: int | None
    digit: int = 0


def in_sight(context: Context, problem: ColumnTask, behind: int, answers: int) -> list[Sight]:
    """The tokens that the window shows to the token that writes the digit of a context; that one comes first."""
    place, equals = context.place, problem.base + 3
    first = 4 if problem.hub_digits else OPERAND
    seen = [Sight(context.answers[-1], ANSWER, 0) if place else Sight(equals, OPERATOR, 0)]
    for back, column in enumerate(reversed(context.columns)):
        seen += [Sight(d, first + m, back) for m, d in enumerate(column) if d is not None]
    if 1 <= place <= behind:
        seen.append(Sight(equals, OPERATOR, place))
    for back in range(1, min(answers, behind) + 1):  # the answer token of column c was written at c - 1
        if back < len(context.answers) and (place > behind or back < place):
            seen.append(Sight(context.answers[-1 - back], ANSWER, back))
    if problem.hub_digits:
        seen += [Sight(int(d, problem.base), OPERAND, None, n) for n, d in enumerate(np.base_repr(context.hub, problem.base)[::-1])]
    return seen


def classes_of(sights: list[list[Sight]], relation: dict[str, Any]) -> np.ndarray:
    """(N, S): the class of the query and each key, by both roles and the clipped difference of columns."""
    reach, roles, hub = relation["reach"], relation.get("roles", 5), relation.get("hub")
    classes = np.zeros((len(sights), max(map(len, sights))), dtype=np.int64)
    for n, seen in enumerate(sights):
        for s, key in enumerate(seen):
            apart = 0 if key.behind is None else min(key.behind, reach) + reach + 1
            number = 1 + (seen[0].role * roles + key.role) * (2 * reach + 2) + apart
            if hub is not None and key.role == OPERAND + hub:
                number = 1 + roles * roles * (2 * reach + 2)
                number += seen[0].role * relation["digits"] + min(key.digit, relation["digits"] - 1)
            classes[n, s] = number
    return classes


def forward(weights: Weights, sights: list[list[Sight]], relation: dict[str, Any], heads: int) -> np.ndarray:
    """The logits (N, V) of the query of each context."""
    block, n, width = "stack.blocks.0.", len(sights), max(map(len, sights))
    there = np.arange(width) < np.array([[len(seen)] for seen in sights])
    padded = [seen + seen[:1] * (width - len(seen)) for seen in sights]
    tokens, roles = (np.array([[getattr(key, what) for key in seen] for seen in padded]) for what in ("token", "role"))

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weights[name + ".weight"].T + weights[name + ".bias"]

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weights[name + ".weight"] + weights[name + ".bias"]

    x = weights["stack.embedding.weight"][tokens] + weights["stack.encodings.each.0.own.2.table"][roles]
    keys = norm(x, block + "attention_norm")  # (N, S, D)
    q = linear(keys[:, 0], block + "attention.query").reshape(n, heads, -1)  # (N, H, K)
    k, v = np.moveaxis(linear(keys, block + "attention.key_value").reshape(n, width, 2, heads, -1), 2, 0)
    table = weights["stack.encodings.each.0.own.1.table"][classes_of(sights, relation)]  # (N, S, K)
    scores = np.einsum("nhk,nshk->nhs", q, k + np.pad(table, ((0, 0), (0, width - table.shape[1]), (0, 0)))[:, :, None])
    scores = np.where(there[:, None], scores / math.sqrt(q.shape[-1]), -np.inf)
    mixing = np.exp(scores - scores.max(-1, keepdims=True))
    mixing /= mixing.sum(-1, keepdims=True)
    mixed = np.einsum("nhs,nshk->nhk", mixing, v).reshape(n, -1)
    x = x[:, 0] + linear(mixed, block + "attention.out")
    hidden = linear(norm(x, block + "feedforward_norm"), block + "expand")
    gelu = hidden * 0.5 * (1 + np.asarray(np.frompyfunc(math.erf, 1, 1)(hidden / math.sqrt(2)), dtype=np.float64))
    x = x + linear(gelu, block + "contract")
    return linear(norm(x, "stack.norm"), "head")


def read_statement(about: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The window, the relation and the heads of a model that this checker can run."""
    model, parts = (about["model"], about["pe"].get("parts", []) if isinstance(about["pe"], dict) else [])
    plain = (model["kind"], model["layers"], model["norm"]) == ("decoder", 1, "pre")
    names = [part.get("name") for part in parts if isinstance(part, dict)]
    if not plain or model.get("mixer", "attention") != "attention" or names != ["window", "pairwise", "learned"]:
        raise Refused("not a one-layer decoder with a window, pairwise classes and roles")
    if about["format"] != "reversed" or about["schemes"] or about["pe"] != {"name": "compose", "parts": parts}:
        raise Refused("another format than reversed, or schemes, or encodings that are not composed")
    window, pairwise, learned = parts
    relation = pairwise["relation"]
    for what, given in zip(OPTIONS, (model, learned, window, pairwise, relation), strict=True):
        if unknown := {key for key, value in given.items() if value is not None} - set(OPTIONS[what].split()):
            raise Refused(f"the options {', '.join(sorted(unknown))} of {what}")
    hub = 0 if "multiplication" in str(about["task"]) else None
    fine = (window["axis"], window["ahead"], learned["axis"], window.get("hub")) == ("column", 0, "role", hub)
    if not fine or relation["name"] != "joint" or not relation["clip"] or relation.get("hub") not in (None, hub):
        raise Refused("another window or relation")
    return window, relation, model["heads"]


def check(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """What was found, and where the certificate in this folder says something else."""
    stored = json.loads((folder / "certificate.json").read_bytes())
    weights, digest = read_weights(folder / "weights.safetensors")
    window, relation, heads = read_statement(stored["about"])
    problem, behind = problem_of(stored["about"]["task"]), window["behind"]
    answers = behind if window.get("answers") is None else min(window["answers"], behind)
    needed = contexts_of(problem, behind, answers + 1)
    contexts, margins = list(needed), []
    for start in range(0, len(contexts), BATCH):
        some = contexts[start : start + BATCH]
        logits = forward(weights, [in_sight(c, problem, behind, answers) for c in some], relation, heads)
        target = np.array([problem.base + 1 if needed[c] == END else needed[c] for c in some])
        rows, right = np.arange(len(some)), logits[np.arange(len(some)), target].copy()
        logits[rows, target] = -np.inf
        margins.append(right - logits.max(1))
    least = float((margin := np.concatenate(margins)).min())
    found = {"weights": digest, "contexts": len(contexts), "columns": behind + 1, "wrong": int((~(margin > 0)).sum())}
    different = [f"{k} is {v}, the certificate says {stored[k]}" for k, v in found.items() if stored[k] != v]
    if not abs(least - stored["margin"]) <= 1e-9:
        different.append(f"the margin is {least}, the certificate says {stored['margin']}")
    return {**found, "margin": least}, different + false_claims(stored, found["wrong"], least)


def false_claims(stored: dict[str, Any], wrong: int, left: float) -> list[str]:
    """What a certificate claims although the wrong contexts, or what is `left` of the margins, do not show it."""
    bound, bound64 = (math.inf if (b := stored[k]) is None or not b > 0 else b for k in ("bound", "bound64"))
    proved, in_float32, verdict = (stored[k] for k in ("proved", "in_float32", "verdict"))
    claims = proved or verdict in VERDICTS.values()
    said = [
        ("the margin does not exceed the bounds, the certificate says proved in float32", in_float32 and not left > bound + bound64),
        ("this is no proof, the certificate says proved", claims and (wrong or stored["declared"] or stored["violations"] or not left > bound64)),
        (f"the verdict is {verdict}, proved is {proved}, in_float32 is {in_float32}", claims and VERDICTS.get((proved, in_float32)) != verdict)]
    return [line for line, false in said if false]


def main(folder: str) -> int:
    """0: accepted, and it is a proof. 1: something differs, or it is none. 2: not a model that this checker reads."""
    try:
        found, different = check(Path(folder))
        verdict = json.loads((Path(folder) / "certificate.json").read_bytes())["verdict"]
    except (Refused, OSError, ValueError, TypeError, AttributeError, KeyError) as reason:
        print(f"not checked: {type(reason).__name__}: {reason}")
        return 2
    print(f"{found['contexts']:,} contexts, {found['wrong']:,} wrong, least margin {found['margin']:.13g}")
    print("\n".join(f"differs: {line}" for line in different) or f"accepted: {verdict}")
    return int(bool(different) or verdict not in VERDICTS.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
