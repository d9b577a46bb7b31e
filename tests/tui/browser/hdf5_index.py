"""The index of a build cache in which h5py needs hdf5, and that much else."""

from pathlib import Path
from typing import Any

from tests.builders.nodes import Node, edge, node
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs

HDF5, OPENMPI, HWLOC, ZLIB, GCC, GONE, H5PY, OTHER = (hash_of(number) for number in range(8))
USR: dict[str, Any] = {"path": "/usr", "module": None, "extra_attributes": {}}


def spec(hash_: str, name: str, *dependencies: Node, **fields: Any) -> Node:
    return node(hash_, name=name, version="1.0", dependencies=[*dependencies], **fields)


def write_hdf5_index(path: Path) -> Path:
    """Write the index into a file, and return its path."""
    records = installs(
        spec(HDF5, "hdf5", edge("gcc", GCC, ["build"], ["c"]), edge("gone", GONE, ["link"]),
             edge("openmpi", OPENMPI, ["build", "link"], ["mpi"]), edge("zlib", ZLIB, ["link"])),
        spec(OPENMPI, "openmpi", edge("hwloc", HWLOC, ["link"]), edge("zlib", ZLIB, ["link"])),
        spec(HWLOC, "hwloc", edge("zlib", ZLIB, ["link", "run"])),
        spec(ZLIB, "zlib"),
        spec(H5PY, "h5py", edge("hdf5", HDF5, ["run"])),
        spec(OTHER, "zlib", os="other"),
    )  # fmt: skip
    records |= installs(spec(GCC, "gcc", external=USR), in_buildcache=False)
    path.write_bytes(database(records))
    return path
