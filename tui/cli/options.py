"""Split the words of a command line into options and other words, by the rules of argparse.

Importing argparse, and what it imports for a help that is written otherwise, would take a quarter
of the time in which a command answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal

from spackscope.model.core.frozen import Frozen


class Option(Frozen):
    """An option: its names, which field of `Options` it sets, and to what.

    A `flag` sets True, a `format` its own name, which excludes others of its field, a `value` the
    text that follows it, and `values` collect these texts. `commands` have it, and all if there
    are none.
    """

    names: tuple[str, ...]
    field: str
    kind: Literal["flag", "format", "value", "values"] = "flag"
    commands: tuple[str, ...] = ()

    @property
    def has_value(self) -> bool:
        """Whether a text follows it."""
        return self.kind in ("value", "values")


def split_options(
    words: Sequence[str], options: Iterable[Option]
) -> tuple[dict[str, Any], list[str]]:
    """Return the values of the fields that options set, and the words that are not options.

    Unknown options are among these words. Raises ValueError where an option lacks its value, has
    one that it does not take, or excludes another.

        split_options(["-fa", "zlib"], [Option(("-f",), "sources", "values")])
    """
    names = {name: option for option in options for name in option.names}
    values, rest = dict[str, Any](), list[str]()
    pending = [*reversed(words)]
    while pending:
        word = pending.pop()
        name, has_text, text = word.partition("=")
        if name not in names and word[:2] in names:
            # -fa is -f a, and -hf is -h -f.
            name, text = word[:2], word[2:]
            has_text = "" if not names[name].has_value and f"-{text[0]}" in names else "="
            pending += [f"-{text}"] if not has_text else []
        option = names.get(name)
        if option is None:
            rest.append(word)
        elif option.has_value:
            if not has_text:
                if not pending or _is_option(pending[-1]):
                    raise _refused(option, "expected one argument")
                text = pending.pop()
            is_list = option.kind == "values"
            values[option.field] = [*values.get(option.field, ()), text] if is_list else text
        elif has_text:
            raise _refused(option, f"ignored explicit argument {text!r}")
        elif option.kind == "flag":
            values[option.field] = True
        else:
            format_ = name.lstrip("-")
            if (other := values.setdefault(option.field, format_)) != format_:
                raise _refused(option, f"not allowed with argument --{other}")
    return values, rest


def _is_option(word: str) -> bool:
    """Check whether a word cannot be a value; a number below zero, or with a blank, can."""
    whole, point, digits = word[1:].partition(".")
    is_number = f"{whole}{digits}".isdecimal() and bool(digits) == bool(point)
    return word.startswith("-") and len(word) > 1 and not (" " in word or is_number)


def _refused(option: Option, why: str) -> ValueError:
    return ValueError(f"argument {'/'.join(option.names)}: {why}")
