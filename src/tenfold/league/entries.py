"""The entries of the league: methods in the form that their papers propose, each a change of a track's recipe.

Every encoding of the zoo takes part with `index`. Combinations follow. `group` says which tracks an entry suits, and
`limit` (`LIMIT` below) is room for the longest input of every ladder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tenfold.core.errors import TenfoldError, unknown
from tenfold.league.entry_papers import PAPERS
from tenfold.league.stages import WHOLE, LeagueStage, check_stages
from tenfold.league.tracks import LeagueTrack

LABELS = ("generic", "significance", "window", "calibrated", "scratchpad", "loops")
LIMIT = 640  # tokens of the longest problem: sums of 200 digits have 606
SUSPECTS = ("learned", "rotary", "alibi", "none")  # what most models have


@dataclass(frozen=True)
class LeagueEntry:
    """A method: what it changes in the recipe of a track, and the label of what it is given.

    `by_track` has changes for single tracks, such as a larger limit on text. `stages` are trainings that share the budget,
    one after the other. `paper` says where it is from.
    """

    name: str
    words: str
    pe: Any = "none"
    group: str = "encoding"
    label: str = "generic"
    changes: Mapping[str, Any] = field(default_factory=dict)
    by_track: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stages: Sequence[LeagueStage] = WHOLE

    def __post_init__(self) -> None:
        check_stages(self.name, self.stages)

    def values(self, track: LeagueTrack) -> dict[str, Any]:
        """The changes of the track's recipe."""
        own = self.by_track.get(track.name, {})
        return {"pe": self.pe, "label": self.label, "about": self.words, **self.changes, **own}

    @property
    def paper(self) -> str:
        """Where it is from."""
        return PAPERS[self.name]

    def suits(self, track: LeagueTrack) -> bool:
        return self.group in track.suits


def _compose(*parts: Any) -> dict[str, Any]:
    return {"name": "compose", "parts": list(parts)}


def _learned(axis: str, limit: int) -> dict[str, Any]:
    return {"name": "learned", "axis": axis, "limit": limit}


def _relative(reach: int) -> dict[str, Any]:
    return {"name": "pairwise", "relation": {"name": "relative", "reach": reach, "clip": True}}


def _long(pe: Any) -> dict[str, dict[str, Any]]:
    """An encoding for text, where inputs are longer."""
    return {"text": {"pe": pe}}


def _columns(behind: int, **hub: int) -> list[Any]:
    """A window on columns, and a learned vector for each pair of roles and difference of columns."""
    relation = {"name": "joint", "reach": 1, "clip": True, **hub}
    return [
        {"name": "window", "behind": behind, "ahead": 0, "axis": "column", "answers": 0, **hub},
        {"name": "pairwise", "relation": relation},
        {"name": "learned", "axis": "role", "limit": 8},
    ]


def _scaled(
    pe: Mapping[str, Any], scheme: Mapping[str, Any], **of_tokens: str
) -> dict[str, dict[str, Any]]:
    """Rotary positions that are scaled where an input is longer than in training: values of each track.

    `of_tokens` are options of the encoding that are the number of tokens in training.
    """
    return {
        track: {
            "pe": {**pe, **dict.fromkeys(of_tokens.values(), count)},
            "schemes": [{**scheme, "limit": count}],
        }
        for track, count in TOKENS.items()
    }


TEXT_LIMIT = 4608
TOKENS = {
    "addition": 33,
    "multiplication": 33,
    "parity": 21,
    "copying": 21,
    "text": 128,
}  # of the longest trained input
ROLE = {"name": "learned", "axis": "role", "limit": 8}
JOINT = {"name": "pairwise", "relation": {"name": "joint", "reach": 1, "clip": True}}
IN_PLACE = {"format": {"name": "in-place", "frame": "fit"}}

ENCODINGS = (
    LeagueEntry("none", "no positions (NoPE)"),
    LeagueEntry("learned", "a learned vector for each position", _learned("index", LIMIT),
                by_track=_long(_learned("index", TEXT_LIMIT))),
    LeagueEntry("sinusoidal", "sinusoids added to the input", "sinusoidal"),
    LeagueEntry("rotary", "rotary positions (RoPE)", "rotary"),
    LeagueEntry("rotary-linear", "rotary; a longer input is drawn together to the trained range (position interpolation)", "rotary",
                by_track=_scaled({"name": "rotary-linear", "factor": 64.0, "axis": "interpolated"}, {"name": "interpolated", "parts": 64})),
    LeagueEntry("rotary-ntk", "rotary; a longer input has a larger base, by its own length (dynamic NTK)", "rotary",
                by_track=_scaled({"name": "rotary-ntk", "factor_axis": "stretched"}, {"name": "stretched"})),
    LeagueEntry("rotary-yarn", "rotary; a longer input has slower turns and sharper logits, by its own length (dynamic YaRN)", "rotary",
                by_track=_scaled({"name": "rotary-yarn", "factor_axis": "stretched"}, {"name": "stretched"}, of="trained")),
    LeagueEntry("drope", "rotary, then a tenth of the budget without any positions, from these weights (DroPE)", "rotary",
                stages=(LeagueStage(0.9), LeagueStage(0.1, {"pe": "none"}, warm=True))),
    LeagueEntry("p-rope", "rotary, the lowest quarter of the frequencies at rest (p-RoPE)", {"name": "rotary", "p": 0.75}),
    LeagueEntry("hope", "rotary, only frequencies that turn fully within the trained range (HoPE)",
                {"name": "rotary", "trained": 36}, by_track=_long({"name": "rotary", "trained": 128})),
    LeagueEntry("xpos", "rotary with decay (xPos)", "xpos"),
    LeagueEntry("pope", "rotation of sizes (PoPE)", "pope"),
    LeagueEntry("grape-m", "rotation at learned frequencies (GRAPE-M)", "grape-m"),
    LeagueEntry("alibi", "a linear bias by distance (ALiBi)", "alibi"),
    LeagueEntry("type-1", "a bias of -ln(1 + (kn)^2) (Type 1)", "type-1"),
    LeagueEntry("type-2", "a bias of -(ln(3 + kn))^2 (Type 2)", "type-2"),
    LeagueEntry("inverse", "weights like 1/n", "inverse"),
    LeagueEntry("inverse-log", "weights like 1/(n ln n)", "inverse-log"),
    LeagueEntry("power", "a bias of -(kn)^0.5", "power"),
    LeagueEntry("kerple-log", "a learned logarithmic bias (KERPLE)", "kerple-log"),
    LeagueEntry("kerple-power", "a learned power of the distance (KERPLE)", "kerple-power"),
    LeagueEntry("bam", "a learned prior over distance with Scalable-Softmax (BAM)", _compose("bam", "scalable-softmax")),
    LeagueEntry("sandwich", "products of sinusoids as a bias (Sandwich)", "sandwich"),
    LeagueEntry("t5", "a learned bias by buckets of distance (T5)", "t5"),
    LeagueEntry("scalar", "a learned bias by distance",
                {"name": "scalar", "relation": {"name": "relative", "reach": LIMIT}},
                by_track=_long({"name": "scalar", "relation": {"name": "relative", "reach": TEXT_LIMIT}})),
    LeagueEntry("fire", "a learned bias by share of the distance (FIRE)", "fire"),
    LeagueEntry("hard-alibi", "half of the heads see a few tokens (Hard-ALiBi)", "hard-alibi"),
    LeagueEntry("relative", "a learned vector by distance on the keys (Shaw)", _relative(64),
                by_track=_long(_relative(128))),
    LeagueEntry("cope", "counted positions (CoPE)", "cope"),
    LeagueEntry("dape", "a KERPLE bias changed by the logits (DAPE)", {"name": "dape", "of": "kerple-log"}),
    LeagueEntry("fox", "a forgetting gate (FoX)", "fox"),
    LeagueEntry("gated-decay", "channels of keys that fade (Wall attention)", "gated-decay"),
    LeagueEntry("grape-ap", "a bias summed along the path (GRAPE-AP)", "grape-ap"),
    LeagueEntry("path", "reflections by the tokens between (PaTH)", "path"),
    LeagueEntry("selective", "rotary, and tokens that mask others (selective attention)", _compose("rotary", "selective")),
    LeagueEntry("stick-breaking", "stick-breaking attention", "stick-breaking"),
    LeagueEntry("scalable-softmax", "rotary with Scalable-Softmax", _compose("rotary", "scalable-softmax")),
    LeagueEntry("entmax", "rotary with alpha-entmax", _compose("rotary", "entmax")),
    LeagueEntry("log-length", "rotary with a log-length temperature", _compose("rotary", {"name": "log-length", "trained": 36}),
                by_track=_long(_compose("rotary", {"name": "log-length", "trained": 128}))),
    LeagueEntry("swan", "layers without positions and rotary layers with a window (SWAN)",
                {"name": "per-layer", "parts": ["none", _compose("rotary", {"name": "window", "behind": 16})]},
                by_track=_long({"name": "per-layer", "parts": ["none", _compose("rotary", {"name": "window", "behind": 64})]})),
)  # fmt: skip

POSITIONS = (
    LeagueEntry("shifted", "learned positions from a random start", _learned("shifted", 2 * LIMIT), "positions",
                changes={"schemes": [{"name": "shifted", "reach": LIMIT - 36}]},
                by_track={"text": {"schemes": [{"name": "shifted", "reach": TEXT_LIMIT - 128}], "pe": _learned("shifted", 2 * TEXT_LIMIT)}}),
    LeagueEntry("randomized-learned", "randomized positions, a learned vector each", _learned("randomized", LIMIT), "positions",
                changes={"schemes": [{"name": "randomized", "limit": LIMIT}]},
                by_track={"text": {"schemes": [{"name": "randomized", "limit": TEXT_LIMIT}], "pe": _learned("randomized", TEXT_LIMIT)}}),
    LeagueEntry("randomized-rotary", "randomized positions, rotary", {"name": "rotary", "axis": "randomized"}, "positions",
                changes={"schemes": [{"name": "randomized", "limit": LIMIT}]},
                by_track={"text": {"schemes": [{"name": "randomized", "limit": TEXT_LIMIT}]}}),
    LeagueEntry("randomized-fire", "randomized positions, FIRE", {"name": "fire", "axis": "randomized"}, "positions",
                changes={"schemes": [{"name": "randomized", "limit": LIMIT}]},
                by_track={"text": {"schemes": [{"name": "randomized", "limit": TEXT_LIMIT}]}}),
    LeagueEntry("floats", "random float positions, rotary (RFS)", {"name": "rotary-linear", "factor": 64.0, "axis": "floats"}, "positions",
                changes={"schemes": [{"name": "floats", "limit": 64, "parts": 64}]},
                by_track={"text": {"schemes": [{"name": "floats", "limit": 128, "parts": 64}]}}),
)  # fmt: skip

COLUMNS = (
    LeagueEntry("abacus", "digits counted in their number from a random start (Abacus)", _learned("abacus", 320), "columns",
                "significance", {"schemes": [{"name": "abacus", "reach": 200}]}),
    LeagueEntry("coupled", "one position for all digits of a significance, from a random start (position coupling)",
                _learned("coupled", 320), "columns", "significance", {"schemes": [{"name": "coupled", "reach": 200}]}),
    LeagueEntry("coupled-randomized", "position coupling, and FIRE on randomized positions",
                _compose(_learned("coupled", 320), {"name": "fire", "axis": "randomized"}), "columns", "significance",
                {"schemes": [{"name": "coupled", "reach": 200}, {"name": "randomized", "limit": LIMIT}]}),
    LeagueEntry("alibi-columns", "ALiBi by columns, and the role of each token", _compose({"name": "alibi", "axis": "column"}, ROLE),
                "columns", "significance"),
    LeagueEntry("rotary-columns", "rotary by columns, and the role of each token", _compose({"name": "rotary", "axis": "column"}, ROLE),
                "columns", "significance"),
    LeagueEntry("columns", "a vector for each pair of roles and difference of columns, no window", _compose(JOINT, ROLE),
                "columns", "significance"),
    LeagueEntry("alibi-steep", "steep ALiBi by columns, a vector for each pair of roles and difference of columns; far attention is penalised in training, nothing is masked",
                _compose({"name": "alibi", "axis": "column", "slope": 8.0}, JOINT, ROLE), "addition", "significance",
                {"format": "reversed", "stop": "certified-exactly", "model": {"layers": 1}, "train": {"penalty": {"name": "far-attention", "weight": 1.0}}}),
    LeagueEntry("hinted-fire", "numbers from their units on with an index hint at each digit, FIRE on randomized positions",
                {"name": "fire", "axis": "randomized"}, "addition", "significance",
                {"format": {"name": "hinted", "hints": 256}, "schemes": [{"name": "randomized", "limit": 2 * LIMIT}]}),
    LeagueEntry("random-spaces", "random spaces between the digits, a learned vector for each position", _learned("index", 1024),
                "addition", changes={"format": "spaced"}),
    LeagueEntry("reversed-padded", "numbers one after the other, each from its units on and padded with zeros to one width, rotary positions", "rotary",
                "addition", changes={"format": {"name": "reversed", "operands": "reversed", "width": 1, "spare": 1}}),
    LeagueEntry("abc", "rotary with half of the budget, then anew with the lines of this attention alone (ABC)", "rotary", "columns",
                "calibrated", stages=(LeagueStage(0.5), LeagueStage(0.5, takes="calibrated-lines"))),
    LeagueEntry("window", "pairs of roles and differences of columns, in a window of this column and the one before", _compose(*_columns(1)), "addition", "window",
                {"stop": "certified-exactly", "model": {"layers": 1}}),
    LeagueEntry("window-cyclic", "the same window on columns, with cyclic positions", _compose(*_columns(1), _learned("cyclic", 3)), "addition", "window",
                {"schemes": ["cyclic"], "stop": "certified-exactly", "model": {"layers": 1}}),
)  # fmt: skip

OTHERS = (
    LeagueEntry("in-place", "an encoder that answers in place, a learned vector by distance", _relative(64), "in-place",
                changes={**IN_PLACE, "model": {"kind": "encoder"}}),
    LeagueEntry("looped", "one layer in a loop with its question and its last answer, relative keys", _relative(64), "in-place",
                "loops", {**IN_PLACE, "model": {"kind": "looped", "layers": 1, "loops": 6}}),
    LeagueEntry("looped-window", "the loop in a window on columns",
                _compose({"name": "window", "behind": 1, "ahead": 0, "axis": "column"}, JOINT), "in-place", "window",
                {**IN_PLACE, "model": {"kind": "looped", "layers": 1, "loops": 6}}),
    LeagueEntry("gated-linear", "a gated linear recurrence in place of attention", "none", "recurrent",
                changes={"model": {"mixer": "gated-linear"}}),
    LeagueEntry("gru", "a recurrent network (GRU)", "none", "recurrent", changes={"model": {"kind": "gru", "layers": 1, "width": 128}}),
)  # fmt: skip

ENTRIES: Mapping[str, LeagueEntry] = {
    entry.name: entry for entry in (*ENCODINGS, *POSITIONS, *COLUMNS, *OTHERS)
}


def entries_of(track: LeagueTrack, only: str | None = None) -> list[LeagueEntry]:
    """The entries of a track, the best known first; `only`: those named, separated by commas."""
    chosen = [entry for entry in _in_order() if entry.suits(track)]
    if only is None:
        return chosen
    names = [name.strip() for name in only.split(",")]
    known = {entry.name: entry for entry in chosen}
    for name in names:
        if name in ENTRIES and name not in known:
            raise TenfoldError(f'entry "{name}" does not suit the track "{track.name}"')
        if name not in known:
            raise unknown(f"entry of the track {track.name}", name, known)
    return [known[name] for name in dict.fromkeys(names)]


def _in_order() -> Iterator[LeagueEntry]:
    """The usual suspects come first, then one of each label, then the others."""
    first = [*SUSPECTS, "window", "columns", "looped", "abacus", "coupled"]
    yield from (ENTRIES[name] for name in first)
    yield from (entry for name, entry in ENTRIES.items() if name not in first)
