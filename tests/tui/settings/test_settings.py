import os
from pathlib import Path

import pytest

from spackscope.model.index.order import Sort
from spackscope.tui.settings import COMMAND_LINE, DEFAULT, Settings, read_settings
from spackscope.tui.settings.checks import browser_mistakes, first_sort, hidden_columns
from spackscope.tui.settings.config_file import MAX_BYTES, MAX_LENGTH, MAX_VALUES
from spackscope.tui.settings.table import SETTINGS
from tests.browsing import browsing

NAMES = ", ".join(setting.name for setting in SETTINGS)
MANY_KEYS = "".join(f"k{n} = 'x'\n" for n in range(MAX_VALUES + 1))


class Home:
    """A home with a configuration file, below that of all users."""

    def __init__(self, path: Path) -> None:
        self.file = path / "home" / ".config" / "spackscope" / "config.toml"
        self.system_file = path / "xdg" / "spackscope" / "config.toml"
        self.environ = {"HOME": str(path / "home"), "XDG_CONFIG_DIRS": str(path / "xdg")}
        for file in (self.file, self.system_file):
            file.parent.mkdir(parents=True)

    def write(self, text: str | bytes) -> None:
        self.file.write_bytes(text.encode() if isinstance(text, str) else text)

    def read(self, text: str | bytes | None = None, **changes: str) -> Settings:
        if text is not None:
            self.write(text)
        return read_settings({**self.environ, **changes})

    def mistakes(self, text: str | bytes | None = None, **changes: str) -> list[str]:
        mistakes = self.read(text, **changes).mistakes
        return [str(each).replace(str(self.file), "FILE") for each in mistakes]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_every_setting_is_a_field() -> None:
    assert {*Settings.__fields__} == {*(s.name for s in SETTINGS), "origins", "mistakes"}


def test_without_a_file_nothing_is_set(home: Home) -> None:
    assert home.read() == read_settings({}) == Settings()
    assert home.read().origin("theme") == DEFAULT


def test_a_file_sets_sources_and_keys(home: Home) -> None:
    sources = '["spack:site", "mirror", "~/tree", "https://ann:pw@host/m"]'
    settings = home.read(f'sources = {sources}\n[keys]\nquit = ["Q", "ctrl+q"]\ndiff = "D"\n')
    assert settings.mistakes == ()
    paths = (str(home.file.parent / "mirror"), os.path.expanduser("~/tree"))
    assert settings.sources == ("spack:site", *paths, "https://ann:pw@host/m")
    assert settings.keys == {"quit": ("Q", "ctrl+q"), "diff": ("D",)}
    assert settings.origins == dict.fromkeys(("sources", "keys.quit", "keys.diff"), str(home.file))
    assert "pw" not in repr(settings)


def test_only_a_relative_source_is_in_the_directory_of_the_file(home: Home) -> None:
    named = ("public", "public:a,b", "spack:site", "sample")
    for source in (*named, "https://h/m", "s3://b/m", "file:///m", "/m"):
        assert home.read(f"sources = '{source}'").sources == (source,)
    for source in ("public.d", "a b/c:d", "tags/cache_spack_io_index.json#a"):
        expected = (str(home.file.parent / source),)
        assert home.read(f"sources = '{source}'").sources == expected


def test_a_tag_list_is_a_path_or_an_address(home: Home) -> None:
    assert home.read("public = 'tags/c.json'").public == str(home.file.parent / "tags/c.json")
    path = "tags/cache_spack_io_index.json"
    assert home.read(f"public = '{path}'").public == str(home.file.parent / path)
    assert home.read("public = 'https://host/c.json'").public == "https://host/c.json"
    assert home.read(SPACKSCOPE_PUBLIC="/c.json").public == "/c.json"


def test_the_command_line_comes_before_the_environment_and_that_before_the_file(
    home: Home,
) -> None:
    home.write('host = "target=zen3"\ncopy = "file"')
    environ = {**home.environ, "SPACKSCOPE_HOST": "target=zen4", "SPACKSCOPE_COPY": " xclip "}
    settings = read_settings(environ, {"host": "target=zen5"})
    assert (settings.host, settings.origin("host")) == ("target=zen5", COMMAND_LINE)
    assert (settings.copy, settings.origin("copy")) == ("xclip", "SPACKSCOPE_COPY")
    assert read_settings(environ, {"host": ""}).host == "target=zen4"
    assert home.read().copy == "file"


def test_the_file_of_the_user_comes_before_that_of_all_users(home: Home, tmp_path: Path) -> None:
    home.system_file.write_text('theme = "dracula"\nsort = "size"\n[keys]\nquit = "x"\ncopy = "c"')
    settings = home.read('theme = "nord"\n[keys]\nquit = "Q"\n')
    assert (settings.theme, settings.sort) == ("nord", "size")
    assert settings.keys == {"quit": ("Q",), "copy": ("c",)}
    assert settings.origin("keys.copy") == str(home.system_file)
    assert home.read(XDG_CONFIG_DIRS=str(tmp_path / "nowhere")).sort == ""


def test_a_variable_names_the_file_in_place_of_the_users_own(home: Home, tmp_path: Path) -> None:
    home.write('theme = "nord"')
    home.system_file.write_text('sort = "size"')
    other = tmp_path / "other.toml"
    other.write_text('theme = "dracula"')
    assert home.read(SPACKSCOPE_CONFIG=str(other)).theme == "dracula"
    assert (
        home.read(SPACKSCOPE_CONFIG="").theme == home.read(SPACKSCOPE_CONFIG=" ").theme == "nord"
    )
    without = home.read(SPACKSCOPE_CONFIG="/dev/null")
    assert (without.theme, without.sort, without.mistakes) == ("", "size", ())
    missing = home.mistakes(SPACKSCOPE_CONFIG=str(tmp_path / "no.toml"))
    assert missing == [f"{tmp_path / 'no.toml'}: no such file, which SPACKSCOPE_CONFIG names"]


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("them = 'nord'", "FILE: unknown setting them. Did you mean theme?"),
        ("\nzzz = 1", f"FILE: unknown setting zzz; there are {NAMES}"),
        ("x = " + "9" * 5000, "FILE: a number in it is too long"),
        ("'https://ann:secret@host/x?token=1' = 1", "FILE: unknown setting https://host/x?…; "),
        ("fold = 1", "FILE: fold must be true or false"),
        ("theme = true", "FILE: theme must be a text in quotes"),
        ("theme = 2026-11-22", "FILE: theme must be a text in quotes"),
        ("[theme]\nx = 1", "FILE: theme must be a text in quotes"),
        ("hidden = [1]", "FILE: hidden must be a text in quotes, or a list of them"),
        ("hidden = [['os']]", "FILE: hidden must be a text in quotes, or a list of them"),
        ("sources = ''", "FILE: sources is empty"),
        ("sources = ['a', ' ']", "FILE: sources is empty"),
        ("sources = ['a', '-']", "FILE: sources: only -f can name standard input, -"),
        ("theme = '\t'", "FILE: theme is empty"),
        (r'theme = "a\u001b[31m"', "FILE: theme has a control character"),
        ("keys = 'x'", "FILE: keys must be a table, such as keys = { quit = "),
        ("[keys]\nquit = 1", "FILE: keys.quit must be a text in quotes, or a list of them"),
        (b"\n\xff\xff", "FILE: line 2 is not UTF-8"),
        ("x = 1".encode("utf-16"), "FILE: cannot be read: it is UTF-16; save it as UTF-8"),
        ("x = " + "[" * 5000, "FILE: it is nested too deeply"),
        ("fold = true\n" + "x." * 30_000 + "x = 1", "FILE: it is nested too deeply"),
        (f"theme = '{'x' * (MAX_LENGTH + 1)}'", "FILE: theme has 2,001 characters; at most"),
        (f"hidden = {['x'] * (MAX_VALUES + 1)}", "FILE: hidden has 501 texts; at most 500"),
        (f"[keys]\n{MANY_KEYS}", "FILE: keys has 501 names; at most 500"),
        ("[" + "'a b' . " * 8_000 + "a]", "FILE: it is nested too deeply"),
        (b"#" * (MAX_BYTES + 1), "FILE: cannot be read: it has 65,537 bytes; at most 65,536 are"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_each_mistake_is_one_sentence_with_its_file(
    home: Home, text: str | bytes, mistake: str
) -> None:
    (found,) = home.mistakes(text)
    assert found.startswith(mistake)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("theme = nord", "a text needs quotes (at line 1, column 9)"),
        ("fold = true\nfold = true", "overwrite a value (at "),
        ("sources = [\n'a'\n", "(at "),
        ("fold = true\n\n= 1\n", "(at line 3"),
    ],
)
def test_what_is_not_toml_is_named_with_its_line(home: Home, text: str, line: str) -> None:
    (mistake,) = home.mistakes(text)
    assert mistake.startswith("FILE: this is not TOML: ")
    assert line in mistake


def test_right_values_are_kept_beside_mistakes(home: Home) -> None:
    assert home.read("theme = 'nord'\nfold = 1").theme == "nord"


@pytest.mark.parametrize("text", [b"\xef\xbb\xbftheme = 'nord'", b"theme = 'nord'\r\n"])
def test_files_of_other_editors_are_read(home: Home, text: bytes) -> None:
    assert home.read(text).theme == "nord"


def test_what_is_not_a_file_is_named(home: Home) -> None:
    home.file.mkdir()
    assert home.mistakes() == ["FILE: cannot be read: is a directory"]
    home.file.rmdir()
    os.mkfifo(home.file)
    assert home.mistakes() == ["FILE: cannot be read: it is not a regular file"]
    home.file.unlink()
    home.file.symlink_to("nowhere")
    assert home.mistakes() == ["FILE: no such file"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_that_may_not_be_read_is_named(home: Home) -> None:
    home.write("")
    home.file.chmod(0)
    assert home.mistakes() == ["FILE: cannot be read: permission denied"]


def test_a_relative_directory_of_the_specification_is_ignored(home: Home) -> None:
    home.write("theme = 'nord'")
    assert home.read(XDG_CONFIG_HOME="relative", XDG_CONFIG_DIRS="a:b").theme == "nord"
    assert read_settings({"XDG_CONFIG_DIRS": "relative"}) == Settings()


ORIGINS = dict.fromkeys(("sort", "hidden"), "config.toml")


def mistakes(sort: str = "", hidden: tuple[str, ...] = ()) -> list[str]:
    return list(map(str, browser_mistakes(Settings(sort=sort, hidden=hidden, origins=ORIGINS))))


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("size", Sort("size")),
        ("-size", Sort("size", descending=True)),
        ("Version", Sort("version")),
        ("-+mpi", Sort("+mpi", descending=True)),
        ("used by", Sort("used by")),
        ("stacks", Sort("stack")),
        ("operating_system", Sort("os")),
        ("", None),
    ],
)
def test_rows_are_sorted_by_a_column_or_a_variant(text: str, sort: Sort | None) -> None:
    assert first_sort(Settings(sort=text)) == sort
    assert mistakes(sort=text) == []


def test_columns_are_hidden_by_their_names() -> None:
    hidden = ("os", "+mpi", "used_by", "unlike others")
    assert hidden_columns(Settings(hidden=hidden)) == {"os", "+mpi", "used by", "unlike others"}
    assert mistakes(hidden=hidden) == []


@pytest.mark.parametrize(
    ("sort", "hidden", "mistake"),
    [
        ("versoin", (), "sort: there is no column versoin. Did you mean version?"),
        ("-", (), "sort: there is no column -; a variant is written +NAME"),
        ("mpi", (), "sort: there is no column mpi; a variant is written +mpi"),
        ("unlike others", (), "rows cannot be sorted by unlike others"),
        ("", ("os", "~zzz"), "hidden: there is no column ~zzz; a variant is written +zzz"),
        ("", ("hash",), "hidden: the hash stays, rows are known by it"),
    ],
)
def test_other_columns_are_refused(sort: str, hidden: tuple[str, ...], mistake: str) -> None:
    assert mistakes(sort, hidden) == [f"config.toml: {mistake}"]


async def test_the_browser_begins_as_it_is_set() -> None:
    settings = Settings(fold=False, sort="-version", hidden=("os",))
    async with browsing(settings=settings, query="py-build") as browser:
        view = browser.state.view
        assert (view.folded, view.sort) == (False, Sort("version", descending=True))
        assert "os" not in browser.table.columns.columns.names
        assert "target" in browser.table.columns.columns.names
