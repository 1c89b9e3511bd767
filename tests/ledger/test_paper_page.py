"""A paper's page: what is filled in between marks, what is refused, and that the committed one is current."""

from pathlib import Path

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.ledger.paper_page import OPENING, fill
from tenfold.ledger.statuses import ledger

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
PAGES = [page for page in ROOT.glob("papers/*/README.md") if OPENING in page.read_text()]
CLAIMS = """
paper: {title: A tiny paper, arxiv: "1"}
claims:
- {id: one-a, place: Table 1, says: it adds, theirs: 97%, how: h, experiment: sums, seeds: 1,
   where: {recipe: tiny/adder, length: 5}, shown: [{at_least: 0.5}]}
- {id: one-b, place: Table 2, says: it | multiplies, theirs: 3%, how: h, experiment: products, seeds: 1,
   where: {recipe: tiny/adder}, shown: [{at_least: 0.5}]}
"""
ROWS = """run,paper,claim,recipe,task,format,encoding,scheme,label,seed,trained,length,slice,metric,value,n,low,high,checkpoint,steps,fingerprint,commit,date
a,tiny,,tiny/adder,addition,in-place,rotary,,generic,0,5,5,uniform,exact,0.75,100,,,best,9,f,c,d
"""


@pytest.fixture
def tiny(tmp_path):
    """`tiny(text)` fills a page of a paper with one committed experiment."""
    paper, folder = tmp_path / "papers/tiny", tmp_path / "results/tiny/sums/laptop"
    paper.mkdir(parents=True)
    folder.mkdir(parents=True)
    (paper / "claims.yaml").write_text(CLAIMS)
    (folder / "rows.csv").write_text(ROWS)
    (folder / "curve.png").write_bytes(b"")

    def filled(text):
        page = paper / "README.md"
        page.write_text(text)
        shelf = tmp_path / "results"
        return fill(page, ledger(["tiny"], (shelf,), (tmp_path / "papers",)), shelf)

    return filled


PAGE = "# Tiny\n<!-- ours: sums/curve products/curve | one-* -->\nstale\n<!-- end -->\nafter\n"


def test_figures_and_claims_are_filled_in(tiny):
    text = tiny(PAGE)
    assert 'src="../../results/tiny/sums/laptop/curve.png" alt="sums, curve, laptop scale"' in text
    assert "*products/curve: not run yet (`tenfold reproduce tiny/products`).*" in text
    assert (
        "| it adds (Table 1; `one-a`) | 97% | exact 75.0%; at 5 digits | reproduced, laptop, 1 run |"
        in text
    )
    assert "| it \\| multiplies (Table 2; `one-b`) | 3% | not run yet | open |" in text
    assert "stale" not in text
    assert text.startswith("# Tiny\n<!-- ours: sums/curve products/curve | one-* -->\n")
    assert text.endswith("<!-- end -->\nafter\n")
    assert tiny(text) == text
    turned = tiny(PAGE.replace("sums/curve products/curve", "products/curve sums/curve"))
    assert turned.splitlines()[2].startswith("<img ")  # what is not there is listed below


def test_a_claim_that_two_patterns_name_stands_once(tiny):
    assert tiny(PAGE.replace("one-*", "one-a one-*")).count("it adds") == 1


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (PAGE.replace("one-*", "one-a"), "no place for the claim one-b"),
        (PAGE.replace("one-*", "two-* one-*"), 'no claim of the paper is "two-\\*"'),
        (PAGE.replace("<!-- end -->", ""), 'a part is "<!-- ours: FIGURES'),
        (PAGE.replace(" | ", " "), 'a part is "<!-- ours: FIGURES'),
        (PAGE.replace("sums/curve", "sums"), 'a figure is EXPERIMENT/NAME, not "sums"'),
    ],
)
def test_a_bad_page_is_one_clear_line(tiny, page, message):
    with pytest.raises(TenfoldError, match=message):
        tiny(page)


def test_a_page_without_marks_stays(tiny):
    assert tiny("# Tiny\n") == "# Tiny\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_committed_pages_are_up_to_date(page):
    paper = page.parent.name
    advice = f"run `tenfold claims --page papers/{paper}/README.md`"
    assert page.read_text() == fill(page, ledger([paper], (RESULTS,)), RESULTS), advice


def test_the_symmetry_page_has_every_figure_of_the_paper():
    (page,) = (page for page in PAGES if page.parent.name == "symmetry")
    heads = " ".join(line for line in page.read_text().splitlines() if line.startswith("## "))
    named = {int(word.strip(",:")) for word in heads.split() if word.strip(",:").isdigit()}
    assert named >= {2, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
    assert "Table 1" in heads


def test_the_command(tenfold, tmp_path):
    page = tmp_path / "papers/symmetry/README.md"
    page.parent.mkdir(parents=True)
    page.write_text("<!-- ours: addition/accuracy | * -->\n<!-- end -->\n")
    code, out, _ = tenfold("claims", "--page", "papers/symmetry/README.md")
    assert (code, out) == (0, "papers/symmetry/README.md\n")
    assert "`fig2-rpe-holds`" in page.read_text()
    code, _, err = tenfold("claims", "--page", "papers/symmetry/README.md", "--status", "open")
    assert code != 0
    assert "leave --status, --out and --json out" in err
    code, _, err = tenfold("claims", "--page", "papers/symmetry/none.md")
    assert "none.md cannot be read" in err
