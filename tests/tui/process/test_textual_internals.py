"""What is private in Textual is named in two modules only, and is there."""

import ast
import signal
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.css.stylesheet import Stylesheet
from textual.drivers.linux_driver import LinuxDriver

from tests.documents import ROOT
from tests.textual_internals import Compositor

MODULES = [ROOT / folder / "textual_internals.py" for folder in ("tui/process", "tests")]
IMPORTED = {
    "textual._ansi_sequences": ("ANSI_SEQUENCES_KEYS",),
    "textual._compositor": (
        *("ChopsUpdate", "Compositor", "CompositorUpdate", "InlineUpdate", "LayoutUpdate"),
    ),
    "textual._xterm_parser": ("XTermParser",),
    "textual.keys": ("_character_to_key",),
}
IN_APP = (
    *("_check_resize", "_close_messages_no_wait", "_display", "_driver", "_exception"),
    *("_exception_event", "_exit_renderables", "_filters", "_handle_exception"),
    *("_print_error_renderables", "_return_code"),
)
IN_DRIVER = ("_file", "_get_terminal_size", "_key_thread", "_size")
IN_SCREEN = (
    *("_callbacks", "_compositor", "_dirty_widgets", "_forward_event", "_layout_required"),
    *("_on_timer_update", "_size_updated", "_update_timer"),
)
IN_STYLESHEET = ("_parse_rules", "_variables")
IN_COMPOSITOR = ("_dirty_regions",)
NAMED = {
    *(name for names in IMPORTED.values() for name in names if name.startswith("_")),
    *(name for name in IMPORTED if "._" in name),
    *(*IN_APP, *IN_DRIVER, *IN_SCREEN, *IN_STYLESHEET, *IN_COMPOSITOR),
}
OWN = {"_is_fitted", "_parsed"}


def private_names(path: Path) -> Iterator[str]:
    """Yield the names in a module that begin with one underline, and the modules of Textual."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        for attribute in ("attr", "id", "name", "value"):
            name = getattr(node, attribute, "")
            if isinstance(name, str) and name.startswith("_") and name.strip("_").isidentifier():
                yield name
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual._"):
            yield str(node.module)


async def test_this_textual_has_each(monkeypatch: pytest.MonkeyPatch) -> None:
    # A driver handles signals from its beginning on.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    lacking = [
        f"{module}.{name}"
        for module, names in IMPORTED.items()
        for name in names
        if not hasattr(import_module(module), name)
    ]
    async with App[Any]().run_test() as pilot:
        for owner, names in (
            (pilot.app, IN_APP),
            (LinuxDriver(pilot.app), IN_DRIVER),
            (pilot.app.screen, IN_SCREEN),
            (Stylesheet(), IN_STYLESHEET),
            (Compositor(), IN_COMPOSITOR),
        ):
            of = type(owner).__name__
            lacking += [f"{of}.{name}" for name in names if not hasattr(owner, name)]
    assert not lacking, f"this Textual lacks what the program uses of it: {', '.join(lacking)}"


def test_each_is_named_above() -> None:
    assert {name for path in MODULES for name in private_names(path)} - OWN == NAMED


def test_no_other_module_names_any() -> None:
    paths = {path for folder in ("tui", "tests") for path in (ROOT / folder).rglob("*.py")}
    others = paths.difference(MODULES, [Path(__file__).resolve()])
    assert len(others) > 200
    # Widgets have fields of these names that are their own.
    in_any = NAMED.difference(IN_APP, IN_DRIVER)
    assert [path.name for path in others if not in_any.isdisjoint(private_names(path))] == []
    assert set(IN_APP).isdisjoint(private_names(ROOT / "tui/app.py"))
    assert set(IN_DRIVER).isdisjoint(private_names(ROOT / "tui/process/terminal.py"))
