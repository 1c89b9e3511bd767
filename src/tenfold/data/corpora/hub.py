"""Corpora from the Hugging Face hub, or from a local copy in one of its formats, read with the `datasets` library.

`folder` is a local copy: the output of `Dataset.save_to_disk`, or Parquet, JSON lines or text files. Without a folder,
the hub is accessed when documents are read, and not before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from pydantic import PositiveInt

from tenfold.core.errors import TenfoldError
from tenfold.data.corpora.corpus import PARTS, Corpus, Document, Part, part_of
from tenfold.data.corpora.text_files import stamped

NAMES: dict[str, Part] = {part: part for part in PARTS} | {
    "valid": "validation",
    "val": "validation",
    "dev": "validation",
}
RULE = 2  # version of the rule that makes parts; changing it invalidates all cached files


class Dataset(Corpus):
    """A dataset of the hub: its `path`, `subset` and `revision`, and the column with the text.

    Published parts are kept. Missing parts are taken from `train`, in groups: `together` consecutive rows are in one part
    (sentences of one book follow each other), or all rows with the same value in the column `by`.
    """

    name = "dataset"

    def __init__(
        self,
        path: str = "",
        subset: str | None = None,
        revision: str | None = None,
        folder: str | None = None,
        column: str = "text",
        by: str | None = None,
        together: PositiveInt = 1000,
    ) -> None:
        self.path, self.subset, self.revision, self.folder = path, subset, revision, folder
        self.column, self.by, self.together = column, by, together
        if not path and folder is None:
            raise TenfoldError(
                "a dataset needs the path of one on the hub, or the folder of a copy"
            )

    def stamp(self) -> str:
        if self.folder is None:
            return f"{RULE} {self.path} {self.subset} {self.revision}"
        return f"{RULE} {stamped(_files(Path(self.folder)))}"

    def documents(self) -> Iterator[Document]:
        loaded = self._loaded()
        published = {name: NAMES[name] for name in loaded if name in NAMES}
        if "train" not in published.values():
            published = {name: NAMES.get(name, "train") for name in loaded}
        for name, part in sorted(published.items(), key=lambda item: PARTS.index(item[1])):
            for number, row in enumerate(loaded[name]):
                text, own = self._text(row), part
                if part == "train" and len(set(published.values())) < len(PARTS):
                    carved = part_of(self._whole(name, number, row))
                    own = part if carved in published.values() else carved
                yield Document(f"{name}/{number}", text, own)

    def _whole(self, name: str, number: int, row: Mapping[str, Any]) -> str:
        """The name of the group of rows that is in one part as a whole."""
        if self.by is None:
            return f"{name}/{number // self.together}"
        if self.by not in row:
            raise TenfoldError(
                f'the dataset has no column "{self.by}" to keep together; it has {", ".join(sorted(row))}'
            )
        return str(row[self.by])

    def _text(self, row: Mapping[str, Any]) -> str:
        if not isinstance(row.get(self.column), str):
            raise TenfoldError(
                f'the dataset has no text in the column "{self.column}"; it has {", ".join(sorted(row))}'
            )
        return str(row[self.column]).replace("\0", "")

    def _loaded(self) -> Mapping[str, Any]:
        """Rows by split, memory-mapped and not yet read."""
        try:
            import datasets
        except ImportError:
            raise TenfoldError(
                f'the corpus "{self.name}" needs the datasets library, which is not installed; '
                "pip install 'tenfold[language]'"
            ) from None
        copy = None if self.folder is None else Path(self.folder).expanduser()
        try:
            if copy is None:
                loaded = datasets.load_dataset(self.path, self.subset, revision=self.revision)
            elif (copy / "dataset_dict.json").exists() or (copy / "dataset_info.json").exists():
                loaded = datasets.load_from_disk(str(copy))
            else:
                _files(copy)
                loaded = datasets.load_dataset(str(copy))
        except TenfoldError:
            raise
        except Exception as error:  # many kinds: no network, an unknown name, a damaged file
            reason = " ".join(str(error).split())[:160]
            where = f"the folder {copy}" if copy is not None else f'"{self.path}" on the hub'
            raise TenfoldError(
                f"cannot load {where}: {reason}; a local copy is named by its folder"
            ) from None
        return loaded if isinstance(loaded, datasets.DatasetDict) else {"all": loaded}


def _files(folder: Path) -> dict[str, Path]:
    folder = folder.expanduser()
    if not folder.is_dir():
        raise TenfoldError(f"there is no folder {folder}")
    files = {
        path.relative_to(folder).as_posix(): path
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    if not files:
        raise TenfoldError(f"the folder {folder} is empty; a copy of a dataset is wanted")
    return files


class Known(Dataset):
    """A dataset with a known path on the hub. `folder` names a local copy instead."""

    hub: ClassVar[dict[str, Any]]

    def __init__(self, folder: str | None = None) -> None:
        super().__init__(folder=folder, **self.hub)


class Wikitext103(Known):
    """Wikitext-103, raw: Wikipedia articles line by line, with the published splits."""

    name = "wikitext-103"
    joined = True
    hub: ClassVar[dict[str, Any]] = {"path": "Salesforce/wikitext", "subset": "wikitext-103-raw-v1"}


class Books(Known):
    """BookCorpus: sentences of books in order; 10,000 consecutive sentences are in one part."""

    name = "books"
    joined = True
    hub: ClassVar[dict[str, Any]] = {
        "path": "bookcorpus/bookcorpus", "revision": "refs/convert/parquet", "together": 10_000,
    }  # fmt: skip

    def _text(self, row: Mapping[str, Any]) -> str:
        return super()._text(row) + "\n"


class Github(Known):
    """Source files from GitHub; all files of one repository are in one part."""

    name = "github"
    hub: ClassVar[dict[str, Any]] = {
        "path": "codeparrot/codeparrot-clean",
        "column": "content",
        "by": "repo_name",
    }


class WikiBook(Corpus):
    """Wikipedia followed by books. `wikipedia` and `books` name local copies of the two."""

    name = "wiki-book"

    def __init__(self, wikipedia: str | None = None, books: str | None = None) -> None:
        known: dict[str, Any] = {
            "path": "wikimedia/wikipedia",
            "subset": "20231101.en",
            "together": 1,
        }
        self.parts: tuple[Dataset, Dataset] = (Dataset(folder=wikipedia, **known), Books(books))

    def stamp(self) -> str:
        return " ".join(part.stamp() for part in self.parts)

    def documents(self) -> Iterator[Document]:
        for part in self.parts:
            yield from part.documents()
