#!/usr/bin/env bash
# The steps of action.yml. Inputs come as INPUT_… and are never put into a command's text.
#
#   tools/action.sh build    finds or builds verial, and tells the next step where it is
#   tools/action.sh run      runs the agent, writes the reports, ends with verial's exit code
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

build() {
    local binary=${INPUT_VERIAL:-}
    if [[ -z $binary ]]; then
        cargo build --release --locked --manifest-path "$root/Cargo.toml" --package verial-cli
        binary=${CARGO_TARGET_DIR:-$root/target}/release/verial
    fi
    "$binary" --version
    echo "VERIAL_BINARY=$binary" >>"$GITHUB_ENV"
}

run() {
    local folder=${INPUT_FOLDER:-verial-report} code=0 line score
    mkdir -p "$folder"
    local words=(run "$INPUT_BENCHMARK" --agent "$INPUT_AGENT" --json
        --repeat "${INPUT_REPEAT:-1}" --parallel "${INPUT_PARALLEL:-1}"
        --junit "$folder/junit.xml" --report "$folder/report.html" --markdown "$folder/report.md")
    if [[ ${INPUT_SCORED:-} == true ]]; then words+=(--scored); fi
    if [[ ${INPUT_LOCAL:-} == true ]]; then words+=(--local); fi
    if [[ ${INPUT_ISOLATION:-} == false ]]; then words+=(--no-isolation); fi
    if [[ -n ${INPUT_URL:-} ]]; then words+=(--url "$INPUT_URL"); fi
    if [[ -n ${INPUT_AGENT_NAME:-} ]]; then words+=(--agent-name "$INPUT_AGENT_NAME"); fi
    if [[ -n ${INPUT_TIMEOUT:-} ]]; then words+=(--timeout "$INPUT_TIMEOUT"); fi
    if [[ -n ${INPUT_MIN_SCORE:-} ]]; then words+=(--min-score "$INPUT_MIN_SCORE"); fi
    if [[ -n ${INPUT_MIN_TASKS_PASSED:-} ]]; then words+=(--min-tasks-passed "$INPUT_MIN_TASKS_PASSED"); fi
    if [[ ${INPUT_ALLOW_CRITICAL:-} == true ]]; then words+=(--allow-critical); fi
    if [[ -n ${INPUT_BASELINE:-} ]]; then words+=(--baseline "$INPUT_BASELINE"); fi
    while IFS= read -r line; do
        if [[ -n $line ]]; then words+=(--min-axis "$line"); fi
    done <<<"${INPUT_MIN_AXIS:-}"
    "$VERIAL_BINARY" "${words[@]}" >"$folder/report.json" || code=$?
    if [[ -f $folder/report.md ]]; then cat "$folder/report.md" >>"$GITHUB_STEP_SUMMARY"; fi
    score=$(sed -nE 's/.*"statistics":\{[^{}]*"mean":([0-9.]+).*/\1/p' "$folder/report.json")
    printf '%s\n' "exit-code=$code" "score=$score" "folder=$folder" >>"$GITHUB_OUTPUT"
    return "$code"
}

case ${1:-} in
    build) build ;;
    run) run ;;
    *) echo "usage: tools/action.sh build|run" >&2 && exit 2 ;;
esac
