
# The words of a query, sources and hashes. $1 is the program as it is typed.
_spackscope() {
    local program="${1/#\~/$HOME}" first="" line
    COMPREPLY=()
    if [[ ${COMP_WORDS[COMP_CWORD]} == -* ]]; then
        _shtab_spackscope
        [[ ${#COMPREPLY[@]} -gt 0 ]] && return
    fi
    type -P -- "$program" >/dev/null || program=spackscope
    {
        IFS= read -r first
        while IFS= read -r line; do COMPREPLY+=("$line"); done
    } < <("$program" complete bash -- "${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null)
    if [[ $first != spackscope* ]]; then
        _shtab_spackscope
        return
    fi
    # bash before 4.4 does not know nosort.
    compopt -o nosort 2>/dev/null
    [[ $first != *nospace* ]] || compopt -o nospace
}

complete -F _spackscope spackscope
