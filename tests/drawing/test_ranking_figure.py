"""Figures of a ranking: files that a paper can use, the same bytes each time."""

import re
import subprocess
import sys

import pytest
from PIL import Image

from tenfold.drawing.ranking_figure import IN_COLOUR, WIDTH, draw_ranking
from tenfold.results.collect import collect
from tenfold.results.ranking import rank

MANY = ("alibi", "rotary", "t5", "none", "sinusoidal", "fire", "sandwich", "window")


@pytest.fixture
def runs(make, tmp_path):
    for number, pe in enumerate(MANY):
        for seed in range(2):
            make(pe, seed, {5: 10 - (pe == "window"), 10: 8 - number, 20: seed})
    return tmp_path / "runs"


def ranking(runs, **choices):
    return rank(collect(runs), cost=False, **choices)


def test_two_figures_with_the_same_bytes_in_another_process(runs, tmp_path):
    kinds = ("pdf", "svg", "png")
    ranked = ranking(runs)
    written = [
        path for kind in kinds for path in draw_ranking(ranked, tmp_path / f"new/rank.{kind}")
    ]
    assert [path.name for path in written[:2]] == ["rank.pdf", "rank-lengths.pdf"]
    code = (
        "from pathlib import Path; from tenfold.drawing.ranking_figure import draw_ranking as draw\n"
        "from tenfold.results.collect import collect; from tenfold.results.ranking import rank\n"
        f"ranked = rank(collect({str(runs)!r}), cost=False)\n"
        f"for kind in {kinds}: draw(ranked, Path({str(tmp_path)!r}, 'again', 'rank.' + kind))"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    for path in written:
        assert path.read_bytes() == (tmp_path / "again" / path.name).read_bytes()


def test_text_is_text_and_the_width_is_a_column(runs, tmp_path):
    scores, lengths = draw_ranking(ranking(runs), tmp_path / "rank.svg")
    drawn = scores.read_text()
    for pe in MANY:
        assert re.search(rf">{pe}</text>", drawn)
    assert "dc:date" not in drawn
    for path in (scores, lengths):
        assert f'width="{72 * WIDTH:g}pt"' in path.read_text()
    pdf, _ = draw_ranking(ranking(runs), tmp_path / "rank.pdf")
    assert b"/Subtype /Type0" in pdf.read_bytes()  # a TrueType font: text can be searched
    assert b"CreationDate" not in pdf.read_bytes()
    png, _ = draw_ranking(ranking(runs), tmp_path / "rank.png")
    with Image.open(png) as image:
        assert image.width == pytest.approx(300 * WIDTH, abs=1)


def test_a_few_in_colour_and_one_word_for_the_rest(runs, tmp_path):
    _, lengths = draw_ranking(ranking(runs), tmp_path / "rank.svg")
    drawn = lengths.read_text()
    shown = [pe for pe in MANY if f">{pe}</text>" in drawn]
    assert shown == list(MANY[:IN_COLOUR])
    assert f">{len(MANY) - IN_COLOUR} others</text>" in drawn


def test_several_tables_have_names_that_tell_them_apart(make, tmp_path):
    for pe in ("alibi", "rotary"):
        for label in ("generic", "window"):
            make(pe, 0, {5: 10, 10: 3}, label=label, train={"lr": 0.01 * len(label)})
    written = draw_ranking(ranking(tmp_path / "runs"), tmp_path / "rank.png")
    assert [path.name for path in written] == [
        "rank-generic.png", "rank-generic-lengths.png", "rank-window.png", "rank-window-lengths.png",
    ]  # fmt: skip


def test_perplexity_has_axes_of_its_own(make, measured, tmp_path):
    for pe, tenths in (("alibi", 40), ("rotary", 900)):
        rows = [measured(tenths + n, n, metric="perplexity") for n in (5, 10, 200)]
        make(pe, 0, rows=rows)
    _, lengths = draw_ranking(ranking(tmp_path / "runs"), tmp_path / "rank.svg")
    assert ">perplexity</text>" in lengths.read_text()


def test_the_command_draws_only_when_asked(tenfold, runs, tmp_path):
    code, out, err = tenfold("results", "--rank", "--figure", "figures/rank.pdf", "--format", "csv")
    assert code == 0
    assert "figure: figures/rank-lengths.pdf" in err
    assert (tmp_path / "figures/rank.pdf").read_bytes().startswith(b"%PDF")
    assert out.startswith("table,")


def test_a_table_needs_no_matplotlib(runs):
    code = (
        "import sys; from tenfold.cli.app import main\n"
        f"sys.argv = ['tenfold', 'results', {str(runs)!r}, '--rank']\n"
        "try: main()\n"
        "except SystemExit as done: assert not done.code, done.code\n"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
