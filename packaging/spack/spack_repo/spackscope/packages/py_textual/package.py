# Copyright (c) spackscope developers.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.packages.py_textual.package import PyTextual as BuiltinPyTextual

from spack.package import *


class PyTextual(BuiltinPyTextual):
    __doc__ = BuiltinPyTextual.__doc__

    version("8.2.8", sha256="3f106a9fbc73e39dd266c9712432087de78a6d644084c7c241d6a25c3169115b")

    with when("@8.2:"), default_args(type=("build", "run")):
        depends_on("python@3.9:3")
        depends_on("py-platformdirs@3.6:4")
        depends_on("py-pygments@2.19.2:2")
        depends_on("py-rich@14.2:")
