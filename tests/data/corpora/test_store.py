"""Tokens on disk: written once, mapped, the same again."""

import numpy as np
import pytest

from tenfold.core.errors import TenfoldError
from tenfold.core.registry import Spec
from tenfold.data.corpora.corpus import PARTS, Corpus, Document
from tenfold.data.corpora.text_files import Files
from tenfold.data.corpora.token_store import stored, windows
from tenfold.data.corpora.tokenizers import BPE, Bytes


def store(path, writing=None):
    writing = writing or Bytes()
    named = Spec(name="files", options={"path": str(path)}), Spec(name=writing.name)
    return stored(Files(str(path)), writing, named)


def test_tokens_are_the_documents_of_their_part(notes):
    tokens_stored = store(notes)
    for part in PARTS:
        texts = [d.text for d in Files(str(notes)).documents() if d.part == part]
        tokens = tokens_stored.tokens(part)
        assert isinstance(tokens, np.memmap)
        assert not tokens.flags.writeable
        assert bytes(tokens) == b"".join(text.encode() + b"\0" for text in texts)
        assert tokens_stored.counts[part] == len(tokens)


def test_nothing_is_read_twice(notes, monkeypatch):
    first = store(notes)
    monkeypatch.setattr(Files, "documents", lambda self: pytest.fail("read again"))
    assert store(notes) == first


def test_changed_text_is_another_store(notes):
    first = store(notes)
    (notes / "0" / "0.txt").write_text("Now it says something else, and at some length.\n")
    second = store(notes)
    assert second.digest != first.digest
    assert second.folder != first.folder


def test_what_was_learned_is_kept(notes):
    pytest.importorskip("tokenizers")
    first, second = BPE(300), BPE(300)
    store(notes, first)
    store(notes, second)
    assert second.ids("note says").tolist() == first.ids("note says").tolist()


def test_damage_is_told(notes):
    existing = store(notes)
    (existing.folder / "test.bin").write_bytes(b"cut")
    with pytest.raises(TenfoldError, match=r"test\.bin is cut short"):
        store(notes)


def test_an_empty_corpus_is_refused_and_leaves_nothing(tmp_path, cache):
    (tmp_path / "empty.txt").write_text("")
    with pytest.raises(TenfoldError, match='the corpus "files" is empty'):
        store(tmp_path / "empty.txt")
    assert list(cache.iterdir()) == []


def test_too_few_files_for_three_parts(tmp_path):
    folder = tmp_path / "few"
    folder.mkdir()
    for name in "ab":
        (folder / f"{name}.txt").write_text(name * 100)
    with pytest.raises(TenfoldError, match="give more files, or a single one"):
        store(folder)


def test_a_cache_that_cannot_be_written(notes, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TENFOLD_CACHE", str(tmp_path / "file"))
    with pytest.raises(TenfoldError, match="set TENFOLD_CACHE"):
        store(notes)


def test_one_document_at_a_time_is_in_memory():
    """A corpus larger than we would like to hold is read document by document, and never twice at once."""

    class Stream(Corpus):
        name = "stream"

        def stamp(self):
            return "always"

        def documents(self):
            for number in range(300):
                alive.append(number)
                yield Document(str(number), "x" * 10, PARTS[number % 3])
                alive.pop()

    alive = []
    written = stored(Stream(), Bytes(), (Spec(name="stream"), Spec(name="bytes")))
    assert alive == []
    assert written.counts == dict.fromkeys(PARTS, 1100)


def test_windows_are_stretches_and_the_same_for_the_same_generator():
    tokens = np.arange(50, dtype=np.uint8)
    one, same, other = (windows(tokens, 6, 8, np.random.default_rng(s)) for s in (1, 1, 2))
    assert one.shape == (6, 9)
    assert (np.diff(one.astype(int), axis=1) == 1).all()
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_every_token_can_be_predicted_and_the_last_one_too():
    drawn = windows(np.arange(5, dtype=np.uint8), 200, 4, np.random.default_rng(0))
    assert drawn.tolist() == [[0, 1, 2, 3, 4]] * 200
    with pytest.raises(TenfoldError, match="a length of 5 tokens; the text has 5"):
        windows(np.arange(5, dtype=np.uint8), 1, 5, np.random.default_rng(0))


def test_a_file_that_does_not_fit_into_memory_is_refused_before_it_is_read(notes, monkeypatch):
    """Four times its size is what it takes; tokens that are there already need nothing."""
    corpus, named = Files(str(notes)), (Spec(name="files"), Spec(name="bytes"))
    largest = corpus.largest()
    assert largest == max(path.stat().st_size for path in notes.rglob("*.txt"))
    with monkeypatch.context() as patch:
        patch.setattr(Files, "documents", lambda self: pytest.fail("it is read"))
        with pytest.raises(TenfoldError, match="cut it into several files in one folder"):
            stored(corpus, Bytes(), named, memory=4 * largest - 1)
    made = stored(corpus, Bytes(), named, memory=4 * largest)
    assert stored(corpus, Bytes(), named, memory=0) == made
