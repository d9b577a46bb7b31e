"""The settings of a start: the command line over the environment over the configuration files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spackscope.model.core.frozen import Frozen, field
from spackscope.tui.settings.origins import COMMAND_LINE, DEFAULT, Mistake, Origin

if TYPE_CHECKING:
    from spackscope.tui.settings.config_file import ConfigFile

VARIABLE = "SPACKSCOPE_CONFIG"
"""The variable that names the file which is read in place of the user's own."""

_NAME = os.path.join("spackscope", "config.toml")
_SYSTEM = "/etc/xdg"


class Settings(Frozen):
    """What was set, and where; a field with its default was not.

    `sources` are those of the files only: `resolve_sources` decides between them and others.
    `keys` are the keys of actions, and `views` queries, by their names. `origins` has where each
    value comes from, those of tables by `views.NAME`. `mistakes` are those of the files.
    """

    sources: tuple[str, ...] = field(default=(), repr=False)
    public: str = field(default="", repr=False)
    host: str = ""
    copy: str = ""
    theme: str = ""
    fold: bool = True
    sort: str = ""
    hidden: tuple[str, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    views: Mapping[str, str] = field(default_factory=dict)
    origins: Mapping[str, Origin] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()

    def origin(self, name: str) -> Origin:
        """Return where a value comes from."""
        return self.origins.get(name, DEFAULT)


DEFAULTS = Settings()
"""The settings where nothing is set."""


def user_path(environ: Mapping[str, str]) -> str:
    """Return the path of the user's file, whether or not it exists; "" without a home."""
    if path := environ.get(VARIABLE, "").strip():
        return os.path.abspath(os.path.expanduser(path))
    base = environ.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME", ""), ".config")
    return os.path.join(base, _NAME) if os.path.isabs(base) else ""


def system_paths(environ: Mapping[str, str]) -> list[str]:
    """Return the paths of the files for all users, the most important first.

    They are in the directories of XDG_CONFIG_DIRS, as the XDG specification has it.
    """
    directories = environ.get("XDG_CONFIG_DIRS", "") or _SYSTEM
    absolute = filter(os.path.isabs, directories.split(os.pathsep))
    return [os.path.join(directory, _NAME) for directory in dict.fromkeys(absolute)]


def config_paths(environ: Mapping[str, str]) -> list[str]:
    """Return the paths of all files that are read where they exist, the user's own first."""
    paths = filter(None, [user_path(environ), *system_paths(environ)])
    return list(dict.fromkeys(paths))


def read_settings(environ: Mapping[str, str], given: Mapping[str, str] = {}) -> Settings:
    """Return the settings; `given` are those of the command line, empty ones not counted.

    Files are read only where they exist. A file that SPACKSCOPE_CONFIG names must, but may be
    /dev/null for none.

        read_settings(os.environ, {"host": "target=zen3"}).origin("host")  # command line
    """
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    mistakes: list[Mistake] = []
    for file in _files(environ):
        mistakes += file.mistakes
        for name, value in file.values.items():
            if name not in values:
                values[name] = _absolute(file, name, value)
                origins[name] = Origin(file.path, file.lines.get(name, 0))
    for name in ("host", "copy", "public"):
        variable = f"SPACKSCOPE_{name.upper()}"
        if value := environ.get(variable, "").strip():
            values[name], origins[name] = value, Origin(variable)
    for name, value in given.items():
        if value:
            values[name], origins[name] = value, COMMAND_LINE
    fields = {name: value for name, value in values.items() if "." not in name}
    for table in ("keys", "views"):
        fields[table] = dict(_table(values, f"{table}."))
    return Settings(**fields, origins=origins, mistakes=tuple(mistakes))


def _files(environ: Mapping[str, str]) -> Iterator[ConfigFile]:
    """Yield the configuration files that exist, the most important first."""
    for path in config_paths(environ):
        is_named = bool(environ.get(VARIABLE, "").strip()) and path == user_path(environ)
        if path == os.devnull or not (is_named or os.path.lexists(path)):
            continue
        # Most users have no such file.
        from spackscope.tui.settings.config_file import ConfigFile, read_config

        try:
            yield read_config(path)
        except FileNotFoundError:
            named = f", which {VARIABLE} names" if is_named else ""
            yield ConfigFile(path, mistakes=(Mistake(Origin(path), f"no such file{named}"),))


def _absolute(file: ConfigFile, name: str, value: Any) -> Any:
    """Return a value with the paths in it made absolute, as Spack does in its files."""
    if name not in ("sources", "public"):
        return value
    from spackscope.model.sources.source_name import PREFIX, PUBLIC, SAMPLE
    from spackscope.model.storage.base import scheme_of

    if not isinstance(value, str):
        return tuple(_absolute(file, name, source) for source in value)
    is_named = value == SAMPLE or value.partition(":")[0] in (PUBLIC, PREFIX.rstrip(":"))
    if is_named or scheme_of(value):
        return value
    return os.path.join(os.path.dirname(file.path), os.path.expanduser(value))


def _table(values: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """Yield the values of a table by the names that the user chose."""
    for name, value in values.items():
        if name.startswith(prefix):
            yield name.removeprefix(prefix), value
