"""The one table of the query language: help, help screen and documentation are made from it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Form:
    """Describe one form of a query: how it is written, what it means, an example on the sample.

    The forms are separated by blanks.
    """

    written: str
    sentence: str
    example: str


LANGUAGE: dict[str, tuple[Form, ...]] = {
    "Names": (
        Form("hdf5", "The package of this name.", "py-build"),
        Form("hdf5 zlib", "Several specs: either will do, each with what follows its name.",
             "py-build@1.2.1 py-safetensors target=aarch64"),
        Form("py-* *", "* and ? are wildcards in names and values; they ignore case.", "py-m*"),
        Form("builtin.hdf5", "The namespace as well.", "builtin.py-build"),
    ),
    "Versions": (
        Form("@1.2", "1.2 and every 1.2.x.", "py-build@1.2"),
        Form("@=1.2", "1.2 and nothing else.", "py-build@=1.2.1"),
        Form("@1.2:1.4 @1.2: @:1.4", "A range; its ends take in what begins like them.",
             "py-ml-dtypes@0.3.1:0.4"),
        Form("@1.2,1.4:", "One of several.", "@0.3,0.4.5:"),
    ),
    "Variants and flags": (
        Form("+mpi ~cuda -cuda", "On, off; - wants a blank before it.", "py-build ~virtualenv"),
        Form("build_type=Release", "This value; among several values too.",
             "build_system=python_pip"),
        Form("cuda_arch=80,90", "All of these values, and perhaps more.",
             "py-build build_system=python_pip"),
        Form("cuda_arch:=80", "Exactly these values.", "build_system:=python_pip"),
        Form("cuda_arch=*", "The variant with any value.", "virtualenv=*"),
        Form("cflags='-O2 -g'", "These compiler flags among others.", ""),
        Form("++mpi k==v", "The spec, and each dependency that has the variant.", ""),
    ),
    "Where it runs": (
        Form("os=ubuntu24.04 platform=linux", "Operating system and platform.",
             "os=ubuntu24.04 platform=linux"),
        Form("target=zen4 target=zen3,zen4", "The target, or one of several.",
             "target=neoverse_v1,neoverse_v2"),
        Form("target=x86_64_v3: target=:zen4", "v3 and what builds on it; what zen4 can run.",
             "target=:zen4"),
        Form("arch=linux-rhel9-zen4", "All three at once; each may be left empty.",
             "arch=-ubuntu24.04-"),
    ),
    "Compilers and dependencies": (
        Form("%gcc@12:", "Built with this compiler; or a direct dependency.", "%gcc@12:"),
        Form("%c,cxx=gcc", "The dependency that provides one of these.", "%c=gcc"),
        Form("^zlib@1.3 +pic", "A dependency; what follows is said of it.", ""),
        Form("^[virtuals=mpi] openmpi", "With virtuals=… or deptypes=… of the edge.", ""),
    ),
    "Hashes": (
        Form("/abc", "The beginning of the hash.", "/pfq"),
    ),
    "Columns": (
        Form("stack=e4s tag=develop source=…", "Exactly this value, or a wildcard.",
             "stack=ml-*-rocm tag=dev*"),
        Form("cached installed explicit needed",
             "In a cache; installed; by name; for others only.", "cached !installed"),
        Form("size=10MB:1GB", "A range of sizes.", "!size=1MB:"),
        Form("package= version= compiler=", "The column itself, as it is shown.",
             "compiler=gcc@13.2.0 version=0.4*"),
        Form("variants=*cuda*", "Any text among the variants.", "variants=*virtualenv"),
    ),
    "Putting together": (
        Form("hdf5 +mpi os=x", "All of it must hold.", "py-build ~virtualenv os=ubuntu24.04"),
        Form("os=a | os=b", "Either single condition must hold.",
             "py-build os=ubuntu22.04 | target=aarch64"),
        Form("!os=a !+mpi !%gcc", "The single condition behind it must not hold.",
             "py-build !os=ubuntu24.04"),
        Form("stack='a b'", "Quotes around what is no plain text.", "stack='root'"),
    ),
}  # fmt: skip
"""The forms by their headings, in the order in which they are shown."""
