"""Rows from run folders: whole, checked, each run once; what is damaged is named and left out."""

import functools
import json
import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tenfold
from tenfold.core.errors import TenfoldError
from tenfold.results.collect import RESULTS, RUNS, Collected, collect, find_runs, query, read, write
from tenfold.results.selection import select
from tenfold.results.summary import cells, mixed
from tenfold.runs.recipe import Recipe
from tenfold.runs.train import train


@pytest.fixture
def cli(tenfold):
    """Call `tenfold results`."""
    return functools.partial(tenfold, "results")


def test_rows_of_a_trained_run(recipe, tmp_path):
    run = train(recipe.replace(name="paper/small"), tmp_path / "run")
    collected = collect([run.folder])
    assert collected.problems == []
    result = run.result()
    assert len(collected.rows) == len(result["rows"]) == 8  # 2 lengths, 2 metrics, 2 checkpoints
    for row, stored in zip(collected.rows, result["rows"], strict=True):
        assert list(row) == list(RESULTS)
        assert {key: row[key] for key in stored} == stored
    first = collected.rows[0]
    assert (first["run"], first["paper"], first["recipe"]) == ("run", "paper", "paper/small")
    assert (first["encoding"], first["scheme"], first["format"]) == (
        "learned",
        "shifted",
        "reversed",
    )
    assert (first["trained"], first["steps"], first["seed"]) == (3, 12, 0)
    assert first["commit"] == result["environment"]["commit"]
    (stored,) = collected.runs
    assert list(stored) == list(RUNS)
    assert Recipe.of(json.loads(stored["recipe"])) == run.recipe
    assert json.loads(stored["environment"]) == result["environment"]
    assert stored["parameters"] == result["parameters"]


@pytest.mark.parametrize(
    ("name", "claim", "paper", "row"),
    [
        ("bias/x", "symmetry/fig2-collapses", "symmetry", "symmetry/fig2-collapses"),
        ("bias/x", None, "bias", ""),
        ("mine", None, "", ""),
        ("mine", "bias", "bias", ""),  # a paper alone is no claim
    ],
)
def test_paper_and_claim(make, name, claim, paper, row):
    (collected,) = collect([make(name=name, claim=claim)]).rows
    assert (collected["paper"], collected["claim"]) == (paper, row)


def test_several_schemes_are_joined(make):
    (row,) = collect([make(schemes=["shifted", {"name": "cyclic", "period": 3}])]).rows
    assert row["scheme"] == "shifted+cyclic"


def test_runs_are_found_wherever_they_are(make, tmp_path):
    a, b = make(seed=0), make(seed=1, folder="runs/deep/er")
    hidden = make(seed=2, folder="runs/.hidden")
    (a / "checkpoints").mkdir()
    (a / "checkpoints/recipe.yaml").write_text("no run of its own")
    (tmp_path / "runs/loop").symlink_to(tmp_path / "runs")
    assert set(find_runs(tmp_path / "runs")) == {a, b}
    assert find_runs(a) == [a]
    assert find_runs(hidden) == [hidden]  # named, it is taken
    assert len(collect([tmp_path / "runs", a]).rows) == 2
    with pytest.raises(TenfoldError, match="there is no folder"):
        find_runs(tmp_path / "nowhere")


def test_the_same_run_twice_counts_once(make, tmp_path):
    first, same, other = make(), make(folder="copy"), make(folder="other", right={5: 9})
    collected = collect([first, same, other])
    assert [row["value"] for row in collected.rows] == [1.0]
    assert len(collected.runs) == 1
    (problem,) = collected.problems
    assert problem.startswith(f"{other}: the same recipe as {first} with other results")


def test_written_and_read_back(make, tmp_path, measured):
    make(right={5: 10, 7: 3})
    make(seed=1, rows=[measured(4, 5, metric="digit"), measured(1, 5, "final", "ni'nes")])
    collected = collect([tmp_path / "runs"])
    written = write(collected, tmp_path / "a [place]*" / "deep")
    assert sorted(path.name for path in written.values()) == ["rows.parquet", "runs.parquet"]
    for place in (written["rows"].parent, written["rows"]):
        back = read(place)
        assert back.rows == collected.rows
        assert back.runs == collected.runs
    assert collect([written["rows"].parent]).rows == collected.rows
    alone = tmp_path / "mine.parquet"
    alone.write_bytes(written["rows"].read_bytes())
    assert collect([alone]).rows == collected.rows
    left = sorted(os.listdir(written["rows"].parent))
    assert left == ["rows.parquet", "runs.parquet"]  # nothing temporary


def test_a_name_that_looks_like_a_pattern(make, tmp_path):
    """DuckDB would take `x[ab]` for `xa`."""
    collected = collect([make()])
    write(collected, tmp_path / "x[ab]")
    write(Collected(), tmp_path / "xa")
    assert read(tmp_path / "x[ab]") == collected


def test_sql_does_not_see_variables():
    with pytest.raises(TenfoldError, match="Table with name tables does not exist"):
        query(Collected(), "select * from tables")


def test_nothing_is_a_table_too(tmp_path):
    write(Collected(), tmp_path)
    assert read(tmp_path) == Collected()
    assert query(read(tmp_path), "select sum(value), count(*) from results") == (
        ['sum("value")', "count_star()"],
        [(None, 0)],
    )


def test_run_folders_come_before_a_table_beside_them(make, tmp_path):
    make(right={5: 4})
    write(collect([tmp_path / "runs"]), tmp_path / "runs")
    make(seed=1)
    assert len(collect([tmp_path / "runs"]).rows) == 2  # the older table hides nothing


@pytest.mark.full
def test_hundred_thousand_rows(make, tmp_path):
    """They are inserted together: one after another would take minutes."""
    (row,) = collect([make()]).rows
    many = Collected([{**row, "length": i, "value": 1 / i} for i in range(1, 100_001)])
    write(many, tmp_path / "many")
    assert query(many, "select count(*), max(length) from results")[1] == [(100_000, 100_000)]
    assert read(tmp_path / "many").rows == many.rows


DAMAGE = {
    "no result": (lambda p: (p / "result.json").unlink(), "unfinished: there is no result.json yet"),
    "no recipe": (lambda p: (p / "recipe.yaml").unlink(), "there is no recipe.yaml"),
    "cut": (lambda p: (p / "result.json").write_text('{"rows": ['), "result.json is damaged"),
    "empty": (lambda p: (p / "result.json").write_bytes(b""), "result.json is damaged"),
    "deep": (lambda p: (p / "result.json").write_text("[" * 100_000), "result.json is damaged"),
    "list": (lambda p: (p / "result.json").write_text("[]"), "does not hold a result"),
    "folder": (lambda p: ((p / "result.json").unlink(), (p / "result.json").mkdir()), "cannot be read"),
    "not yaml": (lambda p: (p / "recipe.yaml").write_text("{a: ["), "recipe.yaml is damaged"),
    "no day": (lambda p: (p / "recipe.yaml").write_text("a: 2026-99-99"), "recipe.yaml: unknown"),
    "word": (lambda p: (p / "recipe.yaml").write_text("hello"), "does not hold a recipe"),
    "unknown key": (lambda p: (p / "recipe.yaml").write_text("sed: 1"), 'did you mean "seed"?'),
    "another": (lambda p: (p / "recipe.yaml").write_text("seed: 5"), "result.json is of the recipe"),
    "binary": (
        lambda p: (p / "recipe.yaml").write_text("task: {name: x, y: !!binary /w==}"),
        "recipe.yaml",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_run_is_named_and_left_out(make, tmp_path, kind):
    damaged, good = make(seed=0), make(seed=1)
    damage, said = DAMAGE[kind]
    damage(damaged)
    collected = collect([tmp_path / "runs"])
    assert [row["seed"] for row in collected.rows] == [1]
    assert [run["run"] for run in collected.runs] == [good.name]
    (problem,) = collected.problems
    assert problem.startswith(f"{damaged}: ")
    assert said in problem
    assert "\n" not in problem


@pytest.mark.parametrize(
    "row",
    [
        {"value": None}, {"value": "1"}, {"value": True}, {"value": float("nan")}, {"value": 1.5},
        {"value": float("inf"), "metric": "loss"}, {"length": 5.5}, {"length": 0}, {"length": 10**30},
        {"n": "10"}, {"n": 0}, {"slice": None}, {"slice": "a\nb"}, {"slice": "\0"}, {"slice": "\ud800"},
        {"checkpoint": "middle"}, {"low": "x"},
    ],
)  # fmt: skip
def test_a_damaged_row_leaves_its_run_out(make, row, measured):
    collected = collect([make(rows=[measured(3, 7), {**measured(3, 5), **row}])])
    assert collected.rows == []
    (problem,) = collected.problems
    assert "result.json is damaged: rows.1" in problem
    assert problem.isprintable()


def test_other_metrics_need_not_be_shares(make, measured):
    row = {**measured(3, 5), "metric": "loss", "value": -3}
    assert collect([make(rows=[row])]).rows[0]["value"] == -3.0


@pytest.mark.parametrize(
    "change", [{"rows": []}, {"steps": "many"}, {"parameters": -1}, {"environment": None}]
)
def test_a_damaged_result_leaves_its_run_out(make, change):
    collected = collect([make(result=change)])
    assert collected.rows == []
    assert "result.json is damaged" in collected.problems[0]


def test_rows_twice(make, measured):
    assert len(collect([make(rows=[measured(3, 5)] * 2)]).rows) == 1
    collected = collect([make(seed=1, rows=[measured(3, 5), measured(4, 5)])])
    assert "best 5 uniform exact is there twice" in collected.problems[0]


def test_a_newer_version_is_named(make):
    made = {"tenfold": "10.0.1", "commit": None, "date": "2030"}
    place = make(result={"environment": made, "rows": "in a new way"})
    with (place / "recipe.yaml").open("a") as file:
        file.write("from_the_future: 1\n")
    (problem,) = collect([place]).problems
    assert problem == f"{place}: made by tenfold 10.0.1, newer than this {tenfold.__version__}"


@pytest.mark.parametrize("version", ["0.0.9", tenfold.__version__, "unknown"])
def test_an_older_version_is_read(make, version):
    made = {"tenfold": version, "commit": "abc", "date": "2020"}
    assert len(collect([make(result={"environment": made})]).rows) == 1


def test_published_weights_have_no_results(make):
    place = make()
    (place / "result.json").unlink()
    (place / "weights.safetensors").write_bytes(b"")
    assert "published" in collect([place]).problems[0]


def test_a_name_that_cannot_be_printed(make):
    assert "cannot be printed" in collect([make(name="a\x07b")]).problems[0]


@pytest.mark.full
@settings(max_examples=200)
@given(data=st.data())
def test_whatever_is_garbled_nothing_crashes(tmp_path_factory, data, measured, result_of):
    """Cut or garbled at random places: the run is read, or it is named in one line; never both, never neither."""
    recipe = Recipe(pe={"name": "learned", "limit": 41}, seed=3, name="a/b")
    text = json.dumps(result_of(recipe, [measured(3, 5), measured(2, 7, "final")]), indent=1)
    files = {"recipe.yaml": recipe.as_yaml().encode(), "result.json": text.encode()}
    name = data.draw(st.sampled_from(sorted(files)))
    content = files[name]
    at = data.draw(st.integers(0, len(content)))
    put = data.draw(
        st.one_of(st.none(), st.binary(max_size=8), st.text(max_size=8).map(str.encode))
    )
    files[name] = content[:at] if put is None else content[:at] + put + content[at + len(put) :]
    place = tmp_path_factory.mktemp("garbled")
    for file, content in files.items():
        (place / file).write_bytes(content)
    collected = collect([place])
    assert (len(collected.rows) == 2) != (len(collected.problems) == 1)
    assert all(problem.isprintable() for problem in collected.problems)
    if collected.rows:
        assert query(collected, "select count(*) from results")[1] == [(2,)]


def test_every_cut_of_a_result_is_noticed(make):
    place = make()
    text = (place / "result.json").read_bytes()
    for at in random.Random(0).sample(range(len(text)), 60):
        (place / "result.json").write_bytes(text[:at])
        assert collect([place]).rows == []


def test_a_damaged_table_is_named(make, tmp_path):
    make()
    written = write(collect([tmp_path / "runs"]), tmp_path / "out")
    written["rows"].write_bytes(written["rows"].read_bytes()[:100])
    with pytest.raises(TenfoldError, match=r"rows\.parquet holds no results"):
        read(tmp_path / "out")
    collected = collect([tmp_path / "out", tmp_path / "runs"])
    assert len(collected.rows) == 1
    assert len(collected.problems) == 1


def test_a_table_of_something_else(tmp_path):
    path = tmp_path / "x.parquet"
    write(Collected(), tmp_path)
    (tmp_path / "runs.parquet").rename(path)
    with pytest.raises(TenfoldError, match=r"x\.parquet holds no results: Binder Error"):
        read(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    with pytest.raises(TenfoldError, match="cannot write to"):
        write(Collected(), tmp_path / "closed" / "in")


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(TenfoldError, match="cannot write to"):
        write(Collected(), tmp_path / "file")


@pytest.mark.parametrize(
    "sql",
    [
        "select * from 'secret.csv'", "select * from read_text('secret.csv')", "select * from glob('*')",
        "copy results to 'stolen.csv'", "copy (select 1) to 'stolen.parquet' (format parquet)",
        "attach 'stolen.db'", "set enable_external_access = true", "install httpfs", "load httpfs",
        "export database 'stolen'", "select * from collected", "selec 1", "select nope from results",
        "select * from samples", "", "-- nothing",
    ],
)  # fmt: skip
def test_sql_that_fails_or_reaches_out(monkeypatch, tmp_path, sql):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    with pytest.raises(
        TenfoldError, match=r"^the SQL (failed: |asks nothing|may ask, not )"
    ) as stored:
        query(Collected(), sql)
    assert "\n" not in str(stored.value)
    assert os.listdir(tmp_path) == ["secret.csv"]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("select 1; select 2", "holds 2 statements; write one"),
        ("drop table results", "may ask, not DROP"),
        ("delete from results", "may ask, not DELETE"),
        ("create table x as select 1", "may ask, not CREATE"),
    ],
)
def test_sql_asks_once_and_changes_nothing(sql, said):
    with pytest.raises(TenfoldError, match=f"^the SQL {said}"):
        query(Collected(), sql)


@pytest.mark.parametrize(
    "sql",
    [
        "with a as (select 1) select * from a;", "from results", "describe results", "show tables",
        "summarize results", "explain select 1", "values (1)", "pivot results on metric using count(*)",
    ],
)  # fmt: skip
def test_whatever_asks_is_allowed(make, sql):
    assert query(collect([make()]), sql)[1]


def test_columns_of_one_name_are_numbered():
    columns, _ = query(Collected(), "select 1 as a, 2 as a, 3 as a, 4 as a_2, 5 as b")
    assert columns == ["a", "a_3", "a_4", "a_2", "b"]
    assert len(set(columns)) == 5


# Tables from elsewhere


@pytest.fixture
def table(make, tmp_path):
    """`table(value=7.5)`: a folder of results whose first run has other values in its row or its own line."""

    def made(alone=False, **changes):
        collected = collect([make(seed=0), make(seed=1)])
        for rows in (collected.rows, collected.runs):
            rows[0] = {key: changes.get(key, value) for key, value in rows[0].items()}
        if alone:
            collected.runs.clear()
        write(collected, tmp_path / "table")
        return tmp_path / "table"

    return made


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize(
    "changes",
    [{"value": 7.5}, {"n": 0}, {"length": -1}, {"checkpoint": "middle"}, {"slice": "a\x07"}, {"trained": 0}],
)  # fmt: skip
def test_a_damaged_row_of_a_table_leaves_its_run_out(table, changes, alone):
    collected = collect([table(alone, **changes)])
    assert [row["seed"] for row in collected.rows] == [1]
    assert len(collected.runs) == (0 if alone else 1)
    (problem,) = collected.problems
    assert "rows.parquet: paper-sums-" in problem
    assert "damaged: 0." in problem
    assert problem.isprintable()
    assert cells(select(collected.rows, ["length"]).rows, ["length"])


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"recipe": "not JSON"}, "its recipe cannot be read: Expecting value"),
        ({"recipe": "[]"}, "its recipe cannot be read: it is []"),
        ({"recipe": '{"colour": 1}'}, 'unknown recipe key "colour"'),
        ({"recipe": "{}"}, "damaged: its recipe is"),
        ({"environment": "{}"}, "damaged: tenfold is missing"),
        ({"environment": "x"}, "its environment cannot be read"),
        ({"parameters": -1}, "damaged: parameters is -1"),
        (
            {"environment": '{"tenfold": "10.0.1", "what": "is new"}'},
            f"made by tenfold 10.0.1, newer than this {tenfold.__version__}",
        ),
    ],
)
def test_a_damaged_run_of_a_table_is_left_out(table, changes, said):
    collected = collect([table(**changes)])
    assert [row["seed"] for row in collected.rows] == [1]
    assert [run["seed"] for run in collected.runs] == [1]
    (problem,) = collected.problems
    assert said in problem
    assert mixed(collected, collected.rows, ["length"]) == []


def test_a_table_of_a_newer_version_is_refused(table, monkeypatch, tmp_path):
    monkeypatch.setattr("tenfold.results.tables.__version__", "10.0.1")
    folder = table()
    monkeypatch.undo()
    (folder / "rows.parquet").rename(tmp_path / "mine.parquet")  # rows alone
    with pytest.raises(TenfoldError, match=r"mine\.parquet: made by tenfold 10\.0\.1, newer than"):
        read(tmp_path / "mine.parquet")
    collected = collect([tmp_path / "mine.parquet"])
    assert collected.rows == []
    assert len(collected.problems) == 1


# The command


def test_the_command_prints_a_table(cli, make):
    make("alibi", 0, {5: 10, 10: 9})
    make("alibi", 1, {5: 8, 10: 3})
    code, out, err = cli("--by", "pe,length")
    assert (code, err) == (0, "")
    head = "encoding  length  seeds   n  median  worst   best  success  over seeds (coverage)  95% over samples"
    assert out.splitlines()[0] == head
    assert out.splitlines()[2].split()[:8] == [
        "alibi",
        "5",
        "2",
        "20",
        "90.0",
        "80.0",
        "100.0",
        "50.0",
    ]
    assert "80.0 to 100.0 (50%)" in out
    _, text, _ = cli("--by", "pe,length", "--format", "json")
    first = json.loads(text)[0]
    assert (first["median"], first["seeds_low"], first["seeds_coverage"]) == (0.9, 0.8, 0.5)
    _, text, _ = cli("--by", "pe,length", "--format", "csv")
    assert text.splitlines()[1].startswith("alibi,5,2,20,0.9,0.8,1.0,0.5,0.8,1.0,0.5,")
    _, text, _ = cli("--by", "pe,length", "--format", "md")
    assert text.splitlines()[2].startswith("| alibi | 5 | 2 | 20 | 90.0 | 80.0 | 100.0 | 50.0 |")


def test_the_command_tells_of_what_it_mixes_and_leaves_out(cli, make):
    make("alibi", 0, {5: 10})
    make("rotary", 1, {5: 10})
    (make("rotary", 2) / "result.json").unlink()
    code, out, err = cli("--by", "length")
    assert code == 0
    assert out.splitlines()[2].split()[:2] == ["5", "2"]
    left, note = err.splitlines()
    assert left.startswith("left out: ")
    assert "unfinished" in left
    assert note == "note: a cell mixes different values of pe: alibi, rotary"


def test_the_command_writes_and_reads_tables(cli, make):
    make("alibi", 0, {5: 10})
    code, out, _ = cli("--out", "kept", "--format", "json")
    assert (code, json.loads(out)) == (
        0,
        {"rows": "kept/rows.parquet", "runs": "kept/runs.parquet"},
    )
    assert cli("kept", "--by", "pe")[1] == cli("runs", "--by", "pe")[1]
    assert cli("kept/rows.parquet", "--by", "pe")[1] == cli("runs", "--by", "pe")[1]


def test_the_command_compares(cli, make):
    for pe, right in (("alibi", 9), ("rotary", 4)):
        for seed in (0, 1):
            make(pe, seed, {5: right - seed, 7: 1})
    code, out, err = cli("--compare", "alibi", "rotary")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["5", "7"]
    assert "+50.0" in out
    mixing = cli("--compare", "alibi", "rotary", "--by", "task")[2]
    assert mixing == "note: a cell mixes different values of length: 5, 7\n"
    stored = json.loads(cli("--compare", "alibi", "rotary", "--format", "json")[1])
    assert [(line["wins"], line["ties"], line["p"]) for line in stored] == [
        (2, 0, 0.5),
        (0, 2, 1.0),
    ]


def test_the_command_asks_in_sql(cli, make):
    make("alibi", 0, {5: 10, 7: 4})
    sql = "select length, value from results order by length"
    assert cli("--sql", sql, "--format", "csv")[1] == "length,value\n5,1.0\n7,0.4\n"
    stored = json.loads(
        cli("--sql", "select 1/0 as x, date '2026-01-02' as d", "--format", "json")[1]
    )
    assert stored == [{"x": None, "d": "2026-01-02"}]
    assert json.loads(cli("--sql", "select 1 a, 2 a", "--format", "json")[1]) == [
        {"a": 1, "a_2": 2}
    ]
    assert cli("--sql", "select * from results where false", "--format", "table")[0] == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sql", "selec 1"], "the SQL failed: Parser Error"),
        (["--sql", "select 1", "--by", "pe"], "--sql chooses"),
        (["--by", "enkoding"], 'unknown column "enkoding"; did you mean "encoding"?'),
        (["--by", "value"], '"value" is measured, and cannot be grouped by'),
        (["--sql", "select 1; select 2"], "the SQL holds 2 statements"),
        (["--by", "encoding", "--compare", "alibi", "rotary"], "unknown column"),
        (["--slice", "nine"], "unknown slice"),
        (["--format", "xml"], "xml"),
        (["nowhere"], "there is no folder nowhere"),
        (["--out", "runs/file"], "cannot write to runs/file"),
        (["--compare", "alibi", "rotary"], 'unknown encoding of these runs "rotary"'),
    ],
)
def test_the_command_refuses_in_one_line(cli, make, tmp_path, words, said):
    make("alibi", 0)
    (tmp_path / "runs/file").write_text("")
    code, out, err = cli(*words)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: ")
    assert said in err


def test_no_runs_remain(cli, make):
    (make("alibi", 0) / "result.json").write_text("{")
    code, out, err = cli()
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("error: there are no results: runs/")
    (make("alibi", 1) / "result.json").write_text("{")
    code, out, err = cli()
    assert (code, out, err.count("\n")) == (2, "", 3)
    assert err.splitlines()[2] == "error: there are no results: every run was left out"
