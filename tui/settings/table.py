"""The one table of settings: files are checked with it, and help and documentation built from it.

A setting is one entry of `SETTINGS`, and a field of `Settings` of the same name.
"""

from __future__ import annotations

from typing import Literal

from spackscope.model.core.frozen import Frozen

SettingKind = Literal["text", "texts", "flag"]


class Setting(Frozen):
    """A setting in a configuration file.

    `kind` is the kind of its value. A table (`is_table`) has a value of this kind for each name
    that the user chooses. `variable` of the environment and `option` of the command line set the
    same, and come before the file. `shown_default` describes the default.
    """

    name: str
    kind: SettingKind
    sentence: str
    example: str
    shown_default: str
    variable: str = ""
    option: str = ""
    is_table: bool = False


SETTINGS = (
    Setting(
        "sources",
        "texts",
        "The sources to read, as -f takes them; a path is relative to the file.",
        '["spack:site", "public"]',
        "those of your Spack, else the sample",
        "SPACKSCOPE_FROM",
        "-f",
    ),
    Setting(
        "public",
        "text",
        "The tag list of the source public, such as a site's own copy: a URL or a path.",
        '"/site/spack/cache_spack_io_index.json"',
        "that of cache.spack.io",
        "SPACKSCOPE_PUBLIC",
    ),
    Setting(
        "host",
        "text",
        "The machine that specs are to run on.",
        '"target=zen3 glibc=2.34"',
        "this machine",
        "SPACKSCOPE_HOST",
        "--host",
    ),
    Setting(
        "copy",
        "text",
        "The command that gets what is copied on its standard input, without a shell.",
        '"wl-copy --type text/plain"',
        "the first method that works",
        "SPACKSCOPE_COPY",
    ),
    Setting(
        "plain",
        "flag",
        "Whether a screen reader reads the terminal: no boxes and bars, lines with a label.",
        "true",
        "false",
        "SPACKSCOPE_PLAIN",
        "--plain",
    ),
    Setting(
        "theme",
        "text",
        "The colours of the browser.",
        '"nord"',
        "spackscope",
    ),
    Setting(
        "fold",
        "flag",
        "Whether look-alikes are one row in the browser at first, until z changes it.",
        "false",
        "true",
    ),
    Setting(
        "sort",
        "text",
        "The column that the browser sorts by at first; with - the largest come first.",
        '"-size"',
        "newest first",
    ),
    Setting(
        "hidden",
        "texts",
        "The columns that the browser hides at first; a variant is written +NAME.",
        '["os", "+shared"]',
        "none",
    ),
    Setting(
        "keys",
        "texts",
        "Other keys for actions, by the names of these.",
        '{ quit = ["Q", "ctrl+x"] }',
        "those that the help lists",
        is_table=True,
    ),
)
"""All settings, in the order in which they are shown."""

BY_NAME = {setting.name: setting for setting in SETTINGS}
