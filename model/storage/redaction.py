"""Remove what may be secret from texts that are not URLs, but may have been meant as such.

All functions take time that is linear in the length of the text, which may come from anywhere.
"""

from __future__ import annotations

import re

QUERY = re.compile(r"[?#].*", re.DOTALL)
"""The query and fragment of a URL."""

_MAX_MESSAGE_LENGTH = 1000
_LIKE_A_URL = re.compile(r"[:/]/+")
_USER_IN_TEXT = re.compile(r"(://)[^\s\"'<>]*@")
# Libraries of HTTP quote a header that cannot be sent or read, which may hold a key or a token.
_HEADER_IN_TEXT = re.compile(r":? (?:bytearray\()?b['\"].*", re.DOTALL)
_QUERY_IN_TEXT = re.compile(r"(://[^\s\"'<>?#]*)[?#][^\s\"'<>]*")


def without_secrets(text: str) -> str:
    """Return a message of a library without headers, and the users and queries of URLs in it."""
    text = _HEADER_IN_TEXT.sub("", text)
    if len(text) > _MAX_MESSAGE_LENGTH:
        # No URL that is cut before its @.
        text = text[:_MAX_MESSAGE_LENGTH].rpartition(" ")[0] + " …"
    return _QUERY_IN_TEXT.sub(r"\1?…", _USER_IN_TEXT.sub(r"\1…@", text))


def without_arguments(command: str) -> str:
    """Return the program of a command, and … for its arguments: one may be a password."""
    program, *arguments = command.split(maxsplit=1)
    return f"{program} …" if arguments else program


def redacted_path(path: str) -> str:
    """Return a path as it may be shown, since it may be a mistyped URL."""
    shown = path
    if like_a_url := _LIKE_A_URL.search(path):
        query = QUERY.search(path)
        user = path.rfind("@", like_a_url.end(), query.start() if query else len(path))
        if user >= 0:
            shown = f"{path[: like_a_url.end()]}…{path[user:]}"
    shown = redacted_part(shown)
    query = QUERY.search(shown)
    if query and (like_a_url or shown != path or "=" in query[0]):
        shown = f"{shown[: query.start()]}?…"
    return shown


def redacted_part(path: str) -> str:
    """Return a path without what may be a user and password in it."""
    parts = path.split("/")
    for number, part in enumerate(parts):
        before, at, after = part.rpartition("@")
        if at and ":" in before:
            parts[number] = f"…@{after}"
    return "/".join(parts)
