"""Corpora of the hub, from small local copies in its formats; nothing is downloaded."""

import warnings

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.corpora import CORPORA, PARTS
from tenfold.data.corpora.hub import Books, Dataset, Github, WikiBook, Wikitext103

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    datasets = pytest.importorskip("datasets")

LINES = {part: [f" = {part} = \n", "\n", f"Of {part} and its ways .\n"] for part in PARTS}


@pytest.fixture(autouse=True)
def nowhere(monkeypatch, tmp_path):
    """Their own cache, and no hub."""
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "datasets")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    datasets.disable_progress_bars()


@pytest.fixture
def wikitext(tmp_path):
    """As on the hub: Parquet, a file a split, the column `text`."""
    folder = tmp_path / "wikitext"
    for part, lines in LINES.items():
        path = folder / f"{part}-00000-of-00001.parquet"
        folder.mkdir(exist_ok=True)
        datasets.Dataset.from_dict({"text": lines}).to_parquet(path)
    return folder


def by_part(corpus):
    texts = {part: [] for part in PARTS}
    for document in corpus.documents():
        texts[document.part].append(document.text)
    return texts


def test_wikitext_keeps_its_split_and_its_order(wikitext):
    assert by_part(Wikitext103(str(wikitext))) == LINES


def test_what_was_saved_to_disk(tmp_path):
    parts = {part: datasets.Dataset.from_dict({"text": lines}) for part, lines in LINES.items()}
    datasets.DatasetDict(parts).save_to_disk(tmp_path / "saved")
    assert by_part(Wikitext103(str(tmp_path / "saved"))) == LINES


@pytest.mark.parametrize("missing", ["validation", "test"])
def test_what_is_published_is_kept_and_what_is_missing_carved(tmp_path, missing):
    """No row of a published test lands in training."""
    (tmp_path / "some").mkdir()
    rows_of = {part: [f"{part} {n}" for n in range(500)] for part in PARTS if part != missing}
    for part, rows in rows_of.items():
        datasets.Dataset.from_dict({"text": rows}).to_json(tmp_path / "some" / f"{part}.jsonl")
    texts = by_part(Dataset(folder=str(tmp_path / "some"), together=5))
    (other,) = rows_of.keys() - {"train"}
    assert texts[other] == rows_of[other]
    assert sorted(texts["train"] + texts[missing]) == sorted(rows_of["train"])
    assert 0 < len(texts[missing]) < 100


def test_a_split_of_another_name_is_no_part_of_a_published_one(tmp_path):
    splits = {name: datasets.Dataset.from_dict({"text": [name] * 9}) for name in ("train", "extra")}
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "saved")
    texts_of = by_part(Dataset(folder=str(tmp_path / "saved"), together=1))
    assert {text for texts in texts_of.values() for text in texts} == {"train"}


def test_a_column_by_which_nothing_is_kept_together(tmp_path):
    (tmp_path / "some").mkdir()
    rows = datasets.Dataset.from_dict({"text": ["a", "b"], "book": ["x", "x"]})
    rows.to_json(tmp_path / "some" / "train.jsonl")
    with pytest.raises(TenfoldError, match='no column "bok" to keep together; it has book, text'):
        list(Dataset(folder=str(tmp_path / "some"), by="bok").documents())


def test_sentences_that_follow_each_other_stay_together(tmp_path):
    rows = datasets.Dataset.from_dict({"text": [f"sentence {n} ." for n in range(2000)]})
    (tmp_path / "books").mkdir()
    rows.to_json(tmp_path / "books" / "train.jsonl")
    corpus = Dataset(folder=str(tmp_path / "books"), together=20)
    parts = [document.part for document in corpus.documents()]
    assert all(len(set(parts[n : n + 20])) == 1 for n in range(0, 2000, 20))
    assert set(parts) == set(PARTS)
    assert next(iter(Books(str(tmp_path / "books")).documents())).text == "sentence 0 .\n"


def test_files_of_one_repository_stay_together(tmp_path):
    names = [f"someone/repository-{n // 5}" for n in range(500)]
    rows = {"content": [f"x = {n}\n" for n in range(500)], "repo_name": names}
    (tmp_path / "github").mkdir()
    datasets.Dataset.from_dict(rows).to_json(tmp_path / "github" / "train.jsonl")
    documents = list(Github(str(tmp_path / "github")).documents())
    assert len(documents) == 500
    for start in range(0, 500, 5):
        assert len({document.part for document in documents[start : start + 5]}) == 1
    assert {document.part for document in documents} == set(PARTS)


def test_wikipedia_and_books(tmp_path, wikitext):
    (tmp_path / "books").mkdir()
    datasets.Dataset.from_dict({"text": ["one", "two"]}).to_parquet(
        tmp_path / "books" / "train.parquet"
    )
    texts = [d.text for d in WikiBook(str(wikitext), str(tmp_path / "books")).documents()]
    assert texts == [*(line for part in PARTS for line in LINES[part]), "one\n", "two\n"]


def test_the_stamp_follows_the_copy(wikitext):
    before = Wikitext103(str(wikitext)).stamp()
    datasets.Dataset.from_dict({"text": ["another"]}).to_parquet(
        wikitext / "test-00000-of-00001.parquet"
    )
    assert Wikitext103(str(wikitext)).stamp() != before


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: Wikitext103(str(path / "nowhere")), "there is no folder"),
        (lambda path: Dataset(), "needs the path of one on the hub, or the folder of a copy"),
        (lambda path: Wikitext103(), "on the hub"),
    ],
)
def test_what_cannot_be_loaded(tmp_path, make, message):
    with pytest.raises(TenfoldError, match=message) as caught:
        list(make(tmp_path).documents())
    assert "\n" not in str(caught.value)


def test_an_empty_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(TenfoldError, match="is empty; a copy of a dataset is wanted"):
        list(Wikitext103(str(tmp_path / "empty")).documents())


def test_a_column_that_is_not_there(wikitext):
    with pytest.raises(TenfoldError, match='no text in the column "content"; it has text'):
        list(Github(str(wikitext)).documents())


@pytest.mark.parametrize("name", ["wikitext-103", "books", "github", "wiki-book"])
def test_making_one_downloads_nothing(name, monkeypatch):
    monkeypatch.setattr(datasets, "load_dataset", lambda *_, **__: pytest.fail("queried the hub"))
    CORPORA.build(name).stamp()
