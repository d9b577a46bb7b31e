
# A key that puts a build, chosen with spackscope, in the place of the spec before the cursor.
_spackscope_pick() {
    local modes line code
    # Ctrl-C would empty the line. Without signals it is a key, which the program reads once it has started.
    modes=$(stty -g) && stty -isig
    line=$(spackscope pick --line ${SPACKSCOPE_KEY_FORMAT:+"--format=$SPACKSCOPE_KEY_FORMAT"} \
        <<<"${READLINE_LINE:0:READLINE_POINT}")
    code=$?
    stty "$modes"
    if ((code == 0)); then
        READLINE_LINE=$line${READLINE_LINE:READLINE_POINT}
        READLINE_POINT=${#line}
    fi
}

# bash before 4 cannot change the line.
if [[ $- == *i* ]] && ((BASH_VERSINFO[0] >= 4)); then
    bind -m emacs-standard -x "\"${SPACKSCOPE_KEY:-\\ei}\": _spackscope_pick"
    bind -m vi-insert -x "\"${SPACKSCOPE_KEY:-\\ei}\": _spackscope_pick"
fi
