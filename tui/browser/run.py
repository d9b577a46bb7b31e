"""Run a command on the spec under the cursor or on marked specs, in place of the browser."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.machine import MACOS, PLATFORM
from spackscope.model.core.records import Spec
from spackscope.model.core.text import clean
from spackscope.model.report.export import json_text
from spackscope.model.report.paste import spec_string, spelled_source
from spackscope.model.sources.session import Session
from spackscope.model.sources.site_url import record_url
from spackscope.tui.browser import jobs
from spackscope.tui.browser.copy import CopyContent, has_specs, read_specs
from spackscope.tui.dialogs.copy import specs_title
from spackscope.tui.dialogs.menu import CommandDialog, MenuDialog, MenuItem
from spackscope.tui.keymap import name_of
from spackscope.tui.process.terminal import exit_text
from spackscope.tui.settings.commands import filled_command, own_problem

if TYPE_CHECKING:
    from spackscope.tui.browser.controllers import Controllers

_OPENER = "open" if PLATFORM == MACOS else "xdg-open"


class SpecCommand(Frozen):
    """A command of the list: its letter, its name, and its text with names of values in braces.

    It needs a `program`, if any, and cannot be run for a `problem`. A command that only `shows`
    changes no source, and its screen is gone when it ends well. It may read the records as JSON.
    """

    key: str
    name: str
    text: str
    program: str = "spack"
    problem: str = ""
    shows: bool = False
    reads_records: bool = False


_LOAD = 'loaded=$(spack load --sh /{hashes}) && eval "$loaded" && exec "${SHELL:-sh}"'
_PAGER = "${PAGER:-less}"
COMMANDS = (
    SpecCommand("i", "install from a cache", "spack install --cache-only /{hashes}"),
    SpecCommand("l", "shell with it loaded", _LOAD, shows=True),
    SpecCommand(
        "d", "download from a cache", "spack buildcache download --spec /{hash} --path {hash}"
    ),
    SpecCommand("p", "push to a mirror", "spack buildcache push {mirror} /{hashes}"),
    SpecCommand("v", "record in $PAGER", _PAGER, program="", shows=True, reads_records=True),
    SpecCommand("o", "page on cache.spack.io", f"{_OPENER} {{page}}", _OPENER, shows=True),
)
"""The commands of the program, in the order of the list."""


def open_list(controllers: Controllers) -> None:
    """Choose a command, and edit it before it runs."""
    host = controllers.host

    def read_list(copied: CopyContent) -> None:
        if has_specs(controllers, copied):
            host.run(
                lambda _: _commands(copied.specs, host.session, host.settings.run),
                partial(_show_list, controllers, copied),
                jobs.MENU,
            )

    read_specs(controllers, read_list, job=jobs.MENU, is_bare=False)


def _show_list(
    controllers: Controllers, copied: CopyContent, commands: Sequence[SpecCommand]
) -> None:
    title = specs_title(copied.specs)
    items = [
        MenuItem(name_of(each.key), each.name, each.problem or each.text, each, bool(each.problem))
        for each in commands
    ]

    def edit(command: SpecCommand | None) -> None:
        if command is not None:
            note = f"{title}{copied.about} · in {os.getcwd()}"
            dialog = CommandDialog(command.name, command.text, note)
            controllers.host.open(dialog, partial(_run, controllers, copied.specs, command))

    controllers.host.open(MenuDialog(f"run on {title}", "command", [("", items)], "edit"), edit)


def _run(
    controllers: Controllers, specs: Sequence[Spec], command: SpecCommand, typed: str | None
) -> None:
    """Run a command as it was edited, and read again the sources that it may have changed."""
    if typed is None:
        return

    def ended(code: int) -> None:
        controllers.host.say(f"{command.name}: {exit_text(code)}", error=code != 0)
        if not command.shows:
            controllers.loading.reload()

    records = (json.dumps(json.loads(json_text(spec)), indent=2) for spec in specs)
    text = "\n".join(records) if command.reads_records else ""
    waits = not command.shows or typed != command.text
    controllers.host.run_command(typed, text, ended, waits=waits)


def _commands(
    specs: Sequence[Spec], session: Session, own: Mapping[str, tuple[str, str]]
) -> list[SpecCommand]:
    """Return the commands, and the user's own, whose keys come first, with values in them."""
    mirrors = session.spack.mirrors.values() if session.spack is not None else ()
    hashes = [spec.hash for spec in specs]
    values = {
        "hash": hashes,
        "hashes": hashes,
        "spec": [clean(spec_string(spec)) for spec in specs],
        "source": [clean(spelled_source(spec.source)) for spec in specs],
        "mirror": [mirror.name for mirror in mirrors if mirror.binary][:1],
        "page": [*filter(None, map(record_url, specs))],
    }

    def filled(command: SpecCommand) -> SpecCommand:
        if command.program and not shutil.which(command.program, path=session.environ.get("PATH")):
            command = replace(command, problem=f"There is no {command.program} on PATH")
        if command.problem:
            return command
        try:
            return replace(command, text=filled_command(command.text, values))
        except ValueError as error:
            return replace(command, problem=str(error))

    every = [replace(each, key="") if each.key in own else each for each in COMMANDS]
    for key, (name, text) in own.items():
        every.append(SpecCommand(key, clean(name), text, "", own_problem(key, text)))
    return [*map(filled, every)]
