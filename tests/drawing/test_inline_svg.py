"""A drawing of a file within a page: shapes and words pass, everything that acts or fetches is refused."""

import pytest
from matplotlib import pyplot

from tenfold.core.errors import TenfoldError
from tenfold.drawing.inline_svg import inline

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9"'


@pytest.mark.parametrize(
    "body",
    [
        "<script>alert(1)</script>",
        '<g onload="alert(1)"/>',
        '<g OnClick="alert(1)"/>',
        '<foreignObject><iframe src="x"/></foreignObject>',
        '<a xlink:href="javascript:alert(1)"><text>x</text></a>',
        '<use xlink:href="http://example.org/x.svg#a"/>',
        '<use href="data:image/svg+xml;base64,AAAA"/>',
        '<image xlink:href="file:///etc/passwd"/>',
        '<image href="data:text/html;base64,AAAA"/>',
        '<rect style="fill: url(http://example.org/x)"/>',
        '<rect fill="url(http://example.org/x)"/>',
        "<style>@import url(http://example.org/x.css);</style>",
        "<style>* { background: url( 'http://example.org/x' ) }</style>",
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<set attributeName="onload" to="alert(1)"/>',
        '<h:script xmlns:h="http://www.w3.org/1999/xhtml">alert(1)</h:script>',
        "<style><![CDATA[</style><script>alert(1)</script>]]>",
        "<g>" * 200 + "</g>" * 200,
        "&lol;",
    ],
)
def test_what_acts_or_fetches_is_refused(body):
    with pytest.raises(TenfoldError, match='the drawing "a title"') as caught:
        inline(f"{HEAD}>{body}</svg>", "one", "a title")
    assert len(str(caught.value).splitlines()) == 1


def test_handlers_of_the_drawing_itself():
    with pytest.raises(TenfoldError, match="onload"):
        inline(f'{HEAD} onload="alert(1)"></svg>', "one", "a title")


def test_words_are_words():
    """Text that looks like a tag is escaped again, comments and instructions are gone."""
    drawn = inline(f"{HEAD}><text>&lt;script&gt;</text><!-- <b> --><?php x?></svg>", "one", "t")
    assert "<text>&lt;script&gt;</text>" in drawn
    assert "<script" not in drawn
    assert "<!--" not in drawn
    assert "<?" not in drawn


def test_a_figure_of_ours_passes(tmp_path):
    """Marks, clipped lines, words and an image."""
    figure, axes = pyplot.subplots()
    axes.plot([1, 2, 3], "o-", label="<b>")
    axes.imshow([[1, 2], [3, 4]])
    axes.legend()
    figure.savefig(tmp_path / "figure.svg")
    pyplot.close(figure)
    drawn = inline((tmp_path / "figure.svg").read_text(), "one", "a title")
    for part in ("<use ", 'clip-path="url(#one-', "<image ", "data:image/png;base64,", "<style"):
        assert part in drawn
