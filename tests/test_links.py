"""Every picture and every link of a page leads to a file that is there."""

import re
from pathlib import Path
from urllib.parse import unquote

import pytest

import tenfold

ROOT = Path(tenfold.__file__).parents[2]
PATTERNS = ("*.md", "docs/*.md", "papers/*/README.md", "results/*.md", "results/certified/*.md")
PAGES = sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern))
LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")


def links(text):
    """What a page links to within the repository; code shows how links are written, and is none."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    for match in LINK.finditer(text):
        target = match[1] or match[2]
        if not re.match(r"[a-z]+:|#", target):
            yield target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    targets = {
        target: page.parent / unquote(target.partition("#")[0])
        for target in links(page.read_text())
    }
    assert [target for target, path in targets.items() if not path.exists()] == []


def test_pages_are_seen():
    assert len(PAGES) > 20
    assert list(links("[a](b.md#c) ![x](y.png) `[no](no.md)` <img src=\"z.png\"> [far](https://x.org)")) == [
        "b.md#c", "y.png", "z.png",
    ]  # fmt: skip


def test_results_hold_what_pages_show_alone():
    """Figures are committed as small PNG files; `tenfold redraw --out DIR` draws the others."""
    shown = {
        (page.parent / unquote(target)).resolve()
        for page in PAGES
        for target in links(page.read_text())
    }
    files = [path for path in (ROOT / "results").rglob("*") if path.is_file()]
    assert not [path for path in files if path.suffix in (".svg", ".html")]
    pictures = {path.resolve() for path in files if path.suffix == ".png"}
    assert not pictures - shown
    assert max(path.stat().st_size for path in pictures) < 200_000
