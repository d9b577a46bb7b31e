"""The command `config`: print the settings and where they come from, or check them."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spackscope.model.core.commands import (
    HELP_OPTION,
    PROGRAM,
    Command,
    choice,
    sources_option,
    value,
)
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import CONFIGURATION, Problem
from spackscope.model.core.redaction import shown_url, without_arguments, without_secrets
from spackscope.model.core.text import clean, counted
from spackscope.model.report.report import aligned
from spackscope.model.sources.resolve import resolve_sources
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import SAMPLE
from spackscope.tui.cli.arguments import Options
from spackscope.tui.process import ExitCode, stdio
from spackscope.tui.settings import (
    COMMAND_LINE,
    DEFAULT,
    VARIABLE,
    Mistake,
    Settings,
    config_paths,
    origin_text,
    read_settings,
    user_path,
)
from spackscope.tui.settings.checks import changed_keys, key_lines, mistakes_of
from spackscope.tui.settings.table import SETTINGS, Setting

COMMAND = Command(
    "config",
    "print the settings and where they come from",
    ("[--check | --keys | --json]",),
    """\
Print the configuration files, and each setting with its value and where that
comes from: the command line, else an environment variable, else your file,
else the file for all users, else the default. The command writes no file.

  $XDG_CONFIG_HOME/spackscope/config.toml  yours, else ~/.config; or that
                                           which SPACKSCOPE_CONFIG names
  $XDG_CONFIG_DIRS/spackscope/config.toml  for all users, else /etc/xdg""",
    (
        choice("check", "only list mistakes in the files, with their reasons"),
        choice("keys", "list all keys of the browser, by the names to change them"),
        choice("json", "print one JSON object per setting and line"),
        sources_option("print the settings as for a command with this source"),
        value("host", "print the settings as for a command with this host", "HOST", "host"),
        HELP_OPTION,
    ),
    reads_sources=False,
    codes={0: "right", 2: "wrong usage, or a file has a mistake"},
    examples="""\
spackscope config
spackscope config --check
spackscope config --json | jq 'select(.from == "default").setting'""",
    group=PROGRAM,
)


_HEADS = ("setting", "value", "from")
_WITHOUT_SECRETS = {"copy": without_arguments, "public": shown_url}
"""Functions that show settings without secrets of their own kind."""


class _Line(Frozen):
    """A setting as it is printed; if it is not set, `value` is None and `text` its default."""

    name: str
    value: object
    text: str
    origin: str


def run(options: Options, environ: Mapping[str, str]) -> ExitCode:
    """Print the settings, each with its origin, or the keys, or only the mistakes.

    Raises SourceError where SPACKSCOPE_FROM cannot be split into sources.
    """
    settings = read_settings(environ, {"host": options.host})
    mistakes, problems = mistakes_of(settings), list[Problem]()
    if options.format == "keys":
        for line in key_lines(changed_keys(settings)):
            stdio.print_line(line)
    elif options.format == "check":
        session = Session(environ)
        problems += session.configuration[1]
        _print_checked(environ, mistakes)
        if session.spack is not None:
            what = counted(len(problems), "problem") if problems else "no problems"
            stdio.print_line(f"{CONFIGURATION}: {what}")
    else:
        _print_settings(list(_lines(options, settings, environ)), options.format)
    if messages := [*map(str, mistakes), *map(str, problems)]:
        stdio.flush()
        stdio.print_message(*messages)
    unreadable = ExitCode.UNREADABLE if problems else ExitCode.FOUND
    return ExitCode.USAGE if mistakes else unreadable


def _print_checked(environ: Mapping[str, str], mistakes: Sequence[Mistake]) -> None:
    """Print the number of mistakes in each configuration file, or that the file does not exist."""
    for path in config_paths(environ):
        count = sum(mistake.origin == path for mistake in mistakes)
        if os.path.lexists(path):
            what = counted(count, "mistake") if count else "no mistakes"
        else:
            what = "no such file"
        stdio.print_line(f"{origin_text(path)}: {what}")


def _print_settings(lines: Sequence[_Line], format_: str | None) -> None:
    if format_ == "json":
        for line in lines:
            row = {"setting": line.name, "value": line.value, "from": origin_text(line.origin)}
            stdio.print_line(json.dumps(row))
        return
    rows = [_HEADS, *((clean(line.name), line.text, origin_text(line.origin)) for line in lines)]
    is_table = stdio.is_terminal(sys.stdout)
    for text in aligned(rows) if is_table else map("\t".join, rows):
        stdio.print_line(text)


def _lines(options: Options, settings: Settings, environ: Mapping[str, str]) -> Iterator[_Line]:
    """Yield the files that are read, and then all settings."""
    own = user_path(environ)
    for path in config_paths(environ):
        state = "read" if os.path.lexists(path) else "does not exist"
        variable = f", named by {VARIABLE}" if path == own and environ.get(VARIABLE) else ""
        name = "file" if path == own else "file for all users"
        shown = origin_text(path)
        yield _Line(name, shown, shown, f"{state}{variable}")
    for setting in SETTINGS:
        value, origin = _value(setting, options, settings, environ)
        if setting.is_table and value:
            for key, inner in value.items():
                path = f"{setting.name}.{key}"
                yield _line(without_secrets(path), inner, settings.origin(path))
        else:
            yield _line(setting.name, value, origin, setting.shown_default)


def _value(
    setting: Setting, options: Options, settings: Settings, environ: Mapping[str, str]
) -> tuple[Any, str]:
    """Return the value in effect, without secrets, and its origin.

    Raises SourceError.
    """
    name = setting.name
    value, origin = getattr(settings, name), settings.origin(name)
    if name == "sources":
        sources = resolve_sources(options.sources, Session(environ), settings.sources)
        if options.sources:
            origin = COMMAND_LINE
        elif environ.get("SPACKSCOPE_FROM", "").strip():
            origin = "SPACKSCOPE_FROM"
        elif not settings.sources:
            has_none = SAMPLE in sources
            origin = "default: no Spack found" if has_none else "your Spack"
        return tuple(map(shown_url, sources)), origin
    if value and name in _WITHOUT_SECRETS:
        value = _WITHOUT_SECRETS[name](value)
    return value, origin


def _line(name: str, value: object, origin: str, shown_default: str = "") -> _Line:
    """Return the line of a setting; a default is described in words."""
    if origin == DEFAULT:
        return _Line(name, value or None, shown_default, origin)
    if isinstance(value, bool):
        return _Line(name, value, "true" if value else "false", origin)
    if isinstance(value, str):
        value = without_secrets(value)
        return _Line(name, value, clean(value), origin)
    texts = [*map(without_secrets, value if isinstance(value, tuple) else [str(value)])]
    return _Line(name, texts, clean(shlex.join(texts)), origin)
