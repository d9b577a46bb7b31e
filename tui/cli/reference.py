"""The tables of exit codes, variables and files, for documentation and manual pages."""

from __future__ import annotations

EXIT_CODES = (
    (
        "0",
        "something matched; specs are alike, an environment is covered, all records are whole",
    ),
    (
        "1",
        "nothing matched; specs differ, something is missing, there are doubles, "
        "a record is wrong",
    ),
    ("2", "the command line or the query is wrong"),
    ("3", "no source can be read; or nothing matched, and a source cannot be read"),
    (
        "70",
        "an unexpected error, which is a bug; a log without your data is in "
        "`~/.local/state/spackscope`",
    ),
    ("130", "interrupted, or nothing picked"),
    ("128 + n", "ended by signal n"),
)
"""Exit codes and what they mean."""

VARIABLES = (
    ("SPACKSCOPE_CONFIG", "the configuration file to read instead of the user's own"),
    (
        "SPACKSCOPE_FROM",
        "sources for every start, separated by blanks, instead of those of your Spack",
    ),
    ("SPACKSCOPE_HOST", "the machine that specs are to run on, as with `--host`"),
    ("SPACKSCOPE_COPY", "the program that copies, with its arguments"),
    ("SPACKSCOPE_PUBLIC", "the tag list of the public cache, instead of that of cache.spack.io"),
    (
        "SPACKSCOPE_PYTHON",
        "the Python that spackscope.pyz runs with; by default `python3`, if that is new enough",
    ),
    ("NO_COLOR", "no colours"),
    ("SPACK_ROOT, SPACK_ENV", "the Spack and the active environment, as Spack sets them"),
    (
        "https_proxy, no_proxy, SSL_CERT_FILE",
        "the way to servers, and the certificates to trust",
    ),
    (
        "XDG_CACHE_HOME, XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME",
        "where files are kept, as below",
    ),
    ("XDG_CONFIG_DIRS", "where the configuration for all users is, as below"),
)
"""Variables of the environment, several as `A, B`, and what they do."""

FILES = (
    ("$XDG_CONFIG_HOME/spackscope", "~/.config/spackscope", "`config.toml`; only read"),
    (
        "$XDG_CONFIG_DIRS/spackscope",
        "/etc/xdg/spackscope",
        "`config.toml` for all users; only read",
    ),
    (
        "$XDG_CACHE_HOME/spackscope",
        "~/.cache/spackscope",
        "indexes, copies of remote files, and what spackscope.pyz has unpacked; may be removed at "
        "any time",
    ),
    (
        "$XDG_DATA_HOME/spackscope",
        "~/.local/share/spackscope",
        "the Spack extension that `spackscope extension --install` registers; "
        "no command of Spack starts where a registered one is missing",
    ),
    (
        "$XDG_STATE_HOME/spackscope",
        "~/.local/state/spackscope",
        "what the program remembers by itself: the theme chosen, hidden columns and their widths, "
        "queries that were used, logs of crashes",
    ),
)
"""Directories, each with its place where the variable is not set, and what they have."""
