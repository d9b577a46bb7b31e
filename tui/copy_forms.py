"""The forms in which specs can be copied, and the copying in a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from textual.app import App

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Spec
from spackscope.model.core.text import shorten
from spackscope.model.report.export import json_text
from spackscope.model.report.paste import install_command, spec_requirement, spec_string
from spackscope.model.sources.site_url import record_url
from spackscope.tui.clipboard import CopyFailed, copy
from spackscope.tui.process.textual_internals import driver_of

_MAX_METHOD_WIDTH = 30
"""Cells of a method of copying in a message, so that a long command leaves room for the text."""


class CopyForm(Frozen):
    """A form to copy: its key in the menu, its name, its plural, and a function to spell specs.

    Specs without this form are left out; the text is empty if no spec has it.
    """

    key: str
    name: str
    plural: str
    spell: Callable[[Sequence[Spec]], str]


def _line_by_line(spell: Callable[[Spec], str]) -> Callable[[Sequence[Spec]], str]:
    """Spell specs one by one: each on a line of its own, once, without a final line end."""
    return lambda specs: "\n".join(dict.fromkeys(filter(None, map(spell, specs))))


def _install_command(specs: Sequence[Spec]) -> str:
    cached = [spec for spec in specs if spec.cached]
    return install_command(*cached) if cached else ""


FORMS = (
    HASH := CopyForm("y", "hash", "hashes", _line_by_line(lambda spec: spec.hash)),
    CopyForm(
        "slash",
        "/hash, as Spack takes it",
        "hashes in one line",
        lambda specs: " ".join(dict.fromkeys(f"/{spec.hash}" for spec in specs)),
    ),
    CopyForm("s", "spec string", "spec strings", _line_by_line(spec_string)),
    CopyForm("i", "install command", "specs in one install command", _install_command),
    CopyForm("J", "JSON", "JSON records", _line_by_line(json_text)),
    CopyForm("r", "packages.yaml requirement", "requirements", spec_requirement),
    CopyForm("o", "address on cache.spack.io", "addresses", _line_by_line(record_url)),
)
"""All forms, in the order of the menu."""

ALL_MARKS = CopyForm("a", "hashes of all marked specs", "hashes", HASH.spell)
"""The form of marked specs that are not all in sight: it copies all of them."""


class ViewForm(Frozen):
    """A form of all specs that are shown: its key, its name, and an example of it.

    `read` returns the text, and may take long. A message names the text by `what`, and ends with
    `after`, a remark for the user, if any.
    """

    key: str
    name: str
    example: str
    what: str
    read: Callable[[], str]
    after: str = ""


def spelled(form: CopyForm, specs: Sequence[Spec]) -> str:
    """Return specs in one form, without a final line end."""
    return form.spell(specs)


def summary(form: CopyForm, specs: Sequence[Spec], *, marked: bool) -> str:
    """Return a short name of the copied text: the beginning of a hash, a text, or a count.

    >>> summary(HASH, [spec], marked=False)
    '2ggad67…'
    """
    if marked and len(specs) > 1:
        return f"{len(specs):,} marked {form.plural}"
    text = spelled(form, specs)
    if "\n" in text:
        return f"the {form.name}"
    text = f"{text[:SHORT_HASH]}…" if form is HASH else text
    return f"marked {text}" if marked else text


class CopyDone(Frozen):
    """A sentence on the copied text and the method, or on why nothing was copied."""

    text: str
    failed: bool


def copy_text(
    text: str, what: str, environ: Mapping[str, str], app: App[object], command: str = ""
) -> CopyDone:
    """Copy a text, which the message calls `what`, with the first method that works.

    The user's own `command`, if there is one, is tried first. A method may wait for a clipboard
    program: call this in a worker thread.
    """

    def write_terminal(sequence: str) -> None:
        if (driver := driver_of(app)) is None:
            raise OSError("there is no terminal")
        driver.write(sequence)
        driver.flush()

    try:
        copied = copy(text, write_terminal=write_terminal, environ=environ, command=command)
    except (CopyFailed, ValueError) as error:
        return CopyDone(str(error), failed=True)
    failures = "".join(f"; {failure.rstrip('.')}" for failure in copied.failures)
    method = shorten(copied.method, _MAX_METHOD_WIDTH)
    return CopyDone(f"Copied {what} ({method}{failures})", failed=False)
