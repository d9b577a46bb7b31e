"""Remove what may be secret from texts: users, passwords and queries of URLs.

What a user typed may be a misspelt URL, so what looks like one is taken for one. A spec does not:
in none is a colon before the first `@`, but in the value of a key such as `target=x86_64:`.

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
# In the value of some keys a colon makes a range.
_KEY = r"[+~^!%]?(?!(?:arch|size|target|version)=)[\w-]+==?"
_PREFIX = r"(?:spack|public):"
_USER = rf"(?:^|/)(?:{_PREFIX}|{_KEY})*(?!{_PREFIX})([^:@=/]*:)"
_TAGS = r"[\w.,-]+"
_WORD = r"[^\s\"'<>`]+"
_END_OF_WORD = ".,:;!?)"
# Libraries of HTTP quote a header that cannot be sent or read, which may hold a key or a token.
_HEADER = r"(?s::? (?:bytearray\()?b['\"].*)"


def shown_url(url: str) -> str:
    """Return a URL as it may be shown, without user, password, query and fragment.

    Takes any text: what may be secret is also removed where it only looks like a URL. Paths and
    specs stay as they are, and so do the tags after the `#` of a tag list.

    >>> shown_url("https://ann:password@host/x?token=t")
    'https://host/x?…'
    """
    if not ("@" in url or "?" in url or "#" in url or "://" in url):
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
    if top and "@" in netloc:
        rest = f"{netloc.rpartition('@')[2]}{slash}{path}"
        shown += "" if is_url else "…@"
    before, at, after = rest.rpartition("@")
    user = re.search(pattern, before) if at else None
    if user:
        rest = f"{before[: user.start(1)]}…@{after}"
    if not query:
        return shown + rest
    if not (top or user or ("=" in query[0] and "/" in rest)):
        return url
    parameters, mark, tags = query[0].partition("#")
    mark = mark if rest.endswith(".json") and re.fullmatch(_TAGS, tags) else ""
    shown += rest + ("?…" if parameters[1:] or not (mark or is_url) else "")
    return f"{shown}{mark}{tags}" if mark else shown


def without_secrets(text: str) -> str:
    """Return a message without what may be secret in the URLs, and in what looks like one."""
    if not ("@" in text or "://" in text or "?" in text):
        return text
    return re.sub(_WORD, _shown_word, text)


def _shown_word(match: re.Match[str]) -> str:
    url = match[0].rstrip(_END_OF_WORD)
    return shown_url(url) + match[0][len(url) :]


def library_message(text: str) -> str:
    """Return a message of a library, shortened, without secrets and headers."""
    text = re.sub(_HEADER, "", text)
    if len(text) > _MAX_MESSAGE_LENGTH:
        # No URL that is cut before its @.
        text = text[:_MAX_MESSAGE_LENGTH].rpartition(" ")[0] + " …"
    return without_secrets(text)


def without_arguments(command: str) -> str:
    """Return the program of a command, and … for its arguments: one may be a password."""
    program, *arguments = command.split(maxsplit=1)
    return f"{program} …" if arguments else program
