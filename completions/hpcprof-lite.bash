# Completion of hpcprof-lite(1) for bash: options and their values, views, measurement directories.

# Fills COMPREPLY with the measurement directories that begin with $1; without any, with all directories.
_hpcprof_lite_directories()
{
    local path all=() found=()
    while IFS= read -r path; do
        all+=("$path")
        [[ -f $path/launch ]] && found+=("$path")
    done < <(compgen -d -- "$1")
    compopt -o filenames 2>/dev/null
    if ((${#found[@]})); then
        COMPREPLY+=("${found[@]}")
    else
        COMPREPLY+=("${all[@]}")
    fi
}

# Whether there is an operand before the current word: it may be the view, and no later one is.
_hpcprof_lite_has_operand()
{
    local i word
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        case $word in
            --idleness | --what-if | --root | --sort | --percent-limit | --max-rows | --depth | --from | --to | --lanes | \
                --grain-limit | --reference | --max-nodes | --colour | --compare | --metric | --fail-if | \
                --source-path | --threads | --format | --output | -f | -o | -I | -j)
                [[ ${COMP_WORDS[i + 1]-} == = ]] && ((i++))
                ((i++))
                ;;
            --view) return 0 ;; # which stands for the operand
            -?*) ;;
            *) return 0 ;;
        esac
    done
    return 1
}

# Completes the last of several directories between commas.
_hpcprof_lite_list()
{
    local before='' i
    [[ $1 == *,* ]] && before=${1%,*},
    _hpcprof_lite_directories "${1##*,}"
    for i in "${!COMPREPLY[@]}"; do
        COMPREPLY[i]=$before${COMPREPLY[i]}
    done
    compopt -o nospace 2>/dev/null
}

_hpcprof_lite()
{
    local views='summary topdown bottomup flat threads efficiency parallelism critical-path whatif speedup regions
        region-tree overheads tasks timeline phases marks user-counters advice grains grain-graph source'
    local metrics='parallel_benefit instantaneous_parallelism scatter memory_utilisation work_deviation load_balance'
    local options='--view --format --output --idleness --what-if --lines --root --sort --percent-limit --max-rows
        --depth --from --to --per-thread --index --lanes --grain-groups --grain-limit --reference --max-nodes --unreduced
        --colour --legend --raw-names --merge --no-pager --compare --metric --fail-if --scaling --sources --source-path
        --live --threads --quiet --verbose --version --help -f -o -I -j -q -v -h'
    local cur=${COMP_WORDS[COMP_CWORD]} previous='' values=''
    COMPREPLY=()
    ((COMP_CWORD > 0)) && previous=${COMP_WORDS[COMP_CWORD - 1]}
    if [[ $cur == = ]]; then # --view=
        cur=''
    elif [[ $previous == = ]] && ((COMP_CWORD > 1)); then # --view=fl
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case $previous in
        --view) values=$views ;;
        -f | --format) values='text csv json html folded speedscope pprof callgrind hatchet sqlite graphml dot perfetto firefox otf2 markdown junit' ;;
        --idleness) values='thread core shared' ;;
        --lanes) values='thread process node' ;;
        --colour) values=$metrics ;;
        --grain-limit)
            values=${metrics// /= }=
            compopt -o nospace 2>/dev/null
            ;;
        -o | --output)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            return
            ;;
        -I | --source-path)
            compopt -o filenames 2>/dev/null
            mapfile -t COMPREPLY < <(compgen -d -- "$cur")
            return
            ;;
        --reference)
            _hpcprof_lite_directories "$cur"
            return
            ;;
        --compare)
            _hpcprof_lite_list "$cur"
            return
            ;;
        --what-if | --root | --sort | --percent-limit | --max-rows | --depth | --from | --to | --max-nodes | --metric | \
            --fail-if | -j | --threads)
            return
            ;;
    esac
    if [[ -n $values ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
        return
    fi
    if [[ $cur == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
        return
    fi
    _hpcprof_lite_has_operand || mapfile -t COMPREPLY < <(compgen -W "$views" -- "$cur")
    _hpcprof_lite_directories "$cur"
}

complete -F _hpcprof_lite hpcprof-lite
