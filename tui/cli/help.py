"""The help of each command, as it is printed."""

from __future__ import annotations

from spackscope.tui.cli.setup_help import SETUP_COMMANDS

_ALL = """\
  --all              also list dependency-only specs
"""

_SOURCES = f"""\
  -f, --from SOURCE  read this source; may be repeated: a page, index.json,
                     spack.lock or spec file; a directory of pages, an install
                     tree, an environment or a mirror; a URL of https, http,
                     file, s3, gs or oci; spack:NAME, a mirror of your Spack;
                     public or public:TAG, the public cache; - for stdin;
                     sample, some bundled pages.
                     Default: SPACKSCOPE_FROM, else those configured, else the
                     mirrors and install trees of your Spack; without a Spack
                     the sample
{_ALL}\
  --no-color         use no colour, like NO_COLOR in the environment
  -h, --help         print this help
"""

_HOST = """\
  --host HOST        check what fits on this host: 'target=zen3 glibc=2.34',
                     or zen3; also os=, platform=, musl= and
                     libc=glibc@2.34:/opt/sysroot. Default: SPACKSCOPE_HOST,
                     else the one configured, else this machine
"""

_QUERY = """\
query:
  a Spack spec, such as 'hdf5@1.14: +mpi target=:zen3'; quote what your shell
  would interpret. `spackscope help query` lists all forms.
"""

_EXIT = """\
exit codes:
  0 found   1 nothing matched   2 wrong usage   3 a source cannot be read
  70 unexpected error   130 interrupted
"""

_EXIT_OF_DIFF = """\
exit codes:
  0 alike   1 different   2 wrong usage, or a word does not name one spec
  3 a source cannot be read   70 unexpected error   130 interrupted
"""

BROWSE = "browse"
"""The command where none is given; it is not a word of the command line."""

HELP = "help"
"""The word that prints a topic; it is not one of the commands, as it reads no source."""

ESSENTIAL = "essentials"
"""The topic of `--help` without a command."""

COMMANDS = {
    BROWSE: f"""\
usage: spackscope [-f SOURCE]... [QUERY...]
       spackscope COMMAND [--help] ...
       spackscope help [COMMAND | query]

Browse the binaries in Spack build caches, and pick the one that fits.

commands:
  find               list matching specs, as a table or for a script
  show               print everything about one spec
  needs              list what a spec needs to run
  doubles            list packages with several hashes in an environment
  cover              list what caches have of an environment, and lack
  diff               print how specs differ, and whether they run the same
  pick               choose in the browser, and print the hashes
  stats              count matching specs by a column or variant, or by two
  sources            list the sources, with kind, specs, problems and age
  index              build or refresh the index of the sources
  config             print the settings and their origins, or check them
  extension          give Spack the command `spack scope`
  completion         print the completion script of bash, zsh or fish
  man                show the manual, or that of the query language
  help               print this help, or on a command, or on `query`
  Without a command the browser opens. Put -- before a query that begins with
  one of these words, as where a package has such a name.

options:
{_HOST}{_SOURCES}  --version          print the version

{_QUERY}
{_EXIT}
examples:
  spackscope
  spackscope hdf5 +mpi target=:zen3
  spackscope -f public -f ~/spack/opt/spack 'cached !installed'
  spackscope -- find
""",
    "find": f"""\
usage: spackscope find [-f SOURCE]... [--json | --jsonl | --csv | --hashes |
                       --keep-list] [QUERY...]

List matching specs: on a terminal as a table that fits it, elsewhere with
tabs between the columns, a header line and full hashes.

options:
  --json             print a JSON array of objects
  --jsonl            print one JSON object per line
  --csv              print comma-separated values with a header line
  --hashes           print full hashes, one per line, each once
  --keep-list        print them and the hashes of all that they need to run,
                     a list for `spack buildcache prune`
{_HOST}{_SOURCES}
{_QUERY}
{_EXIT}
examples:
  spackscope find py-ml-dtypes target=aarch64
  spackscope find --json 'py-*' %gcc@13: | jq '.[].hash'
  spackscope find --csv os=ubuntu24.04 > ubuntu.csv
""",
    "show": f"""\
usage: spackscope show [-f SOURCE]... [--json] HASH | QUERY...

Print the spec with this hash, and the line that installs it. A unique hash
prefix is enough, and so is a query that matches one spec. A hash that is in
several tags or sources is printed for each. If several hashes match, they are
listed on stderr, and the exit code is 2.

The mirrors that list it are asked who signed it, and whether its archive is
there. The key is read from the signature, which nothing but Spack verifies.

options:
  --json             print one JSON object per record and line
{_HOST}{_SOURCES}
{_EXIT}
examples:
  spackscope show 23r4fq5
  spackscope show --json /23r4fq5ly72u3bfmbi3o3unokk4d5ipr
  spackscope show py-build@1.2.1 os=ubuntu22.04 /pfq
""",
    "needs": f"""\
usage: spackscope needs [-f SOURCE]... [--json] HASH | QUERY...

Print what a spec needs to run: all that it links or runs, directly or not,
which an install from a build cache fetches. Each is shown with its states and
the size of its archive, if a manifest tells it; the sum is over those that are
not installed. External specs are assumed on the host. What is needed to build
only comes last. The spec is named as for `spackscope show`.

options:
  --json             print a JSON object
{_SOURCES}
{_EXIT}
examples:
  spackscope needs 23r4fq5
  spackscope needs hdf5@1.14.6 os=rocky9 +mpi --json | jq '.needs[].hash'
""",
    "doubles": f"""\
usage: spackscope doubles [--ignore NAME]... [--json] [SOURCE...]

List the packages that have several hashes in an environment or install tree,
grouped by the difference that causes it, the deepest dependency first. Each
hash is printed with its version, how many roots need it, and a path from one
of them. Build-only packages are listed apart. A SOURCE is a spack.lock, the
directory or name of an environment, an install tree, or anything that -f
takes; several are read as one.

options:
  --ignore NAME      leave out this package, or all that a pattern matches
  --all              list all hashes and causes
  --json             print a JSON object
{_SOURCES.replace(_ALL, "")}
exit codes:
  0 none   1 some packages have several hashes   2 wrong usage
  3 a source cannot be read   70 unexpected error   130 interrupted

examples:
  spackscope doubles spack.lock
  spackscope doubles ~/spack/opt/spack --ignore cmake --ignore 'py-*'
""",
    "cover": f"""\
usage: spackscope cover [-f CACHE]... [--missing] [--all] [--hashes | --json]
                        [ENVIRONMENT]

Print how much of an environment is in caches or installed, and why the rest is
not. Missing specs are listed in build order, each with its role (root, build
only) and how the nearest spec that is there differs from it. One that holds up
others can be built at once, as nothing that it needs is missing. To fetch and
to build are what an install would do. The ENVIRONMENT is a spack.lock, the
directory or name of an environment, or - for hashes on standard input; by
default it is the active one. concretizer:reuse, include_binary, exclude_binary
and externals of packages.yaml are not considered.

options:
  --missing          print only what is missing
  --all              also list what is there, with its source, and externals
  --hashes           print the full hashes of what is there; with --missing of
                     what is missing, dependencies first
  --json             print a JSON object
{_SOURCES.replace(_ALL, "")}
exit codes:
  0 nothing is missing   1 something is missing   2 wrong usage
  3 a source cannot be read   70 unexpected error   130 interrupted

examples:
  spackscope cover spack.lock -f public
  spackscope cover climate --missing --hashes > to-push
  spackscope find -f ~/tree --hashes | spackscope cover - -f spack:site
""",
    "diff": f"""\
usage: spackscope diff [-f SOURCE]... [--build] [--all] [--json] SPEC SPEC...
       spackscope diff [--all] [--json] OLD-SOURCE NEW-SOURCE

Print what makes 2 to 20 specs different, and whether they run the same. Each
word is a hash, a unique hash prefix, or a quoted query that matches one spec.
Of two specs the causes are listed: what differs by itself, through which
dependencies it is reached, and at how many packages if at several. What only
follows from them is left out. Of more specs a table shows what varies.

Of two sources, such as two spack.lock files, the packages are listed that were
added, removed and changed, and how many changed only because of others. Two
words are sources if both are URLs, public:TAG, spack:NAME, - for stdin, or
paths that exist, and no -f is given.

options:
  --build            list differences of what is used for building only, too
  --all              list all differences with what follows from them
  --json             print a JSON object
{_SOURCES.replace(_ALL, "")}
{_EXIT_OF_DIFF}
examples:
  spackscope diff uehz56w wuqgt3p
  spackscope diff 'hdf5@1.14.6 /ueh' 'hdf5@1.14.5 +mpi os=rocky9' --build
  spackscope pick hdf5@1.14.6 | xargs spackscope diff
  git show HEAD~1:spack.lock | spackscope diff - spack.lock
  spackscope diff public:v1.0.0 public:develop
""",
    "pick": f"""\
usage: spackscope pick [-f SOURCE]... [QUERY...]

Choose in the browser, and print the full hash of the choice, or of all marked
specs, one per line. Leaving without a choice gives exit code 130.

options:
{_HOST}{_SOURCES}
{_QUERY}
{_EXIT}
examples:
  spack install --cache-only "/$(spackscope pick py-safetensors)"
  spackscope pick py-build | tee chosen
""",
    "stats": f"""\
usage: spackscope stats COLUMN|VARIANT [-f SOURCE]... [--json | --csv]
                        [QUERY...]
       spackscope stats --by FIRST [--by SECOND] ...

Count matching specs by a column or a variant: on a terminal with bars,
elsewhere with a tab between value and count. With two the counts are a
matrix, which shows where there are binaries and where there are none.

options:
  --by NAME          a column (package, version, compiler, os, target, stack,
                     tag, state, source, platform, arch, namespace, flags,
                     variants) or the name of a variant, such as mpi; a spec
                     counts at each value of a list; none: it has no value.
                     Without --by it is the first word.
  --json             print a JSON array of objects with value and count
  --csv              print comma-separated values with a header line
{_HOST}{_SOURCES}
{_QUERY}
{_EXIT}
examples:
  spackscope stats target
  spackscope stats --by compiler --by target hdf5
  spackscope stats --by cuda_arch +cuda
""",
    "sources": f"""\
usage: spackscope sources [-f SOURCE]... [--verify] [--json]

List the sources: what each is, how many specs it has, how many problems, and
when a remote source was last known to be current. Of a mirror also what is
signed, by the signatures of some specs: the key that they name, and the line
to type to trust it. Nothing is verified; Spack does that when it installs.

With --verify read them again, and list the records whose content does not
give their hash, and of mirrors the specs that are not in the index, only in
the index, or without their archive. Exit code 0: nothing is listed, 1: some
are, 3: something cannot be read. Pages and formats from before Spack 0.18
cannot be checked, nor mirrors that cannot be listed, as on web servers.

options:
  --verify           check the hash of each record, and the files of mirrors
  --json             print one JSON object per source and line
{_SOURCES}
{_EXIT}
examples:
  spackscope sources
  spackscope sources -f spack:develop -f ~/spack/opt/spack
  spackscope sources --verify -f ~/mirror
""",
    "index": f"""\
usage: spackscope index [-f SOURCE]... [--rebuild]

Build the index file of the sources, or refresh it if they changed; print what
it contains, where it is, and all problems. Other commands do the same when
they need to.

options:
  --rebuild          read all files again, even unchanged ones
{_SOURCES}
{_EXIT}
examples:
  spackscope index -f ~/cache/_cache
  spackscope index --rebuild
""",
    **SETUP_COMMANDS,
}
"""The help of each command."""
