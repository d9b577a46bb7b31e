"""Write conditions and queries as text that parses back to them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from spackscope.model.core.columns import FLAGS, WORDS
from spackscope.model.core.errors import QueryError
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query, is_package_name, order_of
from spackscope.model.query.conditions import COLUMN_KEYS, VIEW, Condition, Depends, Group, Term

_WORD_OF = {term: word for word, term in WORDS.items()}
_UNQUOTED_FLAGS = rf"({'|'.join(FLAGS)})(==?)([^\s'\"]\S*(?:\s+-\S+)+)"
_ENDS_IN_SEPARATOR = r"[.\-](?=[,:=]|$)"


def format_for_shell(query: Query) -> str:
    """Return the text of a query from which `parse` returns the same query.

    Raises QueryError where there is no such text.
    """
    texts = [format_query(query)]
    package = query.package_term
    if package is not None and is_package_name((package,)):
        name, others = package.pattern, format_query(query.without_column("package"))
        named = f"{name} {others}".rstrip()
        texts = [named.replace(" @", "@", 1), named, *texts]
    for text in texts:
        if _means(text, query):
            return text
    raise QueryError("It cannot be written as a query of the shell", 0)


def _means(text: str, query: Query) -> bool:
    from spackscope.model.query.parser import parse

    try:
        return parse(text) == query
    except QueryError:
        return False


def format_query(query: Query) -> str:
    """Return the text of a query, from which the query line gets the same query.

    It has a key at every word, which means the same whatever packages there are.
    """
    if not query.specs:
        return " ".join(_group_texts(query.groups))
    specs = [sorted((*groups, *query.groups), key=order_of) for groups in query.specs]
    return " ".join(map(_spec_text, specs, [specs[0], *specs]))


def format_group(group: Group) -> str:
    """Return the text of alternatives, as `os=a | os=b`."""
    return " | ".join(map(format_condition, group))


def format_condition(condition: Condition) -> str:
    """Return the text of one condition, as `!+mpi` or `^zlib@1.3`."""
    text = _dependency_text(condition) if isinstance(condition, Depends) else _term_text(condition)
    return f"!{text}" if condition.negated else text


def join_words(words: Iterable[str]) -> str:
    """Join the words of a command line, with the quotes that the shell removed from flags.

    Spack's own commands do so too: `cflags="-O2 -g"` comes as one word without its quotes.
    """
    flags = ((re.fullmatch(_UNQUOTED_FLAGS, word), word) for word in words)
    return " ".join(f"{m[1]}{m[2]}{lexer.in_quotes(m[3])}" if m else word for m, word in flags)


def _term_text(term: Term) -> str:
    column, pattern = term.column, term.pattern
    if (column, pattern) in _WORD_OF:
        return _WORD_OF[column, pattern]
    if column == "version" and lexer.is_token(lexer.VERSION, f"@{pattern}"):
        # Spack reads no version that ends in a separator after `@`, and `@:` as no condition.
        is_plain = pattern != ":" and not re.search(_ENDS_IN_SEPARATOR, pattern)
        return f"@{pattern}" if is_plain else f"version={lexer.in_quotes(pattern)}"
    if column == "hash" and lexer.is_token(lexer.HASH, f"/{pattern}"):
        return f"/{pattern}"
    name, _, flags = pattern.partition("=")
    if column == "flags" and name in FLAGS and flags:
        return f"{name}={lexer.quoted(flags)}"
    name = split_variant(pattern)[0]
    if column == "variants" and is_variant(pattern) and name not in (VIEW, *COLUMN_KEYS):
        parts = lexer.PAIR_PARTS.fullmatch(pattern)
        if parts is None or parts[3][0] in lexer.QUOTES:
            return pattern
        return parts[1] + parts[2] + lexer.quoted(parts[3])
    return f"{column}={lexer.quoted(pattern)}"


def _dependency_text(dependency: Depends) -> str:
    term_of_name, name = dependency.name_term, dependency.name
    virtuals, deptypes = ",".join(dependency.virtuals), ",".join(dependency.deptypes)
    sigil = "%" if dependency.direct else "^"
    if deptypes or (virtuals and not (name and dependency.is_assigned)):
        attributes = {"deptypes": deptypes, "virtuals": virtuals}.items()
        pairs = " ".join(f"{key}={lexer.quoted(text)}" for key, text in attributes if text)
        sigil += f"[{pairs}] "
    elif virtuals:
        sigil += f"{virtuals}="
    texts = [format_condition(term) for term in dependency.terms if term is not term_of_name]
    # After a sigil `key=` would be a virtual, and another sigil or name a separate condition.
    first = name or ("" if texts and texts[0][:1] in "@/+~" else "*")
    # A git reference would include the hash after it.
    while texts and (texts[0][:1] in "@/" or not first) and "@git." not in first:
        first += texts.pop(0)
    return sigil + " ".join([first, *texts])


def _group_texts(groups: Iterable[Group]) -> list[str]:
    """Return the texts of the groups of one spec, where a second `/hash` would begin another."""
    texts = []
    has_hash = False
    for group in groups:
        alternatives = list(map(format_condition, group))
        hashes = [text.lstrip("!").startswith("/") for text in alternatives]
        if has_hash:
            alternatives = [
                text.replace("/", "hash=", 1) if is_hash else text
                for text, is_hash in zip(alternatives, hashes, strict=True)
            ]
        texts.append(" | ".join(alternatives))
        has_hash = has_hash or any(hashes)
    return texts


def _spec_text(groups: Sequence[Group], before: Sequence[Group]) -> str:
    """Return the text of one of several specs, separated from the spec before it.

    A name followed by a sigil begins a spec in a live filter too; `*` is not a condition. A hash
    begins one where the spec before has a hash, and no dependency that could have this one.
    """
    name_group = next((group for group in groups if is_package_name(group)), None)
    texts = _group_texts([group for group in groups if group is not name_group])
    if name_group is not None:
        first, *others = map(format_condition, name_group)
        name = first.removeprefix("package=")
        return " ".join([" | ".join([f"{name}@:", *others]), *texts])
    has_hash = any(len(group) == 1 and str(group[0]).startswith("/") for group in before)
    has_dependency = any(isinstance(condition, Depends) for group in before for condition in group)
    if has_dependency or not (has_hash and texts[0].startswith("/")):
        texts.insert(0, "*@:")
    return " ".join(texts)
