"""Write a view as the command line that prints the hashes of its specs."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from spackscope.model.analysis.fit.session_fit import described_host
from spackscope.model.core.frozen import Frozen
from spackscope.model.query.ast import Query
from spackscope.model.query.format import format_for_shell
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    SAMPLE,
    STANDARD_INPUT,
    TAG_LIST_NAME,
    absolute_path,
    is_local_path,
    shown_source,
)

WITHOUT_SECRETS = "add user and password of the URL yourself"
FROM_STDIN = "it reads standard input"


class ViewCommand(Frozen):
    """A command line, and what a user has to know before running it, if anything."""

    text: str
    remark: str = ""


def view_command(sources: Sequence[str], query: Query, session: Session) -> ViewCommand:
    """Return the `find` that prints the hashes of all specs that match, whatever is folded.

    Paths are absolute, since the line may be pasted anywhere. Secrets in URLs are left out, which
    the remark says. Raises QueryError if the query cannot be written in a shell, and SourceError
    for a relative path in a directory that no longer exists.

        view_command(["mirror"], parse("hdf5 +mpi"), session).text
        # spackscope find -f /work/mirror 'hdf5 +mpi' --hashes
    """
    words = ["spackscope", "find", *_source_words(sources)]
    if session.include_dependency_only:
        words.append("--all")
    if host := described_host(session):
        words += ["--host", host]
    if query:
        words.append(format_for_shell(query))
    remarks = []
    if any(shown_source(source) != source for source in sources):
        remarks.append(WITHOUT_SECRETS)
    if STANDARD_INPUT in sources:
        remarks.append(FROM_STDIN)
    return ViewCommand(shlex.join([*words, "--hashes"]), " and ".join(remarks))


def _source_words(sources: Sequence[str]) -> Iterator[str]:
    for source in sources:
        yield "-f"
        yield _spelled(source)


def _spelled(source: str) -> str:
    """Return a source so that it means the same in any directory, without secrets."""
    is_path = is_local_path(source) and source != SAMPLE
    if is_path:
        return absolute_path(source)
    # The path of a tag list may end in tags.
    path, hash_, tags = source.partition("#")
    if path.endswith(TAG_LIST_NAME) and "://" not in path:
        return f"{absolute_path(path)}{hash_}{tags}"
    return shown_source(source)
