# Copyright (c) spackscope developers.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PySocksio(PythonPackage):
    """Sans-I/O implementation of SOCKS4, SOCKS4A and SOCKS5."""

    homepage = "https://github.com/sethmlarson/socksio"
    pypi = "socksio/socksio-1.0.0.tar.gz"

    license("MIT")

    version("1.0.0", sha256="f88beb3da5b5c38b9890469de67d0cb0f9d494b78b106ca1845f96c10b91c4ac")

    depends_on("python@3.6:", type=("build", "run"))
    depends_on("py-flit-core@2", type="build")
