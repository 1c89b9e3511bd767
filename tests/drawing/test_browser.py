"""The page in a real browser: the system's Chromium, without a window. `TENFOLD_BROWSER=required` forbids skipping."""

import json
import os
import re
import shutil
from importlib.util import find_spec
from io import BytesIO

import pytest
from markdown_it import MarkdownIt
from PIL import Image

from tenfold.drawing.report_page import write_story
from tenfold.drawing.run_groups import gather
from tenfold.features.proofs.certify import certify, write_certificate
from tenfold.features.proofs.machine_files import write_machine
from tenfold.features.proofs.run_machine import extract_machine
from tenfold.ledger.paper_report import write_paper
from tenfold.runs.recipe_files import recipe
from tenfold.runs.run import SHELF, Run
from tenfold.runs.train import train

pytestmark = pytest.mark.full
NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PHONE, DESK = (375, 812), (1100, 900)
VIEWS = {
    "light": ("light", DESK),
    "dark": ("dark", DESK),
    "phone": ("light", PHONE),
    "dark-phone": ("dark", PHONE),
}


def find_browser():
    """Its path; without one, skip, or fail where it must be there."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None or find_spec("playwright") is None:
        reason = f"there is no browser here: none of {', '.join(NAMES)}, or no playwright"
        if os.environ.get("TENFOLD_BROWSER") == "required":
            pytest.fail(f"{reason}; and TENFOLD_BROWSER is required")
        pytest.skip(reason)
    return program


@pytest.fixture(scope="module")
def browser():
    program = find_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page with everything on it: labels, slices, pairs, a proof with its machine, a run that is left out."""
    folder = tmp_path_factory.mktemp("browser")
    for seed in (0, 1):
        for name in ("certified/addition-index-alibi", "certified/addition"):
            requested = {"slices": ["uniform", "nines", "pairs"], "lengths": [1, 2, 4, 8, 30]}
            made = recipe(name, "smoke", seed=seed, eval=requested)
            train(made, folder / "runs" / made.run_name)
    run = Run.open(folder / "runs" / made.run_name)
    write_certificate(run, certify(run))
    write_machine(extract_machine(run), run.built.batcher.task, run.folder)
    shutil.copytree(SHELF / "comparison", folder / "runs" / "published")
    story = gather([folder / "runs"])
    assert len(story.problems) == 1
    title = "A heading of some length, so that it has to be broken on a phone"
    return write_story(story, folder / "page", title)["page"]


@pytest.fixture(params=VIEWS)
def seen(request, browser, report):
    """The page in a view, all unfolded, and what went wrong on the way."""
    scheme, (width, height) = VIEWS[request.param]
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": height}, offline=True
    )
    page = context.new_page()
    messages, requested = [], []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.goto(report.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    yield page, messages, requested, request.param
    context.close()


def test_opens_quietly_and_fetches_nothing(seen, report):
    _, messages, requested, _ = seen
    assert messages == []
    assert requested == [report.as_uri()]


def test_nothing_is_wider_than_the_screen(seen):
    page, *_, view = seen
    width = VIEWS[view][1][0]
    assert page.evaluate("innerWidth") == width
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    inside = page.evaluate(
        "[...document.querySelectorAll('div.wide, pre, figure')].map(one => one.getBoundingClientRect().right)"
    )
    assert len(inside) > 10
    assert max(inside) <= width
    if width < 400:  # tables are, and scroll in their box
        scrolled = "[...document.querySelectorAll('div.wide')].some(one => one.scrollWidth > one.clientWidth)"
        assert page.evaluate(scrolled)


def test_every_figure_is_seen(seen, report):
    page, *_ = seen
    shown = page.evaluate("getComputedStyle(document.body).backgroundColor")
    paper = tuple(map(int, re.findall(r"\d+", shown)))
    drawn = page.locator("figure > svg, figure > div.wide > svg").all()
    names = {one.get_attribute("id") for one in drawn}
    assert {"accuracy", "slice-nines", "pairs-certified-addition"} <= names
    assert sum(name.startswith("machine-") for name in names) == 1
    for one in drawn:
        box = one.bounding_box()
        assert box["width"] > 200
        assert box["height"] > 60
        picture = Image.open(BytesIO(one.screenshot())).convert("RGB")
        assert picture.getpixel((1, 1)) == paper  # no slab
        assert len(picture.getcolors(2**24)) > 20  # ink, and its shades
    for one in names:
        for kind in ("png", "svg"):
            assert (report.parent / f"{one}.{kind}").exists()


TEXTS = """() => [...document.querySelectorAll('figure > svg text, figure > div.wide > svg text')].map(one =>
  parseFloat(getComputedStyle(one).fontSize) * Math.hypot(one.getScreenCTM().a, one.getScreenCTM().b))"""


def test_words_of_figures_are_large_enough(seen):
    page, *_ = seen
    sizes = page.evaluate(TEXTS)
    assert len(sizes) > 30
    assert min(sizes) >= 9  # pixels
    assert max(sizes) <= 20


def test_a_name_stays_beside_its_swatch(seen):
    """Broken into lines it does not run on below."""
    page, *_ = seen
    lefts = page.evaluate(
        """() => [...document.querySelectorAll('ul.legend li:not(.label)')].map(one => {
          one.lastChild.textContent = 'many words '.repeat(30);
          const words = document.createRange();
          words.selectNodeContents(one.lastChild);
          const boxes = [...words.getClientRects()].map(box => box.left);
          return [boxes.length, one.firstChild.getBoundingClientRect().right, Math.min(...boxes)];
        })"""
    )
    assert lefts
    for lines, swatch, words in lefts:
        assert lines > 1
        assert words >= swatch


def test_a_label_has_a_line_of_its_own(seen):
    page, *_ = seen
    widths = page.evaluate(
        """() => [...document.querySelectorAll('ul.legend li.label')].map(one =>
          [one.getBoundingClientRect().width, one.parentElement.getBoundingClientRect().width])"""
    )
    assert widths
    assert all(label == pytest.approx(whole) for label, whole in widths)


def test_screenshot(seen, tmp_path):
    page, *_, view = seen
    path = tmp_path / f"{view}.png"
    page.screenshot(path=path, full_page=True)
    picture = Image.open(path).convert("L")
    assert picture.width == VIEWS[view][1][0]
    assert picture.height > 1500
    shades = picture.histogram()
    paper = shades.index(max(shades))
    assert paper < 60 if "dark" in view else paper > 200
    assert sum(shades) - sum(shades[max(0, paper - 20) : paper + 20]) > 0.01 * sum(shades)


CONTRASTS = """() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = one => { for (; one; one = one.parentElement) {
    const found = numbers(getComputedStyle(one).backgroundColor);
    if (found.length < 4 || found[3] > 0) return found; } };
  const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  const words = [...document.querySelectorAll('h1, h2, h3, p, li, td, th, small, summary, figcaption, pre, a, .wrong, .status')];
  const drawn = [...document.querySelectorAll('figure > svg#accuracy text')];
  const colour = one => getComputedStyle(one)[one.tagName == 'text' ? 'fill' : 'color'];
  return [words, drawn].map(all => [all.length,
    Math.min(...all.map(one => ratio(light(numbers(colour(one))), light(behind(one)))))]);
}"""


def test_text_can_be_read(seen):
    page, *_ = seen
    (words, least), (labels, least_drawn) = page.evaluate(CONTRASTS)
    assert words > 100
    assert labels > 10
    assert least >= 4.5  # what WCAG asks of text
    assert least_drawn >= 4.5


@pytest.mark.parametrize("view", VIEWS)
def test_a_papers_page(browser, tmp_path, view):
    """It is whole, no wider than the screen, and can be read."""
    path = write_paper("symmetry", tmp_path)["symmetry"]
    scheme, (width, height) = VIEWS[view]
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": height}, offline=True
    )
    page, requested = context.new_page(), []
    page.on("request", lambda request: requested.append(request.url))
    page.goto(path.as_uri())
    assert requested == [path.as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    drawn = [one.bounding_box() for one in page.locator("figure > :is(svg, img)").all()]
    assert len(drawn) > 20
    assert all(box["width"] > 200 and box["height"] > 60 for box in drawn)
    (words, least), _ = page.evaluate(CONTRASTS)
    assert words > 100
    assert least >= 4.5
    context.close()


def test_claims_are_filtered_by_status_with_the_keyboard(browser, tmp_path):
    """Arrow keys choose a status, offline; without JavaScript the filter is hidden and every claim is there."""
    path = write_paper("extrapolation", tmp_path)["extrapolation"]
    context = browser.new_context(viewport={"width": DESK[0], "height": DESK[1]}, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    rows = page.locator("table.claims tbody tr")
    every = rows.count()
    assert page.locator("table.claims tbody tr:visible").count() == every
    page.locator("fieldset.filter input").first.focus()
    page.keyboard.press("ArrowDown")
    chosen = page.locator("fieldset.filter input:checked").get_attribute("value")
    shown = page.locator("table.claims tbody tr:visible")
    assert 0 < shown.count() < every
    assert (
        page.locator(f"table.claims tbody tr:visible td:last-child .{chosen}").count()
        == shown.count()
    )
    assert (
        page.locator("fieldset.filter output").inner_text()
        == f"{shown.count()} of {every} rows shown"
    )
    page.keyboard.press("ArrowUp")
    assert shown.count() == every
    context.close()
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto(path.as_uri())
    assert not page.locator("fieldset.filter").is_visible()
    assert page.locator("table.claims tbody tr:visible").count() == every
    context.close()


EVIL = "<img src=x onerror=window.hacked=1><script>window.hacked=1</script>"


def test_a_strangers_run_runs_nothing(browser, make, measured, tmp_path):
    """Names, labels, words, slices and files of a stranger are text on the page, and nothing is fetched."""
    rows = [measured(5, 5), measured(4, 7), measured(5, 5, slice=EVIL), measured(4, 7, slice=EVIL)]
    made = {"tenfold": "0.1.0", "commit": EVIL, "date": EVIL, "command": EVIL}
    result = {"environment": made, "reason": EVIL}
    folder = make(rows=rows, result=result, name=EVIL, label=EVIL, about=EVIL)
    svg = f"<svg xmlns='http://www.w3.org/2000/svg'>{EVIL}<script>window.hacked=1</script></svg>"
    (folder / "machine.svg").write_text(svg)
    (folder / "certificate.json").write_text(json.dumps({"verdict": EVIL, "weights": EVIL}))
    (folder / "machine.json").write_text(json.dumps({"columns": [EVIL], "states": 1}))
    (folder / "feats.json").write_text(json.dumps([{"what": EVIL}]))
    (folder / "calibration.json").write_text(json.dumps({"run": EVIL}))
    written = write_story(gather([folder]), tmp_path / "page", EVIL)
    context = browser.new_context(offline=True)
    page, requested = context.new_page(), []
    page.on("request", lambda request: requested.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    page.goto(written["page"].as_uri())
    assert requested == [written["page"].as_uri()]
    assert page.evaluate("window.hacked") is None
    assert page.locator("script, img[src=x]").count() == 0
    assert page.locator(f"text={EVIL}").count() > 3
    table = MarkdownIt("commonmark").enable("table").render(written["table"].read_text())
    page.set_content(table)
    assert page.evaluate("window.hacked") is None
    assert page.locator("script, img").count() == 0
    context.close()


def test_without_a_browser_it_is_skipped_unless_it_must_not_be(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TENFOLD_BROWSER", raising=False)
    with pytest.raises(pytest.skip.Exception, match="there is no browser here"):
        find_browser()
    monkeypatch.setenv("TENFOLD_BROWSER", "required")
    with pytest.raises(pytest.fail.Exception, match="TENFOLD_BROWSER is required"):
        find_browser()
