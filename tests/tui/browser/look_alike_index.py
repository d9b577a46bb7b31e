"""The index of a build cache in which four hdf5 look the same."""

from pathlib import Path

from tests.builders.nodes import Node, edge, node
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs

A, B, C, D, OTHER, MPI, MPI_2, ZLIB, ZLIB_2, GMAKE, GMAKE_2, USER = (
    hash_of(number) for number in range(12)
)


def spec(hash_: str, name: str, version: str, *dependencies: Node) -> Node:
    return node(hash_, name=name, version=version, dependencies=[*dependencies])


def hdf5(hash_: str, mpi: str, gmake: str) -> Node:
    return spec(
        hash_, "hdf5", "1.14", edge("mpich", mpi, ["link"]), edge("gmake", gmake, ["build"])
    )


def write_look_alikes(path: Path) -> Path:
    """Write the index: A, B and D run the same, and A has another gmake to build with.

    C has another zlib through mpich. USER uses B.
    """
    records = installs(
        hdf5(A, MPI, GMAKE),
        hdf5(B, MPI, GMAKE_2),
        hdf5(C, MPI_2, GMAKE),
        hdf5(D, MPI, GMAKE_2),
        spec(OTHER, "hdf5", "1.12", edge("gmake", GMAKE, ["build"])),
        spec(MPI, "mpich", "4.3", edge("zlib", ZLIB, ["link"])),
        spec(MPI_2, "mpich", "4.3", edge("zlib", ZLIB_2, ["link"])),
        spec(ZLIB, "zlib", "1.3"),
        spec(ZLIB_2, "zlib", "1.2"),
        spec(GMAKE, "gmake", "4.4"),
        spec(GMAKE_2, "gmake", "4.3"),
        spec(USER, "vtk", "9", edge("hdf5", B, ["link"])),
    )
    path.write_bytes(database(records))
    return path
