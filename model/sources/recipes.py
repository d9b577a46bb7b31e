"""Find the package repositories of a Spack, and read the statements of their recipes.

Layouts and names follow lib/spack/spack/repo.py and util/naming.py. Recipes say which versions
are deprecated, which binaries must not be redistributed, and the licences. All this is kept in
the cache directory until a recipe, or the commit of a bare repository, changes; Spack keeps the
digests of patches in the same way.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import re
import stat
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from errno import ENOENT
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from spackscope.model.core.errors import Unreadable, Unwritable, reason
from spackscope.model.core.file_access import (
    read_file,
    read_private,
    sha256,
    times_of,
    too_large,
    write_private,
    xdg_path,
)
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import (
    LEGACY_LABEL,
    Deprecation,
    Fix,
    Licence,
    Problem,
    RecipeRoot,
    Restriction,
)
from spackscope.model.core.tasks import Steps, TooManySteps, report_progress

if TYPE_CHECKING:
    from spackscope.model.readers.package_py import ClassName, RecipeClass

_FORMAT = 7
_INDEX, _REPOSITORY, _RECIPE = "spack-repo-index.yaml", "repo.yaml", "package.py"
_PLACES = (".", "repos/spack_repo/builtin", "var/spack/repos/builtin")
"""Folders of repositories below a directory that has no index of them."""

_MAX_RECIPE, _MAX_SIZE = 2**18, 2**28
"""The most bytes of one recipe, which takes Python up to a second to parse, and of all.

Recipes of Spack have up to 64 kB, and 21 MB in all.
"""

_MAX_FOUND = 100_000
"""Licences, deprecations and patches that fix these; Spack's recipes have some 7,000."""

_MAX_PATCH, _MAX_PATCHES = 2**20, 2**26
"""The most bytes of a patch that fixes a deprecation, and of all; patches have up to 440 kB."""

_MAX_KEPT, _MAX_SMALL = 2**24, 2**16
"""Bytes of the file that is kept, and of a small file."""

_CONCERNED = re.compile(
    rb"deprecated|redistribute|license\(|IntelOneApi|\bfixes\s*="
    rb"|spack_repo\.\w+\.packages\.|spack\.pkg\.|from \.\."
)
"""Text in each recipe that states something that is read, or follows another recipe."""

_HOMEPAGE = re.compile(rb"^    homepage\s*=\s*\(?\s*[\"']([^\"'\s]{1,500})[\"']", re.MULTILINE)

_SYSTEMS, _MAX_SYSTEMS = "build_systems", 1_000
"""The folder beside the packages with base classes of recipes, and the most modules in it that are
read; Spack has 40."""

_SYSTEM = re.compile(rb"spack_repo\.(\w+)\.build_systems\.(\w+)")

_FILE = "100"
"""The start of the mode of a file in git; links and other repositories have another mode."""

_Contents = Iterator[tuple[str, bytes | str | OSError]]


class Recipes(Frozen):
    """The deprecations, restrictions and licences in recipes of some repositories, by package.

    `places` are the paths of the repositories, and `packages` all packages with a recipe. A part
    of the recipe of each `unread` package could not be read. `fixes` has the digests of patches by
    package, with the labels that each patch fixes, `restricted` the specs whose binaries must not
    be redistributed, and `homepages` an address for each package that states one.
    """

    places: tuple[str, ...]
    packages: frozenset[str]
    unread: frozenset[str]
    deprecations: Mapping[str, tuple[Deprecation, ...]]
    fixes: Mapping[str, tuple[tuple[str, tuple[str, ...]], ...]]
    restricted: Mapping[str, Sequence[str]]
    licences: Mapping[str, Sequence[Licence]]
    homepages: Mapping[str, str]
    problems: tuple[Problem, ...]

    def has_read(self, package: str) -> bool:
        """Check whether all of the recipe of a package was read."""
        return package in self.packages and package not in self.unread


def read_recipes(roots: Iterable[RecipeRoot], environ: Mapping[str, str]) -> Recipes:
    """Read the recipes of repositories; the first one with a package counts, as for Spack.

    A recipe that cannot be read is a problem; if the reason may be temporary, nothing is kept.
    Raises Cancelled.
    """
    problems: list[Problem] = []
    repositories = [each for root in roots for each in _open(root, problems)]
    places = tuple(each.path for each in repositories)
    # Recipes may depend on the machine, with which others may share a home directory.
    stamps = [_FORMAT, *os.uname()[::4], *([*each[1:4]] for each in repositories)]
    name = sha256("\0".join(places).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    path = xdg_path(environ, "cache", f"recipes-{name}.json") if repositories else None
    if path is not None:
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            kept = json.loads(read_private(path, _MAX_KEPT))
            if kept.pop("stamps") == stamps:
                return _from_json(places, problems, **kept)
    reading = _Reading(repositories)
    kept = reading.read()
    data = json.dumps({**kept, "stamps": stamps}).encode()
    if path is not None and len(data) <= _MAX_KEPT and reading.is_sure:
        with contextlib.suppress(Unwritable):
            write_private(path, data)
    return _from_json(places, problems, **kept)


def forget_recipes(environ: Mapping[str, str]) -> None:
    """Remove the kept statements of recipes, so that all recipes are read again."""
    cache = xdg_path(environ, "cache")
    for path in glob.iglob(f"{glob.escape(cache)}/recipes-*.json") if cache else ():
        with contextlib.suppress(OSError):
            os.unlink(path)


def _from_json(
    places: tuple[str, ...],
    problems: Sequence[Problem],
    packages: Iterable[str],
    unread: Iterable[str],
    deprecations: Mapping[str, Iterable[Sequence[Any]]],
    fixes: Mapping[str, Iterable[Sequence[Any]]],
    restricted: Mapping[str, Sequence[str]],
    licences: Mapping[str, Iterable[Sequence[str]]],
    homepages: Mapping[str, str],
    more_problems: Iterable[Sequence[str]],
) -> Recipes:
    by_package = {
        package: tuple(
            Deprecation(spec, reason, severity, tuple(labels), message)
            for spec, reason, severity, labels, message in its
        )
        for package, its in deprecations.items()
    }
    patches = {
        package: tuple((digest, tuple(labels)) for digest, labels in its)
        for package, its in fixes.items()
    }
    texts = {name: tuple(Licence(*each) for each in its) for name, its in licences.items()}
    problems = (*problems, *(Problem(*each) for each in more_problems))
    known = frozenset(packages), frozenset(unread)
    return Recipes(places, *known, by_package, patches, restricted, texts, homepages, problems)


# Repositories


class _Repository(NamedTuple):
    """A package repository by the path of its packages.

    `stamp` changes with each change of a recipe. `contents` yields the directory of each recipe
    with its content, or why it cannot be read: an OSError may be temporary. `read_patch` returns a
    file by its directory and its name in it, or raises OSError and ValueError.
    """

    path: str
    namespace: str
    is_v1: bool
    stamp: str
    contents: Callable[[], _Contents]
    read_patch: Callable[[str, str], bytes]

    def package(self, directory: str) -> str:
        """Return the package of a directory, which is named as a Python module since API v2."""
        return directory if self.is_v1 else directory.lstrip("_").replace("_", "-")

    def place(self, directory: str) -> str:
        """Return the path of a recipe."""
        return f"{self.path}/{directory}/{_RECIPE}"


def _open(root: RecipeRoot, problems: list[Problem]) -> Iterator[_Repository]:
    """Yield the repositories of a root; add a problem if it has none."""

    def text(name: str) -> str:
        with contextlib.suppress(FileNotFoundError):
            return files.read(name, _MAX_SMALL).decode(errors="replace")
        return ""

    def read_patch(folder: str, directory: str, name: str) -> bytes:
        return files.read(os.path.join(folder, directory, name), _MAX_PATCH)

    try:
        is_bare = all(os.path.exists(f"{root.path}/{n}") for n in ("HEAD", "objects", "refs"))
        files = _Bare(root.path) if is_bare else _Folder(root.path)
        places = root.places or re.findall(
            r"^\s*-\s*[\"']?([^\s\"'#]+)", text(_INDEX), re.MULTILINE
        )
        texts = [(place, text(f"{place}/{_REPOSITORY}")) for place in places or _PLACES]
        for place, config in texts:
            found = dict(re.findall(r"^\s+(\w+):\s*['\"]?([\w.-]+)", config, re.MULTILINE))
            if config:
                folder = f"{place}/{found.get('subdirectory', 'packages')}".removeprefix("./")
                stamp, contents = files.list(folder)
                is_v1 = found.get("api", "v1").startswith("v1")
                path, namespace = f"{root.path}/{folder}", found.get("namespace", "")
                patch = partial(read_patch, folder)
                yield _Repository(path, namespace, is_v1, stamp, contents, patch)
        if not any(config for _, config in texts):
            raise Unreadable(f"is not a package repository: it has no {_REPOSITORY}")
    except (OSError, Unreadable) as error:
        why = str(error) if isinstance(error, Unreadable) else reason(error)
        problems.append(Problem(root.path, "", why))


class _Folder:
    def __init__(self, path: str) -> None:
        if not os.path.isdir(path):
            raise Unreadable(
                "there is no such directory; `spack repo update` fetches repositories"
            )
        self._path, self._real = path, os.path.realpath(path) + os.sep

    def read(self, name: str, max_size: int) -> bytes:
        """Return a file. Raises OSError and Unreadable."""
        path = os.path.join(self._path, name)
        if not os.path.exists(path):
            raise FileNotFoundError(ENOENT, os.strerror(ENOENT))
        if not os.path.realpath(path).startswith(self._real):
            raise Unreadable("it is out of the repository")
        return read_file(path, max_size)

    def list(self, folder: str) -> tuple[str, Callable[[], _Contents]]:
        """Return the stamp, a digest of times and sizes, and the contents of recipes."""
        path = os.path.join(self._path, folder)
        reasons, lines = dict[str, str | OSError](), list[str]()
        for file in glob.iglob(f"{glob.escape(os.path.dirname(path))}/{_SYSTEMS}/*.py"):
            with contextlib.suppress(OSError):
                status = os.stat(file)
                lines.append(f"{file} {status.st_size} {times_of(status)}\n")
        for entry in os.scandir(path):
            directory, why = entry.name, ""
            name = f"{entry.path}/{_RECIPE}"
            try:
                status = os.lstat(name)
                if stat.S_ISLNK(status.st_mode) or entry.is_symlink():
                    status = os.stat(name)
                    if not os.path.realpath(name).startswith(self._real):
                        why = "is a link out of the repository"
            except (FileNotFoundError, NotADirectoryError):
                continue
            except OSError as error:
                reasons[directory] = error
                continue
            reasons[directory] = why
            lines.append(f"{directory} {status.st_size} {times_of(status)}\n")

        def contents() -> _Contents:
            for directory, why in reasons.items():
                try:
                    yield directory, why or read_file(f"{path}/{directory}/{_RECIPE}", _MAX_RECIPE)
                except OSError as error:
                    yield directory, error

        return sha256("".join(lines).encode("utf-8", "surrogatepass")).hexdigest(), contents


class _Bare:
    """The newest commit of a bare git repository."""

    def __init__(self, path: str) -> None:
        from spackscope.model.sources.git import Git

        self._git = Git(path)
        self._commit = self._run("rev-parse", "--verify", "HEAD^{commit}").decode().strip()

    def _run(self, *words: str) -> bytes:
        printed, why = self._git.run(*words)
        if why:
            raise Unreadable(why)
        return printed

    def _blobs(self, *words: str, max_size: int) -> Iterator[tuple[str, str, int]]:
        """Yield path, blob and size of files; path, reason and -1 for files that are not read."""
        listed = self._run("ls-tree", "-l", "-z", *words)
        for line in listed.split(b"\0")[:-1]:
            facts, _, name = line.decode(errors="replace").partition("\t")
            mode, _, blob, size = facts.split()
            if not mode.startswith(_FILE):
                yield name, "is a link, which is not followed", -1
            elif int(size) > max_size:
                yield name, str(too_large(int(size), max_size)), -1
            else:
                yield name, blob, int(size)

    def read(self, name: str, max_size: int) -> bytes:
        """Return a file. Raises OSError and Unreadable."""
        path = os.path.normpath(name.lstrip("/"))
        found = self._blobs(self._commit, "--", path, max_size=max_size)
        for _, blob, size in found if "\0" not in path else ():
            if size < 0:
                raise Unreadable(blob)
            return next(self._git.contents([(blob, size)]))
        raise FileNotFoundError("it is not there")

    def list(self, folder: str) -> tuple[str, Callable[[], _Contents]]:
        """Return the stamp, which is the commit, and the contents of recipes."""
        return self._commit, partial(self._contents, os.path.normpath(folder.lstrip("/")) + "/")

    def _contents(self, folder: str) -> _Contents:
        directories, blobs = list[str](), list[tuple[str, int]]()
        for path, blob, size in self._blobs("-r", self._commit, folder, max_size=_MAX_RECIPE):
            directory, _, file = path.removeprefix(folder).partition("/")
            if file == _RECIPE:
                if size < 0:
                    yield directory, blob
                else:
                    directories.append(directory)
                    blobs.append((blob, size))
        yield from zip(directories, self._git.contents(blobs), strict=True)


# Reading


class _Recipe(NamedTuple):
    """A recipe by the namespace of its repository and its module there."""

    namespace: str
    module: str


class _Reading:
    """Reads recipes, each with the recipes that it follows."""

    def __init__(self, repositories: Sequence[_Repository]) -> None:
        self._repositories = repositories
        # Whether no failure is temporary.
        self.is_sure = True
        self._patch_bytes = 0
        self._data: dict[_Recipe, bytes] = {}
        self._patches: dict[_Recipe, Callable[[str], bytes]] = {}
        self._digests: dict[tuple[_Recipe, str], str | Exception] = {}
        self._places: dict[_Recipe, str] = {}
        # Build systems, and whether each restricts its packages.
        self._are_restricted: dict[_Recipe, bool] = {}
        self._classes: dict[_Recipe, Mapping[str, RecipeClass]] = {}
        self._homepages: dict[str, str] = {}
        self._problems: dict[tuple[str, str, str], None] = {}
        # Recipes with a problem, and recipes that follow one.
        self._unread: set[_Recipe] = set()

    def read(self) -> dict[str, Any]:
        """Return the values to keep in the cache, as JSON values. Raises Cancelled."""
        owners, deprecations, room = dict[str, _Recipe](), dict[str, Any](), _MAX_FOUND
        fixes, restricted = defaultdict[str, list[Any]](list), dict[str, list[str]]()
        licences = dict[str, list[Licence]]()
        for repository in self._repositories:
            try:
                self._collect(repository, owners)
            except Unreadable as error:
                self._problems[repository.path, "", str(error)] = None
                self.is_sure = False
        for number, (package, recipe) in enumerate(owners.items()):
            if recipe in self._data:
                report_progress("recipes read", number, len(owners))
                self._read_module(recipe)
                squashed = recipe.module.replace("_", "").lower()
                names = (
                    n for n in self._classes[recipe] if n.replace("_", "").lower() == squashed
                )
                try:
                    steps, bases = Steps(), list[_Recipe]()
                    declared, others = self._follow(recipe, next(names, ""), steps, bases)
                    found = [*filter(None, declared.values()), *(each for _, each in others)]
                    room -= len(found)
                    if room < 0:
                        raise TooManySteps
                    bases = [*dict.fromkeys(reversed(bases))]
                    patches = [
                        (owner, each, self._digest(each, bases, steps))
                        for owner, each in others
                        if isinstance(each, Fix)
                    ]
                except TooManySteps:
                    self._refuse(recipe, "it states too much, or the recipes that it follows do")
                else:
                    its = [each for each in found if isinstance(each, Deprecation)]
                    deprecations.update({package: its} if its else {})
                    specs = [each.spec for each in found if isinstance(each, Restriction)]
                    restricted.update({package: specs} if specs else {})
                    texts = [each for each in found if isinstance(each, Licence)]
                    licences.update({package: texts} if texts else {})
                    for owner, fix, digest in patches:
                        if isinstance(digest, str):
                            fixes[fix.package or package].append((digest, fix.labels))
                            continue
                        self._refuse(owner, f"the patch {fix.place} {reason(digest)}")
                        self._unread.add(recipe)
                        self.is_sure &= getattr(digest, "errno", None) is None
        return {
            "packages": list(owners),
            "unread": [package for package, recipe in owners.items() if recipe in self._unread],
            "deprecations": deprecations,
            "fixes": fixes,
            "restricted": restricted,
            "licences": licences,
            "homepages": self._homepages,
            "more_problems": list(self._problems),
        }

    def _collect(self, repository: _Repository, owners: dict[str, _Recipe]) -> None:
        """Add the recipe of each package, and keep the texts that matter. Raises Unreadable."""
        total = 0
        for number, (directory, data) in enumerate(repository.contents()):
            report_progress("recipes found", number)
            recipe = _Recipe(repository.namespace, directory.replace("-", "_"))
            package = repository.package(directory)
            is_first = owners.setdefault(package, recipe) is recipe
            if isinstance(data, OSError):
                # A file that is refused here, for example as too large, has no error number.
                self.is_sure = self.is_sure and data.errno is None
                data = reason(data)
            total += len(data)
            if total > _MAX_SIZE:
                raise Unreadable(str(too_large(None, _MAX_SIZE)))
            if is_first and isinstance(data, bytes) and (found := _HOMEPAGE.search(data)):
                self._homepages[package] = found[1].decode(errors="replace")
            if isinstance(data, str):
                self._problems[repository.place(directory), "", data] = None
                self._unread.add(recipe)
            elif recipe not in self._data and (
                self._is_restricted_by_base(data) or _CONCERNED.search(data)
            ):
                self._data[recipe], self._places[recipe] = data, repository.place(directory)
                self._patches[recipe] = partial(repository.read_patch, directory)

    def _is_restricted_by_base(self, data: bytes) -> bool:
        """Check whether a base class of a recipe may restrict it, and keep the class's module.

        Raises Unreadable.
        """
        systems = [
            _Recipe(namespace.decode(), f"{_SYSTEMS}.{name.decode()}")
            for namespace, name in set(_SYSTEM.findall(data))
        ]
        for system in systems:
            owner = next((r for r in self._repositories if r.namespace == system.namespace), None)
            if owner is not None and system not in self._are_restricted:
                if len(self._are_restricted) == _MAX_SYSTEMS:
                    raise Unreadable(f"it has more than {_MAX_SYSTEMS:,} build systems")
                file = f"{system.module.partition('.')[2]}.py"
                self._places[system] = f"{os.path.dirname(owner.path)}/{_SYSTEMS}/{file}"
                text = b""
                try:
                    text = owner.read_patch(f"../{_SYSTEMS}", file)
                except FileNotFoundError:
                    pass
                except (OSError, ValueError) as error:
                    self._refuse(system, reason(error))
                    self.is_sure = False
                self._are_restricted[system] = b"redistribute" in text
                self._data.update({system: text} if self._are_restricted[system] else {})
        return any(self._are_restricted.get(each) or each in self._unread for each in systems)

    def _refuse(self, recipe: _Recipe, why: str, place: str = "") -> None:
        self._problems[self._places[recipe], place, why] = None
        self._unread.add(recipe)

    def _digest(self, fix: Fix, bases: Iterable[_Recipe], steps: Steps) -> str | Exception:
        """Return the digest of a patch, or why it cannot be read. Raises TooManySteps.

        As `FilePatch` of Spack, its file is in the directory of the package, or else of the first
        of its bases that has one of this name.
        """
        found: str | Exception = fix.digest
        for key in ((recipe, fix.place) for recipe in bases if not fix.digest):
            steps.count(1)
            if key not in self._digests:
                try:
                    if self._patch_bytes > _MAX_PATCHES:
                        raise too_large(None, _MAX_PATCHES)
                    data = self._patches[key[0]](fix.place)
                    self._patch_bytes += len(data)
                    self._digests[key] = sha256(data).hexdigest()
                except (OSError, ValueError) as error:
                    self._digests[key] = error
            found = self._digests[key]
            if not isinstance(found, FileNotFoundError):
                break
        return found

    def _read_module(self, recipe: _Recipe) -> None:
        """Read a recipe after the recipes whose versions it takes, and before its bases.

        Thousands of recipes may each follow the next, so there is no recursion.
        """
        from spackscope.model.readers.package_py import read_recipe

        waiting, begun = [recipe], dict[_Recipe, Steps]()
        while waiting:
            recipe = waiting.pop()
            if recipe in self._classes and recipe not in begun:
                continue
            # In a circle of recipes the first is empty for the last.
            self._classes[recipe] = {}
            steps = begun.setdefault(recipe, Steps())
            needed = dict[_Recipe, None]()
            versions_of = partial(self._versions, recipe, steps, needed)
            try:
                classes = read_recipe(self._data.get(recipe, b""), versions_of, steps)
            except Unreadable as error:
                self._refuse(recipe, str(error))
            else:
                if needed:
                    # The recipe is read again after these, as often as its steps allow.
                    waiting += [recipe, *needed]
                    continue
                self._classes[recipe] = classes
                waiting += (_place(recipe, base) for c in classes.values() for base in c.bases)
            del begun[recipe]

    def _versions(
        self, recipe: _Recipe, steps: Steps, needed: dict[_Recipe, None], name: ClassName
    ) -> Mapping[str, bool]:
        """Return the versions of a class of another recipe, and whether each is deprecated.

        A recipe that has not been read is added to `needed`.
        """
        base = _place(recipe, name)
        if base not in self._classes:
            needed[base] = None
            return {}
        declared, _ = self._follow(base, name.name, steps, [])
        if base in self._unread:
            self._unread.add(recipe)
        return {spec[2:]: entry is not None for spec, entry in declared.items()}

    def _follow(
        self, recipe: _Recipe, name: str, steps: Steps, followed: list[_Recipe]
    ) -> tuple[
        dict[str, Deprecation | None],
        list[tuple[_Recipe, Deprecation | Restriction | Licence | Fix]],
    ]:
        """Return each version that a class declares, with its deprecation, and all other entries.

        The bases come first, as in Spack, and each once; their recipes are added to `followed`.
        Raises TooManySteps.
        """
        declared = dict[str, Deprecation | None]()
        others = list[tuple[_Recipe, Deprecation | Restriction | Licence | Fix]]()
        waiting: list[tuple[_Recipe, str, bool]] = [(recipe, name, False)]
        seen = set[tuple[_Recipe, str]]()
        while waiting:
            recipe, name, has_bases = waiting.pop()
            class_ = self._classes.get(recipe, {}).get(name)
            if class_ is None or (not has_bases and (recipe, name) in seen):
                continue
            bases = [(_place(recipe, base), base.name, False) for base in class_.bases]
            steps.count(1 + len(bases))
            if not has_bases:
                seen.add((recipe, name))
                waiting += [(recipe, name, True), *bases]
                continue
            if any(base in self._unread for base, _, _ in bases):
                self._unread.add(recipe)
            steps.count(len(class_.entries))
            followed.append(recipe)
            for entry in class_.entries:
                if entry is None:
                    declared.clear()
                elif isinstance(entry, str):
                    declared[entry] = None
                elif not isinstance(entry, (Deprecation, Restriction, Licence, Fix)):
                    line, why = entry
                    self._refuse(recipe, why, f"line {line}")
                elif isinstance(entry, Deprecation) and entry.labels == (LEGACY_LABEL,):
                    declared[entry.spec] = entry
                else:
                    others.append((recipe, entry))
        return declared, others


def _place(recipe: _Recipe, name: ClassName) -> _Recipe:
    """Return the recipe of a class that a recipe names."""
    return _Recipe(name.namespace or recipe.namespace, name.module or recipe.module)
