"""The league by its commands: completing the table, entering an encoding, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest

import tenfold as library
from tenfold.league.run_league import LeaguePlace, harvest, run_league

EXAMPLES = Path(library.__file__).parents[2] / "examples"
OWN = """
import torch
from torch import nn
from tenfold.encodings import Attends, PositionalEncoding
from tenfold.data.places import distance


class Mine(PositionalEncoding):
    "A bias by distance."

    name = "mine"
    {declared}

    def __init__(self, heads: int) -> None:
        super().__init__("index")
        self.weight = nn.Parameter(torch.ones(heads))

    def bias(self, q_at, k_at):
        behind, _ = distance(q_at["index"], k_at["index"])
        return self.weight[:, None, None] * ({formula}).unsqueeze(1)
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A folder of results with one row."""
    folder = tmp_path_factory.mktemp("league")
    place = LeaguePlace(folder / "runs", folder / "results", workers=1)
    said = []
    outcome = run_league("parity", scale="smoke", only="none", place=place, say=said.append)
    assert (outcome.done, outcome.failed) == (["none, seed 0"], {})
    assert "to train, " in said[0]  # the time comes first
    return folder


def files(folder):
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_the_table_is_completed_once(table, tenfold):
    before = files(table / "results")
    words = (
        "league",
        "run",
        "--track",
        "parity",
        "--scale",
        "smoke",
        "--workers",
        1,
        "--results",
        table / "results",
    )
    code, out, _ = tenfold(*words, "--only", "none", "--out", table / "runs")
    assert code == 0
    assert out == "1 of 1 rows are committed already\n"
    assert files(table / "results") == before
    code, out, _ = tenfold(*words, "--only", "none,alibi", "--dry-run")
    assert "1 to train" in out
    assert files(table / "results") == before


def test_rows_have_their_provenance(table):
    folder = table / "results/league/parity/smoke"
    (run,) = json.loads((folder / "runs.json").read_text())["runs"]
    assert run["recipe"]["name"] == "league/parity/none"
    assert {"commit", "command", "torch"} <= run["environment"].keys()
    about = json.loads((folder / "details.json").read_text())[run["fingerprint"]]
    assert {"rates", "flops_per_step", "budget", "ended", "command"} <= about.keys()
    assert "does not fit" in (lines := _listed(table))
    assert "no row yet" in lines


def _listed(table):
    from tenfold.league.league_text import listing

    return "\n".join(listing("parity", "smoke", table / "results")[0])


def test_rows_of_another_copy_are_gathered_once(table, tmp_path):
    assert harvest(table / "results", tmp_path / "results") == 1
    assert harvest(table / "results", tmp_path / "results") == 0
    rows = "league/parity/smoke/rows.csv"
    assert (tmp_path / "results" / rows).read_bytes() == (table / "results" / rows).read_bytes()


@pytest.mark.full
def test_an_encoding_of_ones_own_is_ranked_and_not_kept(table, tenfold):
    before = files(table / "results")
    code, out, err = tenfold(
        "league",
        "enter",
        EXAMPLES / "log_bias.py",
        "--track",
        "parity",
        "--scale",
        "smoke",
        "--results",
        table / "results",
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "log-bias: label generic; 6 laws hold"
    assert "to train, " in lines[1]
    assert any(line.startswith(">") and "log-bias" in line for line in lines)
    assert any("none" in line for line in lines[3:])
    assert files(table / "results") == before


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("class Mine: pass", ["has no encoding class"]),
        (
            OWN.format(declared="shift_invariant = True", formula="behind * (q_at['index'][..., None] > 3).double()"),
            ['breaks the law "positions may be moved along index"', "logits differ by", "would be right"],
        ),
        (
            OWN.format(declared="", formula="behind / k_at['index'].amax()"),
            ['breaks the law "a prefix is read as in the longer sequence"', "logits differ by"],
        ),
        (OWN.format(declared="kinds = frozenset({Attends.TWO_WAY})", formula="behind.double()"), ["is not made for causal attention, only for two-way", 'the track "parity" has decoders alone']),
        (OWN.format(declared="", formula="behind.double()") + "\n\nclass Other(Mine):\n    name = 'other'\n", ["has 2 encodings (", "name one, as in mine.py:mine-"]),
        (OWN.format(declared="", formula="0 * behind"), ['breaks the law "a gradient reaches every parameter"', "get none, such as"]),
        (OWN.format(declared="", formula="behind.double()").replace('"index")', '"nowhere")'), ['reads the axis "nowhere", which nothing provides']),
        (OWN.format(declared="", formula="behind.double() + torch.ones(99)"), ["fails in a small model: RuntimeError: The size of tensor", "mine.py, line 20)"]),
        (OWN.format(declared="", formula="self.slope * behind"), ["fails in a small model: AttributeError", "mine.py, line 20)"]),
        (OWN.format(declared="", formula="behind.double()").replace("def bias", "def bais"), ["has none of the methods embed, rotate, "]),
        ("import torch\nclass Mine(:\n", ["failed: SyntaxError"]),
        ("1 / 0", ["failed: ZeroDivisionError"]),
        (
            "import itertools\n\nCALLS = itertools.count()\n" + OWN.format(declared="", formula="-behind.double() * (float('nan') if self.training and next(CALLS) > 100 else self.weight.mean())"),
            ["was not entered: the loss is nan", "at step", "the table is as it was"],
        ),
        (
            OWN.format(declared="", formula="-behind.abs().double()").replace("torch.ones(heads)", "torch.full((heads,), float('nan'))"),
            ["was not entered", "the table is as it was"],
        ),
        (
            "import itertools\n\nCALLS = itertools.count()\n" + OWN.format(declared="", formula="-behind.double() * self.weight.mean() if not self.training or next(CALLS) < 100 else 1 / 0"),
            ["was not entered: ZeroDivisionError: division by zero", "mine.py, line 23)", "the table is as it was"],
        ),
        (OWN.format(declared="", formula="behind.double() + torch.zeros(2, 1, 1).amax(0)"), ["cannot be counted: RuntimeError", "mine.py, line 20)", "on the device of their inputs"]),
        (OWN.format(declared="", formula="behind.double() * (1 if int(behind.max()) >= 0 else 2)"), ["cannot be counted: ", "mine.py, line 20)"]),
    ],
    ids=["no class", "invariance", "prefix", "two-way", "two", "gradient", "axis", "shape", "attribute", "no method", "syntax", "error", "late nan", "nan", "late error", "device", "branch"],
)  # fmt: skip
def test_a_file_that_does_not_fit_is_one_line(tenfold, table, tmp_path, text, parts):
    before = files(table / "results")
    (tmp_path / "mine.py").write_text(text.replace('"mine"', f'"mine-{abs(hash(text)) % 10**6}"'))
    code, _, err = tenfold(
        "league",
        "enter",
        "mine.py",
        "--track",
        "parity",
        "--scale",
        "smoke",
        "--results",
        table / "results",
    )
    assert code == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    for part in parts:
        assert part in err
    assert files(table / "results") == before


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (("enter", "nothing.py"), "there is no Python file"),
        (("enter", "nothing.txt"), "is no Python file"),
        (("enter", "nothing.py", "--track", "sums"), "unknown track"),
        (("enter", "nothing.py", "--scale", "large"), "unknown scale of the league"),
        (("enter", "nothing.py", "--seeds", "x"), "seed"),
        (("run", "--track", "sums"), "unknown track"),
        (("run", "--only", "rotari"), 'did you mean "rotary"'),
        (("run", "--layers", 7, "--only", "none"), "has models of 3 or 1"),
        (("run", "--on", "moon"), "unknown place for a sweep"),
        (("page", "--scale", "smoke", "--results", "."), "no row of the league is committed"),
        (("gather", "nowhere"), "nowhere has no folder league"),
    ],
)
def test_bad_words_are_one_line(tenfold, words, part):
    code, out, err = tenfold("league", *words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert part in err


@pytest.mark.full
def test_the_paper_scale_prints_its_cost_and_trains_nothing(tenfold):
    code, out, _ = tenfold(
        "league", "run", "--scale", "paper", "--only", "none", "--dry-run", "--workers", 1
    )
    assert code == 0
    assert "1 to train, 4e+16 operations each, about" in out


@pytest.mark.full
def test_the_gate_of_the_documentation_enters(tenfold, table, tmp_path):
    shutil.copy(EXAMPLES / "forgetting_gate.py", tmp_path / "gate.py")
    code, out, _ = tenfold(
        "league",
        "enter",
        "gate.py",
        "--track",
        "text",
        "--scale",
        "smoke",
        "--results",
        table / "results",
    )
    assert code == 0
    assert "forgetting-gate" in out
