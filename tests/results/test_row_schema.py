"""One schema of result rows: what is derived from it, and that every reader agrees on it."""

import dataclasses

import pydantic
import pytest

import tenfold
from tenfold.evals.statistics import Measurement
from tenfold.results import row_schema
from tenfold.results.collect import query
from tenfold.results.row_schema import COLUMNS, EMPTY, MEASURED, RESULTS, MeasuredRow, check_row


def test_a_measurement_is_part_of_a_row():
    own = {field.name for field in dataclasses.fields(Measurement)}
    assert own < set(COLUMNS)
    assert set(row_schema.StoredRow.model_fields) == set(MEASURED) == own | {"checkpoint"}


def test_every_kind_of_row_has_the_same_columns():
    assert tuple(MeasuredRow.model_fields) == tuple(EMPTY) == tuple(RESULTS) == COLUMNS


def test_what_an_experiment_must_give():
    with pytest.raises(ValueError, match="a row has no recipe"):
        check_row(EMPTY)
    whole = EMPTY | {"recipe": "paper/sums", "metric": "terms", "value": 3.0}
    check_row(whole)
    row_schema.ADDED.validate_python([whole])
    with pytest.raises(pydantic.ValidationError):  # a run's own rows have a length
        row_schema.OWN.validate_python([whole])


@pytest.mark.parametrize("value", [-0.1, 1.1])
def test_a_share_lies_between_0_and_1_wherever_it_is_read(value):
    row = EMPTY | {"recipe": "paper/sums", "metric": "exact", "value": value}
    with pytest.raises(ValueError, match="exact is a share"):
        check_row(row)
    with pytest.raises(pydantic.ValidationError, match="exact is a share"):
        row_schema.ADDED.validate_python([row])


def test_collect_and_report_from_python(tmp_path):
    recipe = tenfold.recipe("symmetry/addition-relative", scale="smoke")
    run = tenfold.train(recipe, tmp_path / "runs" / "run")
    collected = tenfold.collect(tmp_path / "runs")
    assert collected.rows == tenfold.collect([run.folder]).rows
    assert {tuple(row) for row in collected.rows} == {COLUMNS}
    assert query(collected, "select distinct recipe from results")[1] == [(recipe.name,)]
    written = tenfold.write_report(tmp_path / "runs", tmp_path / "report", title="Sums")
    assert "<h1>Sums</h1>" in written["page"].read_text()
