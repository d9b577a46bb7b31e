"""Build the data of cache.spack.io as its writer does."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from typing import Any

SPECS, PACKAGES = "specs_data.json.gz", "package_data.json.gz"


def site_data(releases: Mapping[str, Mapping[str, bytes]]) -> dict[str, bytes]:
    """Build both files from the index of each stack of each release.

    As `get_data` and `save_data` of `data.py` in github.com/spack/spack-cache.
    """
    packages: dict[str, Any] = {}
    specs: dict[str, Any] = {}
    for release, stacks in releases.items():
        for stack, index in stacks.items():
            for install in json.loads(index)["database"]["installs"].values():
                spec = install["spec"]
                name, hash_, arch = spec["name"], spec["hash"], spec["arch"]
                url = f"https://packages.spack.io/package.html?name={name}"
                package = {"uid": name, "url": url, "releases": set(), "specs": set()}
                package = packages.setdefault(name, package)
                package["releases"].add(release)
                package["specs"].add(hash_)
                target = arch["target"]
                stated = {
                    "hash": hash_,
                    "version": spec["version"],
                    "variants": _variants(spec["parameters"]),
                    "platform": arch["platform"],
                    "os": arch["platform_os"],
                    "target": target["name"] if isinstance(target, dict) else target,
                    "dependencies": spec.get("dependencies", []),
                    "stacks": set(),
                    "releases": set(),
                }
                stated = specs.setdefault(hash_, stated)
                stated["releases"].add(release)
                stated["stacks"].add(stack)
    return {SPECS: saved(specs), PACKAGES: saved(packages)}


def saved(data: object) -> bytes:
    """Return what `save_data` writes, which spells a set as a list."""
    return gzip.compress(json.dumps(data, indent=4, default=list).encode(), 1, mtime=0)


def _variants(parameters: Mapping[str, Any]) -> list[str]:
    variants = []
    for key, value in parameters.items():
        if isinstance(value, bool):
            variants.append(f"{'+' if value else '~'}{key}")
        else:
            values = value if isinstance(value, list) else [value]
            variants += [f"{key}={each}" for each in values]
    return variants
