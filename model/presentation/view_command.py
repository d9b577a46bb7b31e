"""Write a view as the command line that prints the hashes of its specs."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

from spackscope.model.analysis.session_fit import described_host
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.redaction import shown_url
from spackscope.model.query.ast import Query
from spackscope.model.query.format import format_for_shell
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import (
    SAMPLE,
    STANDARD_INPUT,
    TAG_LIST_NAME,
    absolute_path,
    is_local_path,
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
        # spackscope find -f /home/ann/mirror 'hdf5 +mpi' --hashes
    """
    spelled = [_spelled(source) for source in sources]
    words = ["spackscope", "find", *(word for source in spelled for word in ("-f", source))]
    if session.include_dependency_only:
        words.append("--all")
    if host := described_host(session):
        words += ["--host", host]
    if query:
        words.append(format_for_shell(query))
    remarks = []
    if any(shown_url(s) == text != s for s, text in zip(sources, spelled, strict=True)):
        remarks.append(WITHOUT_SECRETS)
    if STANDARD_INPUT in sources:
        remarks.append(FROM_STDIN)
    return ViewCommand(shlex.join([*words, "--hashes"]), " and ".join(remarks))


def _spelled(source: str) -> str:
    """Return a source so that it means the same in any directory, without secrets."""
    path, mark, tags = source.partition("#")
    is_path = path.endswith(TAG_LIST_NAME) and "://" not in path
    if not is_path:
        path, mark, tags = source, "", ""
        is_path = is_local_path(source) and source != SAMPLE
    redacted = shown_url(source)
    if not is_path:
        return redacted
    absolute = absolute_path(path)
    # A mistyped URL is taken for a path.
    return (
        f"{absolute}{mark}{tags}" if redacted == source or os.path.exists(absolute) else redacted
    )
