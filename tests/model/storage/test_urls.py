"""URLs are split, checked and shown by one module, and their schemes open storages."""

import contextlib
import os
import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spackscope.model.core.errors import NotFound, SourceError
from spackscope.model.core.redaction import library_message, shown_url, without_secrets
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import LocalFolder, Wanted, is_remote, scheme_of
from spackscope.model.storage.urls import Url, local_path, split_url
from tests.documents import ROOT
from tests.model.storage.machine import NEW, Machine

SECRET = "s3cr3t"


def test_no_other_module_splits_or_joins_urls() -> None:
    for path in [*ROOT.glob("model/**/*.py"), *ROOT.glob("tui/**/*.py")]:
        name = path.relative_to(ROOT).as_posix()
        imported = re.findall(
            r"^\s*((?:from|import) urllib[. ].*)", path.read_text("utf-8"), re.MULTILINE
        )
        # Addresses of web pages are to be read by people, too.
        assert not imported or name in ("model/storage/urls.py", "model/sources/site_url.py"), name


REFUSED = {
    "its host cannot be read": [
        *("http://[::1/x", "file://[::1/x", "http://[zz]/x", "http://[fe80::1%eth0]/x"),
        *("http://[::1]x/", "http://a b/", "http://h\\@other/", "http://h%2fother/"),
        *("http://a..b/", f"http://{'a.' * 200}/", f"http://{'a' * 64}/", "http://a\u2100b/"),
    ],
    "its port is not a number up to 65,535": [
        *("http://h:no/", "http://h:65536/", "http://h:-1/", "http://h:\u0663/"),
        f"http://h:{'1' * 5000}/",
    ],
    "it has a control character": ["http://h/a\0b", "http://h/a\r\nHost: other", "http://h/a\tb"],
    "it has bytes that are not text, which have to be written as %XX": [
        *("http://h/\udcff", "oci://h/\ud800", "http://u:\udcff@h/")
    ],
    "it has no scheme, such as https://": ["h/x"],
    "it is longer than 16,384 characters": [f"http://h/{'x' * 70_000}"],
    "a bucket has no port": ["s3://bucket:1/x"],
}


@pytest.mark.parametrize("reason", REFUSED)
def test_a_text_that_is_not_a_url_is_refused_in_one_sentence(reason: str) -> None:
    for url in REFUSED[reason]:
        with pytest.raises(SourceError) as raised:
            split_url(url)
        assert str(raised.value).endswith(f" is not a valid URL: {reason}"), url
        assert len(str(raised.value)) < 300


def test_a_url_is_split_into_what_can_be_sent() -> None:
    split = split_url("HTTPS://ann:p%40w@B\u00fccher.Example:8443/a b/\u00e9[1]?q=\u00e9 x#part")

    assert (split.scheme, split.host, split.port) == ("https", "xn--bcher-kva.example", 8443)
    assert split.server == "https://xn--bcher-kva.example:8443"
    assert split.address.removeprefix(split.server) == "/a%20b/%C3%A9%5B1%5D?q=%C3%A9%20x"
    assert split.credentials == (b"ann", b"p@w")
    assert split.authorization == "Basic YW5uOnBAdw=="
    assert split_url("s3://My_Bucket/x").netloc == "My_Bucket"
    assert split_url("http://[::1]:80/").netloc == "[::1]:80"
    longest = "a." * 126 + "b"
    assert split_url(f"http://{longest}/").host == longest


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("http://h/a", "http://h/b?c", True),
        ("http://h/", "http://H:80/", True),
        ("https://h/", "https://u:p@h:443/", True),
        *(("https://h/", other, False) for other in ("http://h/", "http://h:443/")),
        *(("https://h/", f"https://{other}", False) for other in ("h:444/", "h.evil/", "s.h")),
        ("http://127.0.0.1/", "http://localhost/", False),
        ("http://h:0/", "http://h/", False),
    ],
)
def test_credentials_are_for_one_scheme_host_and_port(one: str, other: str, is_same: bool) -> None:
    assert split_url(one).is_same_server(split_url(other)) is is_same


@pytest.mark.parametrize(
    ("reference", "joined"),
    [
        *(("b", "https://h:1/top/b"), ("/b?c", "https://h:1/b?c")),
        ("//other/b", "https://other/b"),
        ("http://u:p@h/b#c", "http://h/b"),
    ],
)
def test_what_a_server_refers_to_is_seen_from_its_own_url(reference: str, joined: str) -> None:
    assert split_url("https://ann:pw@h:1/top/a?q").resolve(reference).address == joined


def test_a_broken_reference_or_name_is_refused() -> None:
    for reference in ("http://[::1", "a\nb", "//h:x/", "http://h/\udcff"):
        with pytest.raises(SourceError, match="is not a valid URL"):
            split_url("https://h/a").resolve(reference)
    for name in ("a\udcff", "a\0b"):
        with pytest.raises(SourceError, match="whose name is not text"):
            split_url("https://h/a").below(name)


def test_a_file_url_names_a_path_of_this_machine() -> None:
    for host in ("", "localhost", "LOCALHOST"):
        assert local_path(f"file://{host}/a%20b/\u00e9") == "/a b/\u00e9"
    assert os.fsencode(local_path("file:///a%ff")) == b"/a\xff"
    for url in ("file://other/x", "file://ann:pw@other/x", "file://127.0.0.2/x", "file:///a%00b"):
        with pytest.raises(SourceError) as raised:
            local_path(url)
        assert "pw" not in str(raised.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"https://ann:{SECRET}@host:8/a@b/c?sig={SECRET}#{SECRET}", "https://…@b/c?…"),
        (f"https://{SECRET}@host/a", "https://host/a"),
        (f"HTTPS://ann:{SECRET}@Host/a", "https://Host/a"),
        (f"unknown://ann:{SECRET}@h/x", "unknown://h/x"),
        (f"http://ann:{SECRET}@[::1/x?t={SECRET}", "http://[::1/x?…"),
        (f"http://ann:{SECRET}@h:no/x", "http://h:no/x"),
        (f"http://ann:pa/{SECRET}@h/x", "http://…@h/x"),
        (f"https://ann:{SECRET}/builds", "https://ann:…"),
        (f"http://ann:pa?{SECRET}@h/x", "http://…"),
        (f"http://h:no/x?a={SECRET}@b", "http://…"),
        (f"my scheme://ann:{SECRET}@h/x?{SECRET}", "my scheme://…@h/x?…"),
        (f"ann:{SECRET}@x://h/y", "…@x://h/y"),
        (f"http:/ann:{SECRET}@h/x?{SECRET}", "http:/…@h/x?…"),
        (f"//ann:{SECRET}@h/x?{SECRET}", "//…@h/x?…"),
        (f"ann:{SECRET}@h/x?token={SECRET}", "…@h/x?…"),
        (f"h/x?token={SECRET}", "h/x?…"),
        (f"/etc/spack/http:/ann:{SECRET}@h/x", "/etc/spack/http:/…@h/x"),
        (f"spack:http://ann:{SECRET}@h/x", "spack:http://…@h/x"),
    ],
)
def test_urls_are_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_a_sentence_is_shown_without_what_may_be_secret_in_it() -> None:
    for url, shown in (("h/x?token=t", "h/x?…"), ("ann:pw@h/x", "…@h/x"), ("a#b", "a#b")):
        assert without_secrets(f"cannot read {url}: not now") == f"cannot read {shown}: not now"


@pytest.mark.parametrize(
    "text",
    [
        *("s3://bucket/a", "file:///a/b", "http://h:80/x", "/a?b@c", "public:develop"),
        *("/spack@develop/zlib@1.2:1.3", "https://h/cache_spack_io_index.json#develop,v1"),
        *("hdf5@1.14:", "gcc@12", "target=x86_64:", "target=zen2:%gcc@12", "user@host"),
        *("hdf5@1.12:1.14%gcc@11:^zlib@1.3", "hdf5@git.main=1.2:%gcc@12"),
        *("git@github.com:org/x", "spack:my@mirror", "source=C:\\Users\\me@work"),
        *("build_system:=python_pip@1.2", "build_system:=python_pip@=1.2.1/vpt"),
        "py-build architecture=--x86_64:@1.2%gcc@12",
    ],
)
def test_a_text_without_secrets_is_shown_as_it_is(text: str) -> None:
    assert shown_url(text) == text


@pytest.mark.parametrize("part", [":", "@", "/", "//", "?", "a:", ":@", "u:p@/", "://", "a.", "é"])
def test_long_texts_take_no_time(part: str) -> None:
    for text in (part * 100_000, "http://" + part * 8_000, "http://h/" + part * 8_000):
        with contextlib.suppress(SourceError):
            split_url(text)
        shown_url(text)
        without_secrets(text)


@pytest.mark.parametrize(
    "quoted", [f"b'{SECRET}\\nx'", f'b"{SECRET}"', f": bytearray(b'Location: {SECRET}')"]
)
def test_a_header_that_a_library_quotes_is_not_printed(quoted: str) -> None:
    separator = "" if quoted.startswith(":") else " "
    assert library_message(f"Invalid header value{separator}{quoted}") == "Invalid header value"


def test_messages_of_libraries_are_printed_without_secrets() -> None:
    message = library_message(f'no way to "http://ann:{SECRET}@h:1/x?list=2&t={SECRET}", sorry')
    assert message == 'no way to "http://h:1/x?…", sorry'
    assert library_message(f"no {'x' * 980} http://ann:{SECRET}@h").endswith("x …")


WHATEVER = st.text(st.characters(codec=None, exclude_categories=()), max_size=30)
LIKE_URLS = st.lists(
    st.sampled_from(
        ["http", "oci", "s3", "file", ":", "/", "//", "://", "@", "?", "#", "[", "]", "::1", "%"]
    )
    | st.sampled_from(
        ["h", ".", "u:p", "80", "\\", " ", "\0", "\n", "\udcff", "\ud800", "\u2100", "é", "~"]
    ),
    max_size=12,
).map("".join)


@given(WHATEVER | LIKE_URLS | LIKE_URLS.map("http://".__add__))
@example("http://\u2100@[::1]")
def test_any_text_is_split_or_refused(text: str) -> None:
    shown = shown_url(text)
    try:
        split = split_url(text)
    except SourceError:
        return
    for part in (
        split.netloc,
        split.address.removeprefix(split.server),
        split.key,
        split.authorization,
        split.address,
    ):
        part.encode("ascii")
        assert part.isprintable()
    assert split_url(split.address) == Url(
        split.scheme, split.host, split.port, split.path, split.query
    )
    assert scheme_of(shown) == split.scheme


@given(WHATEVER | LIKE_URLS, WHATEVER | LIKE_URLS)
def test_any_reference_is_joined_or_refused(text: str, name: str) -> None:
    base = split_url("https://ann:pw@h:1/top/a?q")
    for act in (lambda: base.resolve(text), lambda: base.below(name)):
        with contextlib.suppress(SourceError):
            assert act().address.isascii()


SCHEMES = ["http", "HTTPS", "file", "s3", "gs", "oci", "oci+http", "unknown", "my scheme", ""]
SEPARATORS = ["://", ":/", "//"]
HOSTS = ["h", "h:80", "h:no", "h:99999", "[::1", "[::1]", "", "h h", "é", "\udcff", "a..b"]


@given(
    st.sampled_from(SCHEMES),
    st.sampled_from(SEPARATORS),
    st.sampled_from(["u:", ":", "u/:", "\udcff:", "é:", "", "\n:"]),
    st.sampled_from([f"{SECRET}", f"x@{SECRET}", f"{SECRET}@x", f"\0{SECRET}", f"{SECRET}é"]),
    st.sampled_from(HOSTS),
    st.sampled_from(["", "/x", "/x@y", "/x:y", "/\udcff"]),
    st.sampled_from(["", f"?{SECRET}", f"?t={SECRET}", f"#t={SECRET}", f"?t={SECRET}@x"]),
)
def test_no_secret_is_shown_whatever_is_wrong_with_its_url(
    scheme: str, separator: str, user: str, secret: str, host: str, path: str, query: str
) -> None:
    url = f"{scheme}{separator}{user}{secret}@{host}{path}{query}"

    texts = [shown_url(url)]
    try:
        split = split_url(url)
        whole = f"{split.scheme}://{split.userinfo}@{split.netloc}{split.address.removeprefix(split.server)}"
        texts += [split.shown, repr(split), without_secrets(f"cannot open '{whole}'")]
        texts += [split.netloc, split.server, repr(split.below("y"))]
    except SourceError as error:
        texts.append(str(error))

    assert SECRET not in "".join(texts)


def test_a_remote_storage_is_recognised_by_its_scheme() -> None:
    far = ["http://x", "HTTPS://x", "s3://x", "gs://x", "oci://x", "oci+http://x"]
    assert all(map(is_remote, far))
    assert not any(map(is_remote, ["file:///x", "/x", "x", "a:b", "git://x"]))


def test_places_open_by_their_scheme(machine: Machine, tmp_path: Path) -> None:
    folder = tmp_path / "my cache"
    folder.mkdir()
    (folder / "index").write_bytes(NEW)
    for address in (folder.as_uri(), str(folder), f"file://localhost{tmp_path}/my%20cache/"):
        fetched = Session(machine.environ).open(address).fetch(Wanted("index"))
        assert Path(fetched.path).read_bytes() == NEW
        assert fetched.origin.startswith(address.rstrip("/"))


def test_the_size_of_a_file_is_read_from_the_directory(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / "abc").write_bytes(b"four")
    folder = LocalFolder(str(tmp_path), "mirror")

    assert folder.size_of("blobs/abc") == 4
    for name, why in (
        ("blobs/none", "does not exist"),
        ("blobs/abc/none", "does not exist"),
        ("blobs", "is not a file"),
    ):
        with pytest.raises(NotFound, match=rf"^mirror/{name} {why}$"):
            folder.size_of(name)
    with pytest.raises(SourceError, match=r"^mirror/x+ .*too long"):
        folder.size_of("x" * 300)
