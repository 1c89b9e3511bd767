"""Drawings of machines: everything is there, nothing lies on anything else."""

import itertools
import re
from html import unescape
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib import pyplot

from tenfold.data.tasks.transducer import END, Transducer
from tenfold.features.proofs.machine import Difference, Moves, difference, minimal
from tenfold.features.proofs.machine_drawing import (
    MOST_ARROWS,
    RADIUS,
    RED,
    _Graph,
    _overlap,
    _sides,
    draw_machine,
    legend_of,
)
from tenfold.features.proofs.machine_legend import LEGEND, as_html


def as_moves(output, following):
    node, symbol = np.indices(output.shape).reshape(2, -1)
    after = np.where(output == END, -1, following)
    return Moves(np.array([0]), node, symbol, output.ravel(), after.ravel())


def of(task):
    return minimal(as_moves(task.output, task.next), task.symbols)


def adder(base=10):
    def rule(carry, digits):
        total = carry + sum(d or 0 for d in digits)
        if total == 0 and digits == (None, None):
            return END, 0
        return total % base, total // base

    return Transducer.of(base, 2, 2, rule)


def division(states):
    """By a number, written from the left: its remainders are the states."""

    def rule(left, digits):
        if digits[0] is None:
            return END, left
        return (2 * left + digits[0]) // states, (2 * left + digits[0]) % states

    return Transducer.of(2, 1, states, rule)


def counter(states):
    """Every so many columns a 1."""
    return Transducer.of(
        2, 1, states, lambda q, d: (END, q) if d[0] is None else (int(q == 0), (q + 1) % states)
    )


def columns(task):
    names = [*map(str, range(task.base)), "-"]
    return lambda symbol: ",".join(names[d] for d in task.digits(np.array(symbol)))


def texts(path):
    """What an SVG says; letters are drawn as curves, and told in comments."""
    text = path.read_text()
    ElementTree.fromstring(text)
    return [unescape(found.strip()) for found in re.findall(r"<!-- (.*?) -->", text, re.DOTALL)]


def test_the_adder_says_what_it_does(tmp_path):
    task = adder()
    path = draw_machine(of(task), tmp_path / "adder.svg", columns(task))
    said = texts(path)
    assert {"0", "1", "end", "start", "-,- / end"} <= set(said)
    whole = "\n".join(said)
    counts = sorted(int(n) for n in re.findall(r"(\d+) columns", whole))
    assert counts == [45, 57, 64, 75, 75]  # the legend repeats one; and one column ends
    assert "9,9 / 8" in whole
    assert "0,0 / 1" in whole
    assert RED.lower() not in path.read_text().lower()


def test_a_legend_says_what_every_sign_means(tmp_path):
    """In the file and on the page; only what the drawing has is explained."""
    task = adder()
    said = " ".join(texts(draw_machine(of(task), tmp_path / "adder.svg", columns(task))))
    listed = as_html(legend_of(of(task), columns(task)))
    for words in ("The machine starts here", "A state: all that it remembers", "Where it goes after a column",
                  "one digit of each number in this column", "this number has ended", "The answer is complete"):  # fmt: skip
        assert words in " ".join(said.split())
        assert words in listed
    assert re.search(r"<code>\d,\d / \d</code>", listed)
    assert "does not do what its task asks" not in listed
    endless = of(Transducer.of(2, 1, 2, lambda q, d: (0, q) if d[0] is None else (d[0], d[0])))
    assert "The answer is complete" not in as_html(legend_of(endless, str))


def test_the_legend_lies_below_the_drawing():
    machine, task = of(adder()), adder()
    graph = _Graph(machine, columns(task), str, None)
    graph.draw(machine.arrows(), legend_of(machine, columns(task)))
    legend = [t.get_window_extent() for t in graph.axes.texts if t.get_gid() == LEGEND]
    others = [
        t.get_window_extent() for t in graph.axes.texts if t.get_text() and t.get_gid() != LEGEND
    ]
    assert len(legend) == 7 + 3  # meanings, and signs that are letters
    assert max(box.y1 for box in legend) < min(box.y0 for box in others)
    for one, other in itertools.combinations(legend, 2):
        assert _overlap(_sides(one), _sides(other)) == 0
    assert all(graph.figure.bbox.contains(*corner) for box in legend for corner in box.get_points())
    pyplot.close(graph.figure)


def test_what_differs_is_red_and_told(tmp_path):
    task = adder()
    broken = task.output.copy()
    broken[1, 9 * 11 + 10] = 7
    machine = minimal(as_moves(broken, task.next), 121)
    found = difference(machine, task.output, task.next, np.array([0]))
    path = draw_machine(machine, tmp_path / "broken.svg", columns(task), differs=found)
    whole = "\n".join(texts(path))
    assert "After 1,9, state 1 reads 9,-" in whole
    assert "and writes 7; the task writes 0." in whole
    assert "9,- / 7" in whole
    assert "56 columns" in whole  # the others that lead there
    assert RED.lower() in path.read_text().lower()


def test_outputs_are_written_as_the_caller_likes(tmp_path):
    task = counter(2)
    path = draw_machine(of(task), tmp_path / "named.svg", columns(task), token="<>".__getitem__)
    whole = "\n".join(texts(path))
    assert "0 / <" in whole
    assert "1 / >" in whole
    assert "- / end" in whole


def test_twice_the_same_file(tmp_path):
    task = adder(3)
    one, two = (
        draw_machine(of(task), tmp_path / name, columns(task)).read_bytes()
        for name in ("a.svg", "b.svg")
    )
    assert one == two


@pytest.mark.parametrize("task", [adder(10), *map(division, (3, 7, 11)), *map(counter, (1, 2, 4, 6, 9, 12))])  # fmt: skip
def test_labels_cover_no_state_and_no_other_label(task):
    machine = of(task)
    assert len(machine.arrows()) <= MOST_ARROWS
    graph = _Graph(machine, columns(task), str, None)
    graph.draw(machine.arrows())
    names = {*map(str, range(machine.states)), "end", ""}
    labels = [t.get_window_extent() for t in graph.axes.texts if t.get_text() not in names]
    assert len(labels) == len(machine.arrows()) + 1  # and the start
    for one, other in itertools.combinations(labels, 2):
        assert _overlap(_sides(one), _sides(other)) < 0.02
    for place in graph.places[: machine.states + 1]:
        for label in labels:
            x, y = graph.axes.transData.inverted().transform(label.get_points()).T
            nearest = np.array([np.clip(place[0], *x), np.clip(place[1], *y)])
            assert np.linalg.norm(nearest - place) > 0.9 * RADIUS
    window = graph.figure.bbox
    assert all(window.contains(*corner) for label in labels for corner in label.get_points())
    pyplot.close(graph.figure)


@pytest.mark.parametrize("states", [5, 8, 12])
def test_arrows_go_from_border_to_border_and_through_no_state(states):
    machine = of(division(states)) if states % 2 else of(counter(states))
    graph = _Graph(machine, str, str, None)
    for arrow in machine.arrows():
        (line,) = graph._lines(arrow, 0)
        ends = graph.places[[arrow.source, arrow.target]]
        reach = np.linalg.norm(line.curve[[0, -1]] - ends, axis=1)
        np.testing.assert_allclose(reach, RADIUS, rtol=0.1)
        others = np.delete(graph.places, [arrow.source, arrow.target], 0)
        assert np.linalg.norm(line.curve[:, None] - others, axis=2).min() > RADIUS
    pyplot.close(graph.figure)


def test_many_states_are_a_matrix(tmp_path, rng):
    output, following = rng.integers(10, size=(46, 121)), rng.integers(46, size=(46, 121))
    machine = minimal(as_moves(output, following), 121)
    assert machine.states == 46
    wrong = Difference(0, np.array([3, 5]), 7, int(machine.output[7, 5]), 7, 0)
    path = draw_machine(machine, tmp_path / "big.svg", differs=wrong)
    said = texts(path)
    assert {"to state", "from state", "columns", "start  0", "45"} <= set(said)
    assert "state 7 reads 5" in "\n".join(said)
    assert "end" not in said  # it never ends
    assert draw_machine(machine, tmp_path / "big.png").stat().st_size > 10_000


def test_too_many_arrows_are_a_matrix_with_numbers(tmp_path, rng):
    output, following = rng.integers(10, size=(8, 50)), rng.integers(8, size=(8, 50))
    machine = minimal(as_moves(output, following), 50)
    path = draw_machine(machine, tmp_path / "dense.svg")
    numbers = [int(text) for text in texts(path) if text.isdigit()]
    counts = np.array([len(arrow.symbols) for arrow in machine.arrows()])
    assert len(counts) > MOST_ARROWS
    for count in np.unique(counts):
        assert numbers.count(count) >= (counts == count).sum()
