"""Put into words who signed a spec; a signature is read, and never verified."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from spackscope.model.core.text import clean
from spackscope.model.report.detail import INSTALL, DetailLine, LineKind

# Only who asks for signatures needs what reads them.
if TYPE_CHECKING:
    from spackscope.model.sources.mirror_spec import MirrorEntry, Signer

SIGNED, TRUST, ARCHIVE = "signed", "trust", "archive"
"""The labels of the values of a spec."""

NOT_VERIFIED = "not verified"
TRUSTED = "in the keyring of your Spack"
UNPUBLISHED = "the mirror does not publish the key: get its file, then spack gpg trust FILE"
UNSIGNED = "no: spack install needs --no-check-signature"
UNCHECKED = "no, and your Spack does not ask this mirror for it"
REGISTRY = "Spack does not sign what it pushes to a registry"
_LISTED = {
    "missing": "listed, but the archive is missing",
    "forbidden": "listed, but the mirror refuses the archive",
    "wrong size": "listed, but the archive is not whole",
}


def signing_lines(entries: Sequence[MirrorEntry], *, is_full: bool = True) -> Iterator[DetailLine]:
    """Yield who signed a spec, how to trust the key, and whether the archive is there.

    Where several mirrors list it, each value begins with the name of the mirror. That an archive
    is there is said only if `is_full`.
    """
    values = [_values(entry, is_full=is_full) for entry in entries]
    for label in (SIGNED, TRUST, ARCHIVE):
        head = label
        for entry, of_entry in zip(entries, values, strict=True):
            lead = clean(f"{entry.source}: ") if len(entries) > 1 else ""
            for text, kind in of_entry[label]:
                yield DetailLine(clean(text), head, kind=kind, lead=lead)
                head = lead = ""


def with_signing(
    lines: Sequence[DetailLine], entries: Sequence[MirrorEntry]
) -> Sequence[DetailLine]:
    """Return the lines of a spec with those on its signature at the end.

    That its archive is missing comes right after the line that would install it.
    """
    more = [*signing_lines(entries)]
    at = next((n for n, line in enumerate(more) if line.label == ARCHIVE), len(more))
    if not any(line.kind == "error" for line in more[at:]):
        return [*lines, *more]
    after = next((n for n, line in enumerate(lines, 1) if line.label == INSTALL), len(lines))
    return [*lines[:after], *more[at:], *lines[after:], *more[:at]]


def _values(entry: MirrorEntry, *, is_full: bool) -> dict[str, list[tuple[str, LineKind]]]:
    """Return by its label what is said of an entry: texts and their kinds."""
    signed: list[tuple[str, LineKind]] = []
    trust: list[tuple[str, LineKind]] = []
    archive: list[tuple[str, LineKind]] = []
    signer, why = entry.signer, entry.archive_problem
    if entry.layout == "OCI":
        signed = [(f"no: {REGISTRY}", "dim")]
    elif entry.is_signed is None:
        signed = [(f"unknown: {entry.problem}", "dim")] if entry.archive != "missing" else []
    elif signer is None:
        signed = [(UNSIGNED if entry.is_checked else UNCHECKED, "plain")]
    else:
        signed = [(text, "plain") for text in signer_texts(signer)]
        signed.append((NOT_VERIFIED, "dim"))
        kind: LineKind = "good" if signer.is_trusted else "plain"
        trust = [(trust_text(signer), "dim" if signer.problem else kind)]
    if entry.archive in _LISTED:
        if not why.startswith("listed, but"):
            # The file is named on a line of its own.
            why = re.sub(
                r"^( does not exist| is forbidden)?[: ]*", "", why.removeprefix(entry.archive_file)
            )
            why = f"{_LISTED[entry.archive]}: {why}".rstrip(": ")
        archive = [(why, "error")]
        if entry.archive_file:
            archive.append((entry.archive_file, "dim"))
    elif is_full and (entry.archive == "present" or why):
        archive = [(f"unknown: {why}", "dim") if why else ("present", "good")]
    return {SIGNED: signed, TRUST: trust, ARCHIVE: archive}


def signer_texts(signer: Signer) -> list[str]:
    """Return the key that a signature names, the name of its owner, and when it was made."""
    signature, key = signer.signature, signer.key
    by = signature.fingerprint or signature.key_id
    name = f"by key {by}" if by else "by a key that it does not name"
    if key is not None and key.fingerprint != by:
        name = f"by subkey {by} of {key.fingerprint}"
    texts = [name, *(key.user_ids[:1] if key is not None else ())]
    if signature.created is not None:
        texts.append(time.strftime("%Y-%m-%d", time.gmtime(signature.created)))
    return texts


def trust_text(signer: Signer) -> str:
    """Return the line to type to trust a key, or why there is none to type."""
    if signer.problem:
        return f"unknown: {signer.problem}"
    return TRUSTED if signer.is_trusted else signer.trust or UNPUBLISHED


def entries_json(entries: Iterable[MirrorEntry]) -> list[dict[str, Any]]:
    """Return what mirrors have of a spec, for JSON."""
    return [
        {
            "source": entry.source,
            "layout": entry.layout,
            "document": entry.document,
            "signed": False if entry.layout == "OCI" else entry.is_signed,
            "key": None if entry.signer is None else _signer_json(entry.signer),
            "archive": entry.archive,
            "archive_file": entry.archive_file,
            "problem": entry.problem or entry.archive_problem,
        }
        for entry in entries
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
