# The package bash-completion is not needed: without it, this splits the line at
# spaces, so that key=value and trace ids with a colon stay one word each.
if ! declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
    _get_comp_words_by_ref()
    {
        local line=${COMP_LINE:0:COMP_POINT}
        read -r -a words <<<"$line"
        if [[ -z $line || $line == *[[:space:]] ]]; then
            words+=("")
        fi
        cword=$((${#words[@]} - 1))
        cur=${words[cword]}
        prev=
        if ((cword > 0)); then
            prev=${words[cword - 1]}
        fi
    }
fi

