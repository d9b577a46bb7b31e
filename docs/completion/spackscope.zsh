
# The words of a query, sources and hashes.
_spackscope() {
  local program=${(Q)words[1]} line text note
  local -a lines whole part
  if [[ $PREFIX == -* && $PREFIX != *=* ]]; then
    _shtab_spackscope "$@"
    (( compstate[nmatches] )) && return
  fi
  program=${program/#\~\//$HOME/}
  (( $+commands[$program] )) || [[ -x $program ]] || program=spackscope
  lines=("${(@f)$("$program" complete zsh -- \
    "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
  if [[ $lines[1] != spackscope* ]]; then
    _shtab_spackscope "$@"
    return
  fi
  for line in "${(@)lines[2,-1]}"; do
    text=${${line%%$'\t'*}[2,-1]} note=${line#*$'\t'}
    text=${${text//\\/\\\\}//:/\\:}${note:+:$note}
    if [[ $line == +* ]]; then whole+=("$text"); else part+=("$text"); fi
  done
  local result=1
  if (( $#whole + $#part )); then
    _describe -V -t spackscope 'word' whole -- part -S '' && result=0
  fi
  if [[ $lines[1] == *files* ]]; then
    [[ $PREFIX != -*=* ]] || compset -P 1 '*='
    _files && result=0
  fi
  return result
}
