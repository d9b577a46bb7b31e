"""Secrets in a URL are printed nowhere, whatever is wrong with the URL."""

import json
from pathlib import Path

import pytest

from tests.builders.mirrors import mirror_v2, serve_files
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import zlib_index
from tests.examples import cases
from tests.program import Program

SECRETS = ("s3cr3t", "t0k3n")
USER = "ann:s3cr3t"
QUERY = "?token=t0k3n"
NOBODY = "127.0.0.1:1"

URLS = [
    f"http://{USER}@{NOBODY}/x{QUERY}",
    f"HTTP://{USER}@{NOBODY}/x{QUERY}",
    f"https://{USER}@{NOBODY}/x{QUERY}",
    f"https://{USER}@{NOBODY}/cache_spack_io_index.json{QUERY}#develop",
    f"oci://{USER}@{NOBODY}/x{QUERY}",
    f"oci+http://{USER}@{NOBODY}/x{QUERY}",
    f"s3://{USER}@bucket/x{QUERY}",
    f"gs://{USER}@bucket/x{QUERY}",
    f"file://{USER}@there/x{QUERY}",
    f"file://{USER}@/nowhere/x{QUERY}",
    f"FILE://{USER}@localhost/nowhere{QUERY}",
    f"unknown://{USER}@h/x{QUERY}",
    f"public://{USER}@h/x{QUERY}",
    f"spack://{USER}@h/x{QUERY}",
    f"spack:http://{USER}@h/x{QUERY}",
    f"public:http://{USER}@h/x{QUERY}",
    f"http://{USER}@h:99999/x{QUERY}",
    f"http://{USER}@h:no/x{QUERY}",
    f"http://{USER}/@h/x{QUERY}",
    # It is also a URL with a port and an @ in its path.
    f"http://{NOBODY}/s3cr3t@h/x{QUERY}",
    f"http://{USER}?@h/x{QUERY}",
    f"http://{USER}@[::1/x{QUERY}",
    f"file://{USER}@[::1/x{QUERY}",
    f"http://{USER}@/x{QUERY}",
    f"http://{USER}@a b/x{QUERY}",
    f"http://{USER}@a..b/x{QUERY}",
    f"http://{USER}\udcff@h/x{QUERY}",
    f"http://{USER}@h/\udcff{QUERY}",
    f"oci://{USER}@h/\udcff{QUERY}",
    f"http://{USER}\n@h/x{QUERY}",
    f"my scheme://{USER}@h/x{QUERY}",
    f"http:/{USER}@h/x{QUERY}",
    f"http//{USER}@h/x{QUERY}",
    f"//{USER}@h/x{QUERY}",
    f"{USER}@h/x{QUERY}",
]
COMMANDS = [("sources",), ("show", hash_of(1)), ("show", "--json", hash_of(1))]
FEW_COMMANDS = [("index",), ("sources", "--json")]


TYPED = [
    f"{USER}@h/x",
    f"https:{USER}@h/x",
    f"http://{NOBODY}/s3cr3t@h/x",
    f"source={USER}@h",
    f"os={USER}@h/x",
    f"target={USER}@h/x",
    f"a.b={USER}@h/x",
    f"http://ann:it's{SECRETS[0]}@h/x",
    f"index.json#{USER}@h",
    f"hdf5 spack:https://{USER}@h",
]
TAKING_WORDS = [
    ("find", "{}"),
    ("diff", "{}", "zlib"),
    ("show", "{}"),
    ("needs", "{}"),
    ("cover", "{}"),
    ("stats", "--by", "{}"),
    ("find", "--host", "{}", "fits"),
    ("find", "{}", "--limit", "{}"),
    ("--unknown={}",),
    ("help", "{}"),
    ("completion", "{}"),
    ("config", "-f", "{}"),
]


def output_of(program: Program, *words: str, **changes: str) -> str:
    """Run a command; return all that it wrote, to the screen and to its cache."""
    result = program(*words, stdin=None, **changes)
    assert result.returncode in (0, 1, 3), result.stderr
    assert "Traceback" not in result.stderr
    kept = [str(path) for path in program.home.rglob("*")]
    for path in (program.home / "cache").rglob("*"):
        if path.is_file():
            kept.append(path.read_bytes().decode("latin-1"))
    return "\n".join([result.stdout, result.stderr, *kept])


@pytest.fixture
def clouds() -> dict[str, str]:
    """Name stores of objects that are not there."""
    return {
        "AWS_ENDPOINT_URL": f"http://{NOBODY}",
        "AWS_ACCESS_KEY_ID": "me",
        "AWS_SECRET_ACCESS_KEY": SECRETS[0],
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_GCE_CHECK": "true",
    }


@cases("words", FEW_COMMANDS, more=COMMANDS)
def test_no_command_shows_a_secret_of_a_source(
    words: tuple[str, ...], program: Program, clouds: dict[str, str]
) -> None:
    write_page(program.home / "site" / "specs.md", [record(1)])
    files = {f"here/{name}": data for name, data in mirror_v2(zlib_index(version="1.3")).items()}
    with serve_files(files) as server:
        address = server.url.removeprefix("http://")
        sources = ["site", f"http://{USER}@{address}/here{QUERY}", *URLS]
        arguments = [word for source in sources for word in ("-f", source)]
        text = output_of(program, *words, *arguments, **clouds, STORAGE_EMULATOR_HOST=server.url)

    for secret in SECRETS:
        assert secret not in text
    assert "http://h:…" in text
    if words == ("index",):
        assert list((program.home / "cache" / "spackscope").glob("*.index"))


@pytest.mark.parametrize("typed", TYPED)
def test_no_command_shows_a_secret_of_a_word(typed: str, program: Program) -> None:
    for words in TAKING_WORDS:
        result = program(*(word.format(typed) for word in words))
        assert SECRETS[0] not in result.stdout + result.stderr, words


PROXIES = [
    f"http://{USER}@[::1{QUERY}",
    f"ftp://{USER}@x{QUERY}",
    f"http://{USER}@x:no/{QUERY}",
    f"http://{USER}@{NOBODY}/{QUERY}",
    f"{USER}@x:no/{QUERY}",
]


@pytest.mark.parametrize("number", range(len(PROXIES)))
def test_no_secret_of_the_environment_is_shown(
    number: int, program: Program, clouds: dict[str, str]
) -> None:
    value, variables = PROXIES[number], [("http_proxy", "https_proxy"), ("all_proxy",)][number % 2]
    sources = ["http://h/x", "https://h/x", "oci://h/x", "s3://bucket/x", "public", value]
    wrong = dict.fromkeys((*variables, "AWS_ENDPOINT_URL", "SPACKSCOPE_PUBLIC"), value)
    quoted = " ".join(f"'{source}'" for source in sources)
    text = output_of(program, "find", "zlib", **clouds | wrong, SPACKSCOPE_FROM=quoted)

    assert "http://h/x" in text
    for secret in SECRETS:
        assert secret not in text


ADDRESSES = [f"https://{USER}@{NOBODY}/develop{QUERY}", f"//{USER}@h/x{QUERY}"]


@pytest.mark.parametrize(
    "form", ["--json", "--jsonl", "--csv", "--markdown", "--columns=tag,labels,urls"]
)
def test_no_secret_of_a_list_of_tags_is_shown(form: str, program: Program) -> None:
    path = program.home / "cache_spack_io_index.json"
    entries = [{"label": url, "url": url} for url in ADDRESSES]
    path.write_text(json.dumps(dict.fromkeys(("develop", *ADDRESSES), entries)))
    tags = program("sources", "--tags", form, SPACKSCOPE_PUBLIC=str(path))
    problems = program("sources", "--problems", form, "-f", "public", SPACKSCOPE_PUBLIC=str(path))

    assert "develop" in tags.stdout
    for secret in SECRETS:
        for each in (tags, problems):
            assert secret not in each.stdout + each.stderr


def test_no_secret_of_a_mirror_of_spack_is_shown(program: Program, tmp_path: Path) -> None:
    entries = []
    for number, url in enumerate(URLS):
        if url.isprintable() and url.isascii():
            entries.append(f'  m{number}: {{url: "{url}", access_pair: [me, s3cr3t]}}')
    config = tmp_path / ".spack"
    config.mkdir()
    entries.append(f'  "https://{USER}@h": https://h/x')
    entries.append(f'  "//{USER}@h": {{}}')
    includes = [f'  - "{url}"' for url in URLS if url.isprintable() and url.isascii()]
    (config / "mirrors.yaml").write_text("mirrors:\n" + "\n".join(entries))
    (config / "include.yaml").write_text("include:\n" + "\n".join(includes))

    with serve_files({}) as server:
        clouds = {"AWS_ENDPOINT_URL": f"http://{NOBODY}", "STORAGE_EMULATOR_HOST": server.url}
        result = program(
            "sources", "--json", stdin=None, **clouds, NO_GCE_CHECK="true", SPACKSCOPE_FROM=""
        )
    unknown = program("sources", "-f", "spack:x")
    completed = program("complete", "zsh", "--", "sources", "-f", "spack:", prints="spack:m0")
    assert result.returncode == 3
    assert "spack:m0" in result.stderr
    assert "spack:m0" in unknown.stderr
    for secret in SECRETS:
        for each in (result, unknown, completed):
            assert secret not in each.stdout + each.stderr
