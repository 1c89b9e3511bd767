"""Positional maps and influence as pictures, in words, as JSON, on the command line."""

import itertools
import json

import pytest
import torch
from PIL import Image

from tenfold.drawing.report_page import write_report
from tenfold.features.influence.run_influence import influence, lists
from tenfold.features.maps.map_figures import _vectors, draw_maps
from tenfold.features.maps.map_section import as_json, map_lines
from tenfold.features.maps.positional_maps import Layer, layers
from tenfold.features.maps.run_maps import maps
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import Run
from tenfold.runs.train import train


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of a second each: sums and products, relative, uniform and absolute."""
    folder = tmp_path_factory.mktemp("runs")
    names = ("addition-relative", "multiplication-1-uniform", "addition-absolute")
    return {
        name: train(
            recipe(f"symmetry/{name}", "smoke", eval={"slices": ["uniform"]}), folder / name
        )
        for name in names
    }


def written(figures):
    """Every PNG has colours, every SVG is whole."""
    for figure in figures:
        png, svg = figure.files
        assert len(Image.open(png).convert("RGB").getcolors(1 << 24)) > 20
        assert svg.read_text().rstrip().endswith("</svg>")
        assert figure.svg.startswith("<svg ")
    return [figure.files[0].name for figure in figures]


def test_a_figure_for_all_layers(runs, tmp_path):
    found = maps(runs["addition-relative"])
    assert written(draw_maps(found, tmp_path, "a title")) == ["maps.png"]
    text = (tmp_path / "maps.svg").read_text()
    assert text.count("layer 1") == 1  # drawn as paths, named in comments
    for words in ("offset on index,", "element of the vector", "next lower digit"):
        assert words in text


def test_tables_beside_each_other(runs, tmp_path):
    (layer,) = maps(runs["multiplication-1-uniform"])
    assert [each.title for each in layer.maps] == ["keys", "keys, operand 1"]
    draw_maps([layer], tmp_path, "a title")
    assert "digit 0" in (tmp_path / "maps.svg").read_text()


JOINT = {"name": "pairwise", "relation": {"name": "joint", "reach": 9}}
PARTS = {"name": "compose", "parts": [{"name": "learned", "limit": 20}, JOINT]}


@pytest.mark.parametrize("pe", [JOINT, "t5", "alibi", "fire", PARTS], ids=str)
@pytest.mark.parametrize("depth", [1, 4])
def test_whatever_there_is_can_be_drawn(make_model, make_batcher, ragged, tmp_path, pe, depth):
    model = make_model("encoder", pe, layers=depth)
    found = layers(model, make_batcher("in_place", frame=6)(ragged))
    assert written(draw_maps(found, tmp_path, "100% $ <title>"))
    assert map_lines(found)
    json.dumps(as_json(found))


@pytest.mark.parametrize("depth", [3, 4, 7])
def test_every_bar_of_colours_has_its_own_place(runs, depth):
    """Also where layers take several rows of panels, each with two tables."""
    (layer,) = maps(runs["multiplication-1-uniform"])
    figure = _vectors([layer] * depth)
    figure.draw_without_rendering()
    bars = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    assert (len(bars), len(figure.axes)) == (2, 2 * depth + 2)
    for bar, other in itertools.product(bars, figure.axes):
        assert bar is other or not bar.get_tightbbox().overlaps(other.get_tightbbox())


@pytest.mark.parametrize("name", ["addition-relative", "multiplication-1-uniform"])
def test_no_label_lies_on_a_title_or_on_another_label(runs, name):
    """Tables of few rows are low; their labels still end below the title of their panel."""
    figure = _vectors(maps(runs[name]))
    figure.draw_without_rendering()
    for axes in figure.axes:
        title, label = axes.get_title(loc="left"), axes.yaxis.label
        if title and label.get_text():
            over = axes._left_title.get_window_extent()
            assert label.get_window_extent().y1 <= over.y1
            assert not label.get_window_extent().overlaps(over)
        ticks = [t.get_window_extent() for t in axes.get_yticklabels() if t.get_text()]
        for one, other in itertools.pairwise(ticks):
            assert not one.overlaps(other)
        assert label.get_window_extent().y0 >= 0


def test_nothing_to_draw(make_model, make_batcher, ragged, tmp_path):
    found = layers(make_model("encoder", "rotary"), make_batcher("in_place", frame=6)(ragged))
    assert draw_maps(found, tmp_path, "a title") == []
    assert map_lines(found) == ['all layers: the encoding "rotary" has nothing learned to show']


def test_longest_first(runs):
    run = runs["addition-relative"]
    found = maps(run)
    encoding = run.model().stack.encodings[0]
    with torch.no_grad():
        before = encoding.table.clone()
        encoding.table[encoding.relation.reach + 1 - 1] = 7.0  # offset -1, of a head of 8
    line = map_lines(maps(run), 2)[0]
    with torch.no_grad():
        encoding.table.copy_(before)
    assert line.startswith("layer 1, keys by offset on index, query - key; longest:  -1 (19.8)")
    assert map_lines(found)[-1] == "the next lower digit of the same number is at offset -1"


def test_maps_on_the_command_line(runs, tenfold, tmp_path):
    folder = runs["addition-relative"].folder
    code, out, _ = tenfold("maps", folder, "--out", "pages", "--figures", "drawn")
    assert code == 0
    assert {path.name for path in (tmp_path / "pages").iterdir()} == {"maps.html", "maps.json"}
    page = (tmp_path / "pages/maps.html").read_text()
    for words in ("<title>Positional maps of symmetry/addition-relative</title>", 'id="maps"',
                  "Orange is positive, blue is negative", "<td>tenfold maps addition-relative --out pages",
                  "<tr><th>seed</th><td>0</td></tr>", "<tr><th>trained with</th>"):  # fmt: skip
        assert words in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert out.endswith(
        "page: pages/maps.html\ndata: pages/maps.json\ndrawn/maps.png\ndrawn/maps.svg\n"
    )
    assert out.startswith("layer 1, keys by offset on index")
    assert "layers-led-by-previous: " in out
    assert (tmp_path / "drawn" / "maps.png").exists()
    code, out, _ = tenfold("maps", folder, "--json", "--checkpoint", "final")
    found = json.loads(out)
    assert code == 0
    assert list(found["layers"][0]["maps"][0]["rows"]) == [str(n) for n in range(-4, 9)]
    assert set(found["measures"]) == {
        "layers-led-by-previous", "dispersion", "weight-at-2-3", "weight-at-4-5",
    }  # fmt: skip
    assert found["figures"] == []
    assert found["page"] == str(folder / "maps.html")
    held = json.loads((folder / "maps.json").read_text())
    assert held == {key: found[key] for key in ("layers", "measures")}


def test_a_run_that_is_not_trained(tenfold, tmp_path, runs):
    folder = tmp_path / "untrained"
    folder.mkdir()
    (folder / "recipe.yaml").write_bytes(
        (runs["addition-relative"].folder / "recipe.yaml").read_bytes()
    )
    for command in (["maps", folder], ["influence", folder, "--length", 2]):
        code, out, err = tenfold(*command)
        assert (code, out) == (2, "")
        assert err == f"error: {folder} has no checkpoint yet; train it first\n"


def test_influence_on_the_command_line(runs, tenfold, tmp_path):
    folder = runs["addition-relative"].folder
    code, out, _ = tenfold(
        "influence", folder, "--length", 3, "--n", 4, "--out", "pages", "--figures", "drawn"
    )
    assert code == 0
    assert out.startswith("4 problems, ")
    assert out.count(" in\\out   3   2   1   0") == 4  # two operands, the model and the truth
    assert (tmp_path / "drawn" / "influence.svg").exists()
    page = (tmp_path / "pages/influence.html").read_text()
    assert "of the 4 unchanged problems exactly right" in page
    assert "<tr><th>problems</th><td>4</td></tr>" in page
    assert 'id="influence"' in page
    held = json.loads((tmp_path / "pages/influence.json").read_text())
    assert held["problems"] == 4
    code, out, _ = tenfold(
        "influence", folder, "--length", 3, "--n", 2, "--slice", "cascades", "--json"
    )
    found = json.loads(out)
    assert code == 0
    assert found["problems"] == 6  # cascades of 1, 2 and all
    assert len(found["truth"]) == 2
    assert found["truth"][0][1][0] == 0  # the tens do not move the units
    assert found["truth"][0][1][1] == 1


def test_lists_on_the_command_line(runs, tenfold, tmp_path):
    folder = runs["addition-relative"].folder
    code, out, _ = tenfold(
        "influence", folder, "--length", 2, "--n", 3, "--lists", "--out", tmp_path
    )
    assert code == 0
    assert out.splitlines()[0].startswith("answer digit 2: ")
    assert "\nsame-list: " in out
    assert {path.name for path in tmp_path.iterdir()} == {"lists.html", "lists.json"}
    assert "answer digits depend on" in (tmp_path / "lists.html").read_text()
    code, out, _ = tenfold("influence", folder, "--length", 2, "--n", 3, "--lists", "--json")
    found = json.loads(out)
    assert set(found["lists"]) == {"0", "1", "2"}
    assert found["same_list"] == lists(Run.open(folder), 2, 3).same_list


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--length", 9], 'a length of 9 digits does not fit the format "in-place", which holds 4'),
        (["--length", 2, "--n", 0], "0 problems; at least 1 is needed"),
        (["--length", 2, "--lists", "--slice", "nines"], "--lists makes its own problems; leave --slice out"),
        (["--length", 1, "--slice", "unequal"], 'the slice "unequal" asks nothing of 1 digits of this task'),
        (["--length", 2, "--slice", "nine"], 'unknown slice "nine"; did you mean "nines"?'),
    ],
)  # fmt: skip
def test_what_cannot_be_is_one_line(runs, tenfold, words, error):
    code, out, err = tenfold("influence", runs["addition-relative"].folder, *words)
    assert (code, out, err) == (2, "", f"error: {error}\n")


def test_a_product_in_python(runs):
    found = influence(runs["multiplication-1-uniform"], 3, 5)
    assert found.truth.shape == (2, 3, 4)
    assert found.counts[0, 0] <= 5 * 9


def test_a_page_about_one_recipe_shows_them(runs, tmp_path):
    one = write_report([runs["addition-relative"]], tmp_path / "one")
    page = one["page"].read_text()
    assert page.count("<h2>Positions</h2>") == page.count('id="maps"') == 1
    assert "longest:" in page
    assert (tmp_path / "one" / "maps.png").exists()
    two = write_report([runs["addition-relative"], runs["addition-absolute"]], tmp_path / "two")
    assert "<h2>Positions</h2>" not in two["page"].read_text()


def test_layers_without_tables_are_told_by_name():
    assert Layer("layer 1", "none", (), {}).nothing.startswith('the encoding "none"')
