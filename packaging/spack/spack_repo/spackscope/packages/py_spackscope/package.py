# Copyright (c) spackscope developers.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from pathlib import Path

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PySpackscope(PythonPackage):
    """A keyboard-driven terminal browser over Spack binary-cache records."""

    # The clone that this recipe is part of.
    git = f"file://{Path(__file__).resolve().parents[6]}"

    license("Apache-2.0 OR MIT")

    version("main", branch="main")

    variant("s3", default=False, description="Read build caches in s3:// buckets")
    variant("zstd", default=False, description="Read what is compressed with zstd")

    depends_on("py-setuptools@77:", type="build")

    with default_args(type=("build", "run")):
        depends_on("python@3.10:")
        depends_on("py-archspec@0.2.5:0.2")
        depends_on("py-certifi@2025.4.26:")
        depends_on("py-pyyaml@6.0.1:")
        depends_on("py-rich@14.3:15")
        depends_on("py-textual@8.2.5:8")
        depends_on("py-tomli@2:", when="^python@:3.10")
        depends_on("py-urllib3@2.6.3:2+socks")

        depends_on("py-boto3@1.34.63:", when="+s3")
        # Python 3.14 has a module of its own.
        depends_on("py-zstandard@0.22:", when="+zstd ^python@:3.13")
