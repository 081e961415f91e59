# Completion of hpcrun-lite(1) for bash: options and their values, then COMMAND with its own completion.

# The number of the word with COMMAND, or of the last word if COMMAND is not there yet.
_hpcrun_lite_command()
{
    local i=1
    while ((i < COMP_CWORD)); do
        case ${COMP_WORDS[i]} in
            --) echo $((i + 1)); return ;;
            -o | --output | -e | --event | -c | --count | -p | --parallelism | --work | --task-context | --omp-runtime | \
                --memory-limit | --trace-limit | --trace-keep | --scaling | --repeat | --scale-with | --config | --control)
                [[ ${COMP_WORDS[i + 1]-} == = ]] && ((i++))
                ((i += 2))
                ;;
            --trace)
                [[ ${COMP_WORDS[i + 1]-} == = ]] && ((i += 2))
                ((i++))
                ;;
            -*) ((i++)) ;;
            *) break ;;
        esac
    done
    echo "$((i < COMP_CWORD ? i : COMP_CWORD))"
}

# The commands that begin with $1 and are programs: no words of the shell, functions or aliases.
_hpcrun_lite_programs()
{
    local word
    while IFS= read -r word; do
        type -P -- "$word" >/dev/null && printf '%s\n' "$word"
    done < <(compgen -c -- "$1")
}

_hpcrun_lite()
{
    local options='--output --overwrite --trust-directory --event --count --list-events --parallelism --work --task-context --omp-runtime
        --trace --trace-limit --trace-keep --paused --no-arguments --report --live --control --scaling --repeat --scale-with
        --config --memory-limit --print-config --env --diagnose --quiet --verbose --version --help -o -e -c -p -t -q -v -h'
    local cur=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} values='' command
    COMPREPLY=()
    if [[ ${COMP_WORDS[1]-} == --control ]] && ((COMP_CWORD > 2)); then
        if ((COMP_CWORD == 3)); then
            mapfile -t COMPREPLY < <(compgen -W 'status start stop flush snapshot config mark' -- "$cur")
        elif [[ ${COMP_WORDS[3]} != mark ]]; then
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
        return
    fi
    command=$(_hpcrun_lite_command)
    if ((command < COMP_CWORD)); then
        if declare -F _command_offset >/dev/null; then # of the package bash-completion
            _command_offset "$command"
        else
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        fi
        return
    fi
    if [[ $cur == = ]]; then # --work=
        cur=''
    elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then # --work=cy
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    elif [[ $previous == --trace ]]; then # its value follows only behind '='
        previous=''
    fi
    case $previous in
        -p | --parallelism) values='off online log' ;;
        --work) values='cpu-time instructions cycles user' ;;
        --task-context) values='region creation' ;;
        --trace) values='states samples off' ;;
        --trace-keep) values='first last' ;;
        -e | --event) values='task-clock wall cycles instructions cache-references cache-misses branches branch-misses
            page-faults context-switches cpu-migrations' ;;
        -c | --count) values='page-faults minor-faults major-faults context-switches cpu-migrations cycles instructions
            cache-references cache-misses branches branch-misses' ;;
        --omp-runtime)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -W 'auto exchange keep' -- "$cur"; compgen -f -- "$cur")
            return
            ;;
        --config)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -W none -- "$cur"; compgen -f -- "$cur")
            return
            ;;
        -o | --output | --control)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
            return
            ;;
        --memory-limit | --trace-limit | --scaling | --repeat | --scale-with) return ;;
    esac
    if [[ -n $values ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
    elif [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    else
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(_hpcrun_lite_programs "$cur"; compgen -d -- "$cur")
    fi
}

complete -F _hpcrun_lite hpcrun-lite
