"""Describe one record line by line: values, variants, how to install it, origin."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from spackscope.model.core.column import Column, Value
from spackscope.model.core.columns import BY_NAME, DETAILED
from spackscope.model.core.records import Fit, Provenance, Spec
from spackscope.model.core.text import clean, is_clean
from spackscope.model.core.variants import split_variant
from spackscope.model.presentation.fit import HERE, fit_sentences
from spackscope.model.presentation.spec_string import install_command, short_digests, spec_string
from spackscope.model.query.conditions import Term, exact_term

LineKind = Literal["title", "hash", "head", "plain", "differs", "same", "good"]

DIFFERS = "≠"
"""Precedes a variant whose value differs among the rows shown."""

_NO_PROVENANCE = Provenance()


@dataclass(frozen=True, slots=True)
class DetailLine:
    """One line of the detail pane; `term` is the filter for its value.

    `is_continued` marks another value of the label above.
    """

    text: str
    label: str = ""
    term: Term | None = None
    kind: LineKind = "plain"
    is_continued: bool = False


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
    """Describe a record line by line.

    `varying` ranks the variants whose values differ among the rows shown. `alike` counts the
    records shown that differ from this one at most in their hash, this one included, and `shown`
    all that are shown; it is 0 outside of a table. `host_phrase` is that of `fit_sentences`.
    """
    lines = [
        DetailLine(clean(f"{spec.package}@{spec.version}"), kind="title"),
        DetailLine(spec.hash, term=Term("hash", spec.hash), kind="hash"),
    ]
    for column in DETAILED:
        value = column.value(spec)
        if column.empty_in_detail(spec) or value not in (None, "", ()):
            lines += _column_lines(column, value)
    lines += fit_lines(spec.fit, host_phrase) if spec.fit is not None else ()
    lines += _variant_lines(spec, varying)
    if alike > 1:
        lines.append(DetailLine("look-alikes", kind="head"))
        of_shown = f" of {shown:,}" if shown else ""
        lines.append(DetailLine(f"{alike:,}{of_shown} builds look the same"))
    lines.append(DetailLine("spec", kind="head"))
    lines.append(DetailLine(spec_string(spec)))
    lines.append(DetailLine("install", kind="head"))
    lines.append(DetailLine(_reason_not_to_install(spec, provenance) or install_command(spec)))
    lines.append(DetailLine("from", kind="head"))
    lines += _origin_lines(spec, provenance)
    return lines


def with_relations(
    lines: Sequence[DetailLine], relations: Sequence[DetailLine]
) -> list[DetailLine]:
    """Return lines with those about other specs after the title and the hash."""
    numbers = (number for number, line in enumerate(lines, 1) if line.kind == "hash")
    after = next(numbers, 0)
    return [*lines[:after], *relations, *lines[after:]]


def _column_lines(column: Column, value: Value) -> Iterator[DetailLine]:
    """Yield a line for the value of a column, or for each of several; the first has the label."""
    if not isinstance(value, str | tuple):
        yield DetailLine(column.cell(value), column.label)
        return
    for number, text in enumerate((value,) if isinstance(value, str) else value):
        term = exact_term(column.name, text) if text else None
        label = "" if number else column.label
        yield DetailLine(clean(text) or "-", label, term, is_continued=number > 0)


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


def _reason_not_to_install(spec: Spec, provenance: Provenance) -> str:
    """Return why no command would install a spec; empty where one would."""
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
        ("prefix", provenance.path),
        ("installed", installed_at),
        ("external", provenance.external),
        ("built as", f"/{provenance.build_spec}" if provenance.build_spec else ""),
        ("recipe", provenance.package_hash),
    ):
        if text:
            yield DetailLine(clean(text), label)


def _variant_lines(spec: Spec, varying: Mapping[str, int]) -> Iterator[DetailLine]:
    differing, same = split_variants(spec.variants, varying)
    legend = f", {DIFFERS} differs between rows" if differing else ""
    yield DetailLine(f"variants ({len(spec.variants)}){legend}", kind="head")
    for number, variant in enumerate([*differing, *same]):
        term = exact_term("variants", variant) if variant else None
        kind: LineKind = "differs" if number < len(differing) else "same"
        yield DetailLine(clean(short_digests(variant)), "", term, kind)
    if spec.flags:
        yield DetailLine("flags", kind="head")
    for flags in spec.flags:
        yield DetailLine(clean(flags), "", Term("flags", flags) if is_clean(flags) else None)
