"""The help of the commands that set spackscope up in a shell or a Spack, as it is printed."""

from __future__ import annotations

SETUP_COMMANDS = {
    "extension": """\
usage: spackscope extension [--install | --remove]

Print the directory of the Spack extension with the command `spack scope`,
which starts spackscope with the Spack and the environment that are active. A
Spack whose own Python has spackscope finds it by itself; others need the
directory in their configuration (config:extensions).

With --install register a copy of it in the configuration of the user, by
`spack config` of the Spack of SPACK_ROOT, else of that on PATH. The copy is
in $XDG_DATA_HOME/spackscope, else in ~/.local/share/spackscope. It starts the
program that wrote it, or one on PATH, and says so where there is none.

No command of Spack starts where a registered directory is missing: --install
and --remove mend that. So keep the copy, or --remove it from the configuration
first. For all users of a Spack list a copy that stays in its scope `site`.

options:
  --install          register the extension for your user
  --remove           undo that
  -h, --help         print this help

exit codes:
  0 done, or so already   1 registered in another scope   2 wrong usage
  3 no Spack found, or its configuration cannot be changed
  70 unexpected error   130 interrupted

examples:
  spackscope extension --install
  spack scope find hdf5 +mpi
""",
    "config": """\
usage: spackscope config [--check | --keys | --json]

Print the configuration files, and each setting with its value and where that
comes from: the command line, else a variable of the environment, else the
file of the user, else that for all users, else the default. A file is read
only where it exists, and never written.

  $XDG_CONFIG_HOME/spackscope/config.toml  yours, else ~/.config; or that
                                           which SPACKSCOPE_CONFIG names
  $XDG_CONFIG_DIRS/spackscope/config.toml  for all users, else /etc/xdg

options:
  --check            only list what is wrong in the files, with line and reason
  --keys             list all keys of the browser, by the names to change them
  --json             print one JSON object per setting and line
  -f, --from SOURCE  print the settings as for a command with this source
  --host HOST        print the settings as for a command with this host
  -h, --help         print this help

exit codes:
  0 right   2 wrong usage, or a file has a mistake   70 unexpected error
  130 interrupted

examples:
  spackscope config
  spackscope config --check
  spackscope config --json | jq 'select(.from == "default").setting'
""",
    "man": """\
usage: spackscope man [query]

Show the manual page spackscope(1), or spackscope-query(7) on the query
language, in man. Where the output is not a terminal, print the source of the
page, as to install it by hand:
  spackscope man > ~/.local/share/man/man1/spackscope.1

options:
  -h, --help         print this help

exit codes:
  0 shown   2 wrong usage   3 man cannot show it
  70 unexpected error   130 interrupted

examples:
  spackscope man
  spackscope man query
""",
    "completion": """\
usage: spackscope completion bash | zsh | fish

Print the script that completes the command line in a shell: commands, options,
sources, files, and the words of a query as far as the index of the sources has
them. Nothing is read or downloaded for that: a source that was never opened
has no index, and then only the keys of the language are completed.

In ~/.bashrc, where no package has installed the script:
  eval "$(spackscope completion bash)"
In ~/.zshrc, after compinit:
  eval "$(spackscope completion zsh)"
Once, for fish:
  spackscope completion fish > ~/.config/fish/completions/spackscope.fish

options:
  -h, --help         print this help

exit codes:
  0 done   2 wrong usage   70 unexpected error   130 interrupted

examples:
  spackscope completion zsh > ~/.zfunc/_spackscope
""",
}
"""The help of each of these commands, which `help.py` has besides that of the others."""
