"""All exceptions of the model; `Leave` and `CopyFailed` of the interface have the same base.

    SpackscopeError
    ├── Cancelled              the user stopped a long task
    ├── IndexDamaged           an index has content that its writer does not write
    ├── QueryError             a text is not a query
    ├── WrongQuestion          an answer is asked for with arguments that do not fit
    ├── Unanswerable           the records do not say enough to answer a query
    ├── Unreadable             a document, or a value in it, cannot be read
    │   └── YamlError          YAML
    ├── Unwritable             a file cannot be written
    └── SourceError            a source, or a file of it, cannot be fetched
        ├── NotFound           there is no such file, or it is forbidden
        ├── WrongContent       a file does not match its checksum, or cannot be read
        ├── TemporaryFailure   a retry may succeed
        ├── Unreachable        there is no connection to a host, or none that is fast enough
        └── Unauthorized       a server asks for credentials

Every message is one sentence, or the rest of a sentence that begins with the name of a source,
file or command. None contains a secret.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from spackscope.model.core.redaction import without_secrets


class SpackscopeError(Exception):
    """Base of all exceptions of the project; no message has a secret."""

    def __init__(self, *messages: str) -> None:
        super().__init__(*map(without_secrets, messages))


class Cancelled(SpackscopeError):
    """The user stopped a long task."""


class IndexDamaged(SpackscopeError):
    """An index has content that its writer does not write, and has to be built again."""


class QueryError(SpackscopeError, ValueError):
    """A text is not a query; `offset` is the place of the error, in characters."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


class Unanswerable(SpackscopeError, ValueError):
    """The records do not say enough to decide `condition`, a `query.ast.Condition`."""

    def __init__(self, message: str, condition: Any) -> None:
        super().__init__(message)
        self.condition = condition


class WrongQuestion(SpackscopeError, ValueError):
    """An answer is asked for with arguments that do not fit, such as an unknown column."""


class Unreadable(SpackscopeError, ValueError):
    """A document, or a value in it, cannot be read."""


class Unwritable(SpackscopeError):
    """A file cannot be written; the message says which and why."""


class YamlError(Unreadable):
    """YAML was not loaded; `line` is the line of the error, counted from 1, if it is known.

    `is_syntax_error` is true for a text that is not YAML, false for YAML that is refused.
    """

    def __init__(
        self, reason: str, line: int | None = None, *, is_syntax_error: bool = False
    ) -> None:
        super().__init__(reason)
        self.line = line
        self.is_syntax_error = is_syntax_error


class SourceError(SpackscopeError):
    """A source, or a file of it, cannot be fetched; the message names it.

    `may_serve_stale` is True where a cached copy of the file may be used instead, `is_forbidden`
    where a server refuses the file.
    """

    may_serve_stale = True
    is_forbidden = False


class NotFound(SourceError):
    """A storage was reached and has no such file, or refuses it.

    Amazon S3 refuses also a missing file where the bucket may not be listed. So a caller that
    tries several names takes a forbidden file as missing, and reports it if no other exists.
    """

    def __init__(self, message: str, *, is_forbidden: bool = False) -> None:
        super().__init__(message)
        self.is_forbidden = self.may_serve_stale = is_forbidden


class WrongContent(SourceError):
    """A file does not match its checksum, is a web page, or cannot be read to its end."""

    def __init__(self, message: str, *, may_serve_stale: bool = False) -> None:
        super().__init__(message)
        self.may_serve_stale = may_serve_stale


class TemporaryFailure(SourceError):
    """A request failed in a way that a retry may fix.

    `after` is the number of seconds that the server asks to wait, `silent` a host that sent
    nothing.
    """

    def __init__(self, message: str, *, after: float | None = None, silent: str = "") -> None:
        super().__init__(message)
        self.after, self.silent = after, silent


class Unreachable(SourceError):
    """A host cannot be reached, or sends too slowly."""

    def __init__(self, message: str, host: str) -> None:
        super().__init__(message)
        self.host = host


class Unauthorized(SourceError):
    """The server of `url`, a `storage.urls.Url`, asks for credentials by `challenge`.

    `challenge` is the header WWW-Authenticate; after a redirect, `url` is its target.
    """

    is_forbidden = True

    def __init__(self, message: str, challenge: str, url: Any) -> None:
        super().__init__(message)
        self.challenge, self.url = challenge, url


def reason(error: Exception, what: str = "cannot be read") -> str:
    """Return half a sentence: `what`, a colon, and the cause of an error in lower case."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    # The message of Python about a NUL differs from version to version.
    text = "its name has a NUL" if "embedded null" in text else text
    text = "its name is not text" if isinstance(error, UnicodeEncodeError) else text
    return f"{what}: {text[:1].lower()}{text[1:]}"


@contextlib.contextmanager
def naming(source: str) -> Iterator[None]:
    """Turn OSError and ValueError into a SourceError that names a source or a file."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise SourceError(f"{source} {reason(error)}") from None


def describe_error(error: BaseException) -> str:
    """Describe an error of another library by its type and its line of code.

    Its message is left out: it may contain a secret. Too little memory, as with `ulimit -v`, is
    not a mistake of the program. For an error of the project its own message is returned, but
    Cancelled is raised again.
    """
    if isinstance(error, Cancelled):
        raise error
    if isinstance(error, SpackscopeError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    trace, line = error.__traceback__, ""
    while trace is not None:
        name = os.path.basename(trace.tb_frame.f_code.co_filename)
        line = f" ({name}:{trace.tb_lineno})"
        trace = trace.tb_next
    return f"unexpected {type(error).__name__}{line}"
