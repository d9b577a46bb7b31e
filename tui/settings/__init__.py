"""Read the settings of a user: command line over environment over configuration files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from spackscope.model.core.file_access import xdg_path
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


DEFAULT, COMMAND_LINE = "default", "command line"
"""Origins of values that come from no file and no variable."""


def origin_text(origin: str) -> str:
    """Return the origin of a value as it is shown: a file, a variable or another place.

    A variable that is to name a file may hold a URL with a password.
    """
    return clean(shown_url(origin))


class Mistake(Frozen):
    """A mistake in a configuration file, or in another origin of a setting.

    The sentence names the setting, or the line of a file that cannot be parsed. With `is_unknown`
    only a name is unknown to this version: a newer or older one may know it.
    """

    origin: str
    sentence: str
    is_unknown: bool = False

    def __str__(self) -> str:
        # A name or a value may be a URL with a password.
        return f"{origin_text(self.origin)}: {clean(without_secrets(self.sentence))}"


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
    `keys` has the keys of actions by their names. `origins` has the origin of each value: the path
    of a file, the name of a variable, or COMMAND_LINE; for tables by `keys.NAME`. `mistakes` are
    the mistakes in the files.
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
    origins: Mapping[str, str] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()

    def origin(self, name: str) -> str:
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
    origins: dict[str, str] = {}
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
            mistakes.append(Mistake(path, f"no such file{named}"))
            continue
        mistakes += [Mistake(path, *mistake) for mistake in file.mistakes]
        values = {**file.values, **values}
        origins = {**dict.fromkeys(file.values, path), **origins}
    for setting in SETTINGS:
        # `resolve_sources` reads the variable with sources.
        value = environ.get(setting.variable, "").strip() if setting.kind != "texts" else ""
        if value:
            values[setting.name] = value != "0" if setting.kind == "flag" else value
            origins[setting.name] = setting.variable
    for name in filter(given.get, given):
        values[name], origins[name] = given[name], COMMAND_LINE
    fields = {name: value for name, value in values.items() if "." not in name}
    for table in (setting.name for setting in SETTINGS if setting.is_table):
        names = {name: name.removeprefix(f"{table}.") for name in values}
        fields[table] = {own: values[name] for name, own in names.items() if own != name}
    return Settings(**fields, origins=origins, mistakes=tuple(mistakes))
