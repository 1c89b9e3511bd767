"""Corpora for language modelling, by name, and their tokenizers. Importing reads and downloads nothing."""

from tenfold.core.registry import Registry
from tenfold.data.corpora.corpus import PARTS, Corpus, Document, Part
from tenfold.data.corpora.hub import Books, Dataset, Github, WikiBook, Wikitext103
from tenfold.data.corpora.standard_library import PythonCode, PythonProse
from tenfold.data.corpora.text_files import Files
from tenfold.data.corpora.tokenizers import BPE, Bytes, Characters, Writing

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
