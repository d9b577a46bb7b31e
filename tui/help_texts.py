"""Hold the help of each command, as it is printed."""

from __future__ import annotations

_SOURCES = """\
  -f, --from SOURCE  read this page or directory of pages; may be repeated.
                     Without it SPACKSCOPE_FROM counts, else the bundled sample
  --no-color         use no colour; NO_COLOR in the environment does the same
  -h, --help         print this help
"""

_QUERY = """\
query:
  Words that must all match; quote those that mean something to your shell.
  py-build 'py-*'    a package by its name; several names are alternatives
  version=1.14:      a version, a range, or several with commas between
  compiler=gcc@13:   a compiler, with or without versions
  os= target= platform= stack= tag= source= size=10MB:
                     the other columns
  /abc               the beginning of a hash
  +mpi ~cuda build_system=cmake cuda_arch=80
                     variants
  '!os=sequoia'      not this
  'target=x86_64*'   * and ? are wildcards in every value
"""

_EXIT = """\
exit codes:
  0 found   1 nothing matched   2 wrong usage   3 a source cannot be read
  130 interrupted
"""

BROWSE = "browse"
"""Stands for no command at all: it is not a word of the command line."""

COMMANDS = {
    BROWSE: f"""\
usage: spackscope [-f SOURCE]... [QUERY...]
       spackscope find | show | pick | index [--help] ...

Browse the binaries that Spack build caches list, and pick the one that fits.

commands:
  find               list what matches, as a table or for a script
  show               print one spec in full
  pick               choose in the browser, and print the hashes
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
  spackscope find --json 'py-*' compiler=gcc@13: | jq '.[].hash'
  spackscope find --csv os=ubuntu24.04 > ubuntu.csv
""",
    "show": f"""\
usage: spackscope show [-f SOURCE]... [--json] HASH

Print the spec with this hash, and the line that installs it. The beginning
of a hash will do where no other hash begins so; a / in front is allowed. A
hash that stands in several tags or sources is printed for each. Where several
hashes begin so, they are listed on stderr, and the exit code is 2.

options:
  --json             print a JSON object for each record, one a line
{_SOURCES}
{_EXIT}
examples:
  spackscope show 23r4fq5
  spackscope show --json /23r4fq5ly72u3bfmbi3o3unokk4d5ipr
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
