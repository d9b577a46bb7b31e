"""A text in Markdown shows what it says, and no part of it is markup, wherever it stands."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from spackscope.model.core.text import clean
from spackscope.model.report.writers import markdown_text
from tests.examples import examples
from tests.hostile import MARKUP, any_text

# It would link what ends like a domain, unlike GitHub.
GITHUB = MarkdownIt("gfm-like", {"html": True}).disable("linkify")

LETTERS = "`|*_~[]()<>!#@-+$&%·→.,:;' a1é日"
parts = st.sampled_from([*MARKUP, *LETTERS, "**", "__", "1.", "> ", "www."])
texts = (st.lists(parts, max_size=6).map("".join) | any_text).map(clean).filter(str.strip)


@given(texts)
@examples(500)
def test_a_text_is_shown_letter_by_letter(text: str) -> None:
    written = markdown_text(text)
    cell = written.replace("|", "\\|")
    for shape in (f"**{written}**", f"*{written}*", f"| x |\n| --- |\n| {cell} |"):
        *_, shown = (token for token in GITHUB.parse(shape) if token.type == "inline")
        shown_parts = shown.children or []
        kinds = {part.type for part in shown_parts} - {"text", "code_inline"}
        assert kinds <= {"strong_open", "strong_close", "em_open", "em_close"}
        assert bool(kinds) is shape.startswith("*")
        assert "".join(part.content for part in shown_parts).split() == text.split()


def test_only_words_that_could_be_markup_are_code() -> None:
    assert markdown_text("98 of 104 cached · 6 missing (2 needed by others)") == (
        "98 of 104 cached · 6 missing (2 needed by others)"
    )
    assert markdown_text("hdf5@1.14.6: 94 % by @ann #12, as py_x") == (
        "`hdf5@1.14.6:` 94 % by `@ann #12,` as `py_x`"
    )
