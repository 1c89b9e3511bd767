"""Which edges can be walked, against a plain search; and what is drawn."""

import itertools
from collections import deque

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.batch import Batcher
from tenfold.data.formats.interleaved import Interleaved
from tenfold.data.formats.numeric import Reversed
from tenfold.data.formats.random_words import InText
from tenfold.data.tasks import samplers
from tenfold.data.tasks.symbolic.reachability import Reachability


def distances(text):
    """Steps to every node that is reached, by breadth-first search, and the edges as pairs."""
    start, listed = text.split("?")
    edges = listed.split(",")
    steps, waiting = {start: 0}, deque([start])
    while waiting:
        node = waiting.popleft()
        for source, target in edges:
            if source == node and target not in steps:
                steps[target] = steps[node] + 1
                waiting.append(target)
    return steps, edges


def searched(text):
    steps, edges = distances(text)
    return "".join("y" if edge[0] in steps else "n" for edge in edges)


def test_all_graphs_of_three_edges():
    task = Reachability(nodes=4)
    pairs = list(itertools.product("0123", repeat=2))
    for edges in itertools.product(map("".join, pairs), repeat=3):
        text = f"1?{','.join(edges)}"
        examples = task.parse(text)
        assert task.question(examples, 0) == text
        assert task.truth(examples, 0) == searched(text)


@pytest.mark.parametrize("nodes", [4, 8, 16])
@pytest.mark.parametrize("length", [1, 2, 6, 40, 500])
def test_drawn_graphs(nodes, length, rng):
    task = Reachability(nodes)
    examples = task.sample(30, length, rng, samplers.lengths)
    for row in range(30):
        text = task.question(examples, row)
        assert task.truth(examples, row) == searched(text)
        assert all(source != target for source, target in distances(text)[1])


@pytest.mark.parametrize("length", [1, 2, 6, 60])
def test_half_of_the_edges_can_be_walked(length, rng):
    task = Reachability()
    examples = task.sample(4000, length, rng, samplers.exact)
    no, yes = task.vocabulary.ids("ny")
    assert set(np.unique(examples.answer[:, :length])) == {no, yes}
    share = (examples.answer[:, :length] == yes).mean(0)  # at every place in the list
    assert share == pytest.approx(0.5, abs=0.04)


def test_steps_are_many_or_few(rng):
    task = Reachability(nodes=6)
    examples = task.sample(2000, 40, rng, samplers.exact)
    farthest = [max(distances(task.question(examples, row))[0].values()) for row in range(2000)]
    assert np.bincount(farthest)[1:] / 2000 == pytest.approx([0.25] * 4, abs=0.04)


def test_every_node_stands_everywhere_but_0_in_the_first_edge(rng):
    task = Reachability(nodes=5)
    examples = task.sample(3000, 4, rng, samplers.exact)
    for operand, column in itertools.product((1, 2), range(4)):
        counts = np.bincount(examples.operands[:, operand, column], minlength=5) / 3000
        if column == 3:
            assert counts[0] == 0
            assert counts[1:] == pytest.approx([0.25] * 4, abs=0.04)
        else:
            assert counts.min() > 0.15
    assert np.bincount(examples.operands[:, 0, 0]).min() > 400


@pytest.mark.parametrize(("nodes", "length"), [(4, 1), (8, 5), (8, 6), (16, 9), (5, 30)])
def test_hard_ones_are_as_far_as_their_label_says(nodes, length, rng):
    task = Reachability(nodes)
    hard = task.hard(length)["cascades"]
    most = min(max(length - 1, 1), nodes - 2)
    for label, sampler in hard.items():
        size = most if label == "steps-most" else int(label.removeprefix("steps-"))
        examples = task.sample(60, length, rng, sampler)
        for row in range(60):
            steps, edges = distances(task.question(examples, row))
            assert max(steps.values()) == size
            assert len(edges) == length
    assert list(Reachability(8).hard(6)["cascades"]) == ["steps-1", "steps-2", "steps-4", "steps-most"]  # fmt: skip


def test_written_as_pairs_behind_the_start():
    task = Reachability()
    examples = task.parse("0?34,05,53")
    line = Interleaved().write(examples, task.vocabulary)
    assert task.vocabulary.text(line.question.tokens[0]) == "?034005053"
    assert line.question.role[0].tolist() == [1, 3, 4, 5, 3, 4, 5, 3, 4, 5]
    assert line.question.column[0].tolist() == [-1, 2, 2, 2, 1, 1, 1, 0, 0, 0]
    assert task.vocabulary.text(line.answer.tokens[0]) == "yyy;_"
    line = Reversed().write(examples, task.vocabulary)
    assert task.vocabulary.text(line.question.tokens[0]) == "0?305?453"
    assert line.question.role[0].tolist() == [3, 1, 4, 4, 4, 1, 5, 5, 5]
    assert line.question.column[0].tolist() == [-1, -1, 2, 1, 0, -1, 2, 1, 0]


@pytest.mark.parametrize("layout", ["causal", "seq2seq"])
def test_in_both_layouts(layout):
    task = Reachability()
    batch = Batcher(task, Interleaved(), layout)(task.parse("1?10,02,31"))
    assert task.vocabulary.text(batch.target[0, :4]) == "nyy;"  # from the last edge on


def test_among_words(rng):
    """Number by number there: where edges come from, where they lead to."""
    task = Reachability()
    batcher = Batcher(task, InText(frame=5, most=2), "in_place")
    examples = task.sample(20, 4, rng, samplers.lengths)
    for row in range(20):
        question = batcher.question(examples, row)
        assert batcher.question(batcher.parse(question), 0) == question
        assert task.truth(batcher.parse(question), 0) == task.truth(examples, row)


@pytest.mark.parametrize("text", ["0?34,05,53", " 0 ? 34 05, 53", "0?340553", "0?305?453"])
def test_parse(text):
    task = Reachability()
    assert task.question(task.parse(text), 0) == "0?34,05,53"


@pytest.mark.parametrize(
    "text", ["", "0", "0?", "0?3", "0?345", "0?38", "34,05", "0?34?0", "01?23"]
)
def test_what_is_no_graph(text):
    with pytest.raises(TenfoldError) as caught:
        Reachability().parse(text)
    message = f'"{text}" is no start with edges between nodes 0 to 7; write it as "0?12,01"'
    assert str(caught.value) == message


@pytest.mark.parametrize(("nodes", "start"), [(4, 1), (4, 3), (9, 5)])
def test_one_start_for_all(nodes, start, rng):
    task = Reachability(nodes, start=start)
    drawn = [task.sample(300, 4, rng, sampler) for sampler in (samplers.lengths, *task.hard(4)["cascades"].values())]  # fmt: skip
    for examples in drawn:
        assert (examples.operands[:, 0, 0] == start).all()
        for row in range(300):
            assert task.truth(examples, row) == searched(task.question(examples, row))
    names = np.bincount(drawn[0].operands[drawn[0].lengths[:, 1] == 4][:, 1:, 0].ravel())
    assert (names > 0).all()
    assert task.truth(task.parse("0?01,12"), 0) == "yy"  # a person may start elsewhere


@pytest.mark.parametrize("start", [-1, 0, 4])
def test_starts_out_of_range(start):
    with pytest.raises(TenfoldError, match=f"a start at node {start}; 1 to 3 can be"):
        Reachability(4, start=start)


@pytest.mark.parametrize("nodes", [3, 17])
def test_nodes_out_of_range(nodes):
    with pytest.raises(TenfoldError, match=f"a graph of {nodes} nodes; 4 to 16"):
        Reachability(nodes)


def test_no_finite_machine():
    assert Reachability().transducer() is None
