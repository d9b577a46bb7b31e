"""Describe one record value by value: title, how to install it, variants, columns, origin."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from spackscope.model.core.columns import BY_NAME, DETAILED, Column, Value
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import Fit, Provenance, Spec
from spackscope.model.core.text import clean, is_clean
from spackscope.model.core.variants import split_variant
from spackscope.model.presentation.fit import HERE, fit_sentences
from spackscope.model.presentation.page_address import page_address
from spackscope.model.presentation.spec_string import install_command, short_digests, spec_string
from spackscope.model.query.conditions import Term, exact_term

LineKind = Literal[
    "title", "hash", "plain", "dim", "good", "error", "differs", "same", "virtual", "link"
]

DIFFERS, SAME = "≠", "="
"""Precede the variants whose values differ among the rows of the package, and the others."""

FITS, INSTALL, VARIANTS = "fits", "install", "variants"

_GOOD_STATES = ("cached", "installed")

_COPY_HINTS = (("copy", "hash"), ("copy-as", "other forms"))

_NO_PROVENANCE = Provenance()


Hint = tuple[str, str]
"""The name of a key, as the interface has it, and the word for what it does."""


class DetailLine(Frozen):
    """One value of the detail; `term` is the filter for it, `id` the record that it leads to.

    `label` is that of the value, `is_continued` marks another value of the label above. `lead` is
    written before a value in place of blanks, `suffix` after it where there is room. A value
    `at_end` is at the right end of the title. `hints` are names of keys with words, shown at the
    end of the labelled line. `total` counts the values of a label of which only some are listed;
    0 if all are.
    """

    text: str
    label: str = ""
    term: Term | None = None
    kind: LineKind = "plain"
    is_continued: bool = False
    id: int | None = None
    lead: str = ""
    suffix: str = ""
    at_end: bool = False
    hints: tuple[Hint, ...] = ()
    total: int = 0


def split_variants(
    variants: Iterable[str], varying: Mapping[str, int]
) -> tuple[list[str], list[str]]:
    """Return the variants that vary among the rows, by their rank, and the others."""
    ranked = [(varying.get(split_variant(text)[0]), text) for text in variants]
    differing = sorted(
        ((rank, text) for rank, text in ranked if rank is not None), key=lambda pair: pair[0]
    )
    return [text for _, text in differing], [text for rank, text in ranked if rank is None]


def variants_cell(variants: Iterable[str], varying: Mapping[str, int]) -> tuple[str, str]:
    """Return a cell's text in two parts: the variants that vary among the rows, and the others."""
    parts = split_variants(variants, varying)
    differing, same = (clean(" ".join(map(short_digests, part))) for part in parts)
    return differing, same


def detail(
    spec: Spec,
    *,
    varying: Mapping[str, int],
    alike: int,
    shown: int,
    provenance: Provenance = _NO_PROVENANCE,
    host_phrase: str = HERE,
) -> list[DetailLine]:
    """Describe a record value by value.

    `varying` ranks the variants whose values differ among the rows of the package. `alike` counts
    the records shown that differ from this one at most in their hash, this one included, and
    `shown` all that are shown; it is 0 outside of a table. `host_phrase` is that of
    `fit_sentences`.
    """
    lines = [
        title_line(spec),
        DetailLine(spec.hash, term=Term("hash", spec.hash), kind="hash", is_continued=True),
        install_line(spec, provenance),
        *variant_lines(spec, varying),
        *column_lines(spec),
        *(fit_lines(spec.fit, host_phrase) if spec.fit is not None else ()),
    ]
    if alike > 1:
        of_shown = f" of {shown:,}" if shown else ""
        lines.append(DetailLine(f"{alike:,}{of_shown} builds look the same", "look-alikes"))
    lines.append(DetailLine(spec_string(spec), "spec"))
    return [*lines, *_origin_lines(spec, provenance)]


def title_line(spec: Spec) -> DetailLine:
    """Return the package and its version."""
    return DetailLine(clean(f"{spec.package}@{spec.version}"), kind="title")


def column_lines(spec: Spec, *, shared_only: bool = False) -> Iterator[DetailLine]:
    """Yield the values of the columns; `shared_only` those that look-alikes have in common."""
    for column in DETAILED:
        if shared_only and not column.has_dictionary:
            continue
        value = column.value(spec)
        if column.empty_in_detail(spec) or value not in (None, "", ()):
            yield from _column_lines(column, value)


def variant_lines(spec: Spec, varying: Mapping[str, int]) -> Iterator[DetailLine]:
    """Yield the variants and the compiler flags, those that vary first."""
    differing, same = split_variants(spec.variants, varying)
    label = VARIANTS
    parts: tuple[tuple[list[str], LineKind, str], ...] = (
        (differing, "differs", DIFFERS),
        (same, "same", SAME),
    )
    for variants, kind, sign in parts:
        for number, variant in enumerate(variants):
            yield DetailLine(
                clean(short_digests(variant)),
                label,
                exact_term("variants", variant) if variant else None,
                kind,
                is_continued=not label,
                lead=f"{sign} " if not number and differing else "",
            )
            label = ""
    for number, flags in enumerate(spec.flags):
        term = Term("flags", flags) if is_clean(flags) else None
        yield DetailLine(clean(flags), "" if number else "flags", term, is_continued=number > 0)


def fit_lines(fit: Fit, host_phrase: str) -> Iterator[DetailLine]:
    """Yield a line for each reason why a spec runs on a host or not, and is reused or not."""
    label = ""
    for column, value, text in fit_sentences(fit, host_phrase):
        is_continued = column == label
        label = column
        term = exact_term(column, value)
        yield DetailLine(
            clean(text), "" if is_continued else column, term, is_continued=is_continued
        )


def fit_at_end(fit: Fit, host_phrase: str) -> DetailLine:
    """Return in few words whether a spec runs on a host, for the end of the title."""
    column, value, text = next(iter(fit_sentences(fit, host_phrase)))
    term = exact_term(column, value)
    if fit.fits:
        return DetailLine(text, FITS, term, "good", at_end=True)
    if fit.fits is None:
        return DetailLine("? unknown if it runs", FITS, term, "dim", at_end=True)
    return DetailLine(f"✗ {clean(value)}", FITS, term, "error", at_end=True)


def _column_lines(column: Column, value: Value) -> Iterator[DetailLine]:
    """Yield the value of a column, or each of several; the first has the label."""
    if not isinstance(value, str | tuple):
        yield DetailLine(column.cell(value), column.label)
        return
    is_state = column.name == "state"
    for number, text in enumerate((value,) if isinstance(value, str) else value):
        yield DetailLine(
            clean(text) or "-",
            "" if number else column.label,
            exact_term(column.name, text) if text else None,
            "good" if text in _GOOD_STATES and is_state else "plain",
            is_continued=number > 0,
            lead="● " if text in _GOOD_STATES and is_state else "",
            at_end=is_state,
        )


def install_line(spec: Spec, provenance: Provenance) -> DetailLine:
    """Return the command that installs a spec, or why none would."""
    reason = _reason_not_to_install(spec, provenance)
    if reason:
        return DetailLine(reason, INSTALL, kind="dim")
    return DetailLine(install_command(spec), INSTALL, hints=_COPY_HINTS)


def _reason_not_to_install(spec: Spec, provenance: Provenance) -> str:
    if provenance.external:
        return clean(f"nothing to install: it is external, at {provenance.external}")
    if spec.installed and not spec.cached:
        return "it is installed, and in no build cache"
    if not spec.in_cache:
        return "nothing to install: the cache has no archive of it"
    return ""


def _origin_lines(spec: Spec, provenance: Provenance) -> Iterator[DetailLine]:
    yield from _column_lines(BY_NAME["source"], spec.sources)
    yield DetailLine(clean(spec.origin), "document")
    installed_at = ""
    if provenance.installed_at is not None:
        installed_at = time.strftime("%Y-%m-%d %H:%M", time.localtime(provenance.installed_at))
    for label, text in (
        ("page", page_address(spec)),
        ("prefix", provenance.path),
        ("installed", installed_at),
        ("external", provenance.external),
        ("built as", f"/{provenance.build_spec}" if provenance.build_spec else ""),
        ("recipe", provenance.package_hash),
    ):
        if text:
            yield DetailLine(clean(text), label)
