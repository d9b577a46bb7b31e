
# A key that puts a build, chosen with spackscope, in the place of the spec before the cursor.
_spackscope_pick() {
    # A user may have made plainer names read-only, or ended the shell at every failure: set -e.
    local spackscope_modes spackscope_line spackscope_code=0
    # Ctrl-C would empty the line. Without signals it is a key, which the program reads once it has started.
    spackscope_modes=$(stty -g) && stty -isig || :
    spackscope_line=$(spackscope pick --line ${SPACKSCOPE_KEY_FORMAT:+"--format=$SPACKSCOPE_KEY_FORMAT"} \
        <<<"${READLINE_LINE:0:READLINE_POINT}") || spackscope_code=$?
    stty "$spackscope_modes" || :
    if ((spackscope_code == 0)); then
        READLINE_LINE=$spackscope_line${READLINE_LINE:READLINE_POINT}
        READLINE_POINT=${#spackscope_line}
    fi
}

# bash before 4 cannot change the line.
if [[ $- == *i* ]] && ((BASH_VERSINFO[0] >= 4)); then
    bind -m emacs-standard -x "\"${SPACKSCOPE_KEY:-\\ei}\": _spackscope_pick"
    bind -m vi-insert -x "\"${SPACKSCOPE_KEY:-\\ei}\": _spackscope_pick"
fi
