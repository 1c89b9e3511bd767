"""Two numbers of each thing against each other."""

import matplotlib

from tenfold.papers.extrapolation import scatter


def test_what_differs_beside_is_hollow_and_tied(monkeypatch, tmp_path):
    """Fields as first drawn, beside those as trained; where nothing is learned there is one point."""
    points, real = [], matplotlib.axes.Axes.plot

    def keep(self, x, y, *rest, **more):
        points.append((x, y, more.get("mfc")))
        return real(self, x, y, *rest, **more)

    monkeypatch.setattr(matplotlib.axes.Axes, "plot", keep)
    x, drawn = {"p/a": [3.0], "p/b": [5.0]}, {"p/a": [3.0], "p/b": [9.0, 11.0]}
    names = {"p/a": "a", "p/b": "b"}
    files = scatter.against(
        x, x, dict.fromkeys(names, "alibi"), names, tmp_path / "f", "t", ("x", "y"), beside=drawn
    )
    assert points == [([10.0, 5.0], [5.0, 5.0], None), (10.0, 5.0, "none")]
    assert [path.name for path in files] == ["f.png", "f.svg"]
