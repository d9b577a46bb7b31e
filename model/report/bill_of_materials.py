"""Write a bill of materials of specs as JSON: SPDX 2.3 and CycloneDX 1.6.

An install of Spack 1.2 writes SPDX 2.3 (`post_install` of lib/spack/spack/hooks/sbom_generate.py).
The same is stated here for all specs of a closure, with ids that are allowed: these are of hashes,
as a closure may have several specs of one name and version.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.gate import read_entries
from spackscope.model.analysis.needs import NeededSpec, Needs
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.file_access import sha256
from spackscope.model.core.records import is_run
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.signing import SIGNED, signing_lines
from spackscope.model.sources.mirror_spec import MirrorEntry
from spackscope.model.sources.session import Session
from spackscope.model.storage.urls import percent_encoded

_NOT_KNOWN = "NOASSERTION"
_MAX_EXPRESSION = 1_000
"""Characters of a licence that may be an expression."""

_ADDRESS = re.compile(
    r"(?:https?|ftp)://[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?::\d{1,5})?"
    r"(?:/(?:[!$&-;=?-Z_a-z~]|%[0-9a-f]{2})*(?:#[!$&-;=?-Z_a-z~]*)?)?",
    re.ASCII | re.IGNORECASE,
)
"""An address on a web server that validators of both formats take."""


class Material(NamedTuple):
    """A spec in a bill of materials.

    `needs` has the hashes of its direct dependencies, each with whether it is linked or run; None
    if no source lists them. `homepage` is what its recipe states, and `entry` has its archive and
    signature, as far as they are known.
    """

    needed: NeededSpec
    is_build_only: bool
    needs: Mapping[str, bool] | None
    homepage: str
    entry: MirrorEntry | None

    @property
    def purl(self) -> str:
        """Its package URL, of the type that is proposed for Spack."""
        spec = self.needed.spec
        namespace = "" if self.needed.is_absent else spec.namespace or "builtin"
        name = "/".join(percent_encoded(part, "") for part in (namespace, spec.package) if part)
        version = f"@{percent_encoded(spec.version, '')}" if spec.version else ""
        return f"pkg:spack/{name}{version}?sha={spec.hash}"

    @property
    def notes(self) -> Iterator[str]:
        """Facts that the formats have no field for."""
        if self.needed.is_absent:
            yield "no source describes it"
        if self.needed.spec.external:
            yield f"external, not built by Spack: {self.needed.spec.external}"
        lines = signing_lines([self.entry] if self.entry else [], is_full=False)
        if signed := ", ".join(line.text for line in lines if line.label == SIGNED):
            yield f"signed: {signed}"

    @property
    def archive(self) -> str:
        """The address of its archive, or ""."""
        return _address(self.entry.archive_file) if self.entry else ""

    def checksums(self, key: str, name: str, value: str) -> list[dict[str, str]]:
        """Return the checksum of its archive, if it is known, with the keys of a format."""
        known = self.entry is not None and self.entry.checksum
        return [{key: name, value: known}] if known else []


Materials = Sequence[Material]


def bill_lines(
    format_: str,
    title: str,
    catalog: Catalog,
    ids: Sequence[int],
    needs: Needs | None,
    caches: Catalog,
    session: Session,
    sources: Sequence[str],
    *,
    to_build: bool,
) -> Iterator[str]:
    """Return the lines of a bill of records and their needs, with facts of recipes and mirrors.

    `caches` has the records of the mirrors, and `to_build` adds specs that are needed only to
    build. Raises Cancelled, and WrongQuestion for a wrong SOURCE_DATE_EPOCH.
    """
    edges, hash_of = catalog.edges, dag_of(catalog).hash
    if needs is None:
        needs = Needs(tuple(NeededSpec(row.id, row.spec) for row in catalog.rows(ids)), (), ())
    run, build_only = [*needs.specs, *needs.externals], needs.build_only if to_build else ()
    hashes = [each.spec.hash for each in (*run, *build_only)]
    entries = read_entries(hashes, caches, session, sources, to_fetch=True)
    homepages = session.recipes.homepages if session.recipe_roots else {}

    def material(needed: NeededSpec, *, is_build_only: bool) -> Material:
        its, spec = entries[needed.spec.hash], needed.spec
        below = ((hash_of(e.child), is_run(e.deptypes)) for e in edges.of(needed.id))
        listed = dict(each for each in below if each[1] or to_build)
        entry = next((each for each in its if each.checksum), next(iter(its), None))
        homepage = homepages.get(spec.package, "")
        return Material(
            needed, is_build_only, listed if edges.lists(needed.id) else None, homepage, entry
        )

    materials = [material(each, is_build_only=False) for each in run]
    materials += [material(each, is_build_only=True) for each in build_only]
    roots = [*dict.fromkeys(map(hash_of, ids))]
    created = _time_of(materials, session.environ.get("SOURCE_DATE_EPOCH", ""))
    write = {"spdx": _spdx, "cyclonedx": _cyclonedx}[format_]
    return write(title, created, roots, materials)


def _time_of(materials: Materials, epoch: str) -> str:
    """Return the time of a bill: of `epoch`, or of the newest install or signature, or of 1970.

    `epoch` has seconds since 1970, or "". It is not the time of the clock, so that the same
    materials have the same bill. Raises WrongQuestion for an epoch that is not a time.
    """
    times = [each.needed.spec.installed_at or 0 for each in materials]
    signers = (each.entry.signer for each in materials if each.entry)
    times += (signer.signature.created or 0 for signer in signers if signer)
    try:
        newest = int(epoch) if epoch else max(times, default=0)
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(newest))
    except (ValueError, OverflowError, OSError):
        raise WrongQuestion(f"SOURCE_DATE_EPOCH is not a time: {clean(epoch)}") from None


def _spdx(name: str, created: str, roots: Sequence[str], materials: Materials) -> Iterator[str]:
    """Return the lines of a document of SPDX 2.3; `roots` are hashes."""
    texts = dict[str, str]()
    packages = [_package(each, texts) for each in materials]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", _spdx_id(root)) for root in roots]
    for each in materials:
        id_ = _spdx_id(each.needed.spec.hash)
        for hash_, runs in ({"": True} if each.needs is None else each.needs).items():
            other = _spdx_id(hash_) if hash_ else _NOT_KNOWN
            on, of = (id_, "DEPENDS_ON", other), (other, "BUILD_DEPENDENCY_OF", id_)
            relations.append(on if runs else of)
    keys = ("spdxElementId", "relationshipType", "relatedSpdxElement")
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "creationInfo": {"created": created, "creators": ["Tool: spackscope"]},
        "packages": packages,
        "relationships": [dict(zip(keys, each, strict=True)) for each in relations],
        "hasExtractedLicensingInfos": [
            {"licenseId": ref, "name": text, "extractedText": text} for ref, text in texts.items()
        ],
    }
    return _lines(document, "documentNamespace", "https://spdx.org/spdxdocs/spackscope-")


def _spdx_id(hash_: str) -> str:
    return f"SPDXRef-PACKAGE-{hash_}"


def _package(material: Material, texts: dict[str, str]) -> dict[str, Any]:
    """Return the entry of a spec; add the texts of licences that are not of SPDX by their ids."""
    spec = material.needed.spec
    declared = _expression(spec.known_licence)
    texts.update((ref, ref) for ref in re.findall(r"LicenseRef-[A-Za-z0-9.-]+", declared))
    if spec.known_licence and not declared:
        digest = sha256(spec.known_licence.encode("utf-8", "surrogatepass")).hexdigest()
        declared = f"LicenseRef-{digest[:16]}"
        texts[declared] = spec.known_licence
    purl = {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl"}
    return _stated(
        {
            "SPDXID": _spdx_id(spec.hash),
            "name": spec.package,
            "versionInfo": spec.version,
            "supplier": _NOT_KNOWN,
            "downloadLocation": material.archive or _NOT_KNOWN,
            "filesAnalyzed": False,
            "checksums": material.checksums("algorithm", "SHA256", "checksumValue"),
            "homepage": _address(material.homepage),
            "licenseConcluded": _NOT_KNOWN,
            "licenseDeclared": declared or _NOT_KNOWN,
            "comment": "; ".join(material.notes),
            "externalRefs": [{**purl, "referenceLocator": material.purl}],
        }
    )


def _cyclonedx(
    name: str, created: str, roots: Sequence[str], materials: Materials
) -> Iterator[str]:
    """Return the lines of a document of CycloneDX 1.6; `roots` are hashes."""
    needs = {each.needed.spec.hash: each.needs for each in materials}
    unlisted = [hash_ for hash_, its in needs.items() if its is None]
    below = {"roots": roots, **needs}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": created,
            "tools": {"components": [{"type": "application", "name": "spackscope"}]},
            "component": {"type": "application", "bom-ref": "roots", "name": name},
        },
        "components": list(map(_component, materials)),
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(its or ())} for ref, its in below.items()
        ],
        "compositions": [{"aggregate": "unknown", "dependencies": unlisted}] if unlisted else [],
    }
    return _lines(document, "serialNumber", "urn:uuid:")


def _component(material: Material) -> dict[str, Any]:
    spec, licence = material.needed.spec, material.needed.spec.known_licence
    expression = _expression(licence)
    named = {"expression": expression} if expression else {"license": {"name": licence}}
    links = [("website", _address(material.homepage)), ("distribution", material.archive)]
    return _stated(
        {
            "type": "library",
            "bom-ref": spec.hash,
            "name": spec.package,
            "version": spec.version,
            "scope": "excluded" if material.is_build_only else "required",
            "hashes": material.checksums("alg", "SHA-256", "content"),
            "licenses": [named] if licence else [],
            "purl": material.purl,
            "externalReferences": [{"type": kind, "url": url} for kind, url in links if url],
            "properties": [{"name": "spackscope:note", "value": note} for note in material.notes],
        }
    )


def _expression(licence: str) -> str:
    """Return the licence of a recipe as an expression of SPDX, or "" if it is not one."""
    from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

    try:
        return canonicalize_license_expression(licence if len(licence) <= _MAX_EXPRESSION else "")
    except InvalidLicenseExpression:
        return ""


def _address(text: str) -> str:
    """Return an address of a web server; "" for any other text."""
    return text if _ADDRESS.fullmatch(text) else ""


def _stated(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not empty."""
    return {name: value for name, value in fields.items() if value not in ("", [])}


def _lines(document: Mapping[str, Any], name: str, prefix: str) -> Iterator[str]:
    """Return the lines of a document, with an id that is derived from it after a prefix."""
    digest = sha256(json.dumps(document).encode()).hexdigest()
    id_ = f"{digest[:8]}-{digest[8:12]}-8{digest[13:16]}-8{digest[17:20]}-{digest[20:32]}"
    return iter(json.dumps({**_stated(document), name: prefix + id_}, indent=1).splitlines())
