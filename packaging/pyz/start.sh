#!/bin/sh
{
# spackscope @VERSION@ in one file, which needs nothing but Python 3.10 or newer.
# The first start unpacks it into a cache directory, later ones run what is there.

# A shell reads all of a group before it runs any of it, so that no part of a cut-off file is run.
build=@BUILD@

cache=${XDG_CACHE_HOME:-}
case $cache in /*) ;; *) cache=${HOME:-}/.cache ;; esac
directory=$cache/spackscope/pyz
# With sudo the home may be that of another user.
if [ ! -O "$directory" ] || [ ! -f "$directory/$build/start.py" ]; then
    # Others may have made a directory of that name there, and old files are removed there.
    shared=${TMPDIR:-/tmp}/spackscope-$(id -u 2>/dev/null)
    if [ -O "$shared" ] && [ ! -L "$shared" ] &&
        [ -n "$(find "$shared/$build/start.py" -mtime -1 2>/dev/null)" ]; then
        directory=$shared
    fi
fi
unpacked=$directory/$build

# Nothing is run that others have put there, or can change. The same in Python: unpack.py.
is_private() {
    for file in "$directory" "$unpacked" "$unpacked/site" "$unpacked/start.py" "$unpacked/python"; do
        [ -O "$file" ] || return 1
        set -- "$file" "$@"
    done
    others=$(PATH=$PATH:/usr/bin:/bin find -H "$@" -prune \( -perm -020 -o -perm -002 \) 2>&1) &&
        [ -z "$others" ]
}

export SPACKSCOPE_PYZ="$0"
if [ -z "${SPACKSCOPE_PYTHON:-}" ] && [ -f "$unpacked/start.py" ] && is_private &&
    read -r python <"$unpacked/python" && [ -x "$python" ]; then
    exec "$python" "$unpacked/start.py" "$@"
fi

# Nothing is imported from the directory that the user is in, where others may have put it.
not_here='import sys; sys.path[:] = filter(None, sys.path);'
# Some Pythons are built without the libraries for these modules.
works="$not_here import zlib; sys.exit(sys.version_info < (3, 10))"
find_python() {
    for name in "$@"; do
        python=$(command -v "$name") && "$python" -c "$works" >/dev/null 2>&1 && return
    done
    return 1
}
# Python would take what is left of a cut-off file for a program of its own.
whole="$not_here import zipfile; sys.exit(not zipfile.is_zipfile(sys.argv[1]))"
start_archive() {
    "$python" -c "$whole" "$0" && exec "$python" "$0" "$@"
    echo "spackscope: $0 is damaged or cut off: copy it again" >&2
    exit 3
}
if [ -n "${SPACKSCOPE_PYTHON:-}" ]; then
    find_python "$SPACKSCOPE_PYTHON" && start_archive "$@"
    problem="SPACKSCOPE_PYTHON: $SPACKSCOPE_PYTHON is not Python 3.10 or newer with zlib"
else
    find_python python3 python3.14 python3.13 python3.12 python3.11 python3.10 &&
        start_archive "$@"
    problem="no Python 3.10 or newer with zlib is in PATH; SPACKSCOPE_PYTHON can name one"
fi
echo "spackscope: $problem" >&2
exit 2
}
