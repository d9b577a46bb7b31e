"""What cannot be done is refused with an exit code and a sentence, and nothing is printed."""

import shlex

import pytest

from spackscope.tui.process import ExitCode
from tests.builders.nodes import node
from tests.builders.spack import write_index
from tests.program import Program

USAGE, NOTHING, UNREADABLE = ExitCode.USAGE, ExitCode.NOTHING, ExitCode.UNREADABLE
HASH = "pfqg2xienllgkr2rb23fugktb23zwwbr"
SITE = "https://cache.spack.io/?package=zlib"
COMPLETION = "completion needs one shell, bash, zsh or fish"
AXIS = "stats needs a column or a variant to count by"

REFUSED = [
    # Options
    ("find --nope", USAGE, "unknown option --nope; see `spackscope find --help`"),
    ("find -x", USAGE, "unknown option -x"),
    ("find --js", USAGE, "unknown option --js"),
    ("find --jsn", USAGE, "unknown option --jsn (did you mean --json?); see"),
    ("--form=https://ann:pw@h", USAGE, "unknown option --form (did you mean --from?); see"),
    ("--json", USAGE, "unknown option --json, which `spackscope find` has"),
    ("find '--\x1b[31m'", USAGE, "unknown option --␛[31m"),
    ("find -netcdf", USAGE, "-netcdf (a variant is written ~netcdf, or after --)"),
    ("find -", USAGE, "unknown option -: -f - reads standard input; see"),
    ("extension -f x", USAGE, "unknown option -f"),
    ("find --json --csv", USAGE, "not allowed with argument --json"),
    ("cover spack.lock --json --hashes", USAGE, "not allowed with argument"),
    ("find -f", USAGE, "expected one argument"),
    ("find -f ''", USAGE, "-f needs a source"),
    ("find --hashes=no", USAGE, "ignored explicit argument"),
    ("find --sort -f x", USAGE, "argument --sort: expected one argument"),
    ("find --sort --json", USAGE, "argument --sort: expected one argument"),
    ("find --sort versoin", USAGE, "there is no column versoin. Did you mean version?"),
    ("find --sort -versoin", USAGE, "there is no column versoin. Did you mean version?"),
    ("find --columns ,", USAGE, "--columns names no column"),
    ("find --columns x", USAGE, "there is no column x; there are "),
    ("find --format {x}", USAGE, "there is no column x; there are "),
    ("pick --format {x}", USAGE, "there is no column x"),
    ("find --limit many", USAGE, "--limit takes a number of rows, not many"),
    ("find --limit=-1", USAGE, "--limit takes a number of rows, not -1"),
    ("cover spack.lock --fail-under much", USAGE, "--fail-under"),
    ("cover spack.lock --fail-under 101", USAGE, "--fail-under"),
    ("cover spack.lock --host nosuch=1", USAGE, "Expected platform, os, target"),
    # Words that a command does not take, or needs
    ("find ''", USAGE, "a word of the query is empty"),
    ("index zlib", USAGE, "index takes no query"),
    (f"index {SITE}", USAGE, "index takes no query: write public; see"),
    (f"cover spack.lock -f {SITE}", USAGE, "cover takes no query: write public; see"),
    (f"find {SITE}%0a", USAGE, "package= of the address"),
    ("sources hdf5", USAGE, "takes no query: hdf5"),
    ("extension zlib", USAGE, "extension takes no words: zlib"),
    ("help fnd", USAGE, "no help on fnd. Did you mean find?"),
    ("completion", USAGE, f"{COMPLETION}; see `spackscope completion --help`"),
    ("completion fsh", USAGE, f"{COMPLETION}: fsh. Did you mean"),
    ("completion bash zsh", USAGE, f"{COMPLETION}: bash zsh"),
    ("complete", USAGE, "see `spackscope completion --help`"),
    ("complete bash", USAGE, "see `spackscope completion --help`"),
    ("complete csh -- x", USAGE, "see `spackscope completion --help`"),
    ("complete bash -- 'spackscope x'", USAGE, "see `spackscope completion --help`"),
    ("show", USAGE, "show needs a hash, or a query that matches one spec"),
    ("needs", USAGE, "needs needs a hash, or a query"),
    ("files", USAGE, "files needs a hash"),
    (f"files --having {'x' * 1001}", USAGE, "at most 1,000 characters"),
    ("files pfqg2xi", UNREADABLE, "no install tree or mirror"),
    ("why +mpi", USAGE, "why needs a package, a hash or a lock file: +mpi\n"),
    ("diff", USAGE, "diff needs 2 to 20 specs"),
    ("diff py-build", USAGE, "diff needs 2 to 20 specs"),
    (f"diff py-build ~x {HASH}", USAGE, "Each word is a spec; quote a query: 'py-build ~x'"),
    ("stats os=x", USAGE, AXIS),
    ("stats --by=os --by=tag --by=target", USAGE, f"{AXIS}, or two"),
    ("stats --by", USAGE, "argument --by: expected one argument"),
    ("stats --by targt", USAGE, "variant targt. Did you mean target, tag or state?"),
    ("stats --by 'no\x1bsuch'", USAGE, "Unknown column or variant no␛such"),
    ("stats --by hash", USAGE, "Each spec has its own hash: count by another column"),
    ("stats --by flags", USAGE, "stats by flags needs compiler flags, and pages list none"),
    ("cover - -f -", USAGE, "- is standard input: the environment or a cache, not both"),
    ("cover new -f index.json", UNREADABLE, "is not concretized: it has no spack.lock"),
    # Sources
    ("find -f nowhere", UNREADABLE, "spackscope: the source nowhere does not exist\n"),
    ("find -f loop", UNREADABLE, "the source loop cannot be read: too many levels of"),
    ("find -f empty", UNREADABLE, "the source empty cannot be read: it is empty\n"),
    # Queries
    ("show ^zlib", USAGE, "^zlib needs dependencies, and pages list none"),
    (f"diff {HASH} 'py-build ^['", USAGE, "the query has an error"),
    (f"diff {HASH} py-build", USAGE, "py-build: Several specs match, give the hash of one:"),
    (f"diff {HASH} zzz", USAGE, "zzz: No hash starts with zzz"),
    (f"diff {HASH} nosuch@1", USAGE, "nosuch@1: "),
    (f"diff -f nowhere {HASH} x", UNREADABLE, "nowhere"),
    ("show zzzzz", NOTHING, "No hash starts with zzzzz. Unknown package zzzzz\n"),
    ("show 'py-build os=sequoia'", NOTHING, "No py-build has os=sequoia"),
    ("needs zzzzz", NOTHING, "No hash starts with zzzzz"),
    ("needs p", USAGE, "Several hashes start with p"),
    ("find @2:git.x=2.2", USAGE, "^ Unexpected"),
    ("find target=zen33:,x86_64_v3", USAGE, "Unknown target zen33. Did you mean zen3"),
    ("find !target=:zen33", USAGE, "Unknown target zen33. Did you mean zen3"),
    ("find --hashes os=nosuch target=:zen33", NOTHING, "No spec has os=nosuch"),
    ("find --hashes -f index.json ^zlib target=:zen33", NOTHING, "Unknown target zen33"),
    ("find --hashes zen3", NOTHING, "Did you mean target=:zen3"),
    ("find --hashes zen33", NOTHING, "Did you mean target=:zen3"),
    ("find --hashes ubuntu22.04", NOTHING, "Did you mean os=ubuntu22.04"),
    ("find --hashes gcc@12", NOTHING, "Did you mean %gcc@12"),
    ("find --hashes target=zen33", NOTHING, "Did you mean zen3"),
]


@pytest.mark.parametrize(("line", "code", "sentence"), REFUSED, ids=lambda each: str(each)[:40])
def test_what_cannot_be_done_is_refused_in_a_sentence(
    line: str, code: ExitCode, sentence: str, program: Program
) -> None:
    write_index(program.home, node(dependencies=[]))
    for name, text in (("spack.lock", "{}"), ("new/spack.yaml", "{}"), ("empty", "")):
        program.write(name, text)
    (program.home / "loop").symlink_to("loop")
    words = shlex.split(line)
    message = program.refused(*words, code=code)
    assert sentence in message
    # An error in a query is pointed at, and a query without a match has offers.
    assert message.count("\n") == 1 or words[0] in ("find", "show", "needs", "diff")
