"""Figures, tables and pages drawn again from committed rows; and results folders that hold what pages show alone."""

import shutil
from pathlib import Path

import pytest

import tenfold as package
from tenfold.core.errors import TenfoldError
from tenfold.ledger.results_folder import keep_shown, shown_figures
from tenfold.results import committed

ROOT = Path(package.__file__).parents[2]
NAME = "symmetry/long-addition"
SHOWN = Path("figure-2b.png")


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with the rows of one experiment, without any figure."""
    monkeypatch.chdir(tmp_path)
    for name in ("rows.csv", "runs.json"):
        path = Path("results", NAME, "laptop", name)
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    page = tmp_path / "papers" / "symmetry" / "README.md"
    page.parent.mkdir(parents=True)
    shutil.copy(ROOT / "papers" / "symmetry" / "README.md", page)
    return tmp_path


def files(folder):
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def test_in_place_what_pages_show(checkout, tenfold):
    folder = checkout / "results" / NAME / "laptop"
    rows = {path: (folder / path).read_bytes() for path in files(folder)}
    code, out, _ = tenfold("redraw", NAME)
    assert code in (0, None)
    assert NAME in out
    shown = shown_figures(checkout / "results", *NAME.split("/"), "laptop")
    assert SHOWN in shown
    assert files(folder) == {*rows, *shown, Path("results.md")}
    assert all((folder / path).read_bytes() == data for path, data in rows.items())
    assert "figure-2b.png" in (checkout / "papers/symmetry/README.md").read_text()
    first = (folder / SHOWN).read_bytes()
    tenfold("redraw", NAME)
    assert (folder / SHOWN).read_bytes() == first


def test_everything_in_another_folder(checkout):
    before = files(checkout)
    (done,) = package.redraw(NAME, "drawn")
    assert (done.experiment, done.scale, done.left) == (NAME, "laptop", ())
    assert {SHOWN, SHOWN.with_suffix(".svg"), Path("report.html")} < set(done.written)
    assert files(checkout / done.folder) == set(done.written)
    page = (checkout / "drawn" / "symmetry.html").read_text()
    assert (
        'role="img" aria-label="Figure 2b, laptop scale. ' in page
    )  # the drawing is in it, named in words
    assert before <= files(checkout)


def test_bad_input(checkout, tenfold, monkeypatch):
    assert 'did you mean "symmetry"' in tenfold("redraw", "symetry")[2]
    assert "has no committed rows to draw from" in tenfold("redraw", "symmetry/text")[2]
    (checkout / "file").write_text("")
    assert "cannot write to file" in tenfold("redraw", NAME, "--out", "file")[2]
    monkeypatch.setattr(committed, "SHELVES", ())
    monkeypatch.setattr("tenfold.ledger.redraw.SHELVES", (checkout / "results",))
    monkeypatch.setattr("tenfold.ledger.redraw.INSTALLED", checkout / "results")
    with pytest.raises(TenfoldError, match="name a folder with --out"):
        package.redraw(NAME)


def test_what_is_kept(tmp_path):
    paths = ("rows.csv", "results.md", "report.html", "a.png", "a.svg", "b.png", "maps/c.png", "deep/d.png")  # fmt: skip
    for path in map(tmp_path.joinpath, paths):
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    keep_shown(tmp_path, None)
    assert files(tmp_path) == set(map(Path, paths))
    keep_shown(tmp_path, {Path("a.png"), Path("maps/c.png")})
    assert set(map(str, files(tmp_path))) == {"rows.csv", "results.md", "a.png", "maps/c.png"}
    assert not (tmp_path / "deep").exists()


def test_what_pages_show(tmp_path):
    assert shown_figures(tmp_path / "results", "tiny", "sums", "laptop") is None
    page = tmp_path / "papers" / "tiny" / "README.md"
    page.parent.mkdir(parents=True)
    page.write_text(
        "<!-- ours: sums/curve sums/maps/all products/curve | one-* -->\n<!-- end -->\n"
    )
    (tmp_path / "README.md").write_text(
        "![x](results/tiny/sums/laptop/other.png) ![y](results/tiny/sums/paper/large.png)"
    )
    shown = shown_figures(tmp_path / "results", "tiny", "sums", "laptop")
    assert set(map(str, shown)) == {"curve.png", "maps/all.png", "other.png"}
