"""Documents: which there are, and which part each is in."""

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.data.corpora import CORPORA, PARTS
from tenfold.data.corpora.corpus import part_of
from tenfold.data.corpora.standard_library import PythonCode, PythonProse, modules, prose
from tenfold.data.corpora.text_files import Files, cut


def parts(corpus):
    names = {part: set() for part in PARTS}
    for document in corpus.documents():
        names[document.part].add(document.name)
    return names


def test_every_file_is_in_one_part_and_always_in_the_same(notes):
    names = parts(Files(str(notes)))
    assert sum(map(len, names.values())) == 40
    assert len(set.union(*names.values())) == 40
    assert all(names.values())
    assert parts(Files(str(notes))) == names


def test_one_more_file_moves_no_other(notes):
    before = parts(Files(str(notes)))
    (notes / "another.txt").write_text("Something else.")
    after = parts(Files(str(notes)))
    assert all(before[part] <= after[part] for part in PARTS)


def test_where_the_folder_lies_does_not_matter(notes, tmp_path):
    before = [d.name for d in Files(str(notes)).documents()]
    notes.rename(tmp_path / "elsewhere")
    assert [d.name for d in Files(str(tmp_path / "elsewhere")).documents()] == before


def test_shares_of_many_files():
    parts_drawn = [part_of(f"folder/{number}.txt") for number in range(20_000)]
    assert parts_drawn.count("test") / 20_000 == pytest.approx(0.10, abs=0.01)
    assert parts_drawn.count("validation") / 20_000 == pytest.approx(0.05, abs=0.01)


def test_a_copy_under_another_name_does_not_leak(notes):
    for path in list(notes.rglob("*.txt")):
        (notes / f"copy-of-{path.name}").write_text(path.read_text())
    texts = {part: set() for part in PARTS}
    for document in Files(str(notes)).documents():
        texts[document.part].add(document.text)
    assert sum(map(len, texts.values())) == 40
    assert texts["train"].isdisjoint(texts["test"] | texts["validation"])


def test_a_single_file_is_cut_in_its_order():
    text = "".join(f"line {number}\n" for number in range(100))
    documents = list(cut("a.txt", text))
    assert [d.part for d in documents] == list(PARTS)
    assert "".join(d.text for d in documents) == text
    assert [round(len(d.text) / len(text), 2) for d in documents] == [0.86, 0.05, 0.09]


@pytest.mark.parametrize(
    "text",
    [
        "anarchism originated as a term of abuse " * 50,
        "anarchism " * 200 + "\n",
        "x" * 1000,
        "語" * 99,
    ],
)
def test_a_single_file_without_lines_is_cut_all_the_same(text):
    """As text8 is: one line of words."""
    documents = list(cut("a.txt", text))
    assert [d.part for d in documents] == list(PARTS)
    assert "".join(d.text for d in documents) == text
    shares = [len(d.text) / len(text) for d in documents]
    assert shares == pytest.approx([0.85, 0.05, 0.10], abs=0.02)
    if " " in text:
        assert all(d.text.endswith(" ") for d in documents[:-1])


@pytest.mark.parametrize("length", [1, 3, 30, 500])
def test_a_cut_is_where_lines_are_counted_to(length):
    """The first line end at or after a part's share, by adding up lines."""
    text = "".join(
        f"{'word ' * (n % 7)}{n}{chr(10) if n % 3 else chr(0x2028)}" for n in range(length)
    )
    lines, expected, done = text.splitlines(keepends=True), [], 0
    for end in (0.85, 0.9):
        while done < round(len(text) * end):
            done += len(lines.pop(0))
        expected.append(done)
    sizes = [len(d.text) for d in cut("a.txt", text)]
    if 0 < expected[0] < expected[1] < len(text):
        assert sizes == [expected[0], expected[1] - expected[0], len(text) - expected[1]]
    assert sum(sizes) == len(text)


def test_nothing_is_cut_of_nothing():
    assert list(cut("a.txt", "")) == []


def test_a_pattern_names_files(notes):
    (notes / "picture.png").write_bytes(b"\x89PNG\0\xff")
    assert len(list(Files(f"{notes}/**/*.txt").documents())) == 40
    assert len(list(Files(f"{notes}/3/*.txt").documents())) == 10


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\x89PNG\xff\xfe", "not UTF-8 text (byte 0)"), (b"text\0and more", "is binary")],
)
def test_what_is_not_text_is_named(notes, content, message):
    (notes / "3" / "odd.bin").write_bytes(content)
    with pytest.raises(TenfoldError, match=r"odd\.bin") as caught:
        list(Files(str(notes)).documents())
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", ["nowhere", "nowhere/*.txt"])
def test_what_is_not_there(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TenfoldError, match="nowhere"):
        list(Files(path).documents())


def test_hidden_files_are_passed_over(notes):
    (notes / ".git").mkdir()
    (notes / ".git" / "index").write_bytes(b"\0\xff")
    assert len(list(Files(str(notes)).documents())) == 40


def test_the_standard_library_is_there_without_tests_and_installed_packages():
    names = set(modules())
    assert {"json/decoder.py", "argparse.py"} <= names
    assert {"site-packages", "test"}.isdisjoint(name.split("/")[0] for name in names)
    assert sum(part_of(name) == "test" for name in names) > 20
    assert PythonCode().stamp() == PythonProse().stamp()


def test_prose_is_docstrings_alone():
    source = '''"""Says what the module is about, in a sentence."""
import os
class A:
    """Says what the class is about, in another sentence."""
    def f(self):
        "Short."
        return "not a docstring, though it is long enough to be one"
'''
    assert prose(source).splitlines() == [
        "Says what the module is about, in a sentence.",
        "",
        "Says what the class is about, in another sentence.",
    ]


def test_corpora_are_known_by_name():
    assert {
        "python-code",
        "python-prose",
        "files",
        "wikitext-103",
        "books",
        "github",
        "wiki-book",
    } <= set(CORPORA.names())
    with pytest.raises(TenfoldError, match="python-code"):
        CORPORA.build("python-coda")
