"""The configuration changes keys: they work, are shown, and clash with no other."""

from collections.abc import Mapping
from random import Random

import pytest
from textual.binding import BindingsMap

from spackscope.tui.dialogs.help import commands, help_picks
from spackscope.tui.keymap import (
    ANYWHERE,
    DEFAULT,
    HEADINGS,
    KEYS,
    LISTS,
    SPECS,
    STACKS,
    TYPED_IN,
    Keymap,
    shown,
    textual_keymap,
    use_keys,
)
from spackscope.tui.settings import Settings
from spackscope.tui.settings.checks import (
    NEEDED,
    browser_mistakes,
    changed_keys,
    clashes,
    key_lines,
)
from tests.browsing import browsing
from tests.documents import load_toml
from tests.tui.keymap.test_table import OWNERS


def changing(**keys: str | tuple[str, ...]) -> Settings:
    """Return settings with other keys; the names are written with `_` in place of `-`."""
    changes: Mapping[str, tuple[str, ...]] = {
        name.replace("_", "-"): (written,) if isinstance(written, str) else written
        for name, written in keys.items()
    }
    origins = dict.fromkeys((f"keys.{name}" for name in changes), "config.toml")
    return Settings(keys=changes, origins=origins)


def for_textual(keymap: Keymap) -> Mapping[str, str]:
    """Return what Textual is told while a keymap is used."""
    use_keys(keymap)
    try:
        return textual_keymap()
    finally:
        use_keys(DEFAULT)


def mistakes(**keys: str | tuple[str, ...]) -> list[str]:
    return list(map(str, browser_mistakes(changing(**keys))))


def test_every_key_has_a_name_of_its_own() -> None:
    assert len({key.name for key in KEYS}) == len(KEYS)
    for key in KEYS:
        assert key.name == key.name.lower()
        if key.where != ANYWHERE:
            assert key.name.startswith(f"{key.where}-")
        elif not key.action.startswith("app."):
            assert key.action == key.name.replace("-", "_"), "one name for one thing"
    assert {pane for stack in STACKS for pane in stack} == set(HEADINGS)


def test_the_table_itself_has_no_clash() -> None:
    assert clashes(DEFAULT) == {}
    assert for_textual(DEFAULT) == {}


@pytest.mark.parametrize(
    ("keys", "changes"),
    [
        ({"copy": "c", "specs_columns": "y"}, {"copy": "c", "specs-columns": "y"}),
        ({"quit": "Q ^x"}, {"quit": "Q,ctrl+x"}),
        ({"quit": ("Q", "^x")}, {"quit": "Q,ctrl+x"}),
        ({"sort": "^space"}, None),
        ({"lists_down": "n ↓"}, {"lists-down": "n,down"}),
        ({"unmark": ()}, {"unmark": "no_key_of_unmark"}),
        ({"copy": "y"}, {}),
        ({"copy": "Y", "copy_as": "y"}, {"copy": "Y", "copy-as": "y"}),
    ],
)
def test_keys_are_changed(
    keys: dict[str, str | tuple[str, ...]], changes: dict[str, str] | None
) -> None:
    assert mistakes(**keys) == []
    if changes is not None:
        assert for_textual(changed_keys(changing(**keys))) == changes


BOTH = "is the key of both"
NO_LETTER = "needs a key that is no letter: letters are typed where it works"


@pytest.mark.parametrize(
    ("keys", "sentence"),
    [
        ({"copy": "q"}, f"q {BOTH} copy and quit; change one of them"),
        ({"sort": "x"}, f"x {BOTH} sort and values-exclude, and in the values only "),
        ({"tree_search": "k"}, f"k {BOTH} tree-search and lists-up, and in its dependencies "),
        ({"undo": "h", "redo": "l"}, f"l {BOTH} redo and packages-open, and in the packages "),
        ({"coyp": "c"}, "unknown key name coyp. Did you mean copy?"),
        ({"theme": "nord"}, "theme is a setting of its own, and belongs above [keys]"),
        ({"zzzzzz": "c"}, "unknown key name zzzzzz; `spackscope config --keys` lists all"),
        ({"quit": "^i"}, "quit: a terminal sends ^i as tab: write tab"),
        ({"quit": "ctrl_x"}, "quit: ctrl_x is not a key that every terminal sends"),
        ({"filters_complete": "x"}, "x is typed there, so it cannot be the key of filters-"),
        ({"dialogs_close": "q"}, f"dialogs-close {NO_LETTER}"),
        ({"filters_back": ()}, f"filters-back {NO_LETTER}"),
    ],
)
def test_a_mistake_is_named_with_its_place(
    keys: dict[str, str | tuple[str, ...]], sentence: str
) -> None:
    assert mistakes(**keys)[0].startswith(f"config.toml: {sentence}")


def test_every_mistake_is_named() -> None:
    unknown, untypeable = mistakes(coyp="c", quit="^i")
    assert unknown.startswith("config.toml: unknown key name coyp")
    assert untypeable.startswith("config.toml: quit: a terminal sends ^i as tab")


def test_keys_that_hide_each_other_in_the_table_may_do_so_after_a_change() -> None:
    assert mistakes(query="ctrl+f", tree_search="ctrl+f", values_filter="ctrl+f") == []


async def test_a_changed_key_works_and_is_shown() -> None:
    config = changing(copy="c", specs_columns="y", query="ctrl+f", undo="^b", quit="Q")
    async with browsing(settings=config, size=(160, 30)) as browser:
        await browser.press("2", hints=("c copy", "^f query"))

        await browser.press("slash", focus="spec-rows")  # the old key does nothing
        await browser.press("ctrl+f", focus="filter query")
        await browser.press(*"py-build", "enter", hints="^b undo")
        assert "py-build" in browser.query
        await browser.press("X", shows="(^b goes back)")
        await browser.press("ctrl+b")
        assert "py-build" in browser.query

        await browser.press("y", dialog="PickDialog")
        await browser.press("escape", "q", dialog=None)  # q does not quit

        panes = (SPECS, LISTS, ANYWHERE)
        help_keys = {pick.text: pick.keys for pick in help_picks(panes)}
        assert help_keys["Type a query."] == "^f"
        assert {each.text: each.remark for each in commands(panes)}["Quit"] == "Q"
        assert shown("copy") == "c"
    async with browsing() as browser:
        await browser.press("slash", focus="filter query")  # another start has its own keys
        assert shown("copy") == "y"


async def test_a_removed_key_is_offered_nowhere() -> None:
    async with browsing(settings=changing(values=(), unmark=()), size=(160, 30)) as browser:
        await browser.press("2", no_hint="values")
        await browser.press("v", focus="spec-rows")
        offered = [command.text for command in commands((SPECS, LISTS, ANYWHERE))]
        assert "Clear all marks" not in offered


async def test_a_letter_is_typed_where_text_is_typed() -> None:
    """Although its action has another key in the table, one that is not typed."""
    async with browsing(settings=changing(recent_queries="H"), size=(120, 26)) as browser:
        await browser.press("slash", *"H", focus="filter query", query="H")
        await browser.press("escape", "H", dialog="PickDialog")


async def test_dialogs_have_changed_keys_too() -> None:
    config = changing(dialogs_close="ctrl+x", dialogs_choose="f5", lists_down="n ↓")
    async with browsing(settings=config) as browser:
        await browser.press("question_mark", hints="^x close")
        await browser.press("escape", dialog="PickDialog")
        await browser.press("ctrl+x", dialog=None)
        await browser.press("colon", *"type a query", "enter", dialog="PickDialog")
        await browser.press("f5")
        await browser.until(lambda: browser.focus == "filter query", "the palette")


@pytest.mark.parametrize("has_unicode", [True, False])
def test_the_keys_are_listed_as_a_table_of_the_file(
    has_unicode: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.tui.keymap.supports_unicode", lambda: has_unicode)
    keymap = changed_keys(changing(copy="c", sort="\" 'é", unmark=(), specs_columns="y"))
    lines = list(key_lines(keymap))
    assert [line for line in lines if line[:1] == "#"] == [f"# {h}" for h in HEADINGS.values()]
    written = load_toml("\n".join(lines))["keys"]
    assert sorted(written) == sorted(key.name for key in KEYS)
    assert written["copy"] == "c"
    assert written["unmark"] == []
    again = Settings(
        keys={n: (t,) if isinstance(t, str) else tuple(t) for n, t in written.items()}
    )
    assert browser_mistakes(again) == []
    assert changed_keys(again) == keymap


async def test_the_detail_and_the_marks_show_changed_keys() -> None:
    config = changing(copy="c", specs_columns="y", tree="T", diff="D", specs_open="⏎ o")
    async with browsing(settings=config, size=(160, 40), folded=False) as browser:
        await browser.press("2", hints="  c copy ")
        await browser.press("space", shows=("D diff", "  c copy"))
        await browser.press("o")
        assert browser.focus.startswith("detail")


PLAIN = [*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-+!?/.,<>=[]#%&*"]
NOT_TYPED = [f"^{letter}" for letter in "abdefgklnoprstuvwxyz"] + [f"f{n}" for n in range(1, 13)]


@pytest.mark.parametrize("seed", range(25))
def test_textual_binds_what_the_keymap_says(seed: int) -> None:
    """Its keymap drops a binding whose key another one gets: that must be the right one."""
    random = Random(seed)
    changes = dict[str, tuple[str, ...]]()
    for key in random.sample(KEYS, 5 + seed):
        is_typed_in = key.where in TYPED_IN or key.name in NEEDED
        changes[key.name] = tuple(random.sample(PLAIN * (not is_typed_in) + NOT_TYPED, k=2))
    # Keys are also exchanged, or moved in a circle.
    names = random.sample([key for key in KEYS if key.where == ANYWHERE], 6)
    moved = zip(names, [*names[1:], names[0]], strict=True)
    changes |= {key.name: tuple(other.shown.split()) for key, other in moved}
    while clashing := clashes(changed_keys(Settings(keys=changes))):
        for first, second in clashing:
            changes.pop(first, None) or changes.pop(second, None)
    wanted = Settings(keys=changes)
    assert browser_mistakes(wanted) == []

    keymap = changed_keys(wanted)
    for where, owner in OWNERS.items():
        bound = BindingsMap(owner.BINDINGS)
        bound.apply_keymap(for_textual(keymap))
        here = [key for key in keymap.values() if key.where == where]
        for key in here:
            for name in key.names:
                actions = [binding.action for binding in bound.key_to_bindings[name]]
                assert actions[0] == key.textual_action, (key.name, name)
        names_here = {name for key in here for name in key.names}
        for key in KEYS:
            if key.where == where:
                for name in set(key.names) - names_here:
                    assert name not in bound.key_to_bindings, (key.name, name)
