"""Rank any number of encodings, or other methods, by a score over seeds, with paired tests.

ranking = rank(collect("results/bias/baselines"))
print(ranking.text("latex"))

Runs belong to one table if their recipes agree in everything but the seed, the name and what the methods may differ
in: `of`, by default the encoding and its schemes. An own file (`include`) belongs to the method that uses it. Methods of different labels were given different help, so they are
ranked apart unless `across_labels` is set.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.evals.metrics import direction
from tenfold.evals.statistics import SUCCESS
from tenfold.results.method_cost import MethodCost, method_cost
from tenfold.results.method_names import as_words, shortened, tell_apart, unmeasured
from tenfold.results.rank_table import (
    RankedMethod,
    RankTable,
    compare_pairs,
    fits,
    in_order,
    table_notes,
)
from tenfold.results.ranking_text import ranking_lines, ranking_pairs, ranking_text
from tenfold.results.row_schema import Row
from tenfold.results.selection import select
from tenfold.results.summary import columns_of, deciding
from tenfold.results.tables import Collected
from tenfold.runs.recipe import ENCODING_KEYS, Recipe

OF = ("pe", "schemes")  # what methods may differ in, by default
ALIASES = {"encoding": "pe", "scheme": "schemes"}
WHOLE = "recipe"  # methods may differ in all but the task, the training length and the label
ASKED = ("task", "data.length")  # what methods of one table always share
IN_FULL = "in full"  # a component with its options, where its name is not enough
SPLIT = ("length", "slice", "metric", "checkpoint")  # columns of which each value may have a table


@dataclass(frozen=True)
class Ranking:
    """Tables of ranked methods, and what a reader must know about them."""

    tables: tuple[RankTable, ...]
    notes: list[str]
    of: tuple[str, ...]

    @property
    def lines(self) -> list[Row]:
        """One line per method, with plain values."""
        return ranking_lines(self.tables)

    @property
    def pairs(self) -> list[Row]:
        """One line per tested pair, with plain values."""
        return ranking_pairs(self.tables)

    def text(self, format: str = "table", *, pairs: bool = False) -> str:
        """The tables as text: `table`, `md` and `latex` for people, `csv` and `json` with the plain values."""
        return ranking_text(self.tables, self.of[0], format, pairs=pairs)


@dataclass
class _Method:
    """The runs of a method, by seed."""

    own: dict[str, Any]  # what it differs in from others
    runs: dict[int, Row] = field(default_factory=dict)
    values: dict[int, dict[int, float]] = field(default_factory=dict)


@dataclass
class _Table:
    setting: dict[str, Any]  # what its methods share
    chosen: Mapping[str, str]  # slice, metric and checkpoint
    methods: dict[str, _Method] = field(default_factory=dict)
    title: str = ""


def rank(
    collected: Collected,
    by: Sequence[str] = (),
    *,
    of: Sequence[str] = OF,
    at: Sequence[int] | None = None,
    slice: str | None = None,
    metric: str | None = None,
    checkpoint: str | None = None,
    fit: float = SUCCESS,
    across_labels: bool = False,
    against: str | None = None,
    cost: bool = True,
) -> Ranking:
    """Rank methods by their median over seeds; each seed counts with its mean over lengths.

    Args:
        by: Columns of which each value has its own table: length, slice, metric or checkpoint.
        of: Settings of a recipe that methods may differ in, such as `train.lr`; `recipe` for whole recipes.
        at: The lengths; by default all measured ones beyond the training length that every run of a table has.
        fit: The share of right answers at trained lengths that a method needs to be a rival.
        against: A method that all others are compared with; by default they are compared with the best.
        cost: Count the operations of training, which takes a fraction of a second per method.
    """
    columns, keys = columns_of(by, SPLIT), _settings_of(collected, of)
    if not 0 <= fit <= 1:
        raise TenfoldError(f"fit is {fit:g}; a share of right answers is between 0 and 1")
    within = [*columns, "evaluated_pe"]  # a run that is evaluated with another encoding is a method
    chosen = select(collected.rows, within, slice=slice, metric=metric, checkpoint=checkpoint)
    _check_direction(chosen.rows)
    tables, left_out = _gather(collected, chosen.rows, keys, across_labels)
    notes = [*chosen.notes, *left_out]
    _entitle(tables)
    ranked: list[RankTable] = []
    refused: list[str] = []
    about: dict[str, list[str]] = {}  # titles of tables by what is to be said of them
    for table in sorted(tables, key=lambda table: table.title):
        for lengths in _lengths(table, at, apart="length" in columns):
            try:
                made, more = _ranked(table, lengths, keys, fit, against, cost)
            except (_NotRanked, TenfoldError) as reason:  # such as a reference that it lacks
                refused.append(f"{table.title}: {reason}")
            else:
                ranked.append(made)
                for note in more:
                    about.setdefault(note, []).append(made.title)
    if not ranked:
        raise TenfoldError(f"there is nothing to rank: {_why(refused, tables, keys)}")
    for note, titles in about.items():
        everywhere = len(titles) == len(ranked)
        notes += [note] if everywhere else [f"{t}: {note}" for t in dict.fromkeys(titles)]
    notes += [f"not ranked: {line}" for line in refused]
    return Ranking(tuple(ranked), notes, tuple(of))


class _NotRanked(Exception):
    """Why a table has no ranking."""


def _settings_of(collected: Collected, of: Sequence[str]) -> tuple[str, ...]:
    """The settings that methods may differ in, checked; `pe` stands for every encoding of a model."""
    if not collected.runs:
        raise TenfoldError("the recipes are not at hand; name run folders, or a folder of results")
    known = {WHOLE: None}
    for run in collected.runs:
        known |= dict.fromkeys(_keys(deciding(run)))
    keys: list[str] = []
    for name in of:
        key = ALIASES.get(name.strip(), name.strip())
        if key == "label":
            raise TenfoldError("labels are ranked apart; --across-labels ranks them together")
        if key in ASKED or key in ("seed", "data"):
            raise TenfoldError(f'"{key}" is the same for all methods of a table; rank another')
        if key not in known:
            raise unknown("setting of these runs", key, known)
        keys += ENCODING_KEYS if key == "pe" else [key]
    return tuple(dict.fromkeys(keys))


def _keys(values: Mapping[str, Any]) -> list[str]:
    """Keys of a recipe, those of its parts with a dot; a component is one value."""
    keys = list(values)
    for key, value in values.items():
        if isinstance(value, dict) and "name" not in value:
            keys += [f"{key}.{inner}" for inner in value]
    return keys


def _check_direction(rows: Sequence[Row]) -> None:
    for metric in dict.fromkeys(row["metric"] for row in rows):
        if direction(metric) == 0:
            raise TenfoldError(
                f'"{metric}" cannot be ranked: neither direction is better; choose a --metric such as exact'
            )


def _gather(
    collected: Collected, rows: Sequence[Row], keys: Sequence[str], across_labels: bool
) -> tuple[list[_Table], list[str]]:
    """Put every run into the table of its setting, and name what belongs to no table."""
    runs = {run["fingerprint"]: run for run in collected.runs}
    tables: dict[str, _Table] = {}
    notes: dict[str, None] = {}
    homeless = [row for row in rows if row["fingerprint"] not in runs]
    if homeless:
        notes[f"left out: {len(homeless)} rows of runs whose recipe is unknown"] = None
    without = [row for row in rows if row["length"] is None and row["fingerprint"] in runs]
    if without:
        notes[f"left out: {len(without)} rows without a length"] = None
    split = {fingerprint: _split(run, keys) for fingerprint, run in runs.items()}
    for row in rows:
        if row["fingerprint"] not in runs or row["length"] is None:
            continue
        run, (setting, own) = runs[row["fingerprint"]], split[row["fingerprint"]]
        if not across_labels:
            setting = {**setting, "label": row["label"]}
        if row["evaluated_pe"]:
            own = {**own, "evaluated with": row["evaluated_pe"]}
        chosen = {key: row[key] for key in ("slice", "metric", "checkpoint")}
        table = tables.setdefault(_text([setting, chosen]), _Table(setting, chosen))
        method = table.methods.setdefault(_text(own), _Method(own))
        if method.runs.setdefault(run["seed"], run) is not run:
            notes[
                f"left out: {run['run']}, since {method.runs[run['seed']]['run']} is the same"
            ] = None
            continue
        method.values.setdefault(run["seed"], {})[row["length"]] = row["value"]
    return list(tables.values()), list(notes)


def _split(run: Row, keys: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A recipe in two: what the methods of its table share, and what makes this method."""
    recipe = deciding(run)
    for key in ("seed", "label"):
        del recipe[key]
    before = {key: recipe[key] for key in ENCODING_KEYS}
    recipe |= {key: unmeasured(value) for key, value in before.items()}
    named = {WHOLE: json.loads(run["recipe"])["name"]}
    if (recipe["train"] or {}).get("from") is not None:
        recipe["train"]["from"] = "weights"  # of each seed its own
    if WHOLE in keys:
        shared = {"task": recipe.pop("task"), "data.length": recipe["data"].pop("length")}
        return shared, {**named, **recipe}
    own = {key: _taken(recipe, key) for key in dict.fromkeys((*keys, "include"))}
    measured = any(
        recipe_value != before[key] for key, recipe_value in own.items() if key in before
    )
    return recipe, {**own, **(named if measured else {})}


def _taken(recipe: dict[str, Any], key: str) -> Any:
    part, _, inner = key.partition(".")
    return recipe[part].pop(inner, None) if inner else recipe.pop(part, None)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _entitle(tables: Sequence[_Table]) -> None:
    """Name each table by its task, its training length, its label, and the settings that tell it from the others."""
    words: list[dict[str, str]] = []
    for table in tables:
        flat = as_words({**table.setting, **table.chosen}, options=True)
        first = {key: flat[key] for key in (*ASKED, "label") if key in flat}
        words.append(first | {key: value for key, value in flat.items() if key not in first})
    always = (*ASKED, "label") if all("label" in flat for flat in words) else ASKED
    for table, told in zip(tables, tell_apart(words, always), strict=True):
        title = f"{told.pop('task')}, trained up to length {told.pop('data.length')}"
        table.title = ", ".join([title, *(f"{key} {value}" for key, value in told.items())])


def _lengths(
    table: _Table, at: Sequence[int] | None, *, apart: bool
) -> list[tuple[tuple[int, ...], bool]]:
    """The lengths that a ranking is over, and whether they were named; `apart`, each length has a ranking."""
    measured = sorted({length for values in _values(table) for length in values})
    if apart:
        return [((length,), True) for length in measured if at is None or length in at] or [
            ((), True)
        ]
    if at is not None:
        return [(tuple(sorted(set(at))), True)]
    trained = _trained(table)
    return [(tuple(length for length in measured if length > trained), False)]


def _values(table: _Table) -> list[dict[int, float]]:
    return [values for method in table.methods.values() for values in method.values.values()]


def _trained(table: _Table) -> int:
    setting = table.setting
    return int(setting["data.length"] if "data.length" in setting else setting["data"]["length"])


def _ranked(
    table: _Table,
    wanted: tuple[tuple[int, ...], bool],
    keys: Sequence[str],
    bar: float,
    against: str | None,
    cost: bool,
) -> tuple[RankTable, list[str]]:
    """Score the methods at the lengths, and test them."""
    (lengths, named), metric, trained = wanted, table.chosen["metric"], _trained(table)
    names = _names(list(table.methods.values()), keys)
    if len(names) < 2:
        raise _NotRanked(f"{names[0]} is alone")
    if not lengths:
        raise _NotRanked(f"nothing was measured beyond length {trained}; choose lengths with --at")
    lengths, notes = _common(table, names, lengths, named)
    methods = []
    for name, method in zip(names, table.methods.values(), strict=True):
        scored = {seed: by for seed, by in method.values.items() if set(lengths) <= by.keys()}
        if lost := sorted(method.values.keys() - scored.keys()):
            which = "seed" if len(lost) == 1 else "seeds"
            lacks = f"{which} {', '.join(map(str, lost))} of {name}"
            notes.append(f"left out: {lacks}, not measured at length {_numbers(lengths)}")
        if scored:
            methods.append(_scored(name, method, scored, lengths, trained, metric, bar, cost))
    if len(methods) < 2:
        reason = f"only {methods[0].name} was" if methods else "no method was"
        raise _NotRanked(f"{reason} measured at length {_numbers(lengths)}")
    ordered = in_order(methods, metric)
    pairs, reference = compare_pairs(ordered, metric, against)
    first = ordered[0].recipe
    made = RankTable(
        title=table.title,
        task=first.task.name,
        format=first.format.name,
        trained=trained,
        label=table.setting.get("label", ""),
        metric=metric,
        slice=table.chosen["slice"],
        checkpoint=table.chosen["checkpoint"],
        lengths=lengths,
        methods=tuple(ordered),
        pairs=tuple(pairs),
        reference=reference,
        planned=against is not None,
        bar=bar,
    )
    return made, [*notes, *table_notes(made)]


def _common(
    table: _Table, names: Sequence[str], lengths: tuple[int, ...], named: bool
) -> tuple[tuple[int, ...], list[str]]:
    """The lengths that every run has, unless they were named; a length that some lack is left out with a note."""
    if named:
        return lengths, []
    lacking = {
        length: [
            name
            for name, method in zip(names, table.methods.values(), strict=True)
            if any(length not in values for values in method.values.values())
        ]
        for length in lengths
    }
    common = tuple(length for length in lengths if not lacking[length])
    if not common:
        raise _NotRanked(
            f"no length beyond {_trained(table)} was measured for every run; choose lengths with --at"
        )
    notes = [
        f"left out: length {length}, not measured for every run of {', '.join(without)}"
        for length, without in lacking.items()
        if without
    ]
    return common, notes


def _scored(
    name: str,
    method: _Method,
    values: Mapping[int, Mapping[int, float]],
    lengths: Sequence[int],
    trained: int,
    metric: str,
    bar: float,
    cost: bool,
) -> RankedMethod:
    seeds = sorted(values)
    within = {seed: [v for at, v in values[seed].items() if at <= trained] for seed in seeds}
    fit = {seed: statistics.fmean(each) for seed, each in within.items() if each}
    runs = [method.runs[seed] for seed in seeds]
    return RankedMethod(
        name=name,
        recipe=Recipe.of(json.loads(runs[0]["recipe"])),
        values={seed: values[seed] for seed in seeds},
        scores={seed: statistics.fmean(values[seed][at] for at in lengths) for seed in seeds},
        fit=fit,
        fits=fits(fit, metric, bar),
        cost=method_cost(runs) if cost else MethodCost(),
    )


def _names(methods: Sequence[_Method], keys: Sequence[str]) -> list[str]:
    """A name for each method: its encoding, and as many options and settings as it takes to tell it from others."""
    first = WHOLE if WHOLE in keys else keys[0]
    described = []
    for method in methods:
        plain, full = (as_words(method.own, options=options) for options in (False, True))
        run = method.runs[min(method.runs)]
        start = {first: plain[first], IN_FULL: full.pop(first)} if first in plain else {}
        end = {WHOLE: json.loads(run["recipe"])["name"], "run": run["fingerprint"]}
        described.append({**start, **full, **({} if first == WHOLE else end)})
    always = [first] if all(first in words for words in described) else []
    return [shortened(_name(first, told)) for told in tell_apart(described, always)]


def _name(first: str, told: dict[str, str]) -> str:
    """`alibi (axis column), train.lr 0.1`: what has no dot in its key is a word of its own."""
    if IN_FULL in told:
        told = {
            first: told[IN_FULL],
            **{key: told[key] for key in told if key not in (first, IN_FULL)},
        }
    own = (first, WHOLE, "run") if "." not in first else (WHOLE, "run")
    return ", ".join(value if key in own else f"{key} {value}" for key, value in told.items())


def _numbers(lengths: Sequence[int]) -> str:
    return ", ".join(map(str, lengths))


def _why(refused: Sequence[str], tables: Sequence[_Table], keys: Sequence[str]) -> str:
    """One line on why no table is ranked: the only reason, or that every method is alone, and in what settings differ."""
    if not tables:
        return "no run was measured at a length"
    if len(refused) == 1:
        return refused[0]
    flat = [as_words(table.setting, options=True) for table in tables]
    every = dict.fromkeys(key for each in flat for key in each)
    differ = [key for key in every if len({each.get(key) for each in flat}) > 1]
    return f"{len(refused)} settings, such as {refused[0]}; they differ in {', '.join(differ[:4])}"
