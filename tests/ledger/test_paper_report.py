"""A paper's page as HTML: all it shows is in it, statuses are marked, nothing else of HTML gets through."""

import base64
import re
from html.parser import HTMLParser

import pytest

from tenfold.core.errors import TenfoldError
from tenfold.ledger.markdown_page import MARKS, render, status
from tenfold.ledger.paper_opening import verdict
from tenfold.ledger.paper_report import write_paper
from tenfold.ledger.statuses import STATUSES, ledger

CLAIMS = """
paper: {title: A tiny paper, arxiv: "1", authors: [Ada <L>, Emmy N]}
claims:
- {id: one-a, headline: sums, place: Table 1, says: it adds, theirs: 97%, how: h, experiment: sums, seeds: 1,
   where: {recipe: tiny/adder, length: 5}, shown: [{at_least: 0.5}]}
- {id: one-b, headline: products, place: Table 2, says: it multiplies, theirs: 3%, how: h, experiment: products, seeds: 1,
   where: {recipe: tiny/adder}, shown: [{at_least: 0.5}]}
"""
ROWS = """run,paper,claim,recipe,task,format,encoding,scheme,label,seed,trained,length,slice,metric,value,n,low,high,checkpoint,steps,fingerprint,commit,date
a,tiny,,tiny/adder,addition,in-place,rotary,,generic,0,5,5,uniform,exact,0.75,100,,,best,9,f,c,d
"""
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DRAWING = (
    '<?xml version="1.0"?>\n<svg viewBox="0 0 {} 10"><path id="p" style="stroke: #000000"/></svg>\n'
)
PAGE = """# `tiny`: A tiny paper

[how](../../docs/how.md#part), [gone](../../docs/gone.md), [far](https://example.org), [below](#table-1), [nowhere](#x)

## Table 1

<!-- ours: sums/curve sums/broad sums/photo products/curve | one-* -->
stale
<!-- end -->

## Table 1

### Deeper <script>alert(1)</script>

<div onclick="x">no</div>

A picture ![in a & line](../../results/tiny/sums/laptop/photo.png) and <img src="../../results/tiny/sums/laptop/curve.png" alt="another"><br>.
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """`tiny(text, out)`: the HTML of a paper's page; the folder of the tree is the one we are in."""
    results = tmp_path / "results/tiny/sums/laptop"
    for folder in (tmp_path / "papers/tiny", tmp_path / "docs", results):
        folder.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs/how.md").write_text("")
    (tmp_path / "papers/tiny/experiments").mkdir()
    (tmp_path / "papers/tiny/experiments/sums.py").write_text('"""It adds.\n\nMore.\n"""\n')
    (tmp_path / "papers/tiny/claims.yaml").write_text(CLAIMS)
    (results / "rows.csv").write_text(ROWS)
    for name, width in (("curve", 10), ("broad", 30)):
        (results / f"{name}.png").write_bytes(PIXEL)
        (results / f"{name}.svg").write_text(DRAWING.format(width))
    (results / "photo.png").write_bytes(PIXEL)

    def made(text=PAGE, out="report"):
        (tmp_path / "papers/tiny/README.md").write_text(text)
        return write_paper("tiny", out)["tiny"].read_text()

    return made


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.opened = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.opened.append((tag, dict(attrs)))

    def all(self, name):
        return [attributes for tag, attributes in self.opened if tag == name]


def test_the_page_holds_all_it_shows(tiny):
    text = tiny()
    tags = Tags(text)
    assert "<title>tiny: A tiny paper</title>" in text
    assert not tags.all("link")
    photo, within = tags.all("img")  # no drawing beside them
    assert photo["src"] == "data:image/png;base64," + base64.b64encode(PIXEL).decode()
    assert (photo["alt"], within["alt"]) == ("Photo, laptop scale. It adds.", "in a & line")
    drawn = [attributes["aria-label"] for attributes in tags.all("svg")]
    curve, broad = ("Curve, laptop scale. It adds.", "Broad, laptop scale. It adds.")
    assert drawn == [curve, curve, broad, "another"]
    kinds = [attributes.get("class") for attributes in tags.all("figure")]
    assert kinds == ["headline", None, "broad", None]
    assert text.count(f"<figcaption>{curve}</figcaption>") == 2
    assert "stroke: currentColor" in text  # a drawing follows dark mode
    ids = [attributes["id"] for _, attributes in tags.opened if "id" in attributes]
    assert len(ids) == len(set(ids)) >= 9
    assert "products/curve: not run yet" in text


def test_headings_can_be_gone_to(tiny):
    text = tiny()
    nav = text[text.index("<nav") : text.index("</nav>")]
    gone = re.findall(r'href="#([^"]*)"', nav)
    assert gone == ["table-1", "table-1-1", "deeper-scriptalert1script"]
    assert all(f'id="{place}"' in text for place in gone)


def test_links_lead_somewhere_or_are_words(tiny, tmp_path_factory):
    text = tiny(out="deep/report")
    links = [attributes["href"] for attributes in Tags(text[: text.index("<nav")]).all("a")]
    assert links == [
        "https://arxiv.org/abs/1",
        "../../docs/how.md#part",
        "https://example.org",
        "#table-1",
    ]
    assert ", gone, " in text
    assert ", nowhere</p>" in text
    elsewhere = tiny(out=tmp_path_factory.mktemp("elsewhere"))
    assert "<p>how, gone, " in elsewhere


def test_statuses_have_a_class_and_a_sign(tiny):
    text = tiny()
    cell = '<td><span class="status reproduced"><span aria-hidden="true">✓</span> reproduced</span>, laptop, 1 run</td>'
    assert cell in text
    assert '<span class="status open"><span aria-hidden="true">○</span> open</span>: 1' in text
    assert "stale" not in text
    assert text.count('<div class="wide"><table class="claims">') == 1
    assert set(MARKS) == set(STATUSES)
    assert len(set(MARKS.values())) == len(MARKS)
    assert 'class="status untested"' in status("untested (1 of 3 seeds)")
    assert status("a <b>") == "a &lt;b&gt;"


def test_no_other_html_gets_through(tiny):
    text = tiny()
    tags = {tag for tag, _ in Tags(text).opened}
    assert "br" not in tags
    assert text.count("<script>") == 1  # our own
    assert text.rstrip().endswith("</script>\n</body></html>")
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&lt;div onclick=&quot;x&quot;&gt;no&lt;/div&gt;" in text
    assert "<!-- ours" not in text
    bad = "[a](javascript:x) <style>p{}</style> <!doctype x> <?y z?> &lt; <a href=x>\n\n<script>\nx\n</script>\n"
    assert Tags(render(bad).body).opened == [("p", {}), ("p", {})]


def test_a_page_without_marks_gets_all_claims(tiny):
    text = tiny("# Tiny\n")
    assert '<h2 id="claims">Claims</h2>' in text
    assert text.count('<td><span class="status') == 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("gone.png", 'README.md: the picture "gone.png" cannot be read: No such file'),
        ("claims.yaml", 'a picture is a file .PNG, SVG, ...., not "claims.yaml"'),
        ("https://example.org/a", "a picture is a file"),
        ("../../../photo.png", "is not beside the papers"),
    ],
)
def test_a_picture_that_is_not_there_is_one_clear_line(tiny, source, message):
    with pytest.raises(TenfoldError, match=message):
        tiny(f'# Tiny\n\n<img src="{source}" alt="x">\n')


def test_a_drawing_with_a_script_is_not_taken_in(tiny, tmp_path):
    drawing = tmp_path / "results/tiny/sums/laptop/curve.svg"
    drawing.write_text('<svg viewBox="0 0 9 9"><script>alert(1)</script></svg>')
    with pytest.raises(TenfoldError, match="has a <script>, which is no part of a drawing"):
        tiny()


def test_the_command(tenfold, tiny, tmp_path):
    tiny()
    code, out, err = tenfold("report", "--paper", "tiny", "--out", "there")
    assert (code, out, err) == (0, "tiny: there/tiny.html\n", "")
    assert (tmp_path / "there/tiny.html").read_text() == tiny(out="there")
    code, _, err = tenfold("report", "--paper", "symetry")
    assert code == 2
    assert 'unknown paper "symetry"; did you mean "symmetry"?' in err
    code, _, err = tenfold("report", "runs", "--paper", "tiny")
    assert "by --with RUNS; leave others and --title out" in err
    (tmp_path / "papers/tiny/README.md").unlink()
    code, _, err = tenfold("report", "--paper", "tiny")
    assert "papers/tiny has no page: there is no README.md" in err


@pytest.mark.parametrize("paper", ["bias", "extrapolation", "principled", "symmetry"])
def test_our_papers(paper, tmp_path, monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)
    text = write_paper(paper, tmp_path)[paper].read_text()
    shown = (pytestconfig.rootpath / "papers" / paper / "README.md").read_text().count("<img ")
    tags = Tags(text)
    assert len(tags.all("figure")) == shown + 1  # the headline's, once more
    assert not re.search(r"<figcaption>[a-z0-9-]+, [a-z0-9-]+, laptop scale</figcaption>", text)
    assert text.count('<td><span class="status') > 5
    far = [a["href"] for a in tags.all("a") if not a["href"].startswith("#")]
    assert len(far) == 1
    assert far[0].startswith("https://arxiv.org/abs/2")
    place = text.index('<h2 id="recipes-and-commands">')
    assert max(text.rindex("</figure>"), text.rindex('<table class="claims">')) < place
    assert place < text.index("<pre><code>tenfold ")


def test_the_page_opens_with_the_verdict(tiny):
    text = tiny()
    opening = text[: text.index("<nav")]
    assert "Ada &lt;L&gt;, Emmy N. " in opening
    assert '<a href="https://arxiv.org/abs/1">arXiv 1</a>' in opening
    assert (
        "Of the paper&#x27;s 2 claims, 1 is reproduced and 1 is open. "
        "Of its 2 headlines, 1 is reproduced: sums. 1 headline is not, or not fully: "
        "products (open; the experiment tiny/products has no committed results)." in opening
    )
    assert opening.index("verdict") < opening.index('<figure class="headline">')
    assert '<input type="radio" name="status" value="open"> ' in text


def test_the_verdict_follows_the_statuses(tiny, tmp_path):
    tiny()
    rows = tmp_path / "results/tiny/sums/laptop/rows.csv"
    rows.write_text(ROWS.replace("0.75", "0.01"))
    (entry, _) = ledger(["tiny"], (tmp_path / "results",), (tmp_path / "papers",))
    first, second, third = verdict([entry])
    assert first == (
        "Of the paper's 1 claim, 1 is not reproduced at a smaller scale than the paper's."
    )
    assert second == "Of its 1 headline, none is reproduced."
    assert third.endswith("sums (its condition does not hold; laptop scale).")
    rows.write_text(ROWS)
    (entry, _) = ledger(["tiny"], (tmp_path / "results",), (tmp_path / "papers",))
    assert verdict([entry])[2] == "No headline remains to be reproduced."
