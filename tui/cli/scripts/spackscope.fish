# Completion of spackscope in fish: the program says what a word can become.
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

complete -c spackscope -e
complete -c spackscope -f -ka '(_spackscope_words)'
