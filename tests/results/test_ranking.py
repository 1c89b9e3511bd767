"""Encodings ranked over seeds: scores, ties, direction, who is a rival, paired tests, and what is left out."""

import itertools
import json

import numpy as np
import pytest

import tenfold as library
from tenfold.core.errors import TenfoldError
from tenfold.evals.statistics import holm
from tenfold.results.collect import Collected, collect
from tenfold.results.rank_table import ALPHA, RankedMethod, compare_pairs, in_order
from tenfold.results.ranking import rank
from tenfold.runs.build import build
from tenfold.runs.cost import count
from tenfold.runs.recipe import Recipe


@pytest.fixture
def ranked(tmp_path):
    """Rank the runs that `make` left, without counting operations."""

    def of(**choices):
        return rank(collect([tmp_path / "runs"]), **{"cost": False, **choices})

    return of


def order(table):
    return [(method.rank, method.name) for method in table.methods]


def test_the_score_is_the_median_over_seeds_of_the_mean_beyond_training(make, ranked):
    for seed, (ten, twenty) in enumerate([(9, 3), (10, 0), (8, 8)]):
        make("alibi", seed, {5: 10, 10: ten, 20: twenty})
        make("rotary", seed, {5: 10, 10: 7, 20: 1})
    (table,) = ranked().tables
    first, second = table.methods
    assert (table.lengths, table.trained, table.metric) == ((10, 20), 5, "exact")
    assert (first.name, first.rank) == ("alibi", 1)
    assert first.scores == pytest.approx({0: 0.6, 1: 0.5, 2: 0.8})
    assert (first.median, first.median_fit, first.fits) == (pytest.approx(0.6), 1.0, True)
    assert (second.rank, second.median) == (2, pytest.approx(0.4))
    (pair,) = table.pairs
    assert pair.test.mean == pytest.approx((0.2 + 0.1 + 0.4) / 3)
    assert (pair.test.p, pair.p, pair.differs) == (0.25, 0.25, False)
    (table,) = ranked(at=[20]).tables
    assert order(table) == [(1, "alibi"), (2, "rotary")]
    assert table.methods[0].scores == {0: 0.3, 1: 0.0, 2: 0.8}


def test_equal_medians_share_a_rank(make, ranked):
    for pe, right in (("alibi", 4), ("rotary", 7), ("t5", 7), ("none", 1)):
        for seed in range(2):
            make(pe, seed, {5: 10, 10: right})
    (table,) = ranked().tables
    assert order(table) == [(1, "rotary"), (1, "t5"), (3, "alibi"), (4, "none")]


def test_a_lower_perplexity_ranks_first(make, measured, ranked):
    for pe, tenths in (("alibi", 60), ("rotary", 40)):
        rows = [measured(tenths, n, metric="perplexity") for n in (5, 10)]
        make(pe, 0, rows=rows)
    ranking = ranked()
    assert order(ranking.tables[0]) == [(1, "rotary"), (2, "alibi")]
    assert [method.fits for method in ranking.tables[0].methods] == [None, None]
    best, other = ranking.lines
    assert (best["median"], other["mean_difference"]) == (4.0, 2.0)
    assert "lower is better" in ranking.text()
    assert "one seed each: nothing can be tested, and the order may be chance" in ranking.notes


def test_what_does_not_fit_is_no_rival(make, ranked):
    for seed in range(3):
        make("alibi", seed, {5: 10, 10: 3})
        make("rotary", seed, {5: 10, 10: 2})
        make("t5", seed, {5: 5, 10: 9})  # the highest score, and half wrong where it was trained
    ranking = ranked()
    (table,) = ranking.tables
    assert order(table) == [(1, "alibi"), (2, "rotary"), (None, "t5")]
    assert [(pair.first, pair.second) for pair in table.pairs] == [("alibi", "rotary")]
    assert "no rival, listed last: t5 does not reach 99% right at trained lengths" in ranking.notes
    assert ranking.lines[2]["p_holm"] is None
    (table,) = ranked(fit=0.5).tables
    assert order(table) == [(1, "t5"), (2, "alibi"), (3, "rotary")]
    assert len(table.pairs) == 3


def test_nobody_fits(make, ranked):
    for pe in ("alibi", "rotary"):
        make(pe, 0, {5: 1, 10: 1})
    ranking = ranked()
    assert ranking.tables[0].reference is None
    assert {method.rank for method in ranking.tables[0].methods} == {None}
    assert "alibi, rotary do not reach 99%" in ranking.notes[-1]
    assert "sign-flip" not in ranking.text("md")
    for format in ("csv", "table"):
        with pytest.raises(TenfoldError, match="no pair was tested"):
            ranking.text(format, pairs=True)


def test_few_seeds_say_what_they_cannot_show(make, ranked):
    for pe, seed in itertools.product(("alibi", "rotary", "t5"), range(3)):
        make(pe, seed, {5: 10, 10: len(pe)})
    (note,) = ranked().notes
    assert note == (
        "3 seeds: no p below 0.25 is possible, none below 0.75 after Holm's correction over 3 comparisons; "
        "a difference at 0.05 needs 7 seeds"
    )


def test_holm_over_all_pairs_unless_a_reference_is_named(make, ranked):
    for number, pe in enumerate(("alibi", "rotary", "t5", "none")):
        for seed in range(9):
            make(pe, seed, {5: 10, 10: 9 - 2 * number})
    (table,) = ranked().tables
    assert len(table.pairs) == 6
    assert table.reference == "alibi"
    assert [pair.p for pair in table.pairs] == pytest.approx([6 * 2 / 2**9] * 6)
    (table,) = ranked(against="t5").tables
    assert [pair.p for pair in table.pairs] == pytest.approx([3 * 2 / 2**9] * 3)
    assert [pair.first for pair in table.pairs] == ["alibi", "rotary", "none"]
    assert {pair.second for pair in table.pairs} == {"t5"}
    assert all(pair.differs for pair in table.pairs)
    with pytest.raises(
        TenfoldError, match='unknown method of this ranking "t55"; did you mean "t5"'
    ):
        ranked(against="t55")


def test_a_table_without_the_reference_is_named(make, ranked):
    for pe in ("alibi", "rotary"):
        make(pe, 0, {5: 10, 10: 5})
    for pe in ("t5", "none"):
        make(pe, 0, {5: 10, 10: 5}, label="window")
    ranking = ranked(against="alibi")
    assert [table.reference for table in ranking.tables] == ["alibi"]
    assert 'unknown method of this ranking "alibi"; known: none, t5' in ranking.notes[-1]


def test_a_pair_is_read_from_either_side(make, ranked):
    for seed in range(2):
        make("alibi", seed, {5: 10, 10: 9})
        make("rotary", seed, {5: 10, 10: 4})
    (table,) = ranked().tables
    pair = table.against_reference("rotary")
    assert (pair.first, pair.second) == ("rotary", "alibi")
    assert pair.test.mean == pytest.approx(-0.5)
    assert (pair.test.wins, pair.test.losses) == (0, 2)
    assert (pair.test.interval.low, pair.test.interval.high) == pytest.approx((-0.5, -0.5))


def test_runs_without_a_partner_are_named(make, ranked):
    for seed in range(3):
        make("alibi", seed, {5: 10, 10: 9})
    make("rotary", 1, {5: 10, 10: 4})
    make("t5", 7, {5: 10, 10: 3})
    ranking = ranked()
    assert "rotary has no seeds 0, 2, 7: runs of others there have no partner" in ranking.notes
    assert "t5 has no seeds 0, 1, 2: runs of others there have no partner" in ranking.notes
    by_name = {line["method"]: line for line in ranking.lines}
    assert (by_name["rotary"]["pairs"], by_name["rotary"]["p"]) == (1, 1.0)
    assert (by_name["t5"]["pairs"], by_name["t5"]["p"]) == (None, None)


def test_labels_are_ranked_apart(make, ranked):
    for pe, label in (
        ("alibi", "generic"),
        ("rotary", "generic"),
        ("t5", "window"),
        ("none", "window"),
    ):
        make(pe, 0, {5: 10, 10: len(pe)}, label=label)
    tables = ranked().tables
    assert [table.label for table in tables] == ["generic", "window"]
    assert [[method.name for method in table.methods] for table in tables] == [
        ["rotary", "alibi"],
        ["none", "t5"],
    ]
    (table,) = ranked(across_labels=True).tables
    assert [name for _, name in order(table)] == ["rotary", "alibi", "none", "t5"]


def test_another_setting_is_another_table(make, ranked):
    for pe, lr in itertools.product(("alibi", "rotary"), (0.001, 0.01)):
        make(pe, 0, {5: 10, 10: len(pe) + 2 * (pe == "rotary") + (lr == 0.01)}, train={"lr": lr})
    tables = ranked().tables
    assert [table.title.rpartition(", ")[2] for table in tables] == [
        "train.lr 0.001",
        "train.lr 0.01",
    ]
    (table,) = ranked(of=["pe", "train.lr"]).tables
    assert [name for _, name in order(table)] == [
        "rotary, train.lr 0.01",
        "rotary, train.lr 0.001",
        "alibi, train.lr 0.01",
        "alibi, train.lr 0.001",
    ]
    (table, _) = ranked(of=["train.lr"]).tables
    assert [name for _, name in order(table)] == ["train.lr 0.01", "train.lr 0.001"]


def test_a_method_alone_in_its_setting_is_named(make, ranked):
    make("alibi", 0, {5: 10, 10: 9})
    make("rotary", 0, {5: 10, 10: 9})
    make("t5", 0, {5: 10, 10: 9}, train={"lr": 0.01})
    assert (
        "not ranked: addition, trained up to length 5, label generic, train.lr 0.01: t5 is alone"
        in (ranked().notes)
    )


def test_options_tell_two_of_one_encoding_apart(make, ranked):
    make({"name": "rotary", "axis": "column"}, 0, {5: 10, 10: 5})
    make("rotary", 0, {5: 10, 10: 4})
    make("alibi", 0, {5: 10, 10: 3}, schemes=["shifted"])
    make("alibi", 0, {5: 10, 10: 2})
    (table,) = ranked().tables
    assert [method.name for method in table.methods] == [
        "rotary (axis column)",
        "rotary",
        "alibi, schemes shifted",
        "alibi, schemes none",
    ]


def test_recipes_are_ranked_whole(make, ranked):
    make("alibi", 0, {5: 10, 10: 5}, name="paper/wide", model={"width": 64})
    make("rotary", 0, {5: 10, 10: 7}, name="paper/slow", train={"lr": 1e-4})
    (table,) = ranked(of=["recipe"]).tables
    assert order(table) == [(1, "paper/slow"), (2, "paper/wide")]


def test_what_was_measured_in_a_model_is_no_other_method(make, ranked):
    for seed in range(2):
        lines = [{"layer": 0, "head": seed, "axis": "index", "offset": 0}]
        make({"name": "calibrated", "lines": lines}, seed, {5: 10, 10: 9})
        make("alibi", seed, {5: 10, 10: 4})
    (table,) = ranked().tables
    assert [len(method.scores) for method in table.methods] == [2, 2]


def test_another_encoding_in_evaluation_is_another_method(make, tmp_path):
    for seed in range(2):
        make("alibi", seed, {5: 10, 10: 9})
        make("rotary", seed, {5: 10, 10: 4})
    collected = collect(tmp_path / "runs")
    turned = [
        {**row, "evaluated_pe": "rotary-ntk", "value": 0.6 if row["length"] == 10 else 1.0}
        for row in collected.rows
        if row["encoding"] == "rotary"
    ]
    collected.rows.extend(turned)
    ranking = rank(collected, cost=False)
    (table,) = ranking.tables
    assert order(table) == [
        (1, "alibi"),
        (2, "rotary, evaluated with rotary-ntk"),
        (3, "rotary"),
    ]
    assert [len(method.scores) for method in table.methods] == [2, 2, 2]


def test_lengths_that_some_runs_lack_are_named(make, ranked):
    make("alibi", 0, {5: 10, 10: 9, 20: 5, 40: 1})
    make("rotary", 0, {5: 10, 10: 4, 20: 1})
    ranking = ranked()
    assert ranking.tables[0].lengths == (10, 20)
    assert "left out: length 40, not measured for every run of rotary" in ranking.notes
    make("rotary", 1, {5: 10, 20: 1})
    ranking = ranked(at=[10])
    assert "left out: seed 1 of rotary, not measured at length 10" in ranking.notes
    with pytest.raises(TenfoldError, match="only alibi was measured at length 40"):
        ranked(at=[40])
    make("alibi", 1, {5: 10, 80: 1})
    with pytest.raises(TenfoldError, match="no length beyond 5 was measured for every run"):
        ranked()


def test_a_table_for_each_length(make, ranked):
    make("alibi", 0, {5: 10, 10: 9, 20: 1})
    make("rotary", 0, {5: 10, 10: 4, 20: 3})
    tables = ranked(by=["length"]).tables
    assert [(table.lengths, order(table)[0][1]) for table in tables] == [
        ((5,), "alibi"),
        ((10,), "alibi"),
        ((20,), "rotary"),
    ]
    assert [table.lengths for table in ranked(by=["length"], at=[20]).tables] == [(20,)]


def test_slices_and_metrics_apart(make, measured, ranked):
    for pe, right in (("alibi", 9), ("rotary", 5)):
        rows = [measured(10, 5, slice=name) for name in ("uniform", "nines")]
        rows += [measured(right, 10), measured(10 - right, 10, slice="nines")]
        make(pe, 0, rows=rows)
    tables = ranked(by=["slice"]).tables
    assert [(table.slice, order(table)[0][1]) for table in tables] == [
        ("nines", "rotary"),
        ("uniform", "alibi"),
    ]


def test_mixed_selections_name_what_they_leave_out(make, measured, ranked, tmp_path):
    for pe in ("alibi", "rotary"):
        make(pe, 0, {5: 10, 10: 3})
    make("t5", 0, rows=[measured(3, 10, slice="nines")])
    assert "1 run is left out: slice nines, not uniform" in ranked().notes
    collected = collect(tmp_path / "runs")
    collected.rows.append({**collected.rows[0], "fingerprint": "", "run": ""})
    notes = rank(collected, cost=False).notes
    assert "left out: 1 rows of runs whose recipe is unknown" in notes


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"of": ["train.lrr"]}, 'did you mean "train.lr"'),
        ({"of": ["label"]}, "--across-labels ranks them together"),
        ({"of": ["task"]}, '"task" is the same for all methods'),
        ({"by": ["recipe"]}, 'unknown column "recipe"'),
        ({"metric": "exactt"}, 'unknown metric of these runs "exactt"; did you mean "exact"'),
        ({"slice": "nins"}, 'unknown slice of these runs "nins"'),
        ({"fit": 99}, "between 0 and 1"),
        ({"at": [10]}, "no method was measured at length 10"),
        ({}, "nothing was measured beyond length 5; choose lengths with --at"),
    ],
)
def test_refused_in_one_line(make, ranked, choices, message):
    for pe in ("alibi", "rotary"):
        make(pe, 0, {3: 9})
    with pytest.raises(TenfoldError, match=message) as error:
        ranked(**choices)
    assert "\n" not in str(error.value)


def test_one_encoding_is_refused(make, ranked):
    make("alibi", 0, {5: 10, 10: 9})
    with pytest.raises(TenfoldError, match=r"nothing to rank: .* alibi is alone"):
        ranked()
    make("rotary", 0, {5: 10, 10: 9}, train={"lr": 0.01})
    with pytest.raises(TenfoldError, match=r"2 settings, .* they differ in train\.lr"):
        ranked()


def test_rows_without_recipes_are_refused(make, tmp_path):
    make("alibi", 0, {5: 10, 10: 9})
    with pytest.raises(TenfoldError, match="recipes are not at hand"):
        rank(Collected(collect(tmp_path / "runs").rows))


def test_a_metric_without_a_direction_is_refused(make, measured, ranked):
    for pe in ("alibi", "rotary"):
        make(pe, 0, rows=[measured(3, 10, metric="contexts")])
    with pytest.raises(TenfoldError, match='"contexts" cannot be ranked'):
        ranked()


def test_cost_is_what_the_runs_say(make, ranked):
    small = {"model": {"layers": 1, "width": 8, "heads": 2}, "train": {"batch": 2, "threads": 2}}
    recipe = Recipe.of({"pe": "alibi", **small})
    parameters = sum(p.numel() for p in build(recipe).model().parameters())
    for seed, seconds in enumerate((1.0, 3.0, 9.0)):
        result = {"parameters": parameters, "train_seconds": seconds, "steps": 10 * (seed + 1)}
        make("alibi", seed, {5: 10, 10: 9}, result=result, **small)
        make("rotary", seed, {5: 10, 10: 8}, result={"parameters": 7}, **small)
    alibi, rotary = ranked(cost=True).lines
    assert (alibi["parameters"], alibi["core_seconds"]) == (parameters, 6.0)
    assert alibi["flops"] == count(build(recipe)).flops_per_step * 20
    assert (rotary["parameters"], rotary["flops"]) == (7, None)  # no such model is built today
    table = ranked(cost=True).text().splitlines()
    assert table[-1].split()[-2] == "-"


def test_the_false_positive_rate_stays_at_most_alpha():
    """Five equal methods: the best of them, chosen by looking, is separated from another in at most 5% of all rankings."""
    rng = np.random.default_rng(0)
    recipe, methods, seeds, rankings = Recipe(pe="alibi"), 5, 10, 300
    wrong = naive = 0
    for _ in range(rankings):
        values = rng.normal(size=(methods, seeds))
        made = [
            RankedMethod(str(number), recipe, {}, dict(enumerate(row)), {}, None, None)
            for number, row in enumerate(values.tolist())
        ]
        pairs, best = compare_pairs(in_order(made, "margin"), "margin")
        own = [pair for pair in pairs if best in (pair.first, pair.second)]
        wrong += any(pair.differs for pair in own)
        naive += min(holm([pair.test.p for pair in own])) <= ALPHA
    assert wrong <= ALPHA * rankings
    assert (
        naive > ALPHA * rankings
    )  # corrected over the comparisons with the best alone, it would not


def test_the_command(tenfold, make):
    for number, pe in enumerate(("alibi", "rotary", "t5")):
        for seed in range(3):
            make(pe, seed, {5: 10, 10: 9 - number})
    code, out, err = tenfold("results", "--rank", "--at", "10")
    assert code == 0
    assert err.startswith("note: 3 seeds: no p below 0.25 is possible")
    lines = out.splitlines()
    assert lines[0].startswith(
        "addition, trained up to length 5, label generic. Median over 3 seeds"
    )
    assert "Holm's correction over all 3 comparisons" in lines[0]
    assert lines[4].split()[:4] == ["1", "alibi", "3", "90.0"]
    assert "not shown" in lines[5]
    _, out, _ = tenfold("results", "--rank", "--format", "json")
    assert [(line["rank"], line["method"]) for line in json.loads(out)] == [
        (1, "alibi"), (2, "rotary"), (3, "t5"),
    ]  # fmt: skip
    _, out, _ = tenfold("results", "--rank", "--pairs", "--format", "csv")
    head, *pairs = out.splitlines()
    assert len(pairs) == 3
    assert head.endswith("first,second,seeds,mean_difference,wins,ties,losses,p,p_holm,differs")
    _, out, _ = tenfold("results", "--rank", "--pairs", "--format", "md")
    assert "| alibi | rotary | 3 | +10.0 | 3-0-0 | 0.25 | 0.75 | not shown |" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--at", "10"], "--at belongs to a ranking; add --rank"),
        (["--across-labels"], "--across-labels belongs to a ranking"),
        (["--rank", "--compare", "alibi", "rotary"], "choose one of them"),
        (["--rank", "--sql", "select 1"], "--sql chooses and groups by itself"),
        (["--rank", "--figure", "rank.gif"], 'unknown kind of figure "gif"'),
        (["--rank", "--figure", "rank"], "rank has no ending that names a kind of figure"),
        (["--rank", "--figure", "runs/x.pdf/y.pdf"], "cannot write runs/x.pdf/y.pdf"),
        (["--rank", "--at", "ten"], '"ten" is not a length'),
        (["--rank", "--by", "pe"], 'unknown column "encoding"'),
    ],
)
def test_refused_by_the_command(tenfold, make, tmp_path, words, message):
    for pe in ("alibi", "rotary"):
        make(pe, 0, {5: 10, 10: 3})
    (tmp_path / "runs/x.pdf").write_text("a file, no folder")
    code, out, err = tenfold("results", *words)
    assert (code, out) == (2, "")
    error = [line for line in err.splitlines() if not line.startswith("note: ")]
    assert len(error) == 1
    assert message in error[0]


def test_from_python(make, tmp_path):
    for pe in ("alibi", "rotary"):
        make(pe, 0, {5: 10, 10: len(pe)})
    ranking = library.rank(library.collect(tmp_path / "runs"), cost=False)
    assert ranking.lines[0]["method"] == "rotary"
    assert ranking.text("latex").startswith(r"\begin{table*}")
