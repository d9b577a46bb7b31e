"""A small Spack for tests: how it finds, checks and calls the commands of extensions.

`make_spack` writes a Spack whose `bin/spack` runs this file. Its rules are those of Spack 0.22 to
1.2 and of what follows: lib/spack/spack/extensions.py, cmd/__init__.py, main.py and cmd/config.py.
No code of Spack is in it, and none of what it leaves out has to do with extensions.

    spack [-c PATH] help [--all] | commands | config --scope user add|remove PATH | COMMAND …
"""

import argparse
import importlib
import os
import re
import sys
import types
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import yaml

LEVELS = ("short", "long")
BUILT_IN = ("config", "commands", "help")


def make_spack(prefix: Path, version: str = "0.23", *, has_plugins: bool = False) -> Path:
    """Write the root of a Spack; return its program.

    Without plugins its Python is one that has no packages with entry points.
    """
    program = prefix / "bin" / "spack"
    (prefix / "lib" / "spack" / "spack").mkdir(parents=True)
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\n"
        f"import sys\nsys.path.insert(0, {str(Path(__file__).parents[1])!r})\n"
        "from tests.spack_start import main\n"
        # A clone may have the entry points of an earlier build.
        "del sys.path[0]\n"
        f"sys.exit(main({str(prefix)!r}, {version!r}, {has_plugins!r}))\n"
    )
    program.chmod(0o755)
    return program


class Died(Exception):
    """Spack ended with an error message."""


class Config:
    """The extensions in the configuration of the user."""

    def __init__(self) -> None:
        self.file = Path(os.path.expanduser("~/.spack/config.yaml"))
        self.has_extensions = True

    def get(self, path: str) -> Any:
        assert path == "config:extensions"
        return self._read() if self.has_extensions else []

    def _read(self) -> list[str]:
        content = yaml.safe_load(self.file.read_text()) if self.file.exists() else {}
        extensions: list[str] = content.get("config", {}).get("extensions", [])
        return extensions

    def _write(self, extensions: list[str]) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(yaml.safe_dump({"config": {"extensions": extensions}}))

    def add(self, path: str) -> None:
        value, old = yaml.safe_load(path.split(":", 2)[2]), self._read()
        self._write([*value, *(entry for entry in old if entry not in value)])

    def remove(self, path: str) -> None:
        kept = self._read()
        for entry in yaml.safe_load(path.split(":", 2)[2]):
            kept.remove(entry)
        self._write(kept)


class Spack:
    """The extensions and commands of a Spack."""

    def __init__(self, prefix: str, version: str, has_plugins: bool) -> None:
        self.version, self.has_plugins = version, has_plugins
        self.config = Config()
        self._install_modules(prefix)

    def _install_modules(self, prefix: str) -> None:
        def module(name: str, **members: object) -> None:
            made = types.ModuleType(name)
            vars(made).update(members, __path__=[])
            sys.modules[name] = made
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], last, made)

        module("spack")
        module("spack.paths", prefix=prefix)
        module("spack.config", get=self.config.get)
        module("spack.extensions")
        if self.version == "develop":
            module("spack.environment")
            module("spack.active_environment", active_environment=lambda: self.environment)
        else:
            module("spack.environment", active_environment=lambda: self.environment)
        self.environment: Any = None

    def activate(self, args: argparse.Namespace) -> None:
        """Activate the environment of the options, else that of the shell."""
        name = args.env or args.env_dir or ("" if args.no_env else os.environ.get("SPACK_ENV"))
        self.environment = types.SimpleNamespace(path=os.path.abspath(name)) if name else None

    def extension_paths(self) -> list[str]:
        paths = list(self.config.get("config:extensions") or [])
        group = metadata.entry_points(group="spack.extensions")
        for entry_point in group if self.has_plugins else ():
            hook = entry_point.load()
            found = hook() or [] if callable(hook) else []
            paths += [str(found)] if isinstance(found, (str, Path)) else found
        return [os.path.abspath(os.path.expandvars(os.path.expanduser(path))) for path in paths]

    def names(self) -> list[str]:
        """List all commands by their files."""
        names = [*BUILT_IN]
        for path in self.extension_paths():
            for file in os.listdir(os.path.join(path, _extension_name(path), "cmd")):
                if file.endswith(".py") and not re.search(r"^\.|^__init__.py$|^#", file):
                    names.append(file[:-3].replace("_", "-"))
        return sorted(names)

    def module(self, name: str) -> Any:
        """Load the module of a command, and check that it has its function."""
        python_name = name.replace("-", "_")
        if name in BUILT_IN:
            return types.SimpleNamespace(
                description=f"built in {name}",
                section="config",
                level="long",
                setup_parser=lambda parser: None,
            )
        for path in self.extension_paths():
            extension = _extension_name(path)
            directory = os.path.join(path, extension, "cmd")
            if not os.path.exists(os.path.join(directory, f"{python_name}.py")):
                continue
            package = f"spack.extensions.{extension}"
            for name_, path_ in (
                (package, os.path.dirname(directory)),
                (f"{package}.cmd", directory),
            ):
                made = sys.modules.setdefault(name_, types.ModuleType(name_))
                made.__path__ = [path_]
            module = importlib.import_module(f"{package}.cmd.{python_name}")
            vars(module).setdefault("setup_parser", lambda parser: None)
            vars(module).setdefault("description", "")
            if not hasattr(module, python_name):
                raise Died(
                    f"Command module {module.__name__} must define function '{python_name}'."
                )
            return module
        raise Died(f"{name} is not a recognized Spack command or extension command")

    def help(self, level: str) -> str:
        """Return the commands by their sections, up to a level."""
        parser = self.parser()
        subparsers = parser.add_subparsers()
        sections: dict[str, list[str]] = {}
        for name in self.names():
            module = self.module(name)
            for wanted in ("level", "section", "description"):
                if not getattr(module, wanted, None):
                    raise Died(f"Command doesn't define a property '{wanted}': {name}")
            module.setup_parser(subparsers.add_parser(name))
            if level == "long" or module.level == level:
                line = f"  {name:<20}{module.description}"
                sections.setdefault(module.section, []).append(line)
        return "\n".join(
            f"{heading}:\n" + "\n".join(sections[heading]) for heading in sorted(sections)
        )

    def parser(self) -> argparse.ArgumentParser:
        """Return the parser of the options before the command."""
        parser = argparse.ArgumentParser(
            "spack", add_help=False, formatter_class=argparse.RawTextHelpFormatter
        )
        parser.add_argument("-h", "--help", action="store_true")
        parser.add_argument("-c", "--config")
        parser.add_argument("-C", "--config-scope")
        parser.add_argument("--color")
        parser.add_argument("-e", "--env")
        parser.add_argument("-D", "--env-dir")
        parser.add_argument("-E", "--no-env", action="store_true")
        return parser

    def run(self, argv: list[str]) -> int:
        """Run a command line."""
        parser = self.parser()
        parser.add_argument("command", nargs=argparse.REMAINDER)
        args, _ = parser.parse_known_args(argv)
        self.config.has_extensions = args.config != "config:extensions::[]"
        self.activate(args)
        command, *words = args.command
        # For every command; it fails where the directory of an extension is missing.
        self.names()
        if command == "help" and words in ([], ["--all"]):
            print(self.help(LEVELS[len(words)]))
            return 0
        if command == "commands":
            print(*self.names(), sep="\n")
            return 0
        if command == "config":
            *_, action, path = words
            getattr(self.config, action)(path)
            return 0
        name = words[0] if command == "help" else command
        module = self.module(name)
        parser = self.parser()
        subparsers = parser.add_subparsers(metavar="COMMAND", dest="command", required=True)
        module.setup_parser(
            subparsers.add_parser(
                name,
                help=module.description,
                description=module.description,
                formatter_class=argparse.RawTextHelpFormatter,
            )
        )
        parsed, unknown = parser.parse_known_args(
            [name, "-h"] if command == "help" else args.command
        )
        return _invoke(getattr(module, name.replace("-", "_")), parser, parsed, unknown)


def _invoke(
    function: Callable[..., int | None],
    parser: argparse.ArgumentParser,
    args: argparse.Namespace,
    unknown: list[str],
) -> int:
    code = function.__code__
    if code.co_argcount == 3 and code.co_varnames[2] == "unknown_args":
        return function(parser, args, unknown) or 0
    if unknown:
        raise Died(f"unrecognized arguments: {' '.join(unknown)}")
    return function(parser, args) or 0


def _extension_name(path: str) -> str:
    match = re.search(r"spack-(\w[-\w]*)$", os.path.basename(os.path.normpath(path)))
    if match is None:
        raise Died(f"{path} does not match the format for a Spack extension path.")
    return match[1].replace("-", "_")


def main(prefix: str, version: str, has_plugins: bool) -> int:
    """Run Spack."""
    try:
        return Spack(prefix, version, has_plugins).run(sys.argv[1:])
    except (Died, OSError) as error:
        print(f"==> Error: {error}", file=sys.stderr)
        return 1 if isinstance(error, Died) else 3
