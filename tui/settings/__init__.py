"""Read the settings of a user: command line over environment over configuration files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from spackscope.model.core.file_access import read_private, write_private, xdg_path
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.redaction import shown_url, without_secrets
from spackscope.model.core.text import clean
from spackscope.model.sources.session import Session
from spackscope.tui.process import ExitCode, Leave, stdio
from spackscope.tui.settings.table import SETTINGS

VARIABLE = "SPACKSCOPE_CONFIG"
"""The variable that names a file to read in place of the user's own."""

_NAME = os.path.join("spackscope", "config.toml")
_SYSTEM = "/etc/xdg"
_MAX_PRINTED = 10
"""Mistakes that are printed before a command ends."""
_MAX_FOLD_BYTES = 10_000
"""Bytes of the file that keeps whether look-alikes are one row."""


class Origin(Frozen):
    """The origin of a value: a file with a line, counted from 1, or another place.

    `name` is the path of the file, the name of a variable, or `command line`. Without a `line` the
    value is in no file, or the origin is the file as a whole.
    """

    name: str
    line: int = 0

    def __str__(self) -> str:
        # A variable that is to name a file may hold a URL with a password.
        name = shown_url(self.name)
        return clean(f"{name}:{self.line}" if self.line else name)


DEFAULT = Origin("default")
COMMAND_LINE = Origin("command line")


class Mistake(Frozen):
    """A mistake in a configuration file, with its place.

    With `is_unknown` only a name is unknown to this version: a newer or older one may know it.
    """

    origin: Origin
    sentence: str
    is_unknown: bool = False

    def __str__(self) -> str:
        # A name or a value may be a URL with a password.
        return f"{self.origin}: {clean(without_secrets(self.sentence))}"


def check_mistakes(mistakes: Sequence[Mistake]) -> None:
    """Print the first mistakes with their places. Raises Leave unless only names are unknown."""
    rest = len(mistakes) - _MAX_PRINTED
    more = [f"and {rest:,} more; `spackscope config --check` lists all"] if rest > 0 else []
    lines = [*map(str, mistakes[:_MAX_PRINTED]), *more]
    if not all(mistake.is_unknown for mistake in mistakes):
        raise Leave(ExitCode.USAGE, *lines)
    stdio.print_message(*lines)


class Settings(Frozen):
    """The values that were set, with their origins; a field that was not set has its default.

    `sources` has the sources in files only: `resolve_sources` decides between them and others.
    `keys` has the keys of actions by their names. `origins` has the origin of each value, for
    tables by `keys.NAME`. `mistakes` are the mistakes in the files.
    """

    sources: tuple[str, ...] = field(default=(), repr=False)
    public: str = field(default="", repr=False)
    host: str = ""
    copy: str = ""
    plain: bool = False
    theme: str = ""
    fold: bool = True
    sort: str = ""
    hidden: tuple[str, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()

    def origin(self, name: str) -> Origin:
        """Return the origin of a value."""
        return self.origins.get(name, DEFAULT)

    def session(self, environ: Mapping[str, str], *, dependency_only: bool) -> Session:
        """Return the session of a command line; `dependency_only` lists such specs too."""
        return Session(
            environ,
            include_dependency_only=dependency_only,
            host=self.host,
            tag_list=self.public,
        )


DEFAULTS = Settings()
"""The settings where nothing is set."""


def user_path(environ: Mapping[str, str]) -> str:
    """Return the path of the user's file, whether or not it exists; "" without a home."""
    if path := environ.get(VARIABLE, "").strip():
        return os.path.abspath(os.path.expanduser(path))
    return xdg_path(environ, "config", "config.toml") or ""


def config_paths(environ: Mapping[str, str]) -> list[str]:
    """Return the paths of all files that are read where they exist, the most important first.

    After the user's own file come the files for all users, in the directories of XDG_CONFIG_DIRS,
    as the XDG specification says.
    """
    directories = environ.get("XDG_CONFIG_DIRS", "") or _SYSTEM
    absolute = filter(os.path.isabs, directories.split(os.pathsep))
    paths = [user_path(environ), *(os.path.join(directory, _NAME) for directory in absolute)]
    return list(dict.fromkeys(filter(None, paths)))


def read_settings(environ: Mapping[str, str], given: Mapping[str, str | bool] = {}) -> Settings:
    """Return the settings; `given` has values of the command line, of which empty ones are unset.

    Files are read only where they exist. A file that SPACKSCOPE_CONFIG names must exist; /dev/null
    stands for no file.

        read_settings(os.environ, {"host": "target=zen3"}).origin("host")  # command line
    """
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    mistakes: list[Mistake] = []
    is_named = bool(environ.get(VARIABLE, "").strip())
    for path in config_paths(environ):
        is_needed = is_named and path == user_path(environ)
        if path == os.devnull or not (is_needed or os.path.lexists(path)):
            continue
        # Most users have no such file.
        from spackscope.tui.settings.config_file import ConfigFile

        try:
            file = ConfigFile(path)
        except FileNotFoundError:
            named = f", which {VARIABLE} names" if is_needed else ""
            mistakes.append(Mistake(Origin(path), f"no such file{named}"))
            continue
        mistakes += [Mistake(Origin(path, line), *what) for line, what in file.mistakes]
        of_file = {name: Origin(path, line) for name, line in file.lines.items()}
        values, origins = {**file.values, **values}, {**of_file, **origins}
    for setting in SETTINGS:
        # `resolve_sources` reads the variable with sources.
        value = environ.get(setting.variable, "").strip() if setting.kind != "texts" else ""
        if value:
            values[setting.name] = value != "0" if setting.kind == "flag" else value
            origins[setting.name] = Origin(setting.variable)
    for name in filter(given.get, given):
        values[name], origins[name] = given[name], COMMAND_LINE
    fields = {name: value for name, value in values.items() if "." not in name}
    for table in (setting.name for setting in SETTINGS if setting.is_table):
        names = {name: name.removeprefix(f"{table}.") for name in values}
        fields[table] = {own: values[name] for name, own in names.items() if own != name}
    return Settings(**fields, origins=origins, mistakes=tuple(mistakes))


class FoldMemory:
    """Whether look-alikes are one row, as it was chosen in the browser, in the state directory.

    The choice counts until another value is `configured` than at the time of the choice, so that
    the user's last action has effect.

    >>> FoldMemory({"XDG_STATE_HOME": "/home/ann/.local/state"}, True).value
    False
    """

    def __init__(self, environ: Mapping[str, str], configured: bool) -> None:
        self.path = xdg_path(environ, "state", "fold.json")
        self._configured = configured

    @property
    def chosen(self) -> bool | None:
        """The value that was chosen and counts; None if there is none."""
        try:
            kept = (
                json.loads(read_private(self.path, _MAX_FOLD_BYTES))
                if self.path is not None
                else {}
            )
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(kept, dict) or kept.get("configured") is not self._configured:
            return None
        value = kept.get("fold")
        return value if isinstance(value, bool) else None

    @property
    def value(self) -> bool:
        """The value to begin with."""
        chosen = self.chosen
        return self._configured if chosen is None else chosen

    def remember(self, value: bool) -> None:
        """Keep a choice: for a worker thread. Raises Unwritable."""
        if self.path is not None:
            content = {"fold": value, "configured": self._configured}
            write_private(self.path, f"{json.dumps(content)}\n".encode())
