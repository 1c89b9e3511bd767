"""Tables as LaTeX: nothing in a cell is a command, and every result table can be written so."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenfold.results.latex import captioned, latex_text, tabular
from tenfold.results.result_text import as_latex


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("alibi", "alibi"),
        ("a_b & 5% of $3 #1", r"a\_b \& 5\% of \$3 \#1"),
        ("{x}^2~\\n", r"\{x\}\textasciicircum{}2\textasciitilde{}\textbackslash{}n"),
        ("a<b|c>d", r"a\textless{}b\textbar{}c\textgreater{}d"),
        ("+1.5", "$+1.5$"),
        ("-0.25", "$-0.25$"),
        ("-", "-"),
        ("naïve → ∞", r"naive $\rightarrow$ $\infty$"),
        ("数", r"\texttt{U+6570}"),
        ("a\nb", "a b"),
    ],
)
def test_safe_by_hand(text, written):
    assert latex_text(text) == written


@given(st.text())
def test_any_text_is_ascii_with_balanced_braces(text):
    written = latex_text(text)
    assert written.isascii()
    assert "\n" not in written
    bare = re.sub(r"\\[{}&%$#_]", "", written)
    assert bare.count("{") == bare.count("}")
    assert not set(re.sub(r"\$[^$]*\$", "", bare)) & set("&%#_~^$")


def test_a_table_with_rules():
    text = tabular(["name", "value"], [["a_b", "1"], ["c", "-2"]], [False, True])
    assert text.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"name & value \\",
        r"\midrule",
        r"a\_b & 1 \\",
        r"c & $-2$ \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_a_caption_and_a_label():
    text = captioned("TABLE\n", "100% right", "rank a_b, c")
    assert r"\caption{100\% right}" in text
    assert r"\label{tab:rank-a-b-c}" in text
    assert text.index("caption") < text.index("TABLE") < text.index(r"\end{table*}")


def test_numbers_are_right_and_dashes_do_not_matter():
    assert as_latex(["p", "name"], [[0.5, "a"], ["-", "b"]]).startswith(r"\begin{tabular}{rl}")


def test_other_tables_of_results(tenfold, make):
    make("alibi", 0, {5: 9})
    make("rotary", 0, {5: 4})
    code, out, _ = tenfold("results", "--by", "pe,length", "--format", "latex")
    assert code == 0
    assert r"95\% over samples" in out
    assert "alibi & 5 & 1 & 10 & 90.0" in out
    _, out, _ = tenfold("results", "--compare", "alibi", "rotary", "--format", "latex")
    assert "$+50.0$" in out
    _, out, _ = tenfold("results", "--sql", "select count(*) as a_b from runs", "--format", "latex")
    assert r"a\_b \\" in out
