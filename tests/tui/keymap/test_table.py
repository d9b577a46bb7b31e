"""Bindings and help agree with the table of keys."""

import inspect
import string
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path

import pytest
from textual.actions import parse
from textual.binding import Binding
from textual.widget import Widget

from spackscope.model.core.frozen import replace
from spackscope.tui.app import SpackscopeApp
from spackscope.tui.browser.open_source import SourceDialog
from spackscope.tui.browser.screen import ACTIONS, BrowserScreen
from spackscope.tui.cli.command_table import COMMANDS
from spackscope.tui.dialogs.dialog import Dialog, best_first, with_all_words
from spackscope.tui.dialogs.help import WORDS, commands, help_picks
from spackscope.tui.keymap import (
    ANYWHERE,
    DEFAULT,
    DETAIL,
    DIALOGS,
    DIFF,
    FILTERS,
    HEADINGS,
    KEYS,
    LISTS,
    PACKAGES,
    PATHS,
    SPECS,
    TREE,
    TYPED_IN,
    VALUES,
    found_by,
    hints,
    is_typed,
    keys_of,
    name_of,
    read_key,
    shown_key,
    use_keys,
    written_key,
)
from spackscope.tui.query_reference import LANGUAGE
from spackscope.tui.widgets.detail_pane import DetailLines, TreeRows
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.side_column import PackageRows, ValuesPane
from spackscope.tui.widgets.spec_table import SpecTable
from spackscope.tui.widgets.table_rows import TableRows
from spackscope.tui.widgets.virtual_list import VirtualList
from tests.browsing import SAMPLE, Browser, browsing
from tests.builders.pages import write_page
from tests.examples import some_and_all
from tests.textual_internals import ANSI_SEQUENCES_KEYS, character_to_key

OWNERS: dict[str, type[Widget]] = {
    ANYWHERE: BrowserScreen,
    LISTS: VirtualList,
    PACKAGES: PackageRows,
    SPECS: SpecTable,
    DETAIL: DetailLines,
    TREE: TreeRows,
    VALUES: ValuesPane,
    DIFF: TableRows,
    PATHS: SourceDialog,
    DIALOGS: Dialog,
    FILTERS: FilterInput,
}


def test_every_pane_has_a_heading_and_keys() -> None:
    assert set(HEADINGS) == {key.where for key in KEYS} == set(OWNERS)


def test_each_key_is_bound_where_the_table_says_to_an_action_that_exists() -> None:
    for key in KEYS:
        owner = OWNERS[key.where]
        bindings = (binding for binding in owner.BINDINGS if isinstance(binding, Binding))
        bound = {(name, each.action) for each in bindings for name in each.key.split(",")}
        assert {(name, key.textual_action) for name in key.names} <= bound, key.name

        namespace, name, arguments = parse(key.textual_action)
        target = {"": owner, "app": SpackscopeApp, "screen": BrowserScreen}[namespace]
        assert callable(getattr(target, f"action_{name}", None)), key.name
        if name == "browse":
            action, *rest = arguments
            inspect.signature(ACTIONS[str(action)]).bind(None, *rest)


def test_the_help_over_a_dialog_lists_no_key_that_is_typed_there() -> None:
    picks = help_picks((DIALOGS, LISTS), is_letter_typed=True)
    of_dialog = {pick.text: pick.keys for pick in picks if pick.value}
    assert of_dialog["Close the dialog."] == "esc"
    assert of_dialog["Go one row down."] == "↓"


def test_the_help_lists_every_key_and_every_form_of_a_query() -> None:
    picks = help_picks((SPECS, LISTS, ANYWHERE))
    listed = {(pick.heading, pick.keys, pick.text) for pick in picks}
    shown = [key for key in KEYS if key.keys]
    assert {(HEADINGS[key.where], key.shown, key.sentence) for key in shown} <= listed
    forms = {form.written for forms in LANGUAGE.values() for form in forms}
    assert {*forms, *WORDS} <= {pick.keys for pick in picks}
    assert picks[0].heading == HEADINGS[SPECS]
    assert all(
        bool(pick.value) == (pick.heading in map(HEADINGS.get, (SPECS, LISTS, ANYWHERE)))
        for pick in picks
        if not pick.heading.startswith("Query")
    )


SYNONYMS = {
    "diff": "compare changes differences",
    "stats": "count frequency",
    "cover": "coverage missing lock",
    "why": "reuse",
    "duplicates": "doubles unify",
    "files": "contents",
    "tree": "dependencies",
    "users": "dependents",
    "sources": "mirrors reload",
    "open": "mirrors reload",
    "values": "facets",
    "recent-queries": "history",
    "copy": "clipboard",
    "fold": "twins kinds",
}


def test_the_help_and_the_palette_find_keys_by_names_of_keys_and_synonyms() -> None:
    panes = (SPECS, LISTS, ANYWHERE)

    def finds(word: str, name: str) -> bool:
        sentence = DEFAULT[name].sentence
        entries = [pick.text for pick in with_all_words(word, help_picks(panes))]
        picks = [pick.text for pick in best_first(word, commands(panes))]
        return sentence in entries and any(f"{text}.".endswith(sentence) for text in picks)

    for name, words in SYNONYMS.items():
        for word in (name.partition("-")[0], *words.split()):
            assert finds(word, name), (name, word)
    for key in keys_of(*panes):
        # The palette leaves out moves, and itself.
        if not key.moves and key.name != "commands":
            for word in {*key.keys.lower().split(","), *key.shown.lower().split()} - {""}:
                assert finds(word, key.name), (key.name, word)
    for written in ("ctrl+r", "^r"):
        assert finds(written, "recent-queries")


def test_sentences_of_the_help_name_the_keys_in_use() -> None:
    use_keys({**DEFAULT, "fold": replace(DEFAULT["fold"], keys="m")})
    try:
        (pick,) = (pick for pick in help_picks((SPECS,)) if pick.keys == "look-alikes")
    finally:
        use_keys(DEFAULT)
    assert pick.text.endswith("; m unfolds.")


async def test_the_cursor_of_the_help_passes_over_headings() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.press("question_mark")
        seen = []
        for _ in range(16):
            seen.append(browser.text.partition("┃ ")[2][:2].strip())
            await browser.press("down")
        assert seen[7:] == ["es", "y", "Y", "e", "A", "U", "d", "t", "u"]
        await browser.press("pageup", "home", "up", shows="┃ ⏎ l →")


PALETTE: list[tuple[str, Callable[[str], bool]]] = [
    ("type a query", lambda focus: focus == "filter query"),
    ("go to the detail", lambda focus: focus == "detail"),
    ("show the keys", lambda focus: focus == "SearchInput"),
    ("install command", lambda focus: focus == "PickList"),
    ("list what could not", lambda focus: focus == "spec-rows"),
    # Its name in the configuration.
    ("export", lambda focus: focus == "SearchInput"),
]


def test_the_palette_offers_what_works_in_the_pane_first() -> None:
    panes = (SPECS, ANYWHERE)
    offered = commands((SPECS, LISTS, ANYWHERE))
    first = [key.name for key in KEYS if key.is_common]
    first += [key.name for key in KEYS if key.is_answer and not key.is_common]
    assert [command.words for command in offered[: len(first)]] == [*map(found_by, first)]
    places = {found_by(key.name): key.where for key in KEYS}
    others = [places[command.words] for command in offered[len(first) :]]
    assert tuple(dict.fromkeys(others)) == panes
    for key in KEYS:
        is_offered = any(command.words == found_by(key.name) for command in offered)
        # Who moves the cursor does not search for it.
        is_none = key.where not in panes or key.moves or key.name == "commands"
        assert is_offered is not is_none, key.name


async def test_the_palette_says_how_a_screen_is_had_as_text() -> None:
    assert {key.as_text.split()[0] for key in KEYS if key.as_text} <= set(COMMANDS)
    async with browsing(size=(95, 30)) as browser:
        await browser.press("colon", *"missing", shows="as text:")
        assert "cover" in browser.lines[-3]


async def test_the_last_line_and_the_palette_follow_the_table() -> None:
    async with browsing(size=(140, 26), folded=False) as browser:
        # In the zoomed detail esc leads out of the zoom.
        panes = (["1"], PACKAGES), (["2"], SPECS), (["3", "3"], DETAIL), (["slash"], FILTERS)
        for keys, where in panes:
            await browser.press(*keys)
            places = [FILTERS] if where == FILTERS else [where, LISTS, ANYWHERE]
            for shown, word, _ in hints(*places):
                # The sample lists no dependencies, and this row has no look-alikes; from the
                # packages and the specs no way leads back.
                is_useless = word in ("diff", "tree") or (
                    where in (PACKAGES, SPECS) and word == "back"
                )
                assert is_useless or f"{written_key(shown)} {word}" in browser.lines[-1]
        await browser.press("enter")

        for typed, arrives in PALETTE:
            await browser.press("colon", dialog="PickDialog")
            await browser.type_ahead(*typed)
            await browser.press("enter")
            await browser.until(lambda arrives=arrives: arrives(browser.focus), typed)  # type: ignore[misc]
            if browser.dialog is not None:
                await browser.press("escape")
            await browser.press("enter" if browser.focus == "filter query" else "2")
        await browser.press("colon", "escape", dialog=None)


async def test_escape_is_shown_to_remove_the_search_before_it_closes() -> None:
    async with browsing(size=(80, 24)) as browser:
        await browser.press("2", "c")
        assert browser.lines[-1].strip() == "⏎ show it and go to it  esc close"
        await browser.type("os")
        assert browser.lines[-1].strip() == "⏎ show it and go to it  esc clear"
        await browser.press("escape")
        assert browser.lines[-1].strip() == "⏎ show it and go to it  esc close"


async def test_dialogs_close_once_and_survive_small_terminals() -> None:
    async with browsing(size=(80, 24), folded=False) as browser:
        await browser.press("2", "l", "l")
        for key in ("colon", "Y", "question_mark", "e"):
            await browser.press(key)
            dialog = browser.app.screen
            assert browser.dialog
            dialog.dismiss()
            dialog.dismiss()
            await browser.settle()
            assert browser.dialog is None

        await browser.resize(80, 3)
        for keys in (["pagedown"], ["down", "pageup"], ["g", "pagedown", "enter"]):
            await browser.press("colon", *keys, "escape", "escape", dialog=None)


# What leads out of the program is left out.
NAMES = list(
    dict.fromkeys(
        key.keys.split(",")[0]
        for key in KEYS
        if key.action not in ("quit", "app.command_palette", "app.suspend_process")
    )
)
"""The first name of every key, each once: what it does is for the focus to say."""


async def press_every_key(browser: Browser, pane: str, names: Sequence[str]) -> None:
    """Press each of some keys in a pane."""
    await browser.press(pane)
    focus = browser.focus
    for name in names:
        await browser.press(name, settle=False)
        browser.look()
        if browser.dialog is not None:
            await browser.press("escape", settle=False)
        if browser.focus.startswith("filter"):
            await browser.press("enter", settle=False)
        browser.look()
        if browser.focus != focus:
            await browser.press(pane, settle=False)
    await browser.settle()
    if browser.dialog is not None:
        # It opened once its content was read, and the first Escape removes what was typed there.
        await browser.press("escape", "escape")
    assert browser.dialog is None


@some_and_all(step=3)
async def test_every_key_can_be_pressed_in_every_pane(step: int) -> None:
    async with browsing(size=(80, 24)) as browser:
        for number, pane in enumerate(("1", "2", "3")):
            await press_every_key(browser, pane, NAMES[number % step :: step])
        await browser.clear("1", "home")
        assert sum(row.count for row in browser.rows) == len(SAMPLE)


@some_and_all(step=3)
async def test_keys_do_no_harm_while_reading_and_where_there_is_no_spec(
    tmp_path: Path, step: int
) -> None:
    write_page(tmp_path, [])
    # One of the choices in place of rows is to quit, and sheets take that place.
    names = [name for name in NAMES if name not in ("enter", "S")]
    async with browsing(tmp_path, settled=False, size=(80, 24)) as browser:
        for name in names:
            await browser.type_ahead(name, "escape")
        await press_every_key(browser, "2", names[::step])
        await browser.press("r", shows="There are no specs")


SENT = {
    str(getattr(key, "value", key))
    for keys in ANSI_SEQUENCES_KEYS.values()
    if isinstance(keys, tuple)
    for key in keys
}
"""The keys that Textual reads from a terminal, except characters."""


def test_a_character_is_named_as_textual_names_it() -> None:
    for letter in (*string.printable.strip(), "ö", "Ω", "ß"):
        key = character_to_key(letter)
        assert name_of(letter) == read_key(letter) == key
        assert is_typed(key)
        assert shown_key(key) == letter
    assert is_typed(name_of(" "))
    assert shown_key(name_of(" ")) == "space"


def test_a_key_of_the_table_is_read_as_it_is_shown() -> None:
    for name in chain.from_iterable(key.names for key in KEYS):
        assert read_key(shown_key(name)) == name.replace("ctrl+@", "ctrl+space")


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("⏎", "enter"),
        ("ESC", "escape"),
        ("PgDn", "pagedown"),
        ("bksp", "backspace"),
        ("^r", "ctrl+r"),
        ("^R", "ctrl+r"),
        ("Ctrl+R", "ctrl+r"),
        ("shift-tab", "shift+tab"),
        ("^→", "ctrl+right"),
        ("^]", "ctrl+right_square_bracket"),
        ("^space", "ctrl+space"),
        ("^", "circumflex_accent"),
        ("+", "plus"),
        ("⇧⇥", "shift+tab"),
        ("shift+left", "shift+left"),
        ("alt+x", "alt+x"),
        ("F5", "f5"),
    ],
)
def test_a_key_may_be_written_in_several_ways(written: str, key: str) -> None:
    assert read_key(written) == key
    assert key in SENT or is_typed(key) or key in ("ctrl+space", "alt+x")


NOT_SENT = [
    *("ctrl+enter", "ctrl+shift+y", "super+x", "shift+1", "f25", "yy", "ctrl+", "alt+", "«"),
    *("enetr", "latin small letter a"),
]


@pytest.mark.parametrize(
    ("written", "sentence"),
    [
        ("^i", "a terminal sends ^i as tab: write tab"),
        ("^[", "a terminal sends ^[ as escape: write escape"),
        ("^c", "^c always ends the program"),
        ("ctrl+q", "ctrl+q always ends the program"),
        ("^\\", "^\\ always opens the commands"),
        *((key, f"{key} is not a key that every terminal sends") for key in NOT_SENT),
    ],
)
def test_other_keys_are_refused(written: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=r"\w") as caught:
        read_key(written)
    assert str(caught.value) == sentence


def test_no_letter_is_a_key_where_letters_are_typed() -> None:
    typed_in = [key for key in KEYS if key.where in TYPED_IN]
    assert not [key.name for key in typed_in if any(map(is_typed, key.names))]
