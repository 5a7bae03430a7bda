# SPDX-License-Identifier: MIT
# bash completion for kiln; written by `kiln --completion`
_kiln() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words=
    if ((COMP_CWORD == 1)); then
        words='list explain verify bench tune report new build --help --version'
    else
        case $before in
        --device|-d) words='host amd nvidia sim:gfx942' ;;
        --peer) words='all openblas memory cublaslt hipblaslt' ;;
        --template) words='attention bias gated plain quantized residual activation norm quantise' ;;
        --op) words=$(command kiln list --json 2>/dev/null | sed -n 's/.*"op": "\([a-z0-9_]*\)".*/\1/p' | sort -u) ;;
        --folder|--modules|--output|-o|--problems|--from-tunableop|--html|--tuned|--trace|--plot|--from) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
        *)
            case ${COMP_WORDS[1]} in
            list) words='--op --target --schedule --dtype --instance --json --modules --help' ;;
            explain) words='--all --wide --json --device --threads --modules --help' ;;
            verify) words='--all --quick --op --schedule --dtype --instance --seed --device --threads --modules --help' ;;
            bench) words='--peer --problems --set --all --instance --seconds --budget --shuffle --idle --replay --csv --json --plot --from --seed --device --threads --modules --help' ;;
            tune) words='--output --replace --resume --problems --set --from-tunableop --shard --prune --dry-run --merge --seconds --idle --seed --device --threads --modules --help' ;;
            report) words='--cost --html --tuned --trace --problems --set --op --target --schedule --dtype --instance --json --csv --device --modules --help' ;;
            new) words='--template --folder --help' ;;
            build) words='--target --op --output --jobs --verbose --help' ;;
            esac ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _kiln kiln
