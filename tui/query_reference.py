"""The one table of the query language: help, help screen and documentation are built from it."""

from __future__ import annotations

from spackscope.model.core.frozen import Frozen


class Form(Frozen):
    """A form of a query: its spellings, separated by blanks, its meaning, and an example.

    The example is for the sample.
    """

    written: str
    sentence: str
    example: str


LANGUAGE: dict[str, tuple[Form, ...]] = {
    "Names": (
        Form("hdf5", "The package of this name.", "py-build"),
        Form("hdf5 zlib", "Either spec, each with what follows its name.",
             "py-build@1.2.1 py-safetensors target=aarch64"),
        Form("py-* *", "* and ? match any text, and ignore case.", "py-m*"),
        Form("builtin.hdf5", "With the namespace.", "builtin.py-build"),
    ),
    "Versions": (
        Form("@1.2", "1.2 and every 1.2.x.", "py-build@1.2"),
        Form("@=1.2", "1.2 and nothing else.", "py-build@=1.2.1"),
        Form("@1.2:1.4 @1.2: @:1.4", "A range; 1.4 includes every 1.4.x.",
             "py-ml-dtypes@0.3.1:0.4"),
        Form("@1.2,1.4:", "One of several.", "@0.3,0.4.5:"),
    ),
    "Variants and flags": (
        Form("+mpi ~cuda -cuda", "On, off; - needs a blank before it.", "py-build ~virtualenv"),
        Form("build_type=Release", "This value, alone or among others.",
             "build_system=python_pip"),
        Form("cuda_arch=80,90", "At least these values.", "py-build build_system=python_pip"),
        Form("cuda_arch:=80", "Exactly these values.", "build_system:=python_pip"),
        Form("cuda_arch=*", "The variant with any value.", "virtualenv=*"),
        Form("cflags='-O2 -g'", "These compiler flags among others.", ""),
        Form("++mpi k==v", "The spec and each dependency with the variant.", ""),
    ),
    "Where it runs": (
        Form("os=ubuntu24.04 platform=linux", "Operating system and platform.",
             "os=ubuntu24.04 platform=linux"),
        Form("target=zen4 target=zen3,zen4", "The target, or one of several.",
             "target=neoverse_v1,neoverse_v2"),
        Form("target=x86_64_v3: target=:zen4", "v3 and newer; everything that zen4 can run.",
             "target=:zen4"),
        Form("target=:host os=host", "The target or system of the host (--host).",
             "!target=host"),
        Form("fits !fits fits=unknown", "Runs on the host: platform, target, libc or macOS.",
             "fits=*"),
        Form("reusable reusable=no",
             "Spack reuses it: also format, externals, dev_path, and your Spack's configuration: "
             "concretizer:reuse, filters of mirrors, requirements.",
             "reusable=*"),
        Form("arch=linux-rhel9-zen4", "All three at once; each may be left empty.",
             "arch=-ubuntu24.04-"),
    ),
    "Compilers and dependencies": (
        Form("%gcc@12:", "This compiler or direct dependency.", "%gcc@12:"),
        Form("%site", "What the toolchain of this name in toolchains.yaml asks for.", ""),
        Form("%c,cxx=gcc", "The dependency that provides one of these.", "%c=gcc"),
        Form("^zlib@1.3 +pic", "A dependency; what follows applies to it.", ""),
        Form("^[virtuals=mpi] openmpi", "By virtuals=… or deptypes=… of the edge.", ""),
        Form("mpi@3: ^mpi@3:", "Specs that provide the virtual package, or depend on it.", ""),
        Form("provides=mpi", "Specs whose record says so, as since Spack 1.3.",
             "!provides=mpi"),
    ),
    "Hashes": (Form("/abc", "Hashes with this prefix.", "/pfq"),),
    "Columns": (
        Form("stack=e4s tag=develop source=…", "This value, or a wildcard; of a source its end.",
             "stack=ml-*-rocm tag=dev*"),
        Form("cached installed explicit needed",
             "In a cache; installed; asked for by name; dependency-only.", "cached !installed"),
        Form("spliced", "With other dependencies than it was built with.", "!spliced"),
        Form("size=10MB:1GB", "A range of sizes.", "!size=1MB:"),
        Form("package= version= compiler=", "The column as it is shown.",
             "compiler=gcc@13.2.0 version=0.4*"),
        Form("variants=*cuda*", "Any text in the variants.", "variants=*virtualenv"),
        Form("any=cuda", "A text in any column.", "any=virtualenv"),
    ),
    "Putting together": (
        Form("hdf5 +mpi os=x", "All must match.", "py-build ~virtualenv os=ubuntu24.04"),
        Form("os=a | os=b", "Either term must match.", "py-build os=ubuntu22.04 | target=aarch64"),
        Form("!os=a !+mpi !%gcc", "The term after it must not match.", "py-build !os=ubuntu24.04"),
        Form("stack='a b'", "Quotes around a value that is not plain text.", "stack='root'"),
    ),
}  # fmt: skip
"""The forms by their headings, in the order in which they are shown."""
