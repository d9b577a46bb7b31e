"""Remove possible secrets from texts: users, passwords and queries of URLs.

A typed text may be a misspelt URL, so a text that looks like a URL is treated as one. Specs do
not: none has a colon before its first `@`, except in `target=x86_64:` and in `libs:=shared`.

All functions take time that is linear in the length of the text, which may come from anywhere.
"""

from __future__ import annotations

import re

_MAX_MESSAGE_LENGTH = 1000
# Few texts need them: `re` compiles them at their first use.
_TOP = r"[^@?#]*?[:/]/+"
_URL = r"[A-Za-z][A-Za-z0-9+.-]*://"
_QUERY = r"(?s:[?#].*)"
_USER_IN_URL = r"(?:^|/)([^:@/]*:)"
_KEY = r"[+~^!%]?[\w.-]+==?"
_PREFIX = r"(?:spack|public):"
_DRIVE = r"[A-Za-z]:\\"
_USER = rf"(?:^|/)(?:{_PREFIX}|{_KEY})*(?!{_PREFIX}|{_DRIVE})([^:@=/]*:)"
# Here a colon makes a range or an exact value, and a version follows. A URL has a path, too.
_RANGE = r"(?:arch|architecture|size|target|version)=[^/@]*"
_EXACT = r"[%^]?\[?[\w-]+:==?[^/@:]*"
_COLON_OF_SPEC = rf"!?(?:{_RANGE}|{_EXACT})@(?:[^/]*|[=:\d][^/]*/\w*)"
_TAGS = r"[\w.,-]+"
_SECRET_QUERY = r"=|:.*@"
_PASSAGE = r"\S+"
_NOT_A_PORT = r"[^\[\]:]*:(?![0-9]*$).*"
# The module `string` compiles a pattern when it is imported.
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_SCHEME = f"{_LETTERS}{_LETTERS.upper()}0123456789+.-"
_WORD = r"[^\s\"'<>`]+"
_END_OF_WORD = ".,:;!?)\"'<>`"
# HTTP libraries quote a header that cannot be sent or read; it may contain a key or a token.
_HEADER = r"(?s::? (?:bytearray\()?b['\"].*)"


def shown_url(url: str) -> str:
    """Return a URL as it may be shown, without user, password, query and fragment.

    Takes any text: secrets are also removed from a text that only looks like a URL. Paths and
    specs stay as they are, and so do the tags after the `#` of a tag list.

    >>> shown_url("https://ann:password@host/x?token=t")
    'https://host/x?…'
    """
    if not ("@" in url or "?" in url or "#" in url or "://" in url):
        return url
    if re.fullmatch(_COLON_OF_SPEC, url):
        return url
    top = re.match(_TOP, url)
    start = top.end() if top else 0
    is_url = top is not None and re.fullmatch(_URL, top[0]) is not None
    query = re.search(_QUERY, url[start:])
    rest = url[start : start + query.start()] if query else url[start:]
    shown = url[:start].lower() if is_url else url[:start]

    pattern = _USER_IN_URL if top else _USER
    if query and "@" not in rest and "@" in query[0] and re.search(pattern, rest):
        # The @ may belong to the password as well as to the query.
        return f"{shown}…"
    netloc, slash, path = rest.partition("/")
    if is_url and "@" not in rest and re.fullmatch(_NOT_A_PORT, netloc):
        # The colon may be before a password, though the host after it is missing.
        return f"{shown}{netloc.partition(':')[0]}:…"
    if top and "@" in netloc:
        rest = f"{netloc.rpartition('@')[2]}{slash}{path}"
        shown += "" if is_url else "…@"
    before, at, after = rest.rpartition("@")
    user = re.search(pattern, before) if at else None
    if user:
        rest = f"{before[: user.start(1)]}…@{after}"
    if not query:
        return shown + rest
    is_path = "/" in rest or rest.endswith(".json")
    if not (top or user or (is_path and re.search(_SECRET_QUERY, query[0]))):
        return url
    parameters, mark, tags = query[0].partition("#")
    mark = mark if rest.endswith(".json") and re.fullmatch(_TAGS, tags) else ""
    shown += rest + ("?…" if parameters[1:] or not (mark or is_url) else "")
    return f"{shown}{mark}{tags}" if mark else shown


def without_secrets(text: str) -> str:
    """Return a message without secrets in its URLs, and in words that look like URLs."""
    if not ("@" in text or "://" in text or "?" in text or "#" in text):
        return text
    return re.sub(_PASSAGE, _shown_passage, text)


def _shown_passage(match: re.Match[str]) -> str:
    """Return the text between blanks without secrets; a password in a URL may contain quotes."""
    before, scheme, rest = match[0].partition("://")
    if "@" not in rest:
        return re.sub(_WORD, lambda word: _shown_end(word[0]), match[0])
    start = len(before.rstrip(_SCHEME))
    return before[:start] + _shown_end(before[start:] + scheme + rest)


def _shown_end(text: str) -> str:
    url = text.rstrip(_END_OF_WORD)
    return shown_url(url) + text[len(url) :]


def library_message(text: str) -> str:
    """Return a message of a library, shortened, without secrets and headers."""
    text = re.sub(_HEADER, "", text)
    if len(text) > _MAX_MESSAGE_LENGTH:
        # No URL that is cut before its @.
        text = text[:_MAX_MESSAGE_LENGTH].rpartition(" ")[0] + " …"
    return without_secrets(text)


def without_arguments(command: str) -> str:
    """Return the program of a command, with … in place of the arguments, which may be secret."""
    import shlex

    try:
        program, *arguments = shlex.split(command)
    except ValueError:
        program, *arguments = command.split(maxsplit=1)
    return f"{program} …" if arguments else program
