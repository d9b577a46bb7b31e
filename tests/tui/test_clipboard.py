"""Copying, tried with real programs: a tmux server of its own, and shell scripts on PATH."""

import base64
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

import pexpect
import pytest

from spackscope.tui import clipboard
from tests.program import PATIENCE, wait_until, write_script
from tests.tmux import Tmux, running_tmux

HASH = "23r4fq5ly72u3bfmbi3o3unokk4d5ipr"
TERMINAL = "terminal, OSC 52"
STORE = "cat > {stored}; printf '%s\\n' \"$@\" > {stored}.args"
FAIL = (
    "cat > /dev/null; echo 'Error: cannot reach the \x1b[31mdisplay.' >&2; echo more >&2; exit 3"
)
STAY_BEHIND = "cat > {stored}; sleep 60 & echo $! > {stored}.pid; exit 0"
HANG = "sleep 600 & echo $! > {stored}.pid; wait"


class Desk:
    """A directory of scripts, what they stored, and what the terminal was sent."""

    def __init__(self, directory: Path) -> None:
        self.programs = directory / "bin"
        self.programs.mkdir()
        self.sent: list[str] = []
        self._hanging: dict[str, Path] = {}
        # The scripts need cat and sleep, but must not find a real xclip beside them.
        for name in ("cat", "sleep"):
            real = shutil.which(name)
            assert real is not None
            (self.programs / name).symlink_to(real)

    def add(self, name: str, body: str) -> Path:
        """Write a script to PATH and return the file in which it stores its stdin."""
        stored = self.programs.parent / f"{name}.stored"
        first = "" if body.startswith("#!") else "#!/bin/sh\n"
        text = first + body.format(stored=quote(str(stored))) + "\n"
        script = write_script(self.programs / name, text)
        if body == HANG:
            self._hanging[str(script)] = Path(f"{stored}.pid")
        return stored

    def timeout(self, program: str) -> float:
        """Return how long a program is waited for: only one that hangs not as long as it takes."""
        if (pid_file := self._hanging.get(program)) is None:
            return PATIENCE
        wait_until(lambda: pid_file.exists() and pid_file.read_text())
        return 0.01

    def copy(
        self, text: str = HASH, *, platform: str = "linux", **environ: str
    ) -> clipboard.Copied:
        """Copy on this desk, in a terminal that takes OSC 52 unless told otherwise."""
        return clipboard.copy(
            text,
            write_terminal=self.sent.append,
            environ={"PATH": str(self.programs), "TERM": "xterm-256color", **environ},
            platform=platform,
        )


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    desk, communicate = Desk(tmp_path), subprocess.Popen.communicate
    monkeypatch.setattr(
        subprocess.Popen,
        "communicate",
        lambda child, data=None, timeout=None: communicate(
            child, data, timeout=desk.timeout(child.args[0])
        ),
    )
    yield desk
    for file in tmp_path.glob("*.pid"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(file.read_text()), signal.SIGKILL)


def decoded(sequence: str) -> str:
    """Return the text an OSC 52 carries, read as a terminal reads it."""
    match = re.fullmatch(r"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07", sequence)
    assert match is not None, sequence[:80]
    return base64.b64decode(match[1], validate=True).decode()


def is_running(pid: int) -> bool:
    """Check whether a process runs; one that is dead but not yet reaped does not."""
    try:
        state = subprocess.run(
            ["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False
        ).stdout
    except FileNotFoundError:
        pytest.skip("ps is not installed")
    return bool(state.strip()) and not state.startswith("Z")


@pytest.mark.parametrize("text", [HASH, '{\n  "name": "héllo 日本"\n\n}'])
def test_the_terminal_is_asked_when_nothing_else_is_there(desk: Desk, text: str) -> None:
    assert desk.copy(text) == clipboard.Copied(text, TERMINAL, ())
    assert [decoded(sequence) for sequence in desk.sent] == [text]


@pytest.mark.parametrize("length", [1, 56, 57, 58, 1_000, 50_000])
def test_gnu_screen_passes_the_sequence_through_in_chunks(desk: Desk, length: int) -> None:
    text = "x" * length
    desk.copy(text, STY="1234.pts-0.login1", TERM="screen-256color")
    strings = re.findall(r"\x1bP(.*?)\x1b\\", desk.sent[0], re.DOTALL)
    assert "".join(f"\x1bP{string}\x1b\\" for string in strings) == desk.sent[0]
    assert max(map(len, strings)) <= len("\x1b]52;c;") + 76 + len("\x07")
    assert decoded("".join(strings)) == text


@pytest.mark.parametrize("term", ["dumb", "linux", ""])
def test_a_terminal_without_osc_52_is_sent_nothing(desk: Desk, term: str) -> None:
    with pytest.raises(clipboard.CopyFailed, match=f"TERM={term or 'unset'}"):
        desk.copy(TERM=term)
    assert desk.sent == []


def test_the_largest_text_fits_and_one_more_does_not(desk: Desk) -> None:
    largest = clipboard.OSC52_LIMIT // 4 * 3
    desk.copy("x" * largest)
    assert len(desk.sent[0]) <= clipboard.OSC52_LIMIT + len("\x1b]52;c;\x07")
    with pytest.raises(clipboard.CopyFailed, match="takes 74,994 bytes, not 74,996"):
        desk.copy("x" * (largest + 1))
    assert len(desk.sent) == 1


def test_a_terminal_that_is_gone_is_a_failed_way() -> None:
    with Path("/dev/full").open("w") as full:

        def write(sequence: str) -> None:
            full.write(sequence)
            full.flush()

        with pytest.raises(clipboard.CopyFailed, match="No space left on device"):
            clipboard.copy(HASH, write_terminal=write, environ={"TERM": "xterm"}, platform="linux")
        with contextlib.suppress(OSError):
            full.close()


@pytest.mark.parametrize(
    ("tool", "arguments", "environ"),
    [
        ("xclip", ["-selection", "clipboard"], {"DISPLAY": ":0"}),
        ("wl-copy", ["--type", "text/plain"], {"WAYLAND_DISPLAY": "wayland-0"}),
        ("clip.exe", [""], {"WSL_DISTRO_NAME": "Ubuntu"}),
        ("pbcopy", [""], {}),
    ],
)
def test_a_local_tool_is_given_the_text(
    desk: Desk, tool: str, arguments: list[str], environ: dict[str, str]
) -> None:
    stored = desk.add(tool, STORE)
    copied = desk.copy(platform="darwin" if tool == "pbcopy" else "linux", **environ)
    assert copied == clipboard.Copied(HASH, tool, ())
    assert stored.read_bytes() == HASH.encode()
    assert Path(f"{stored}.args").read_text().splitlines() == arguments
    assert desk.sent == []


def test_windows_is_given_utf_16_for_text_beyond_ascii(desk: Desk) -> None:
    stored = desk.add("clip.exe", STORE)
    desk.copy("héllo", WSL_INTEROP="/run/WSL/1_interop")
    assert stored.read_bytes().decode("utf-16-le") == "héllo"


def test_a_tool_without_its_display_or_system_is_not_tried(desk: Desk) -> None:
    stored = [desk.add(tool, STORE) for tool in ("xclip", "wl-copy", "pbcopy", "clip.exe")]
    assert desk.copy(SPACKSCOPE_COPY="  ") == clipboard.Copied(HASH, TERMINAL, ())
    assert not any(path.exists() for path in stored)


def test_wayland_comes_before_x_and_xclip_before_xsel(desk: Desk) -> None:
    desk.add("xsel", STORE)
    displays = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}
    assert desk.copy(**displays).method == "xsel"
    desk.add("xclip", STORE)
    assert desk.copy(**displays).method == "xclip"
    desk.add("wl-copy", STORE)
    assert desk.copy(**displays).method == "wl-copy"


DISPLAY, WAYLAND = {"DISPLAY": ":0"}, {"WAYLAND_DISPLAY": "wayland-0"}
WORDS = "xclip -selection clipboard"


@pytest.mark.parametrize(
    ("tool", "script", "environ", "failure"),
    [
        ("xclip", FAIL, DISPLAY, f"{WORDS} failed: Error: cannot reach the ?[31mdisplay."),
        ("xclip", "#!/no/such/interpreter", DISPLAY, f"{WORDS} did not start: No such file"),
        ("wl-copy", "cat > /dev/null; exit 7", WAYLAND,
         "wl-copy --type text/plain failed: exit code 7."),
        ("mine", HANG, {"SPACKSCOPE_COPY": "mine --paste"},
         "mine … did not end within 120 seconds."),
        ("mine", STORE, {"SPACKSCOPE_COPY": "mine 'open"},
         "the copy command cannot be read: No closing quotation."),
        ("mine", STORE, {"SPACKSCOPE_COPY": "nowhere-copy --now"},
         "nowhere-copy is not installed."),
        ("mine", STORE, {"SPACKSCOPE_COPY": "mine\x1b[2J"}, "mine?[2J is not installed."),
    ],
)  # fmt: skip
def test_after_a_failing_tool_the_terminal_is_tried_and_the_reason_shown_without_escapes(
    desk: Desk, tool: str, script: str, environ: dict[str, str], failure: str
) -> None:
    desk.add(tool, script)
    copied = desk.copy(**environ)
    assert copied.method == TERMINAL
    first, *others = copied.failures
    assert first.replace("'", "").startswith(failure)
    assert others == (["xsel is not installed."] if tool == "xclip" else [])


def test_a_tool_that_reads_nothing_of_a_large_text_does_not_break_the_pipe(desk: Desk) -> None:
    desk.add("xclip", "exit 1")
    with pytest.raises(clipboard.CopyFailed, match="exit code 1"):
        desk.copy("x" * 1_000_000, DISPLAY=":0")


def test_a_daemon_that_stays_behind_holding_its_streams_is_not_waited_for(desk: Desk) -> None:
    stored = desk.add("xclip", STAY_BEHIND)
    copied = desk.copy(DISPLAY=":0")
    assert copied == clipboard.Copied(HASH, "xclip", ())
    assert stored.read_text() == HASH
    assert is_running(int(Path(f"{stored}.pid").read_text()))


@pytest.mark.parametrize("text", [HASH, "x" * 1_000_000], ids=["short", "larger than a pipe"])
def test_a_tool_that_hangs_is_ended_with_its_children(desk: Desk, text: str) -> None:
    pid_file = Path(f"{desk.add('xclip', HANG)}.pid")
    stored = desk.add("xsel", STORE)
    copied = desk.copy(text, DISPLAY=":0")
    assert copied.method == "xsel"
    assert copied.failures == ("xclip -selection clipboard did not end within 120 seconds.",)
    assert stored.read_text() == text
    wait_until(lambda: not is_running(int(pid_file.read_text())))


def test_a_tool_works_where_no_temporary_file_can_be_made(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/no/such/directory")
    desk.add("xclip", FAIL)
    desk.add("xsel", STORE)
    copied = desk.copy(DISPLAY=":0")
    assert copied.method == "xsel"
    assert copied.failures == ("xclip -selection clipboard failed: exit code 3.",)


@pytest.mark.parametrize("variable", ["SSH_CONNECTION", "SSH_TTY", "SSH_CLIENT"])
def test_over_ssh_a_forwarded_display_takes_what_the_terminal_cannot(
    desk: Desk, variable: str
) -> None:
    stored = desk.add("xclip", STORE)
    forwarded = {"DISPLAY": "localhost:10.0", variable: "x"}
    assert desk.copy(**forwarded).method == TERMINAL
    assert not stored.exists()
    copied = desk.copy("x" * 100_000, **forwarded)
    assert copied.method == "xclip"
    assert copied.failures == ("terminal (OSC 52) takes 74,994 bytes, not 133,336.",)
    assert stored.read_text() == "x" * 100_000


def test_over_ssh_the_clipboard_of_the_far_machine_is_left_alone(desk: Desk) -> None:
    stored = [desk.add(tool, STORE) for tool in ("pbcopy", "clip.exe")]
    with pytest.raises(clipboard.CopyFailed):
        desk.copy(platform="darwin", TERM="dumb", SSH_TTY="/dev/pts/1", WSL_DISTRO_NAME="Ubuntu")
    assert not any(file.exists() for file in stored)


def test_the_users_command_comes_first_and_runs_without_a_shell(desk: Desk) -> None:
    stored = desk.add("mine", STORE)
    own = "mine 'two words' ; $HOME"
    copied = desk.copy(SPACKSCOPE_COPY=own, TMUX="/nowhere,1,0", DISPLAY=":0")
    assert copied == clipboard.Copied(HASH, "mine …", ()), "an argument may be a password"
    assert stored.read_text() == HASH
    assert Path(f"{stored}.args").read_text() == "two words\n;\n$HOME\n"


def test_a_users_command_may_write_to_the_terminal_it_was_started_in(tmp_path: Path) -> None:
    program = (
        "import os; from spackscope.tui import clipboard; "
        f"print(clipboard.copy({HASH!r}, write_terminal=print, environ=os.environ).method)"
    )
    environ = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(sys.path),
        "SPACKSCOPE_COPY": "sh -c 'echo \"[$(cat)]\" > /dev/tty'",
    }
    child = pexpect.spawn(sys.executable, ["-c", program], env=environ, timeout=PATIENCE)
    child.expect_exact(f"[{HASH}]")
    child.expect_exact("sh …".encode())
    child.close()


@pytest.mark.parametrize(
    "text",
    [
        *("", "   ", "\n", f"{HASH}\n", f"\n{HASH}", f"{HASH}\n  ", f"{HASH}\r", f"{HASH}\t"),
        *("a\x00b", "a\x1b[31mb", "a\x7fb", "a\x9bb", "a\u202eb", "a\u200bb", "a\u2028b"),
        *("a\ud800b", "\U000e0041"),
    ],
    ids=ascii,
)
def test_text_unsafe_to_paste_is_refused_before_anything_is_tried(desk: Desk, text: str) -> None:
    stored = desk.add("mine", STORE)
    with pytest.raises(ValueError, match="not copied") as refused:
        desk.copy(text, SPACKSCOPE_COPY="mine")
    assert str(refused.value).isprintable()
    assert not stored.exists()
    assert desk.sent == []


def test_when_every_way_fails_the_message_lists_each_one_once(desk: Desk) -> None:
    desk.add("mine", "exit 9")
    desk.add("xclip", FAIL)
    with pytest.raises(clipboard.CopyFailed) as failed:
        desk.copy(SPACKSCOPE_COPY="mine", TMUX="/nowhere,1,0", DISPLAY=":0", TERM="dumb")
    assert failed.value.failures == (
        "mine failed: exit code 9.",
        "tmux is not installed.",
        "xclip -selection clipboard failed: Error: cannot reach the ?[31mdisplay.",
        "xsel is not installed.",
        "terminal (OSC 52) cannot be used with TERM=dumb.",
    )
    assert str(failed.value) == "Nothing was copied. " + " ".join(failed.value.failures)


# tmux


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    with running_tmux(tmp_path, "sh", PYTHONPATH=os.pathsep.join(sys.path)) as server:
        yield server


def copy_in_pane(tmux: Tmux, directory: Path, text: str, path: str | None = None) -> list[str]:
    """Call copy() in a new window and return the way, the failures, and any bytes for OSC 52."""
    report = directory / "report"
    program = directory / "program.py"
    program.write_text(
        "import os, pathlib\n"
        "from spackscope.tui import clipboard\n"
        "sent = []\n"
        f"environ = dict(os.environ, PATH={path!r} or os.environ['PATH'])\n"
        f"done = clipboard.copy({text!r}, write_terminal=sent.append, environ=environ)\n"
        f"part = pathlib.Path({str(report)!r} + '.part')\n"
        "part.write_text('\\n'.join([done.method, *done.failures, *map(repr, sent)]))\n"
        f"part.rename({str(report)!r})\n"
    )
    tmux("new-window", "-d", sys.executable, str(program))
    wait_until(report.exists, message=lambda: "the program in the pane did not end")
    return report.read_text().split("\n")


@pytest.mark.parametrize("text", [HASH, f"spack install /{HASH}\nspack 日本 '$x'", "x" * 100_000])
def test_in_tmux_the_buffer_holds_the_text(tmux: Tmux, tmp_path: Path, text: str) -> None:
    assert copy_in_pane(tmux, tmp_path, text) == ["tmux"]
    # Under a C locale tmux would print marks for what is not ASCII, so the buffer is saved.
    tmux("save-buffer", str(tmp_path / "buffer"))
    assert (tmp_path / "buffer").read_text(encoding="utf-8") == text
    if text == HASH:
        assert tmux("show-buffer") == HASH


@pytest.mark.parametrize("setting", ["external", "on", "off"])
def test_in_tmux_the_outer_terminal_is_handed_the_text(
    tmux: Tmux, tmp_path: Path, setting: str
) -> None:
    if float(re.sub(r"[^0-9.]", "", tmux("-V")) or 0) < 3.2:
        pytest.skip("tmux hands buffers on since 3.2")
    tmux("set-option", "-s", "set-clipboard", setting)
    outer = pexpect.spawn(
        tmux.command[0],
        [*tmux.command[1:], "attach-session", "-t", "main"],
        env=tmux.environ,
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=PATIENCE,
    )
    wait_until(lambda: tmux("list-clients"))
    assert copy_in_pane(tmux, tmp_path, HASH) == ["tmux"]
    outer.expect(r"\x1b\]52;c?;([A-Za-z0-9+/=]+)(\x07|\x1b\\)")
    assert base64.b64decode(outer.match.group(1)).decode() == HASH
    outer.close(force=True)


def test_a_tmux_too_old_to_hand_on_still_gets_its_buffer(tmux: Tmux, tmp_path: Path) -> None:
    real = shutil.which("tmux")
    old = write_script(
        tmp_path / "old" / "tmux",
        '#!/bin/sh\n[ "$2" = -w ] && { echo "tmux: unknown option -- w" >&2; exit 1; }\n'
        f'exec {real} "$@"\n',
    )
    path = f"{old.parent}{os.pathsep}{os.environ['PATH']}"
    assert copy_in_pane(tmux, tmp_path, HASH, path) == [
        "tmux",
        "tmux load-buffer -w - failed: tmux: unknown option -- w.",
    ]
    assert tmux("show-buffer") == HASH


def test_a_tmux_server_that_is_gone_gives_way_to_the_terminal(tmp_path: Path) -> None:
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    sent: list[str] = []
    copied = clipboard.copy(
        HASH,
        write_terminal=sent.append,
        environ={
            "PATH": os.environ["PATH"],
            "TERM": "tmux-256color",
            "TMUX": f"{tmp_path}/gone,1,0",
        },
        platform="linux",
    )
    assert copied.method == TERMINAL
    assert len(copied.failures) == 2
    assert all("load-buffer" in failure for failure in copied.failures)
    assert decoded(sent[0]) == HASH
