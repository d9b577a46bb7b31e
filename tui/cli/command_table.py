"""The one table of commands: parser, help, completion and reference are made from it.

A command is one entry here, and a module of its name in `commands/` with a function `run`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from spackscope.model.core.frozen import Frozen

WordKind = Literal[
    "query",
    "spec",
    "spec or source",
    "spec or environment",
    "source",
    "environment",
    "package",
    "axis",
    "host",
    "topic",
    "shell",
    "config",
    "number",
    "column",
    "template",
    "pattern",
    "option",
    "",
]
"""The kind of a word, or of the value of an option; an empty text for an unknown kind."""

WITH_FILES: tuple[WordKind, ...] = (
    *("source", "environment", "spec or source", "spec or environment"),
)
"""Words that may be the path of a file, or - for standard input."""

BROWSE = "browse"
"""The command where none is given; it is not a word of the command line."""

HELP = "help"
QUERY = "query"
"""The topic of `help` that is not a command: the query language."""
COMPLETE = "complete"


class Option(Frozen):
    """An option: its names, its text in the help, and the field of `Options` that it sets.

    A `flag` sets True, a `choice` its own name, which excludes other choices of its field, a
    `value` the text that follows it, and `values` collect these texts. The help calls this text
    `metavar`, and `takes` is its kind.
    """

    names: tuple[str, ...]
    text: str
    field: str
    kind: Literal["flag", "choice", "value", "values"] = "flag"
    metavar: str = ""
    takes: WordKind = ""

    @property
    def has_value(self) -> bool:
        """Whether a text follows the option."""
        return self.kind in ("value", "values")

    @property
    def sentence(self) -> str:
        """The text in the help, on one line."""
        return self.text.replace("\n", " ")


def _flag(name: str, text: str, field: str = "") -> Option:
    return Option((f"--{name}",), text, field or name.replace("-", "_"))


def _format(name: str, text: str) -> Option:
    return Option((f"--{name}",), text, "format", "choice")


def _value(name: str, text: str, metavar: str, takes: WordKind, field: str = "") -> Option:
    return Option((f"--{name}",), text, field or name.replace("-", "_"), "value", metavar, takes)


def _values(name: str, text: str, metavar: str, takes: WordKind, field: str) -> Option:
    return Option((f"--{name}",), text, field, "values", metavar, takes)


def _from(text: str) -> Option:
    return Option(("-f", "--from"), text, "sources", "values", "SOURCE", "source")


_HOST = _value(
    "host",
    "check what runs on this host: 'target=zen3 glibc=2.34',\nor zen3; also os=, platform=, "
    "musl= and libc=glibc@2.34:/opt/sysroot. Default: SPACKSCOPE_HOST, else the configured host, "
    "else this machine",
    "HOST",
    "host",
)
_CONFIG = _value(
    "config",
    "none: ignore your Spack configuration (concretizer:reuse, filters of mirrors, "
    "requirements), which `reusable` considers otherwise",
    "none",
    "config",
)
_FIT = (_HOST, _CONFIG)
_FROM = _from(
    "read this source; may be repeated: a page, index.json, spack.lock or spec file; a directory "
    "of pages, an install tree, an environment or a mirror; a URL of https, http, file, s3, gs or "
    "oci; spack:NAME, a mirror of your Spack; public, public:TAG or public:* (all releases), the "
    "public cache, also as public:releases/v2026.10, public:TAG:VIEW and public:e4s/25.11; - for "
    "stdin; sample, the bundled one.\nDefault: SPACKSCOPE_FROM, else those configured, else "
    "the mirrors and install trees of your Spack; without a Spack the sample"
)
_ALL = _flag("all", "also list dependency-only specs", "dependency_only")
_NO_COLOR = _flag("no-color", "use no colour, like NO_COLOR in the environment")
_PLAIN = _flag(
    "plain",
    "write for a screen reader: no boxes and bars, each row as lines 'label: value', like "
    "SPACKSCOPE_PLAIN in the environment",
)
_HELP = Option(("-h", "--help"), "print this help", "help")
_TEMPLATE = _value(
    "format",
    "print each row in a form such as '{package}/{hash:7}', with the values of its columns",
    "TEXT",
    "template",
    "template",
)
_SHEET = (
    _format("json", "print a JSON array of objects, one for each row"),
    _format("jsonl", "print one JSON object per line"),
    _format("csv", "print comma-separated values with a header line"),
    _format("markdown", "print a table for a comment or an issue on GitHub"),
    _format("hashes", "print the full hashes of the rows, one per line, each once"),
    _TEMPLATE,
    _value("columns", "print these columns, separated by commas", "NAMES", "column"),
    _value("sort", "sort by a column; -NAME: descending", "NAME", "column"),
    Option(
        ("-n", "--limit"),
        "print at most N rows; 0: all. Default: all, but on a terminal and in Markdown only the "
        "first rows of a long answer",
        "limit",
        "value",
        "N",
        "number",
    ),
)
"""The options of an answer: a command that has them is an answer."""

_SOURCES = (_FROM, _ALL, _PLAIN, _NO_COLOR, _HELP)
_SOURCES_WITHOUT_ALL = (_FROM, _PLAIN, _NO_COLOR, _HELP)
_ANSWER = (*_SHEET, *_SOURCES_WITHOUT_ALL)

VERSION_OPTION = _flag("version", "print the version")
"""The option that each command takes, though only the help of all commands lists it."""

COMMON = (*_FIT, *_SOURCES, VERSION_OPTION)
"""The options without a command, most of which commands have as well."""

_CODES = {2: "wrong usage", 70: "unexpected error", 130: "interrupted"}
_SOURCE_CODES = {0: "found", 1: "nothing matched", 3: "a source cannot be read"}

_CODES_WIDTH = 77


GROUPS = FINDING, CACHES, PROGRAM = "to find a build", "to run a cache", "spackscope itself"
"""The groups of commands, as the help names them."""


class Command(Frozen):
    """A command: its help, its options and words, and the module that runs it.

    `summary` is its line in the list, and a command without one is in no help. `group` says whom
    it serves, `usages` follow its name, `description` is printed as it is, and so are `examples`.
    `words` is the kind of its words, if it takes any, from `least` to `most` of them; for another
    number `wrong_count` is printed, with their `count` and the `first` word that is too much.
    `codes` are the exit codes with a meaning of their own. The command is run with sources where
    it `reads_sources`, else with the environment. `other_names` are names that people try, as in
    other programs.
    """

    name: str
    summary: str
    usages: tuple[str, ...] = ()
    description: str = ""
    options: tuple[Option, ...] = _SOURCES
    words: WordKind = ""
    least: int = 0
    most: int | None = None
    wrong_count: str = "takes no query: {first}"
    codes: Mapping[int, str] = {}
    examples: str = ""
    reads_sources: bool = True
    other_names: tuple[str, ...] = ()
    group: str = FINDING

    @property
    def called(self) -> str:
        """The words to type for the command."""
        return "spackscope" if self.name == BROWSE else f"spackscope {self.name}"

    @property
    def exit_codes(self) -> str:
        """Its exit codes, on lines that fit the help."""
        common = {**_CODES, **(_SOURCE_CODES if self.reads_sources else {})}
        lines = [""]
        for code, meaning in sorted({**common, **self.codes}.items()):
            line = f"{lines[-1]}   {code} {meaning}".lstrip()
            lines[-1:] = [line] if len(line) <= _CODES_WIDTH else [lines[-1], f"{code} {meaning}"]
        return "\n".join(lines)

    @property
    def is_answer(self) -> bool:
        """Whether a module in `model/answers` has its name, whose sheet is printed."""
        return _SHEET[0] in self.options

    @property
    def runner(self) -> str:
        """The module that runs the command."""
        return "answer" if self.is_answer else self.name

    @property
    def takes_host(self) -> bool:
        """Whether its answers depend on the host."""
        return _HOST in self.options


NEEDS_SPEC = "needs a hash, or a query that matches one spec"

_TABLE = (
    Command(
        BROWSE,
        "browse, and pick the one that fits",
        ("[SOURCE]... [QUERY...]", "COMMAND [--help] ...", "help [COMMAND | query]"),
        "Browse the binaries in Spack build caches, and pick the one that fits.",
        COMMON,
        words="query",
        examples="""\
spackscope
spackscope hdf5 +mpi target=:zen3
spackscope public ~/spack/opt/spack 'cached !installed'
spackscope -- find""",
    ),
    Command(
        "find",
        "list matching specs, as a table or for a script",
        ("[-f SOURCE]... [--flat] [OUTPUT] [QUERY...]",),
        """\
List matching specs: on a terminal as a table that fits it, elsewhere with
tabs between the columns, a header line and full hashes. The table begins with
the newest. Builds that look the same are one row, with their number, the hash
of one, how they differ from other rows, and how they differ themselves.""",
        (
            _flag("flat", "print one row for each build on a terminal too"),
            *_SHEET,
            *_FIT,
            *_SOURCES,
        ),
        words="query",
        examples="""\
spackscope find py-ml-dtypes target=aarch64
spackscope find ~/mirror hdf5 +mpi
spackscope find --json 'py-*' %gcc@13: | jq '.[].hash'
spackscope find --csv os=ubuntu24.04 > ubuntu.csv""",
        other_names=("list", "ls", "search", "query"),
    ),
    Command(
        "show",
        "print everything about one spec",
        ("[-f SOURCE]... [OUTPUT] HASH | QUERY...", "-f SPEC-FILE"),
        """\
Print the spec with this hash, and the command that installs it. A unique hash
prefix is enough, and so is a query that matches one spec, or a source that has
only one. A hash that is in several tags or sources is printed for each. If
several hashes match, they are listed on stderr, and the exit code is 2.

spackscope asks the mirrors that list the spec who signed it, and whether its
archive exists. It reads the key from the signature, and verifies nothing:
Spack does that when it installs.""",
        (*_SHEET, *_FIT, *_SOURCES),
        words="spec",
        wrong_count=NEEDS_SPEC,
        examples="""\
spackscope show 23r4fq5
spackscope show --json /23r4fq5ly72u3bfmbi3o3unokk4d5ipr
spackscope show py-build@1.2.1 os=ubuntu22.04 /pfq""",
        other_names=("info", "spec", "describe"),
    ),
    Command(
        "needs",
        "list what a spec needs to run",
        ("[-f SOURCE]... [OUTPUT] HASH | QUERY... | LOCK",),
        """\
Print the run-time dependencies of a spec: everything that it links or runs,
directly or not, which an install from a build cache fetches. You see the state
of each, and the size of its archive if a manifest has it; the sum is over
those that are not installed. External specs must exist on the host. Build
dependencies come last. Name the spec as for `spackscope show`. For a LOCK (a
spack.lock, the directory of an environment, or an install tree), list what its
roots need.""",
        (*_SHEET, *_SOURCES),
        words="spec or environment",
        least=1,
        wrong_count=NEEDS_SPEC,
        examples="""\
spackscope needs 23r4fq5
spackscope needs hdf5@1.14.6 os=rocky9 +mpi --hashes""",
        other_names=("deps", "dependencies"),
    ),
    Command(
        "files",
        "list the files in a spec, or the specs with a file",
        (
            "[--download] [-f SOURCE]... [OUTPUT] HASH | QUERY...",
            "--having PATTERN [--download] [-f SOURCE]... [OUTPUT] [QUERY...]",
        ),
        """\
List the files and links in a spec, from an install tree or an archive. Of an
archive on a server only the list at its beginning is read, less than 1 MB; one
that does not begin with a list is read with --download. Name the spec as for
`spackscope show`.

With --having, list the files of all specs of the QUERY that match a shell
pattern: by name, or if it has a slash by path, as in 'bin/h5*'.""",
        (
            _value("having", "list the specs with such a file", "PATTERN", "pattern"),
            _flag(
                "download",
                "download whole archives that do not begin with a list: at most 1 GiB each, and "
                "16 GiB in all",
            ),
            *_ANSWER,
        ),
        words="spec",
        wrong_count=NEEDS_SPEC,
        codes={0: "listed", 1: "nothing matched, or a list is not complete"},
        examples="""\
spackscope files hdf5@1.14.6 os=rocky9 +mpi -f ~/spack/opt/spack
spackscope files --having 'libhdf5.so*' 'hdf5 | netcdf-c' -f ~/mirror
spackscope files --having bin/h5dump 'hdf5 os=rocky9' -f spack:site""",
        other_names=("contents", "ls-files"),
    ),
    Command(
        "duplicates",
        "list packages with several builds, and why",
        (
            "[--run] [--inherited] [--ignore NAME]... [-f SOURCE]... [OUTPUT] [QUERY...]",
            "... LOCK",
        ),
        """\
List the packages with several builds for one OS and target, with what makes
these differ, and which packages use them: in the sources, among the specs that
match a QUERY and what these need, or in a LOCK (a spack.lock, the directory of
an environment, or an install tree). Some builds differ by fields of their own,
others only inherit the difference of a dependency.""",
        (
            _flag("run", "leave out build tools; builds that run the same are one"),
            _flag("inherited", "count only builds that differ in nothing of their own"),
            _values("ignore", "skip these packages; a pattern", "NAME", "package", "ignored"),
            *_ANSWER,
        ),
        words="spec or environment",
        codes={0: "none", 1: "some packages have several builds"},
        group=CACHES,
        examples="""\
spackscope duplicates -f spack:site
spackscope duplicates spack.lock --run --ignore cmake --ignore 'py-*'""",
    ),
    Command(
        "cover",
        "list what of environments is cached and what is missing",
        (
            "[-f CACHE]... [--missing] [--host HOST]... [--fail-under N] [OUTPUT] [CACHE]... "
            "[ENVIRONMENT...]",
        ),
        """\
Print how much of an environment is cached or installed, why the rest is
missing, and what an install would fetch and build. Missing specs are grouped
by reason, each with its role (root, to run, build only) and how the nearest
cached spec differs from it. The ENVIRONMENT is a spack.lock, the directory or
name of an environment, or - for hashes on standard input; by default it is the
one among the sources, else the active one. With an install tree among the
caches, the answer estimates how long the builds take. `spackscope why` says
why the concretizer did not reuse a cached build.

For several environments, and with --host, print a row for each environment and
host: how many of its specs are cached or installed, how many run there, the
size of their archives, and what is missing, most needed first. Without an
environment you get a row for each stack of the caches.""",
        (
            _flag(
                "missing",
                "print only what is missing; without it, --hashes prints what is cached or "
                "installed",
            ),
            _values(
                "host",
                "a host to run on, such as zen3 or 'target=zen4 glibc=2.28'; may be repeated",
                "HOST",
                "host",
                "hosts",
            ),
            _value(
                "fail-under",
                "exit with 1 if less than this percentage of an environment is cached, or with "
                "--host runs on that host. Default: 100",
                "N",
                "number",
            ),
            *_SHEET,
            _CONFIG,
            *_SOURCES_WITHOUT_ALL,
        ),
        words="environment",
        codes={0: "nothing is missing", 1: "less is cached than --fail-under"},
        examples="""\
spackscope cover spack.lock -f public
spackscope cover climate ocean --host zen3 --host zen4 --fail-under 90
spackscope cover climate --missing --hashes > to-push
spackscope find -f ~/tree --hashes | spackscope cover - -f spack:site""",
        group=CACHES,
    ),
    Command(
        "why",
        "list what keeps Spack from reusing a build",
        ("[-f CACHE]... [OUTPUT] HASH | QUERY...", "[-f CACHE]... [OUTPUT] LOCK"),
        """\
List the builds of a package in caches and install trees: first those that
Spack can reuse, then the others by the reason why it does not: the query, the
host, or the configuration of your Spack, with the file and line to change. The
command reads no recipes, and so cannot say which versions are deprecated;
Spack 1.3 or later does not reuse those. For specs that no cache has, such as
the missing specs of a LOCK (a spack.lock or the directory of an environment),
it names the nearest build and how that differs. The solver may still prefer
another spec to a build that it can reuse.""",
        (*_SHEET, *_FIT, *_SOURCES_WITHOUT_ALL),
        words="spec or environment",
        least=1,
        wrong_count="needs a query, a hash or a lock file",
        codes={0: "one can be reused", 1: "none"},
        examples="""\
spackscope why hdf5@1.14 +mpi target=zen4
spackscope why uehz56w --config none
spackscope why spack.lock -f public""",
    ),
    Command(
        "diff",
        "print how specs differ, and whether they run the same",
        (
            "[-f SOURCE]... [--build] [--all] [--each] [OUTPUT] SPEC SPEC...",
            "[OUTPUT] OLD-SOURCE NEW-SOURCE",
        ),
        """\
Print how 2 to 20 specs differ, and whether they run the same. Each word is a
hash, a unique hash prefix, or a quoted query that matches one spec. Each spec
is a column; specs that run the same share one. The rows are the causes: each
difference that does not follow from another one, and the dependencies that
lead to it.

For two sources, such as two spack.lock files, it lists the packages that were
added, removed and changed, how many changed only because of others, and the
changed specs with their old hashes. Two words are sources if both are URLs,
public:TAG, spack:NAME, - for stdin, or paths that exist, and no -f is given.""",
        (
            _flag("build", "also compare build dependencies"),
            _flag("all", "also list what follows from other differences, and what is equal"),
            _flag("each", "print a column for each spec, even where several are alike"),
            *_ANSWER,
        ),
        words="spec or source",
        least=2,
        most=20,
        wrong_count="needs 2 to 20 specs, but got {count:,}; "
        "put each query of several words in quotes",
        codes={0: "alike", 1: "different", 2: "wrong usage, or a word does not name one spec"},
        examples="""\
spackscope diff uehz56w wuqgt3p
spackscope diff 'hdf5@1.14.6 /ueh' 'hdf5@1.14.5 +mpi os=rocky9' --build
spackscope pick hdf5@1.14.6 | xargs spackscope diff
git show HEAD~1:spack.lock | spackscope diff - spack.lock
spackscope diff public:v2026.06.0 public:develop""",
        other_names=("compare",),
    ),
    Command(
        "pick",
        "choose in the browser, and print the hashes",
        ("[-f SOURCE]... [--format TEXT] [--line] [QUERY...]",),
        """\
Choose in the browser, and print the full hash of the choice, or of all marked
specs, one per line. If you leave without a choice, the exit code is 130.

With --line, as a key at the prompt runs it, read a command line up to the
cursor from standard input, and print it with the choice in place of the spec
at its end, which is the query: `spack install hdf5 +mpi` becomes `spack
install hdf5/HASH`. After a blank or a command, the choice is added. See
`spackscope help completion`.""",
        (
            _TEMPLATE,
            _flag("line", "put the choice into the command line on standard input"),
            *_FIT,
            *_SOURCES,
        ),
        words="query",
        examples="""\
spack install --cache-only "/$(spackscope pick py-safetensors)"
spackscope pick py-build | tee chosen
spackscope pick --format '{package}@{version}/{hash:7}' hdf5""",
    ),
    Command(
        "stats",
        "count matching specs by a column or variant, or by two",
        (
            "COLUMN|VARIANT [-f SOURCE]... [OUTPUT] [QUERY...]",
            "--by FIRST [--by SECOND] ...",
        ),
        """\
Count matching specs by a column or a variant, with bars on a terminal. With
two columns or variants, count each pair that occurs.""",
        (
            _values(
                "by",
                "a column (package, version, compiler, os, target, stack, tag, state, source, "
                "platform, arch, namespace, flags, variants) or the name of a variant, "
                "such as mpi; a spec with several values counts for each; none: no value.\n"
                "Without --by it is the first word.",
                "NAME",
                "axis",
                "by",
            ),
            *_SHEET,
            *_FIT,
            *_SOURCES,
        ),
        words="query",
        examples="""\
spackscope stats target
spackscope stats --by compiler --by target hdf5
spackscope stats --by cuda_arch +cuda""",
        other_names=("count",),
    ),
    Command(
        "sources",
        "list the sources, with kind, specs, problems and age",
        ("[-f SOURCE]... [--problems | --tags] [OUTPUT]",),
        """\
List the sources: the kind of each, how many specs and problems it has, and
when a remote source was last known to be current.""",
        (
            _flag("problems", "list what could not be read, and where"),
            _flag("tags", "list the tags of the public cache, and how old they are"),
            *_SHEET,
            *_SOURCES,
        ),
        examples="""\
spackscope sources
spackscope sources -f spack:develop -f ~/spack/opt/spack
spackscope sources --problems -f ~/mirror""",
        other_names=("mirror", "mirrors"),
        group=CACHES,
    ),
    Command(
        "index",
        "build or refresh the index of the sources",
        ("[-f SOURCE]... [--rebuild]",),
        """\
Build the index file of the sources, or refresh it if they changed, and print
its contents, its path and all problems. Other commands do this when they need
to.""",
        (_flag("rebuild", "read all files again, even unchanged ones"), *_SOURCES),
        examples="""\
spackscope index -f ~/cache/_cache
spackscope index --rebuild""",
        other_names=("update", "refresh", "rebuild"),
        group=CACHES,
    ),
    Command(
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
            _format("check", "only list mistakes in the files, with line and reason"),
            _format("keys", "list all keys of the browser, by the names to change them"),
            _format("json", "print one JSON object per setting and line"),
            _from("print the settings as for a command with this source"),
            _value("host", "print the settings as for a command with this host", "HOST", "host"),
            _HELP,
        ),
        reads_sources=False,
        codes={0: "right", 2: "wrong usage, or a file has a mistake"},
        examples="""\
spackscope config
spackscope config --check
spackscope config --json | jq 'select(.from == "default").setting'""",
        group=PROGRAM,
    ),
    Command(
        "extension",
        "give Spack the command `spack scope`",
        ("[--help]",),
        """\
Copy the Spack extension with the command `spack scope`, which starts
spackscope with the Spack and the environment that are active. Print the
command line that adds the copy to your configuration of Spack, and the one
that removes it. A Spack whose own Python has spackscope finds the command by
itself.

The copy is in $XDG_DATA_HOME/spackscope, else in ~/.local/share/spackscope. It
starts the program that wrote it, or one on PATH. Keep it while it is added: no
command of Spack starts once a directory that its configuration lists is gone,
but the second line still works.""",
        (_HELP,),
        wrong_count="takes no words: {first}",
        reads_sources=False,
        codes={0: "copied", 3: "the copy cannot be written"},
        examples="""\
spackscope extension
spack scope find hdf5 +mpi""",
        group=PROGRAM,
    ),
    Command(
        "completion",
        "print the completion script of bash, zsh or fish",
        ("[--widget] (bash | zsh | fish)",),
        """\
Print the script that completes the command line in a shell: commands, options,
sources, files, and the words of a query from the index of the sources. It
reads and downloads nothing else: for a source that you never opened, it
completes only the keys of the language.

In ~/.bashrc, where no package has installed the script:
  eval "$(spackscope completion bash)"
In ~/.zshrc, after compinit:
  eval "$(spackscope completion zsh)"
Once, for fish:
  spackscope completion fish > ~/.config/fish/completions/spackscope.fish

With --widget, also bind Alt-I: for the spec before the cursor, it opens the
browser as `spackscope pick` does, and the choice takes its place: hdf5
becomes hdf5/HASH. SPACKSCOPE_KEY names another key as the shell writes it, and
SPACKSCOPE_KEY_FORMAT another form, such as '/{hash}'. Where your shell starts:
  eval "$(spackscope completion bash --widget)"
  SPACKSCOPE_KEY='^Xi'; eval "$(spackscope completion zsh --widget)"
  spackscope completion fish --widget | source""",
        (_flag("widget", "also bind a key that puts a choice into the line"), _HELP),
        words="shell",
        reads_sources=False,
        codes={0: "done"},
        examples="spackscope completion zsh > ~/.zfunc/_spackscope",
        group=PROGRAM,
    ),
    Command(
        HELP,
        "print this help, or that on a command or on `query`",
        words="topic",
        group=PROGRAM,
    ),
    # Completion scripts call it.
    Command(COMPLETE, "", options=(_HELP,), words="shell", reads_sources=False),
)

COMMANDS: Mapping[str, Command] = {command.name: command for command in _TABLE}
"""The commands by their names, in the order of the help."""

LISTED = tuple(
    command
    for group in GROUPS
    for command in _TABLE
    if command.group == group and command.name != BROWSE and command.summary
)
"""The commands that the help lists, by their groups."""

WITH_HELP = tuple(command.name for command in _TABLE if command.description)
"""The commands that have a help of their own."""
