"""Hold the help of each command, as it is printed."""

from __future__ import annotations

from spackscope.model.core.text import wrap
from spackscope.tui.query_reference import LANGUAGE

_SOURCES = """\
  -f, --from SOURCE  read this; may be repeated: a page, index.json, spack.lock
                     or spec file; a directory of pages, an install tree, an
                     environment or a mirror; an address such as https://…,
                     file://…, s3://…, gs://… or oci://…; spack:NAME, a mirror
                     of your Spack; public or public:TAG, the public cache;
                     - is standard input.
                     Without it SPACKSCOPE_FROM counts, else the mirrors and
                     install trees of your Spack, else the bundled sample
  --all              list also what is there only because others depend on it
  --no-color         use no colour; NO_COLOR in the environment does the same
  -h, --help         print this help
"""

_COLUMN = 36


def _query_help() -> str:
    """Spell the table of the query language for a terminal of 80 cells."""
    lines = ["query: a Spack spec; quote what means something to your shell"]
    for forms in LANGUAGE.values():
        for form in forms:
            said = wrap(form.sentence, 79 - _COLUMN)
            lines.append(f"  {form.written:<{_COLUMN - 3}} {said[0]}")
            lines += [" " * _COLUMN + more for more in said[1:]]
    return "\n".join(lines) + "\n"


_QUERY = _query_help()

_EXIT = """\
exit codes:
  0 found   1 nothing matched   2 wrong usage   3 a source cannot be read
  70 unexpected error   130 interrupted
"""

BROWSE = "browse"
"""Stands for no command at all: it is not a word of the command line."""

COMMANDS = {
    BROWSE: f"""\
usage: spackscope [-f SOURCE]... [QUERY...]
       spackscope find | show | pick | sources | index [--help] ...

Browse the binaries that Spack build caches list, and pick the one that fits.

commands:
  find               list what matches, as a table or for a script
  show               print one spec in full
  pick               choose in the browser, and print the hashes
  sources            list the sources, with kind, specs, problems and age
  index              build or refresh the index of the sources
  Without a command the browser opens. A query that begins with a word from
  this list is given after --.

options:
{_SOURCES}  --version          print the version

{_QUERY}
{_EXIT}
examples:
  spackscope
  spackscope -f ~/cache/_cache py-safetensors target=aarch64
  spackscope -- find
""",
    "find": f"""\
usage: spackscope find [-f SOURCE]... [--json | --jsonl | --csv | --hashes]
                       [QUERY...]

List the specs that match: on a terminal as a table that fits it, elsewhere
with tabs between the columns, a line of heads and whole hashes.

options:
  --json             print a JSON array of objects
  --jsonl            print a JSON object a line
  --csv              print comma-separated values, the first line being heads
  --hashes           print whole hashes, one a line, each once
{_SOURCES}
{_QUERY}
{_EXIT}
examples:
  spackscope find py-ml-dtypes target=aarch64
  spackscope find --json 'py-*' %gcc@13: | jq '.[].hash'
  spackscope find --csv os=ubuntu24.04 > ubuntu.csv
""",
    "show": f"""\
usage: spackscope show [-f SOURCE]... [--json] HASH | QUERY...

Print the spec with this hash, and the line that installs it. The beginning
of a hash will do where no other hash begins so, and so will a query that one
spec matches. A hash that stands in several tags or sources is printed for
each. Several hashes are listed on stderr, and then the exit code is 2.

options:
  --json             print a JSON object for each record, one a line
{_SOURCES}
{_EXIT}
examples:
  spackscope show 23r4fq5
  spackscope show --json /23r4fq5ly72u3bfmbi3o3unokk4d5ipr
  spackscope show py-build@1.2.1 os=ubuntu22.04 /pfq
""",
    "pick": f"""\
usage: spackscope pick [-f SOURCE]... [QUERY...]

Open the browser to choose from, and print the whole hash of the choice, or
of all marked specs, one a line. Leaving without a choice gives 130.

options:
{_SOURCES}
{_QUERY}
{_EXIT}
examples:
  spack install --cache-only "/$(spackscope pick py-safetensors)"
  spackscope pick py-build | tee chosen
""",
    "sources": f"""\
usage: spackscope sources [-f SOURCE]... [--json]

List the sources that are read: what each is, how many specs it has, what
could not be read, and when what lies far away was last known to be current.

options:
  --json             print a JSON object for each source, one a line
{_SOURCES}
{_EXIT}
examples:
  spackscope sources
  spackscope sources -f spack:develop -f ~/spack/opt/spack
""",
    "index": f"""\
usage: spackscope index [-f SOURCE]... [--rebuild]

Build the index file of the sources, or refresh it where they changed; say
what it holds, where it is, and everything that could not be read. Other
commands do the same by themselves when they need to.

options:
  --rebuild          read everything again, whatever the files' times say
{_SOURCES}
{_EXIT}
examples:
  spackscope index -f ~/cache/_cache
  spackscope index --rebuild
""",
}
"""The help of each command."""
