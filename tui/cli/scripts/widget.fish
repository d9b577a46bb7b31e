
# A key that puts a build, chosen with spackscope, in the place of the spec before the cursor.
function _spackscope_pick
    set -l format
    set -q SPACKSCOPE_KEY_FORMAT; and set format --format $SPACKSCOPE_KEY_FORMAT
    set -l before (commandline -c | string collect -N)
    # Without signals Ctrl-C is a key, which the program reads once it has started.
    set -l modes (stty -g </dev/tty); and stty -isig </dev/tty
    set -l line (printf %s $before | spackscope pick --line $format | string collect)
    set -l code $pipestatus[2]
    stty $modes </dev/tty
    if test $code -eq 0
        set -l whole (commandline | string collect -N)
        commandline -r -- $line(string sub -s (string length -- $before) -- $whole | string collect)
        commandline -C (string length -- $line)
    else if test $code -ne 130
        # The prompt, which is drawn again from its first line on, comes below the message.
        for line in (fish_prompt)[2..]
            echo
        end
    end
    commandline -f repaint
end

set -q SPACKSCOPE_KEY; or set -l SPACKSCOPE_KEY \ei
bind $SPACKSCOPE_KEY _spackscope_pick
bind -M insert $SPACKSCOPE_KEY _spackscope_pick
