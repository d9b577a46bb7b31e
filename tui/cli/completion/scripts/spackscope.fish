# Made by docs/make_completions.py with shtab, https://github.com/tqdm/shtab

# Parse current commandline:
# - _shtab_spackscope_cmdpath=(sub)command path seen so far
# - _shtab_spackscope_npos=number of positional arguments given after it
# - options are skipped based on _shtab_spackscope_opts_with_value & _shtab_spackscope_commands lists
function _shtab_spackscope_scan
  set -g _shtab_spackscope_cmdpath ''
  set -g _shtab_spackscope_npos 0
  set -l tokens (commandline -opc)
  set -e tokens[1]
  set -l expect_value 0
  for t in $tokens
    if test $expect_value -eq 1
      set expect_value 0
      continue
    end
    switch "$t"
      case '--*=*'
        continue
      case '-*'
        if contains -- $t $_shtab_spackscope_opts_with_value
          set expect_value 1
        end
        continue
      case '*'
        if test $_shtab_spackscope_npos -eq 0
          set -l candidate $t
          if test -n "$_shtab_spackscope_cmdpath"
            set candidate "$_shtab_spackscope_cmdpath $t"
          end
          if contains -- $candidate $_shtab_spackscope_commands
            set -g _shtab_spackscope_cmdpath $candidate
            continue
          end
        end
        set -g _shtab_spackscope_npos (math $_shtab_spackscope_npos + 1)
    end
  end
end

# Condition helper: true if the current (sub)command path equals the given one.
function _shtab_spackscope_using
  _shtab_spackscope_scan
  test "$_shtab_spackscope_cmdpath" = "$argv"
end

set -g _shtab_spackscope_commands find show needs doubles cover diff pick stats sources index config extension completion man help
set -g _shtab_spackscope_opts_with_value --by --from --host --ignore -f

complete -c spackscope -e
complete -c spackscope -f

complete -c spackscope -n _shtab_spackscope_using -l host -xka "(_spackscope_words)" -d 'check what fits on this host'
complete -c spackscope -n _shtab_spackscope_using -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n _shtab_spackscope_using -l all -d 'also list dependency-only specs'
complete -c spackscope -n _shtab_spackscope_using -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n _shtab_spackscope_using -s h -l help -d 'print this help'
complete -c spackscope -n _shtab_spackscope_using -l version -d 'print the version'
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a find -d 'list matching specs, as a table or for a script'
complete -c spackscope -n '_shtab_spackscope_using find' -l json -d 'print a JSON array of objects'
complete -c spackscope -n '_shtab_spackscope_using find' -l jsonl -d 'print one JSON object per line'
complete -c spackscope -n '_shtab_spackscope_using find' -l csv -d 'print comma-separated values with a header line'
complete -c spackscope -n '_shtab_spackscope_using find' -l hashes -d 'print full hashes, one per line, each once'
complete -c spackscope -n '_shtab_spackscope_using find' -l keep-list -d 'print them and the hashes of all that they need to run, a list for `spack buildcache prune`'
complete -c spackscope -n '_shtab_spackscope_using find' -l host -xka "(_spackscope_words)" -d 'check what fits on this host'
complete -c spackscope -n '_shtab_spackscope_using find' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using find' -l all -d 'also list dependency-only specs'
complete -c spackscope -n '_shtab_spackscope_using find' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using find' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using find; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d query
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a show -d 'print everything about one spec'
complete -c spackscope -n '_shtab_spackscope_using show' -l json -d 'print one JSON object per record and line'
complete -c spackscope -n '_shtab_spackscope_using show' -l host -xka "(_spackscope_words)" -d 'check what fits on this host'
complete -c spackscope -n '_shtab_spackscope_using show' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using show' -l all -d 'also list dependency-only specs'
complete -c spackscope -n '_shtab_spackscope_using show' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using show' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using show; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d spec
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a needs -d 'list what a spec needs to run'
complete -c spackscope -n '_shtab_spackscope_using needs' -l json -d 'print a JSON object'
complete -c spackscope -n '_shtab_spackscope_using needs' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using needs' -l all -d 'also list dependency-only specs'
complete -c spackscope -n '_shtab_spackscope_using needs' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using needs' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using needs; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d spec
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a doubles -d 'list packages with several hashes in an environment'
complete -c spackscope -n '_shtab_spackscope_using doubles' -l ignore -xka "(_spackscope_words)" -d 'leave out this package, or all that a pattern matches'
complete -c spackscope -n '_shtab_spackscope_using doubles' -l all -d 'list all hashes and causes'
complete -c spackscope -n '_shtab_spackscope_using doubles' -l json -d 'print a JSON object'
complete -c spackscope -n '_shtab_spackscope_using doubles' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using doubles' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using doubles' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using doubles; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d source
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a cover -d 'list what caches have of an environment, and lack'
complete -c spackscope -n '_shtab_spackscope_using cover' -l missing -d 'print only what is missing'
complete -c spackscope -n '_shtab_spackscope_using cover' -l all -d 'also list what is there, with its source, and externals'
complete -c spackscope -n '_shtab_spackscope_using cover' -l hashes -d 'print the full hashes of what is there'
complete -c spackscope -n '_shtab_spackscope_using cover' -l json -d 'print a JSON object'
complete -c spackscope -n '_shtab_spackscope_using cover' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using cover' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using cover' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using cover; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d environment
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a diff -d 'print how specs differ, and whether they run the same'
complete -c spackscope -n '_shtab_spackscope_using diff' -l build -d 'list differences of what is used for building only, too'
complete -c spackscope -n '_shtab_spackscope_using diff' -l all -d 'list all differences with what follows from them'
complete -c spackscope -n '_shtab_spackscope_using diff' -l json -d 'print a JSON object'
complete -c spackscope -n '_shtab_spackscope_using diff' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using diff' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using diff' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using diff; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d 'spec or source'
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a pick -d 'choose in the browser, and print the hashes'
complete -c spackscope -n '_shtab_spackscope_using pick' -l host -xka "(_spackscope_words)" -d 'check what fits on this host'
complete -c spackscope -n '_shtab_spackscope_using pick' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using pick' -l all -d 'also list dependency-only specs'
complete -c spackscope -n '_shtab_spackscope_using pick' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using pick' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using pick; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d query
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a stats -d 'count matching specs by a column or variant, or by two'
complete -c spackscope -n '_shtab_spackscope_using stats' -l by -xka "(_spackscope_words)" -d 'a column'
complete -c spackscope -n '_shtab_spackscope_using stats' -l json -d 'print a JSON array of objects with value and count'
complete -c spackscope -n '_shtab_spackscope_using stats' -l csv -d 'print comma-separated values with a header line'
complete -c spackscope -n '_shtab_spackscope_using stats' -l host -xka "(_spackscope_words)" -d 'check what fits on this host'
complete -c spackscope -n '_shtab_spackscope_using stats' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using stats' -l all -d 'also list dependency-only specs'
complete -c spackscope -n '_shtab_spackscope_using stats' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using stats' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using stats; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d query
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a sources -d 'list the sources, with kind, specs, problems and age'
complete -c spackscope -n '_shtab_spackscope_using sources' -l verify -d 'check the hash of each record, and the files of mirrors'
complete -c spackscope -n '_shtab_spackscope_using sources' -l json -d 'print one JSON object per source and line'
complete -c spackscope -n '_shtab_spackscope_using sources' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using sources' -l all -d 'also list dependency-only specs'
complete -c spackscope -n '_shtab_spackscope_using sources' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using sources' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a index -d 'build or refresh the index of the sources'
complete -c spackscope -n '_shtab_spackscope_using index' -l rebuild -d 'read all files again, even unchanged ones'
complete -c spackscope -n '_shtab_spackscope_using index' -s f -l from -xka "(_spackscope_words)" -d 'read this source'
complete -c spackscope -n '_shtab_spackscope_using index' -l all -d 'also list dependency-only specs'
complete -c spackscope -n '_shtab_spackscope_using index' -l no-color -d 'use no colour, like NO_COLOR in the environment'
complete -c spackscope -n '_shtab_spackscope_using index' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a config -d 'print the settings and their origins, or check them'
complete -c spackscope -n '_shtab_spackscope_using config' -l check -d 'only list what is wrong in the files, with line and reason'
complete -c spackscope -n '_shtab_spackscope_using config' -l keys -d 'list all keys of the browser, by the names to change them'
complete -c spackscope -n '_shtab_spackscope_using config' -l json -d 'print one JSON object per setting and line'
complete -c spackscope -n '_shtab_spackscope_using config' -s f -l from -xka "(_spackscope_words)" -d 'print the settings as for a command with this source'
complete -c spackscope -n '_shtab_spackscope_using config' -l host -xka "(_spackscope_words)" -d 'print the settings as for a command with this host'
complete -c spackscope -n '_shtab_spackscope_using config' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a extension -d 'give Spack the command `spack scope`'
complete -c spackscope -n '_shtab_spackscope_using extension' -l install -d 'register the extension for your user'
complete -c spackscope -n '_shtab_spackscope_using extension' -l remove -d 'undo that'
complete -c spackscope -n '_shtab_spackscope_using extension' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a completion -d 'print the completion script of bash, zsh or fish'
complete -c spackscope -n '_shtab_spackscope_using completion' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using completion; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d shell
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a man -d 'show the manual, or that of the query language'
complete -c spackscope -n '_shtab_spackscope_using man' -s h -l help -d 'print this help'
complete -c spackscope -n '_shtab_spackscope_using man; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d manual
complete -c spackscope -n '_shtab_spackscope_using; and test $_shtab_spackscope_npos -eq 0' -a help -d 'print this help, or on a command, or on `query`'
complete -c spackscope -n '_shtab_spackscope_using help; and test $_shtab_spackscope_npos -ge 0' -ka "(_spackscope_words)" -d topic

# The words of a query, sources and hashes.
function _spackscope_words
    set -l tokens (commandline -opc)
    set -l program (string replace -r '^~/' "$HOME/" -- $tokens[1])
    set -e tokens[1]
    set -l current (commandline -ct)
    command -q -- $program; or set program spackscope
    set -l lines ($program complete fish -- $tokens "$current" 2>/dev/null)
    set -e lines[1]
    printf '%s\n' $lines
end

complete -c spackscope -n _shtab_spackscope_using -ka '(_spackscope_words)'
