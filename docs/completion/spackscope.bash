
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
    [[ $first != *nospace* ]] || compopt -o nospace 2>/dev/null
}

complete -F _spackscope spackscope

# For `spack scope`, where the user registers it for spack after Spack's own completion.
_spackscope_of_spack() {
    local index=1 line="${COMP_LINE:0:COMP_POINT}"
    while [[ ${COMP_WORDS[index]} == -* && $index -lt $COMP_CWORD ]]; do
        # These options of Spack have a value.
        [[ ${COMP_WORDS[index]} =~ ^(-[eCcD]|--env|--config|--config-scope|--env-dir)$ ]] &&
            index=$((index + 1))
        index=$((index + 1))
    done
    if [[ $index -ge $COMP_CWORD || ${COMP_WORDS[index]} != scope ]]; then
        _bash_completion_spack "$@"
        return
    fi
    line="spackscope ${line#*[[:space:]]scope[[:space:]]}"
    local COMP_LINE="$line" COMP_POINT=${#line} COMP_CWORD=$((COMP_CWORD - index))
    local -a COMP_WORDS=(spackscope "${COMP_WORDS[@]:index+1}")
    _spackscope spackscope
}
