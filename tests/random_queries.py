"""Generate random queries of the language, odd ones included."""

from random import Random

NAMES = [
    "hdf5", "zlib-ng", "py-numpy", "7zip", "a.b.hdf5", "builtin.gcc", "p*", "?lib", "*", "h*5",
]  # fmt: skip
VERSIONS = [
    "1.2", "1.14.3", "develop", "=1.2", "1.2:", ":1.4", "1.2:1.4", ":", "1.2,1.4:", "=1-2_a",
    "git.main=1.2", "git.a/b", "0" * 40, "1.*", "2.0rc1",
]  # fmt: skip
VALUES = [
    "a", "a,b", "80", "*", "8*", "none", "Release", "'a b'", '"a b"', "'c,c++'", "~/x", "a:b",
    "/usr/lib", "''", '""', "'it\"s'", '"it\'s"', "=x", "a=b", "%a", "^b", "'@'", "+x", "-O2",
    "a,a", "true", "FALSE", "x,", "'|'", "'!x'", "'('", "'\\'", "1.2",
]  # fmt: skip
KEYS = [
    "k", "build_type", "cuda_arch", "x.y", "patches", "os", "platform", "target", "arch",
    "namespace", "operating_system", "architecture", "cflags", "ldlibs", "stack", "tag", "source",
    "package", "compiler", "version", "variants", "hash", "size", "state", "flags",
]  # fmt: skip
TARGETS = [
    "zen4", ":zen4", "x86_64_v3:", "zen3,zen4", "linux-ubuntu22.04-zen4", "-x-", "a-b-", "z*,",
]  # fmt: skip
VIRTUALS = ["c", "c,cxx", "mpi", "fortran-rt", "lapack,blas"]
ATTRIBUTES = ["", "deptypes=build", "deptypes=link,run", "virtuals=c", "virtuals:='c,cxx'",
              "virtuals=mpi virtuals=c", "virtuals='c=,*'", " ", " deptypes='build' "]  # fmt: skip
BOOLEANS = ["+mpi", "~cuda", " -hl", "++pic", "~~pic", " --pic", "+ x", "~x-y", "+1"]


def random_query(random: Random) -> str:
    """Return a query of up to six parts, which may be invalid."""
    parts = [_part(random) for _ in range(random.randint(1, 6))]
    return "".join(part + random.choice([" ", " ", " ", "  ", ""]) for part in parts)


def _part(random: Random) -> str:
    part = random.choice([_name, _node, _property, _property, _dependency, _dependency])(random)
    roll = random.random()
    if roll < 0.08:
        return f"!{part}"
    return f"| {part}" if roll < 0.2 else part


def _name(random: Random) -> str:
    return random.choice([*NAMES, "cached", "installed", "'a word'"])


def _node(random: Random) -> str:
    properties = [_property(random) for _ in range(random.randint(0, 2))]
    return random.choice(NAMES) + "".join(random.choice(["", " "]) + one for one in properties)


def _property(random: Random) -> str:
    roll = random.random()
    if roll < 0.25:
        return "@" + random.choice(VERSIONS)
    if roll < 0.5:
        return random.choice(BOOLEANS)
    if roll < 0.6:
        return "/" + random.choice(["abc", "2", "a" * 32, "a*"])
    key = random.choice(KEYS)
    values = TARGETS if key in ("target", "arch", "architecture") else VALUES
    return " " + key + random.choice(["=", "=", "=", ":=", "==", ":=="]) + random.choice(values)


def _dependency(random: Random) -> str:
    sigil = random.choice(["^", "%", "%%"])
    if random.random() < 0.3:
        sigil += f"[{random.choice(ATTRIBUTES)}]" + random.choice(["", " "])
    if random.random() < 0.3:
        sigil += random.choice(VIRTUALS) + "="
    return sigil + random.choice([_node, _node, _property])(random)
