"""What a paper's HTML page opens with: authors, a link to the paper, the verdict in three sentences, a filter of claims.

The verdict is computed from the ledger each time the page is written. Without JavaScript the filter stays hidden and the
page shows every claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tenfold.ledger.claims import About
from tenfold.ledger.markdown_page import MARKS
from tenfold.ledger.statuses import STATUSES, Entry, Status, ours

WORDS: dict[Status, str] = {  # after a number of claims
    "reproduced": "reproduced",
    "partly": "reproduced in part",
    "against": "not reproduced at a smaller scale than the paper's",
    "contradicted": "contradicted",
    "untested": "untested",
    "open": "open",
}
STYLE = """
p.verdict { font-size: 1.05rem; max-width: 50rem; }
figure.headline > svg, figure.headline > img { max-width: min(36rem, 100%); }
fieldset.filter { border: 1px solid var(--line); border-radius: 6px; margin: 1rem 0; padding: .3rem .8rem .5rem; background: var(--paper);
  display: flex; flex-wrap: wrap; gap: .1rem 1.2rem; }
fieldset.filter[hidden] { display: none; }
@media (min-width: 40rem) { fieldset.filter { position: sticky; top: 0; z-index: 2; } }
fieldset.filter legend { background: var(--paper); padding: 0 .3rem; }
fieldset.filter label { white-space: nowrap; } fieldset.filter label:focus-within { outline: 2px solid var(--blue); outline-offset: 2px; }
"""
SCRIPT = """<script>
(() => {
  const filter = document.querySelector('fieldset.filter');
  const rows = [...document.querySelectorAll('table.claims tbody tr')];
  const count = filter.querySelector('output');
  const show = () => {
    const chosen = filter.querySelector('input:checked').value;
    rows.forEach(row => { row.hidden = chosen !== 'all' && !row.querySelector('td:last-child .status.' + chosen); });
    document.querySelectorAll('table.claims').forEach(table => {
      table.parentElement.hidden = ![...table.tBodies[0].rows].some(row => !row.hidden);
    });
    count.textContent = rows.filter(row => !row.hidden).length + ' of ' + rows.length + ' rows shown';
  };
  filter.addEventListener('change', show);
  filter.hidden = false;
  show();
})();
</script>"""


def byline(about: About) -> str:
    """The authors, where our sources name them, and a link to the paper, as HTML."""
    link = escape(about.source)
    if about.arxiv is not None:
        link = f'<a href="https://arxiv.org/abs/{escape(about.arxiv)}">{link}</a>'
    return (
        f'<p class="byline">{". ".join(filter(None, [escape(", ".join(about.authors)), link]))}</p>'
    )


def verdict(entries: Sequence[Entry]) -> list[str]:
    """Three sentences: how many claims have which status, which headlines are reproduced, which are not and why.

    Claims of our own beyond the paper are left out. A paper without headlines has one sentence.
    """
    published = [entry for entry in entries if entry.claim.kind != "own"] or list(entries)
    statuses = [entry.status for entry in published]
    counts = [f"{statuses.count(s)} {_is(statuses.count(s))} {WORDS[s]}" for s in STATUSES if s in statuses]  # fmt: skip
    sentences = [f"Of the paper's {_several(len(published), 'claim')}, {_listed(counts)}."]
    headlines = [entry for entry in published if entry.claim.headline]
    if not headlines:
        return sentences
    shown = [entry for entry in headlines if entry.status == "reproduced"]
    others = [entry for entry in headlines if entry.status != "reproduced"]
    of = _several(len(headlines), "headline")
    if shown:
        names = "; ".join(
            f"{entry.claim.headline}{' (but not by every seed)' * entry.worst_seed_fails}"
            for entry in shown
        )
        sentences.append(f"Of its {of}, {len(shown)} {_is(len(shown))} reproduced: {names}.")
    else:
        sentences.append(f"Of its {of}, none is reproduced.")
    if others:
        names = "; ".join(f"{entry.claim.headline} ({reason(entry)})" for entry in others)
        sentences.append(f"{_several(len(others), 'headline')} {_is(len(others))} not, or not fully: {names}.")  # fmt: skip
    else:
        sentences.append("No headline remains to be reproduced.")
    return sentences


def reason(entry: Entry) -> str:
    """Why a claim is not reproduced, in words: `in part, 7 of 8 conditions hold; laptop scale`."""
    at = f"{entry.scale} scale" if entry.scale else ""
    several = len(entry.shown) > 1
    held = f"{entry.holding} of {len(entry.shown)} conditions hold"
    failed = "none of its conditions holds" if several else "its condition does not hold"
    reasons: dict[Status, list[str]] = {
        "partly": [f"in part, {held}", _too_few(entry), at, entry.reduced],
        "against": [failed, at, entry.reduced],
        "contradicted": [f"contradicted, {failed}", at],
        "untested": ["untested, because the model misses a precondition", ours(entry).split(";")[0]],
        "open": ["open", *(entry.missing[:1] or ["the measurements do not decide it"])],
    }  # fmt: skip
    return "; ".join(filter(None, reasons.get(entry.status, [entry.status])))


def status_filter(entries: Sequence[Entry]) -> str:
    """Radio buttons, one for each status on the page; the script makes them visible."""
    statuses = [entry.status for entry in entries]
    buttons = [_button("all", "all", len(statuses), " checked")]
    buttons += [
        _button(each, f'<span aria-hidden="true">{MARKS[each]}</span> {each}', statuses.count(each))
        for each in STATUSES
        if each in statuses
    ]
    return (
        '<fieldset class="filter" hidden><legend>Show claims by status</legend>'
        f'{"".join(buttons)}<output aria-live="polite"></output></fieldset>'
    )


def _button(value: str, words: str, number: int, checked: str = "") -> str:
    return (
        f'<label><input type="radio" name="status" value="{value}"{checked}> '
        f"{words} ({number})</label>"
    )


def _too_few(entry: Entry) -> str:
    wanted = entry.claim.seeds
    return f"{entry.seeds} of {wanted} seeds" if 0 < entry.seeds < wanted else ""


def _several(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _listed(parts: Sequence[str]) -> str:
    """
    >>> _listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
