# Copyright (c) spackscope developers.
#
# SPDX-License-Identifier: (Apache-2.0 OR MIT)

from spack_repo.builtin.packages.py_rich.package import PyRich as BuiltinPyRich

from spack.package import *


class PyRich(BuiltinPyRich):
    __doc__ = BuiltinPyRich.__doc__

    version("15.0.0", sha256="edd07a4824c6b40189fb7ac9bc4c52536e9780fbbfbddf6f1e2502c31b068c36")

    depends_on("python@3.9:", when="@15:", type=("build", "run"))
