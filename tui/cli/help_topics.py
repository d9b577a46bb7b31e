"""Print the help: one screen of essentials, of a command, or the whole query language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import clean, wrap
from spackscope.model.query.ast import VIEW
from spackscope.tui.cli.help import BROWSE, COMMANDS, ESSENTIAL
from spackscope.tui.query_reference import LANGUAGE

QUERY = "query"

ESSENTIALS = """\
usage: spackscope [COMMAND] [-f SOURCE]... [QUERY...]

Browse the binaries in Spack build caches, and pick the one that fits.

  spackscope                             browse what your Spack can fetch
  spackscope hdf5 +mpi target=:zen3      builds that a zen3 can run
  spackscope find 'hdf5 ^zlib-ng@2.2:'   a table, or --json --csv --hashes
  spackscope find 'cached !installed'    what an install could fetch
  spackscope -f public -f ~/spack mpich  two sources as one
  spackscope show uehz56w                one build, and how to install it
  spackscope diff uehz56w wuqgt3p        how two look-alikes differ

commands: find show diff needs cover doubles stats pick sources index
          config extension completion man help

  -f, --from SOURCE  a file, directory or URL; spack:NAME; public; - for stdin
  --host HOST        check what fits there: 'target=zen3 glibc=2.34'
  --all              also list dependency-only specs
  --no-color, --version, -h, --help

spackscope help           everything    spackscope help query  how to query
spackscope help COMMAND   one command   spackscope -- find     the package find
"""
"""What most need, on one screen: at most 24 lines of 80 cells."""

_COLUMN = 36


def help_text(topic: str, environ: Mapping[str, str]) -> str:
    """Return the help on a topic: ESSENTIAL, QUERY, BROWSE for everything, or a command.

    That on queries lists those that the configuration names.
    """
    if topic == ESSENTIAL:
        return ESSENTIALS
    if topic != QUERY:
        return COMMANDS[topic]
    # The other topics need no configuration.
    from spackscope.tui.settings import read_settings

    return query_help() + _named_queries(read_settings(environ).views)


def topic_of(words: Sequence[str]) -> str:
    """Return the topic that the words after `help` name. Raises ValueError for another one."""
    topic = " ".join(words) or BROWSE
    if topic != QUERY and topic not in COMMANDS:
        raise ValueError(f"no help on {topic}{did_you_mean(topic, [*COMMANDS, QUERY])}")
    return topic


def query_help() -> str:
    """Return the table of the query language for a terminal of 80 cells."""
    lines = ["A query is a Spack spec. Quote what your shell would interpret."]
    for heading, forms in LANGUAGE.items():
        lines += ["", heading]
        for form in forms:
            first, *rest = wrap(form.sentence, 79 - _COLUMN)
            lines.append(f"  {form.written:<{_COLUMN - 3}} {first}")
            lines += [" " * _COLUMN + more for more in rest]
    return "\n".join(lines) + "\n"


def _named_queries(views: Mapping[str, str]) -> str:
    """Return the named queries as a part of the help, or an empty text."""
    # Most configurations have none.
    from spackscope.model.core.redaction import without_secrets

    lines = ["", "Named in the configuration"] if views else []
    for name, text in sorted(views.items()):
        first, *rest = wrap(without_secrets(text), 79 - _COLUMN)
        lines.append(f"  {f'{VIEW}={name}':<{_COLUMN - 3}} {first}")
        lines += [" " * _COLUMN + more for more in rest]
    return "".join(f"{clean(line)}\n" for line in lines)
