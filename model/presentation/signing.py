"""Put into words who signed a spec or a source; a signature is read, and never verified."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spackscope.model.core.text import clean, counted
from spackscope.model.presentation.detail import INSTALL, DetailLine, LineKind

# Only who asks for signatures needs what reads them.
if TYPE_CHECKING:
    from spackscope.model.analysis.signing import SignedEntry, Signer, SourceSigning
    from spackscope.model.sources.mirror_spec import MirrorEntry

SIGNED, TRUST, ARCHIVE = "signed", "trust", "archive"
"""The labels of the values of a spec."""

NOT_VERIFIED = "not verified"
TRUSTED = "in the keyring of your Spack"
UNPUBLISHED = "the mirror does not publish the key: get its file, then spack gpg trust FILE"
UNSIGNED = "no: spack install needs --no-check-signature"
UNCHECKED = "no, and your Spack does not ask this mirror for it"
REGISTRY = "Spack does not sign what it pushes to a registry"


def signing_lines(signed: Sequence[SignedEntry], *, is_full: bool = True) -> Iterator[DetailLine]:
    """Yield who signed a spec, how to trust the key, and whether the archive is there.

    Where several mirrors list it, each value begins with the name of the mirror. That an archive
    is there is said only if `is_full`.
    """
    has_several = len(signed) > 1
    for label, values in (
        (SIGNED, _signed_values),
        (TRUST, _trust_values),
        (ARCHIVE, _archive_values if is_full else _archive_problems),
    ):
        rest = ""
        for each in signed:
            lead = clean(f"{each.entry.source}: ") if has_several else ""
            for text, kind in values(each):
                yield DetailLine(
                    clean(text), "" if rest else label, kind=kind,
                    is_continued=bool(rest), lead=lead,
                )  # fmt: skip
                rest, lead = label, ""


def with_signing(
    lines: Sequence[DetailLine], signed: Sequence[SignedEntry]
) -> Sequence[DetailLine]:
    """Return the lines of a spec with those on its signature at the end.

    That its archive is missing comes right after the line that would install it.
    """
    more = [*signing_lines(signed)]
    at = next((n for n, line in enumerate(more) if line.label == ARCHIVE), len(more))
    if not any(line.kind == "error" for line in more[at:]):
        return [*lines, *more]
    after = next((n for n, line in enumerate(lines, 1) if line.label == INSTALL), len(lines))
    return [*lines[:after], *more[at:], *lines[after:], *more[:at]]


_Values = Iterator[tuple[str, LineKind]]


def _signed_values(signed: SignedEntry) -> _Values:
    entry, signer = signed.entry, signed.signer
    if entry.layout == "OCI":
        yield f"no: {REGISTRY}", "dim"
    elif entry.is_signed is None:
        if entry.archive != "missing":
            yield f"unknown: {entry.problem}", "dim"
    elif signer is None:
        yield UNSIGNED if signed.is_checked else UNCHECKED, "plain"
    else:
        for number, text in enumerate(signer_texts(signer)):
            yield text, "dim" if number and text == NOT_VERIFIED else "plain"


def _trust_values(signed: SignedEntry) -> _Values:
    if (signer := signed.signer) is not None:
        kind: LineKind = "good" if signer.is_trusted else "plain"
        yield trust_text(signer), "dim" if signer.problem else kind


def _archive_values(signed: SignedEntry) -> _Values:
    entry = signed.entry
    if entry.archive == "present":
        yield "present", "good"
    elif entry.archive == "unknown" and entry.archive_problem:
        yield f"unknown: {entry.archive_problem}", "dim"
    yield from _archive_problems(signed)


def _archive_problems(signed: SignedEntry) -> _Values:
    entry = signed.entry
    if text := archive_problem(entry):
        yield text, "error"
        if entry.archive_file:
            yield entry.archive_file, "dim"


def archive_problem(entry: MirrorEntry) -> str:
    """Return why the archive of a spec that is listed cannot be installed, or "".

    It does not name the file.
    """
    what = {
        "missing": "listed, but the archive is missing",
        "forbidden": "listed, but the mirror refuses the archive",
        "wrong size": "listed, but the archive is not whole",
    }.get(entry.archive, "")
    if not what or entry.archive_problem.startswith("listed, but"):
        return entry.archive_problem if what else ""
    why = entry.archive_problem.removeprefix(entry.archive_file)
    for known in (" does not exist", " is forbidden"):
        why = why.removeprefix(known)
    return f"{what}: {why.lstrip(': ')}".rstrip(": ")


def signer_texts(signer: Signer) -> list[str]:
    """Return the key that a signature names, the names of its owner, and when it was made."""
    signature, key = signer.signature, signer.key
    by = signature.fingerprint or signature.key_id
    name = f"by key {by}" if by else "by a key that it does not name"
    if key is not None and key.fingerprint != by:
        name = f"by subkey {by} of {key.fingerprint}"
    texts = [name, *(key.user_ids[:1] if key is not None else ())]
    if signature.created is not None:
        texts.append(time.strftime("%Y-%m-%d", time.gmtime(signature.created)))
    return [*texts, NOT_VERIFIED]


def trust_text(signer: Signer) -> str:
    """Return the line to type to trust a key, or why there is none to type."""
    if signer.problem:
        return f"unknown: {signer.problem}"
    return TRUSTED if signer.is_trusted else signer.trust or UNPUBLISHED


def signing_cell(signing: SourceSigning | None) -> str:
    """Return in one or two words what of a source is signed."""
    if signing is None:
        return "-"
    if not signing.is_signable:
        return "no"
    if not signing.read:
        return "?"
    if not signing.signed:
        return "index only" if signing.is_index_signed else "no"
    specs = "specs" if signing.signed == signing.read else "some specs"
    return f"{specs} and index" if signing.is_index_signed else specs


def source_signing_lines(signing: SourceSigning) -> Iterator[tuple[str, str]]:
    """Yield labels and values on who signed a source."""
    yield SIGNED, clean(_summary(signing))
    for signer in signing.signers:
        key, *rest = signer_texts(signer)
        yield "", clean(", ".join([key, *(text for text in rest if not text[:4].isdecimal())]))
        yield TRUST, clean(trust_text(signer))


def _summary(signing: SourceSigning) -> str:
    if not signing.is_signable:
        return REGISTRY
    if signing.problem:
        return signing.problem
    specs = f"{signing.signed:,} of {counted(signing.read, 'spec')} that were looked at"
    index = {True: ", and the index", False: ", the index is not", None: ""}
    return f"{specs}{index[signing.is_index_signed]}"


def source_signing_json(signing: SourceSigning | None) -> dict[str, Any] | None:
    """Return what is known of who signed a source, for JSON."""
    if signing is None:
        return None
    return {
        "read": signing.read,
        "signed": signing.signed,
        "index": signing.is_index_signed,
        "keys": [_signer_json(signer) for signer in signing.signers],
        "problem": signing.problem if signing.is_signable else REGISTRY,
    }


def entries_json(signed: Iterable[SignedEntry]) -> list[dict[str, Any]]:
    """Return what mirrors have of a spec, for JSON."""
    return [
        {
            "source": each.entry.source,
            "layout": each.entry.layout,
            "document": each.entry.document,
            "signed": False if each.entry.layout == "OCI" else each.entry.is_signed,
            "key": None if each.signer is None else _signer_json(each.signer),
            "archive": each.entry.archive,
            "archive_file": each.entry.archive_file,
            "problem": each.entry.problem or each.entry.archive_problem,
        }
        for each in signed
    ]


def _signer_json(signer: Signer) -> Mapping[str, Any]:
    signature, key = signer.signature, signer.key
    return {
        "fingerprint": signature.fingerprint,
        "key_id": signature.key_id,
        "primary": key.fingerprint if key is not None else "",
        "user_ids": key.user_ids if key is not None else (),
        "created": signature.created,
        "verified": False,
        "trusted": signer.is_trusted,
        "trust": signer.trust,
        "problem": signer.problem,
    }
