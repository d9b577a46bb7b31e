
# A key that puts a build, chosen with spackscope, in the place of the spec before the cursor.
_spackscope_pick() {
  emulate -L zsh
  local modes line code
  # Ctrl-C would empty the line. Without signals it is a key, which the program reads once it has started.
  modes=$(stty -g </dev/tty) && stty -isig </dev/tty
  line=$(spackscope pick --line ${SPACKSCOPE_KEY_FORMAT:+"--format=$SPACKSCOPE_KEY_FORMAT"} <<<"$LBUFFER")
  code=$?
  stty "$modes" </dev/tty
  if ((code == 0)); then
    LBUFFER=$line
  elif ((code != 130)); then
    # The prompt, which is drawn again from its first line on, comes below the message.
    local -a rows=("${(@f)$(print -rP -- "$PS1")}")
    repeat $#rows-1 print
  fi
  zle reset-prompt
}

zle -N _spackscope_pick
bindkey -M emacs "${SPACKSCOPE_KEY:-\\ei}" _spackscope_pick
bindkey -M viins "${SPACKSCOPE_KEY:-\\ei}" _spackscope_pick
