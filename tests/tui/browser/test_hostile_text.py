"""Text from outside reaches no screen and no clipboard as anything but plain text."""

import json
import unicodedata
from pathlib import Path

import pytest

from spackscope.tui.browser.copy import FORMS
from tests.browsing import Browser, browsing
from tests.builders.nodes import edge, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
from tests.clipboard import Clipboard
from tests.examples import some_and_all
from tests.hostile import HOSTILE_TEXT

SHORT = [text for _, text in HOSTILE_TEXT if len(text) < 1_000]
LONG = [text for _, text in HOSTILE_TEXT if len(text) >= 1_000]


def acts(character: str) -> bool:
    """Check whether a character does more on a terminal than to stand there."""
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def assert_plain(browser: Browser) -> None:
    for line in browser.lines:
        assert not set(filter(acts, line)), ascii(line)


@pytest.fixture(scope="module")
def hostile_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source with a hostile text in every field of its records, and in its file names."""
    top = tmp_path_factory.mktemp("hostile \x1b[31m\u202e[red]")
    number = 0
    for text in SHORT:
        fields = {
            "versions": [text],
            "compiler": text,
            "os": text,
            "target": text,
            "platform": text,
            "variants": [text, f"+{text}", f"a={text}"],
            "stacks": [text],
        }
        records = [record(number + n, **{k: v}) for n, (k, v) in enumerate(fields.items())]
        records.append(record(number + len(fields), **fields))
        directory = top / f"p{number} \x1b]0;x\x07\u202e"
        write_page(directory / "specs.md", records, title=text, tag=text)
        number += len(records)
    for text in LONG:
        write_page(
            top / f"p{number}", [record(number, variants=[text], os=text)], title=f"long{number}"
        )
        number += 1
    (top / "broken \x1b[2J.md").write_text("---\ntitle: x\nspec_details: [\x1b[31m\n---\n")
    return top


@some_and_all(step=7)
async def test_all_rows_and_packages_can_be_walked(hostile_source: Path, step: int) -> None:
    async with browsing(hostile_source, size=(160, 30)) as browser:
        assert_plain(browser)
        assert len(browser.rows) >= len(SHORT) * 4
        for _ in range(len(browser.packages) // step + 1):
            await browser.type_ahead(*["j"] * step)
            assert_plain(browser)
        await browser.press("home", "z", "2")
        for _ in range(len(browser.rows) // 20 + 1):
            assert_plain(browser)
            await browser.press("pagedown", settle=False)
        for _ in range(12):
            await browser.press("l", settle=False)
            assert_plain(browser)


@some_and_all(step=3)
async def test_every_detail_and_what_it_makes_a_filter_of_is_plain(
    hostile_source: Path, step: int
) -> None:
    async with browsing(hostile_source, size=(160, 60)) as browser:
        labels = ("package", "version", "compiler", "platform", "os", "target", "tag", "stacks")
        await browser.press("3")
        for row in range(0, len(browser.rows), 51 * step):
            browser.table.rows.move_to(row)
            await browser.settle()
            assert_plain(browser)
            hash_ = browser.current_hash
            values = [value for row in browser.detail.lines.values for value in row]
            shown = {label for value in values for label in (value.label, value.lead.strip())}
            # A value that is empty has no line.
            first = row // 51 // step % len(labels)
            label = next(label for label in (*labels[first:], *labels) if label in shown)
            await browser.to_value(label)
            await browser.press("enter")
            assert_plain(browser)
            assert browser.current_hash == hash_, (label, browser.query)
            await browser.clear()


@some_and_all(step=4)
async def test_dialogs_and_narrow_columns_are_plain(hostile_source: Path, step: int) -> None:
    async with browsing(hostile_source, size=(160, 50)) as browser:
        await browser.press("S", "S")
        seen = ""
        for _ in range(5):
            assert_plain(browser)
            seen += browser.text
            await browser.press("pagedown")
        assert "broken" in seen
        await browser.press("escape")
        for row in range(7, len(browser.rows), 80 * step):
            browser.table.rows.move_to(row)
            await browser.press("Y", settle=False)
            assert_plain(browser)
            await browser.press("escape", settle=False)
        for size in ((60, 20), (40, 15)):
            await browser.resize(*size)
            for key in ("2", "end", "3", "end", "1", "end"):
                await browser.press(key)
                assert_plain(browser)


async def test_a_comparison_and_the_relations_of_a_spec_are_plain(tmp_path: Path) -> None:
    nodes = []
    for root in range(2):
        edges = []
        for number, text in enumerate(SHORT):
            hash_ = hash_of(100 * root + number + 10)
            parameters = {text: [text, str(root)], "flags": [text]}
            version = f"{text}{root}"
            nodes.append(node(hash_, name=text, version=version, parameters=parameters))
            edges.append(edge(text, hash_, ["link"], [text]))
        nodes.append(node(hash_of(root), name="zlib", dependencies=edges))
    path = write_index(tmp_path, *nodes)
    async with browsing(path, query="zlib", size=(160, 50)) as browser:
        assert "needs  " in browser.text
        assert_plain(browser)
        await browser.press("d", "equals_sign")
        assert len(browser.text.split("\n")) > 20
        for key in ("pagedown", "l", "end", "z"):
            assert_plain(browser)
            await browser.press(key)
        for size in ((60, 20), (20, 8)):
            await browser.resize(*size)
            assert_plain(browser)


async def test_nothing_that_acts_on_a_terminal_is_copied(
    hostile_source: Path, clipboard: Clipboard
) -> None:
    async with browsing(hostile_source, environ=clipboard.environ) as browser:
        for row in browser.rows:
            for form in FORMS:
                text = form.spell([row.spec])
                assert not {c for c in text if c != "\n" and acts(c)}, form
        await browser.press("y")
        assert clipboard.text == browser.current_hash


async def test_hostile_text_in_a_query_and_in_the_name_of_a_source_is_plain(
    tmp_path: Path,
) -> None:
    write_page(tmp_path, [record(1)])
    async with browsing(tmp_path, query="\x1b[31mred os=\x9b2J !\u202ex '\x07'") as browser:
        assert browser.query.startswith("␛[31mred os=\\x9b2J")
        assert_plain(browser)
    async with browsing(tmp_path / "no \x1b[31m such \u202e") as browser:
        assert_plain(browser)
        assert "does not exist" in browser.table_text


async def test_hostile_text_in_the_line_of_a_dialog_is_plain(tmp_path: Path) -> None:
    name = "m\x1b]2;t\x07\x02y"
    (tmp_path / "mirrors.yaml").write_text(json.dumps({"mirrors": {name: f"file://{tmp_path}"}}))
    environ = {"SPACK_USER_CONFIG_PATH": str(tmp_path)}
    async with browsing(environ=environ) as browser:
        for key in ("O", "e", "colon"):
            await browser.press(key)
            await browser.paste(name, shows="m␛]2;t␇␂y")
            assert_plain(browser)
            await browser.press("escape", "escape", dialog=None)
        await browser.press("O", "tab", shows="› spack:m␛]2;t␇␂y")
        assert_plain(browser)


async def test_markup_in_a_record_is_shown_as_it_is(tmp_path: Path) -> None:
    texts = ["[red", "a[/]b", "[@click=app.quit]x[/]", "$accent", "{{x}}", "%s", "zlib\\"]
    for number, text in enumerate(texts):
        write_page(tmp_path / f"{number}.md", [record(number, os=text)], title=text)
    async with browsing(tmp_path, size=(160, 30)) as browser:
        for text in texts:
            assert text in browser.text
        await browser.press("slash", *"os=")
        await browser.until(lambda: browser.completions)
        assert sum(text in item for item in browser.completions for text in texts) >= 5
        await browser.press("tab", builds=1)
