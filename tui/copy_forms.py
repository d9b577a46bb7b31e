"""What can be copied of specs, each form with the key that takes it, and the copying."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from textual.app import App
from textual.message import Message

from spackscope.model.core.records import Spec
from spackscope.model.core.text import shorten
from spackscope.model.presentation.detail import install_command
from spackscope.model.presentation.export import json_text
from spackscope.model.presentation.spec_string import spec_string
from spackscope.tui.clipboard import CopyFailed, copy

_WAY = 30
"""Cells of a way of copying in a message, so that a long command leaves room for the text."""


@dataclass(frozen=True, slots=True)
class Form:
    """Describe one form: its key in the menu, its name, and how a spec is spelled in it."""

    key: str
    name: str
    spell: Callable[[Spec], str]


FORMS = (
    Form("y", "hash", lambda spec: spec.hash),
    Form("slash", "/hash, as Spack takes it", lambda spec: f"/{spec.hash}"),
    Form("s", "spec string", spec_string),
    Form("i", "install line", install_command),
    Form("J", "JSON", json_text),
)
"""All forms, in the order of the menu."""


def spelled(form: Form, specs: Sequence[Spec]) -> str:
    """Spell some specs in one form, one a line and each line once, with no line end behind."""
    return "\n".join(dict.fromkeys(form.spell(spec) for spec in specs))


@dataclass
class CopyDone(Message):
    """Say what was copied and by which way, or why it could not be."""

    said: str
    failed: bool


def copy_text(text: str, what: str, environ: Mapping[str, str], app: App[object]) -> CopyDone:
    """Copy a text by the first way that works, and say what was done.

    It may wait for a clipboard program, so it is called in a thread.
    """

    def write_terminal(sequence: str) -> None:
        # Textual has no public way to write a sequence that it does not know.
        if (driver := app._driver) is None:
            raise OSError("there is no terminal")
        driver.write(sequence)
        driver.flush()

    try:
        copied = copy(text, write_terminal=write_terminal, environ=environ)
    except (CopyFailed, ValueError) as error:
        return CopyDone(str(error), failed=True)
    before = f" ({'; '.join(copied.failures)})" if copied.failures else ""
    way = shorten(copied.way, _WAY)
    return CopyDone(f"copied by {way}: {what}{before}", failed=False)
