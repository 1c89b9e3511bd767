"""Corpora: text to model, by name; and the ways to write it as tokens. Nothing is read, or downloaded, at import."""

from tenfold.corpora.base import PARTS, Corpus, Document, Part
from tenfold.corpora.files import Files
from tenfold.corpora.hub import Books, Dataset, Github, WikiBook, Wikitext103
from tenfold.corpora.standard_library import PythonCode, PythonProse
from tenfold.corpora.writing import BPE, Bytes, Characters, Writing
from tenfold.registry import Registry

CORPORA: Registry[Corpus] = Registry(
    "corpus",
    "tenfold.corpora",
    of=(PythonCode, PythonProse, Files, Wikitext103, Books, Github, WikiBook, Dataset),
    base=Corpus,
)
WRITINGS: Registry[Writing] = Registry(
    "text format", "tenfold.writings", of=(Bytes, Characters, BPE), base=Writing
)

__all__ = [
    "CORPORA",
    "PARTS",
    "WRITINGS",
    "Corpus",
    "Document",
    "Part",
    "Writing",
]
