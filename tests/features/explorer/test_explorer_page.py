"""The default page in Chromium, from a file and offline: every view, button and bad input, by mouse and by keyboard."""

import json
import time
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

import tenfold
from tenfold.features.explorer.explore import explore

pytestmark = pytest.mark.full
DESK, PHONE = {"width": 1180, "height": 900}, {"width": 375, "height": 812}
PUBLISHED = Path(tenfold.__file__).parents[2] / "docs" / "explorer.html"
VIEWS = ("ask", "look", "stretch", "prove", "share")


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return explore(out=tmp_path_factory.mktemp("explorer") / "page.html")


class Visit:
    """A page with what it logged and requested. The content policy forbids `wait_for_function`, so `until` asks again."""

    def __init__(self, browser, path, fragment="", **options):
        self.context = browser.new_context(
            offline=True, reduced_motion=options.pop("motion", "reduce"), accept_downloads=True, **{"viewport": DESK, **options}
        )  # fmt: skip
        self.page, self.messages, self.requested = self.context.new_page(), [], []
        self.page.on("console", lambda message: self.messages.append(message.text))
        self.page.on("pageerror", lambda error: self.messages.append(str(error)))
        self.page.on("request", lambda request: self.requested.append(request.url))
        self.address = path.as_uri()
        self.page.goto(self.address + fragment)
        self.page.wait_for_selector("html[data-ready=yes]")

    def until(self, script, seconds=60):
        stop = time.monotonic() + seconds
        while not (found := self.page.evaluate(script)):
            assert time.monotonic() < stop, f"never: {script}"
            self.page.wait_for_timeout(20)
        return found

    def ask(self, text):
        self.page.fill("#problem", text)
        self.page.press("#problem", "Enter")

    def results(self):
        """The sentences about every model's answer, once all are there."""
        self.until(
            "[...document.querySelectorAll('.results li')].every(li => !li.textContent.includes('computing'))"
        )
        return [each.inner_text() for each in self.page.locator(".results li").all()]

    def open(self, view):
        self.page.click(f"#tab-{view}")

    @property
    def complaint(self):
        return self.page.inner_text("#problem-error")


@pytest.fixture(scope="module")
def visit(browser, path):
    visit = Visit(browser, path)
    yield visit
    visit.context.close()


@pytest.fixture(autouse=True)
def quiet(request):
    """Nothing is logged and nothing leaves the page, whatever was done in it."""
    yield
    if "visit" in request.fixturenames:
        visit = request.getfixturevalue("visit")
        assert visit.messages == []
        assert {
            url.partition("#")[0] for url in visit.requested if not url.startswith("blob:")
        } == {visit.address}


@pytest.mark.parametrize(
    ("problem", "digits"),
    [("999+1", 4), ("0+0", 1), ("7+123456789", 9), (f"{'9' * 500}+{'4' * 500}", 501)],
)
def test_answers(visit, problem, digits):
    visit.open("ask")
    visit.ask(problem)
    proved, absolute, calibrated = visit.results()
    for right in (proved, calibrated):
        assert f"right: all {digits} digits" in right
    assert ("right" in absolute) is (digits <= 5)
    assert visit.complaint == ""


def test_the_answer_is_what_python_says(visit):
    visit.ask("8675309+24601999")
    visit.results()
    visit.page.click("text=Last")
    cells = visit.page.locator("#view-ask .line.answer.first .cell").all()
    assert "".join(cell.inner_text() for cell in cells) == str(8675309 + 24601999)
    wrong = visit.page.locator("#view-ask .cell.wrong").count()
    assert wrong > 3


def test_a_hundred_thousand_digits(visit):
    visit.page.fill("#digits", "100000")
    visit.page.click("#quick button >> nth=0")
    proved, absolute, calibrated = visit.results()
    assert "right: all 100,001 digits" in proved
    assert "right: all 100,001 digits" in calibrated
    assert "looks at the whole input" in absolute
    assert "100,000 digits would take too long" in absolute
    visit.page.fill("#digits", "12")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("", "Nothing was typed. Write a problem such as 999+1."),
        ("   ", "Nothing was typed"),
        ("twelve+1", 'the character "t", which is no digit in base 10'),
        ("-5+3", "negative number"),
        ("5+-3", "negative number"),
        ("5+\u22123", "negative number"),
        ("5", "is not two numbers with one + between them"),
        ("1+2+3", "is not two numbers"),
        ("1.5+2", 'the character "."'),
        ("5+", "a number missing"),
        ("<img src=x onerror=alert(1)>+1", 'the character "<"'),
        (
            f"{'7' * 100_001}+1",
            "A number of 100,001 digits is too long for this page, which takes 100,000.",
        ),
    ],
)
def test_bad_input_is_one_sentence(visit, typed, said):
    visit.open("ask")
    visit.ask("12+34")
    before = visit.results()
    visit.ask(typed)
    assert said in visit.complaint
    assert "\n" not in visit.complaint
    assert visit.page.locator("img").count() == 0
    assert visit.results() == before


@pytest.mark.parametrize(
    "typed", ["1,000 + 2 500", " 1_000+2'500 = ", "1000+\n2500", "01000+2500=?"]
)
def test_separators_are_read(visit, typed):
    visit.ask("1+1")
    visit.page.evaluate("typed => { document.getElementById('problem').value = typed }", typed)
    visit.page.press("#problem", "Enter")
    assert visit.complaint == ""
    assert visit.page.input_value("#problem") == "1000+2500"


def test_every_quick_button(visit):
    visit.open("ask")
    visit.page.fill("#digits", "7")
    buttons = visit.page.locator("#quick button").all()
    assert len(buttons) == 4
    buttons[0].click()
    assert visit.page.input_value("#problem") == "9999999+1"
    buttons[1].click()
    first, second = visit.page.input_value("#problem").split("+")
    assert max(len(first), len(second)) == 7
    buttons[2].click()
    first, second = visit.page.input_value("#problem").split("+")
    assert len(first) == 7 > len(second)
    buttons[3].click()
    visit.until("!document.querySelector('#quick button:last-child').disabled")
    first, second = visit.page.input_value("#problem").split("+")
    assert max(len(first), len(second)) == 5, "it fits up to four digits"
    assert "wrong" in visit.results()[1]
    visit.page.fill("#digits", "0")
    buttons[0].click()
    assert "is not a number of digits" in visit.complaint
    visit.page.fill("#digits", "12")


def test_play_step_and_speed(browser, path):
    visit = Visit(browser, path, "#view=ask&problem=9999%2B1", motion="no-preference")
    visit.until("document.querySelector('#view-ask output').textContent === 'digit 5 of 5'")
    visit.page.fill("#speed", "20")
    for name, digit in (("First", 1), ("Step", 2), ("Step", 3), ("Back", 2), ("Last", 5)):
        visit.page.click(f"#view-ask button:text-is('{name}')")
        assert visit.page.inner_text("#view-ask output") == f"digit {digit} of 5"
    assert "column=4" in visit.page.url
    visit.page.click("#view-ask button:text-is('Play')")
    visit.page.click("#view-ask button:text-is('Pause')")
    assert visit.messages == []
    visit.context.close()


def test_by_keyboard_alone(browser, path):
    visit = Visit(browser, path)
    press = visit.page.keyboard.press
    press("Tab")
    assert visit.page.evaluate("document.activeElement.id") == "problem"
    press("Control+a")
    visit.page.keyboard.type("58+67")
    press("Enter")
    assert "right: all 3 digits" in visit.results()[0]
    visit.page.focus("#tab-ask")
    for view in (*VIEWS[1:], "ask"):
        press("ArrowRight")
        assert visit.page.evaluate("document.activeElement.id") == f"tab-{view}"
        assert visit.page.is_visible(f"#view-{view}")
    press("Tab")
    assert visit.page.evaluate("document.activeElement.className") == "board"
    press("End")
    press("ArrowLeft")
    assert visit.page.inner_text("#view-ask output") == "digit 2 of 3"
    assert "Column 2: Proved adder 2" in visit.page.inner_text("#said")
    visit.context.close()


def test_look(visit):
    visit.ask("58+67")
    visit.open("look")
    for model in range(3):
        visit.page.click(f"#view-look [aria-label=Model] button >> nth={model}")
        for figure in ("attention-arcs", "attention-maps", "logit-parts", "logits"):
            assert visit.page.locator(f"#figure-{figure} svg").count() == 1
        assert visit.page.locator("#figure-attention-arcs path.arc").count() > 0
        assert "which is right" in visit.page.inner_text("#figure-logits figcaption")
    arcs = "document.querySelectorAll('#figure-attention-arcs path.arc').length"
    everything = visit.page.evaluate(arcs)
    visit.page.click("#view-look [aria-label=Head] button >> nth=2")
    assert 0 < visit.page.evaluate(arcs) < everything
    visit.page.click("#view-look [aria-label='Digit of the answer'] button >> nth=1")
    assert "column 5" in visit.page.inner_text("#figure-attention-arcs figcaption")
    visit.page.click("#view-look [aria-label=Attention] button >> nth=0")
    visit.ask("9" * 60 + "+1")
    assert "too long to be drawn" in visit.page.inner_text("#view-look [role=status]")


def test_content_and_encoding_sum_to_the_logit(visit):
    """For a model whose encoding acts in attention alone, the parts add up to what softmax is given."""
    script = """() => {
      const spec = explorer.specs[2], network = new explorer.Network(spec), watched = [];
      const written = explorer.writeProblem(explorer.parseProblem("58+67", spec.task), spec);
      network.logits(written.sequence, written.source, written.target.length, {watched});
      const values = new Set(), lines = spec.stack.cross[0].lines.map(line => line.value);
      for (const map of watched.filter(each => each.across)) map.total.forEach((total, n) => {
        if (total > -Infinity) values.add((total - map.content[n]).toFixed(3)); });
      return [[...values].map(Number), lines];
    }"""
    values, lines = visit.page.evaluate(script)
    assert values
    assert all(min(abs(value - line) for line in lines) < 2e-3 for value in values)


def test_stretch(visit):
    visit.open("stretch")
    rows = "[...document.querySelectorAll('#view-stretch tbody tr')].map(tr => [...tr.children].map(td => td.textContent))"
    said = "document.querySelector('#view-stretch [role=status]').textContent.startsWith('At ')"
    visit.until(said)
    for name, right, _, interval, committed in visit.page.evaluate(rows):
        assert (right == "0%") is ("Absolute" in name)
        assert " to " in interval
        assert "n 1,000" in committed
    visit.page.focus("#length")
    visit.page.keyboard.press("Home")
    visit.until(
        f"{said} && document.querySelector('#view-stretch output').textContent === '1 digit' && document.querySelector('#view-stretch [role=status]').textContent.includes('At 1 digit')"
    )
    assert [row[1] for row in visit.page.evaluate(rows)] == ["100%"] * 3
    assert "length=1" in visit.page.url
    assert visit.page.locator("#figure-accuracy .curve").count() == 3
    assert visit.page.locator("#figure-accuracy .whisker").count() >= 6


def test_prove(visit):
    visit.ask("995+7")
    visit.open("prove")
    visit.page.click("#view-prove [aria-label=Model] button >> nth=0")
    visit.until("document.querySelector('#view-prove .here').textContent.includes('995+7')")
    assert (
        visit.page.inner_text("#view-prove .headline")
        == "Right on all 36,399 contexts, so right at every length."
    )
    assert "machine of 2 states" in visit.page.inner_text("#view-prove .word")
    visit.page.click("#view-prove button:text-is('One column back')")
    assert "is context" in visit.page.inner_text("#view-prove .here")
    before = visit.page.inner_text("#figure-machine figcaption")
    assert before.startswith("In carry 0 it reads 5 7 and writes 2.")
    visit.page.click("#view-prove button:text-is('One column further')")
    assert visit.page.inner_text("#figure-machine figcaption").startswith("In carry 1 it reads 9")
    visit.page.fill("#context-search", "17204")
    first = "document.querySelector('#view-prove .contexts tbody td')?.textContent"
    visit.until(f"{first} === '17,204'")
    visit.page.fill("#context-search", "995+7")
    visit.until("document.querySelectorAll('#view-prove .contexts tbody tr').length === 5")
    visit.page.fill("#context-search", "9x+1")
    assert "no digit" in visit.page.inner_text("#view-prove .proof > p.soft")
    visit.page.fill("#context-search", "")
    visit.page.click("#view-prove [aria-label=Order] button >> nth=1")
    visit.until(
        "document.querySelector('#view-prove .contexts tbody td:last-child').textContent === '5.28'"
    )
    visit.page.click("#view-prove button:text-is('Next')")
    visit.until(
        "document.querySelector('#view-prove .proof > p.soft').textContent.startsWith('13 to 24')"
    )


def test_noise_breaks_the_proof(visit):
    visit.open("prove")
    visit.page.evaluate("level => { const slider = document.getElementById('noise'); slider.value = level; for (const kind of ['input', 'change']) slider.dispatchEvent(new Event(kind)); }", 40)  # fmt: skip
    visit.until("document.querySelector('#view-prove .counterexample') !== null")
    assert visit.page.inner_text("#view-prove .broken .headline") == "The proof breaks."
    question, truth = (
        visit.page.inner_text("#view-prove .counterexample")
        .split(": ")[1]
        .split(", but")[0]
        .split(" = ")
    )
    assert sum(map(int, question.split("+"))) == int(truth)
    visit.page.evaluate("() => { const slider = document.getElementById('noise'); slider.value = 0; for (const kind of ['input', 'change']) slider.dispatchEvent(new Event(kind)); }")  # fmt: skip
    assert visit.page.inner_text("#view-prove .broken") == ""


def test_no_proof_is_said_with_a_reason(visit):
    visit.open("prove")
    visit.page.click("#view-prove [aria-label=Model] button >> nth=1")
    assert "whose places have no bound" in visit.page.inner_text("#view-prove .verdict")
    visit.page.click("#view-prove .verdict button")
    assert "36,399" in visit.page.inner_text("#view-prove .verdict")


def test_the_address_brings_back_what_was_shown(browser, path, visit):
    visit.ask("123+989")
    visit.open("look")
    visit.page.click("#view-look [aria-label=Model] button >> nth=2")
    visit.open("share")
    link = visit.page.input_value("#link")
    assert "problem=123%2B989" in link
    again = Visit(browser, path, "#" + link.partition("#")[2].replace("view=share", "view=look"))
    assert again.page.is_visible("#view-look")
    assert again.page.input_value("#problem") == "123+989"
    checked = again.page.locator("#view-look [aria-label=Model] [aria-checked=true]")
    assert "Calibrated" in checked.inner_text()
    again.context.close()
    for wrong in ("#problem=abc%2B1", "#view=nothing&model=99&length=-1&problem=%3Cb%3E", "#%%%"):
        other = Visit(browser, path, wrong)
        assert "right: all 4 digits" in other.results()[0]
        assert ("problem" in wrong) is bool(other.complaint)
        assert other.messages == []
        other.context.close()


def test_figures_are_saved(visit):
    visit.ask("58+67")
    visit.open("look")
    saved = {}
    for kind in ("SVG", "PNG"):
        with visit.page.expect_download() as waiting:
            visit.page.click(f"#figure-logits button:text-is('{kind}')")
        saved[kind] = waiting.value
    text = saved["SVG"].path().read_text()
    assert saved["SVG"].suggested_filename == "tenfold-logits.svg"
    assert text.startswith("<svg")
    assert "var(" not in text
    image = Image.open(BytesIO(saved["PNG"].path().read_bytes())).convert("RGB")
    assert image.width == 940
    assert len(image.getcolors(1 << 20)) > 20
    visit.open("ask")
    with visit.page.expect_download() as waiting:
        visit.page.click("#view-ask button:text-is('SVG')")
    assert "Proved adder" in waiting.value.path().read_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(browser, path, scheme):
    visit = Visit(browser, path, "#view=ask&problem=123456789012345%2B987", viewport=PHONE, color_scheme=scheme, has_touch=True)  # fmt: skip
    assert "right" in visit.results()[0]
    for view in VIEWS:
        visit.page.tap(f"#tab-{view}")
        visit.page.wait_for_timeout(60)
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], view
    visit.page.tap("#tab-ask")
    visit.page.locator("#view-ask .line.answer.first button").first.tap()
    assert visit.messages == []
    paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(255, 255, 255)") is (scheme == "light")
    visit.context.close()


def test_every_control_has_a_name(visit):
    for view in VIEWS:
        visit.open(view)
    unnamed = visit.page.evaluate(
        """() => [...document.querySelectorAll('button, input, svg[role=img], [role=radiogroup], [role=tabpanel]')].filter(one => {
          const labelled = one.getAttribute('aria-label') || one.getAttribute('aria-labelledby') || one.textContent.trim();
          return !labelled && !(one.labels && one.labels.length); }).map(one => one.outerHTML.slice(0, 120))"""
    )
    assert unnamed == []


def test_the_published_copy_is_this_page(path):
    """`tenfold explore --out docs/explorer.html` writes it again."""
    assert PUBLISHED.read_text() == path.read_text()


def test_the_policy_is_strict(path):
    text = path.read_text()
    assert len(text) < 3_000_000
    policy = text.partition('Content-Security-Policy" content="')[2].partition('"')[0]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "http" not in policy
    models = json.loads(text.partition('id="models">')[2].partition("</script>")[0])
    assert [model["name"] for model in models] == [
        "Proved adder",
        "Absolute positions",
        "Calibrated",
    ]
    assert all(
        row["n"] and row["low"] <= row["value"] <= row["high"]
        for model in models
        for row in model["curve"]
    )
