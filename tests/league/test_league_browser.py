"""The page of the league in a real browser: sorting, filtering, curves, phone and dark mode, offline."""

import os
import shutil
from importlib.util import find_spec

import pytest

from tenfold.league.entries import ENTRIES
from tenfold.league.league_page import page as as_html
from tenfold.league.standing import standings
from tenfold.league.tracks import TRACKS
from tenfold.results.tables import Collected

pytestmark = pytest.mark.full
ADDITION, RIGHT = TRACKS["addition"], dict.fromkeys(range(1, 11), 1.0)
QUIET = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
VIEWS = {"desk": ("light", 1100), "dark": ("dark", 1100), "phone": ("light", 375), "dark-phone": ("dark", 375)}  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)  # fmt: skip
    if program is None or find_spec("playwright") is None:
        if os.environ.get("TENFOLD_BROWSER") == "required":
            pytest.fail("there is no browser here, and TENFOLD_BROWSER is required")
        pytest.skip("there is no browser here")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=list(QUIET))
        yield started
        started.close()


@pytest.fixture(scope="module")
def written(tmp_path_factory, add):
    """A page with every entry of addition and 20 of text, with numbers of our own."""
    made = {}
    for name, far in (("addition", {11: 0.5, 20: 0.0}), ("text", {})):
        collected, track = Collected(), TRACKS[name]
        for number, entry in enumerate(each for each in ENTRIES.values() if each.suits(track)):
            reached = {**RIGHT, **far} if name == "addition" else {128: 5 + number / 99, 256: 6.0}
            if entry.name == "cope":
                reached = {**reached, min(reached): 0.1 if name == "addition" else 99.0}
            add(collected, track, entry.name, reached)
        made[name] = track, standings(track, collected)
    path = tmp_path_factory.mktemp("page") / "league.html"
    path.write_text(as_html(made, "laptop"))
    return path


@pytest.fixture(params=VIEWS)
def view(request, browser, written):
    scheme, width = VIEWS[request.param]
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 800}, offline=True
    )
    page, messages, requested = context.new_page(), [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.goto(written.as_uri())
    yield page
    assert messages == []
    assert all(url.startswith("file:") for url in requested)
    context.close()


def row_of(entry):
    return f'tr[data-entry="{entry}"]'


def test_rows_sort_filter_and_show_their_curve(view):
    section = view.locator("section#addition")
    rows = section.locator("tbody tr[data-entry]")
    assert rows.count() == len([entry for entry in ENTRIES.values() if entry.suits(ADDITION)])
    assert view.locator("section#text tbody tr[data-entry]").count() >= 20
    section.locator("thead button").first.click()
    *names, last = rows.evaluate_all("all => all.map(row => row.dataset.entry)")
    assert (names, last) == (sorted(names), "cope")  # what does not fit stays below the others
    assert section.locator("tbody.unfit tr[data-entry]").count() == 1
    section.locator("thead button").first.click()
    assert rows.evaluate_all("all => all.map(row => row.dataset.entry)") == [*names[::-1], "cope"]
    section.locator("thead button").nth(2).click()
    section.locator('button[data-label="window"]').click()
    visible = [row.get_attribute("data-label") for row in rows.all() if row.is_visible()]
    assert visible
    assert set(visible) == {"window"}
    assert not section.locator("tbody.unfit").is_visible()
    section.locator('button[data-label="window"]').click()
    row = section.locator(row_of("rotary"))
    row.click()
    assert section.locator("g.curve.on").get_attribute("data-entry") == "rotary"
    assert "rotary (generic; Su et al. 2021" in section.locator("p.shown").inner_text()
    assert (
        section.locator("svg.curves").bounding_box()["y"] >= 0
    )  # in sight, wherever the row stands
    above, below = (
        section.locator(each).bounding_box() for each in ("div.stays", row_of("rotary"))
    )
    assert above["y"] + above["height"] <= below["y"] + below["height"]
    unfit = section.locator('tr[data-entry="cope"]').inner_text()
    assert "does not fit" in unfit
    assert "91.0%" in unfit
    assert view.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
