"""Figures from an experiment's rows: what is drawn, and that nothing is drawn of nothing."""

import matplotlib
import pytest

from tenfold.drawing import figures_from_rows as from_rows
from tenfold.ledger.experiments import EMPTY

NAME = "p/adder"


def row(**values):
    usual = {
        "recipe": NAME, "task": "addition", "trained": 5, "slice": "uniform", "metric": "exact",
        "value": 0.5, "n": 100, "checkpoint": "best",
    }  # fmt: skip
    return {**EMPTY, **usual, **values}


@pytest.fixture
def shown(monkeypatch):
    """The curves that would be drawn."""
    plotted = []
    real = from_rows.accuracy_by_length

    def keep(curves, *rest, **more):
        plotted.extend(curves)
        return real(curves, *rest, **more)

    monkeypatch.setattr(from_rows, "accuracy_by_length", keep)
    return plotted


def test_by_length_with_seeds(shown, tmp_path):
    rows = [row(length=n, seed=s, value=(10 - n + s) / 10) for n in (3, 7) for s in range(3)]
    rows += [row(length=7, slice="nines"), row(length=7, checkpoint="final"), row(recipe="p/other")]
    files = from_rows.by_length(rows, {NAME: "ours", "p/none": "none"}, tmp_path / "a", "A title")
    (curve,) = shown
    assert (curve.name, curve.trained) == ("ours", 5)
    assert [(p.length, p.median, p.spread) for p in curve.points] == [
        (3, 0.8, (0.7, 0.9)), (7, 0.4, (0.3, 0.5)),
    ]  # fmt: skip
    assert sorted(path.name for path in files) == ["a.png", "a.svg"]
    assert all(path.is_file() for path in files)


def test_side_by_side_has_a_panel_for_each_series_with_rows(monkeypatch, tmp_path):
    drawn = []
    real = from_rows.draw_accuracy

    def keep(axes, curves, *rest, **more):
        drawn.append((axes, [curve.name for curve in curves]))
        real(axes, curves, *rest, **more)

    monkeypatch.setattr(from_rows, "draw_accuracy", keep)
    rows = [row(recipe=f"p/{name}", length=n) for name in ("a", "b", "c") for n in (3, 7)]
    panels = {"one": {"p/a": "x", "p/b": "y"}, "two": {"p/c": "x"}, "none": {"p/d": "x"}}
    files = from_rows.side_by_side(rows, panels, tmp_path / "panels", "A title")
    assert [names for _, names in drawn] == [["x", "y"], ["x"]]
    assert [axes.get_title(loc="left") for axes, _ in drawn] == ["one", "two"]
    assert sorted(path.name for path in files) == ["panels.png", "panels.svg"]
    assert from_rows.side_by_side([], panels, tmp_path / "nothing", "A title") == []


def test_by_run_reads_the_slice(shown, tmp_path):
    rows = [
        row(length=10, slice=f"cascade-{k}", value=v) for k, v in ((1, 0.9), (8, 0.2), ("all", 0))
    ]
    rows += [row(length=10, slice="carries-3"), row(length=9, slice="cascade-2")]
    from_rows.by_run(rows, {NAME: "ours"}, tmp_path / "a", "t", length=10, kind="cascade")
    assert [(p.length, p.median) for p in shown[0].points] == [(1, 0.9), (8, 0.2), (10, 0)]
    from_rows.by_run(rows, {NAME: "ours"}, tmp_path / "b", "t", length=10, kind="carries")
    assert [p.length for p in shown[1].points] == [3]


def test_by_digit_reads_the_metric(monkeypatch, tmp_path):
    plotted, real = {}, matplotlib.axes.Axes.plot

    def keep(axes, x, y, **more):
        plotted[more["label"]] = dict(zip(x, y, strict=True))
        return real(axes, x, y, **more)

    monkeypatch.setattr(matplotlib.axes.Axes, "plot", keep)
    rows = [row(metric=f"explained-{k}", seed=s, value=v + s / 10) for k, v in ((2, 0.5), (1, 0.8)) for s in range(3)]  # fmt: skip
    rows += [row(metric="explained-true-1", value=1.0), row(metric="explained", value=0.1)]
    rows += [row(metric="explained-3", recipe="p/other")]
    series = {"explained": "model", "explained-true": "truth"}
    files = from_rows.by_digit(rows, NAME, series, tmp_path / "a", "t")
    assert plotted == {"model": {1: 0.9, 2: 0.6}, "truth": {1: 1.0}}
    assert sorted(path.name for path in files) == ["a.png", "a.svg"]
    assert from_rows.by_digit([], NAME, series, tmp_path / "b", "t") == []


def test_by_count_reads_the_recipe_name(monkeypatch, tmp_path):
    plotted, real = [], matplotlib.axes.Axes.plot

    def keep(self, x, y, **more):
        plotted.append((list(x), list(y)))
        return real(self, x, y, **more)

    monkeypatch.setattr(matplotlib.axes.Axes, "plot", keep)
    values = {300: (0.1, 0.4, 0.2), 1000: (0.9,)}
    rows = [
        row(recipe=f"{NAME}-from-{count}", length=5, seed=seed, value=value)
        for count, own in values.items()
        for seed, value in enumerate(own)
    ]
    rows += [row(recipe=f"{NAME}-from-300", length=6), row(length=5)]
    options = {"length": 5, "counts": (300, 1000, 3000)}
    from_rows.by_count(rows, {NAME: "ours", "p/none": "none"}, tmp_path / "a", "t", **options)
    assert plotted == [([300, 1000], [20.0, 90.0])]


@pytest.mark.parametrize(("long", "kind"), [(10, "cascade"), (200, "cascade"), (10, "carries")])
def test_lengths_of_training_are_shaded_on_an_axis_of_lengths_alone(
    monkeypatch, tmp_path, long, kind
):
    shaded = []
    monkeypatch.setattr(
        matplotlib.axes.Axes, "axvspan", lambda self, *span, **_: shaded.append(span)
    )
    rows = [row(length=long, slice=f"{kind}-{k}") for k in (1, 4, long)]
    options = {"length": long, "kind": kind}
    _, svg = from_rows.by_run(rows, {NAME: "ours"}, tmp_path / "a", "t", **options)
    assert shaded == []
    assert "trained on" not in svg.read_text()
    _, svg = from_rows.by_length([row(length=7)], {NAME: "ours"}, tmp_path / "b", "t")
    assert shaded
    assert set(shaded) == {(0.5, 5.5)}
    assert "trained on up to 5 digits" in svg.read_text()
    edges = [row(length=7, task="reachability")]
    _, svg = from_rows.by_length(edges, {NAME: "ours"}, tmp_path / "c", "t")
    assert "trained on up to 5 edges" in svg.read_text()


def test_a_rise_is_over_what_each_seed_had_at_the_training_length(monkeypatch, tmp_path):
    plotted, real = [], from_rows.perplexity_by_length

    def keep(curves, *rest, **more):
        plotted.extend(curves)
        return real(curves, *rest, **more)

    monkeypatch.setattr(from_rows, "perplexity_by_length", keep)
    rows = [
        row(metric="perplexity", task="python-code", length=n, seed=s, value=v)
        for s, values in enumerate(((4, 4, 5), (8, 8, 8)))
        for n, v in zip((5, 10, 90), values, strict=True)
    ]
    rows.append(
        row(recipe="p/long", metric="perplexity", length=90, seed=0)
    )  # nothing to divide by
    options = {"level": 1.05, "limits": (0.9, 1.3)}
    series = {NAME: "ours", "p/long": "long"}
    files = from_rows.rise(rows, series, tmp_path / "rise", "t", **options)
    (curve,) = plotted
    assert [(p.length, p.spread) for p in curve.points] == [
        (5, (1, 1)),
        (10, (1, 1)),
        (90, (1, 1.25)),
    ]
    assert "1.05" in files[1].read_text()
    assert from_rows.rise([], series, tmp_path / "none", "t", **options) == []


def test_over_training_has_a_line_a_seed(monkeypatch, tmp_path):
    plotted = []
    monkeypatch.setattr(
        matplotlib.axes.Axes, "plot", lambda self, x, y, **_: plotted.append((list(x), list(y)))
    )
    monkeypatch.setattr(matplotlib.axes.Axes, "has_data", lambda self: False)
    rows = [
        row(length=5, seed=s, steps=step, checkpoint=f"step-{step}", value=step / 400)
        for s in (0, 1)
        for step in (200, 100)
    ]
    from_rows.over_training([*rows, row(length=5, steps=300)], NAME, tmp_path / "a", "t", [5])
    assert plotted == [([100, 200], [25.0, 50.0])] * 2


def test_a_table_beside_what_was_published(tmp_path):
    published = {"uniform": (0.81, 0.01), "digit-1": (0.9, 0.01), "digit-2": (0.96, 0.01)}
    measured = {"uniform": [0.7, 0.8], "digit-1": [0.9]}
    files = from_rows.beside_published(measured, published, tmp_path / "table", "t")
    text = files[1].read_text()
    assert "digit-1" in text
    assert "digit-2" not in text


def test_nothing_to_show_is_no_figure(tmp_path):
    assert from_rows.by_length([], {NAME: "ours"}, tmp_path / "a", "t") == []
    assert from_rows.over_training([], NAME, tmp_path / "b", "t", [5]) == []
    assert from_rows.beside_published({}, {"a": (1.0, 0.0)}, tmp_path / "c", "t") == []
    assert list(tmp_path.iterdir()) == []
