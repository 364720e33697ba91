#!/usr/bin/env bash
# The one step of action.yml: installs Prosa and runs it. What the workflow chose comes in the environment and is never
# part of a command's text. Exit status: that of Prosa; 2 for a choice that does not exist.
set -euo pipefail
unset PYTHONPATH PYTHONHOME PYTHONSTARTUP PIP_CONFIG_FILE
export PYTHONSAFEPATH=1
temporary="${RUNNER_TEMP:-/tmp}"

wrong() {
  echo "::error title=Prosa::$1"
  exit 2
}

lines() { # the lines of a text that hold something
  grep -v '^[[:space:]]*$' <<<"$1" || true
}

# What is installed is the code of this action itself, never a package by its name. Python looks for no module in the
# checkout: neither here, in a folder of its own, nor later, where the command works in the checkout.
install() {
  [[ "$PROSA_VERSION" == installed ]] && return
  [[ -z "$PROSA_VERSION" ]] || wrong "version: '$PROSA_VERSION' is neither empty nor 'installed'; name a version in 'uses'"
  local source folder
  source="$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)"
  folder="$(mktemp -d "$temporary/prosa-XXXXXX")"
  local parts=("$source")
  case "$PROSA_COMMAND:$PROSA_INSTALL_ONLY" in
    check:false | fmt:false) ;;
    *) parts+=("$source/sandbox" "$source/packaging/prosa") ;;
  esac
  (
    cd -- "$folder"
    python3 -I -m venv venv
    venv/bin/python -I -m pip install --quiet --disable-pip-version-check "${parts[@]}"
  )
  export PATH="$folder/venv/bin:$PATH"
  [[ -z "${GITHUB_PATH:-}" ]] || echo "$folder/venv/bin" >>"$GITHUB_PATH"
}

output() {
  [[ -z "${GITHUB_OUTPUT:-}" ]] || echo "$1=$2" >>"$GITHUB_OUTPUT"
}

case "$PROSA_COMMAND" in
  check | fmt | probe | run | test | comment) ;;
  *) wrong "command: '$PROSA_COMMAND' is none of check, fmt, probe, run, test, comment" ;;
esac
case "$PROSA_REPORT" in annotations | sarif | logs) ;; *) wrong "report: '$PROSA_REPORT' is none of annotations, sarif, logs" ;; esac

# A comment is posted by a job of its own, which has the right to, and runs nothing of a pull request: neither Prosa nor
# anything that the tests have left but the text of their report.
if [[ "$PROSA_COMMAND" == comment ]]; then
  mapfile -t paths < <(lines "$PROSA_PATHS")
  [[ "${#paths[@]}" == 1 ]] || wrong "path: comment posts one report, the comment.md of a test"
  exec python3 -I "$(dirname -- "${BASH_SOURCE[0]}")/comment.py" "${paths[0]}"
fi
unset PROSA_TOKEN
[[ "$PROSA_COMMAND:$PROSA_REPORT" != test:sarif ]] || wrong "report: a test has no findings for sarif"

install
output version "$(prosa --version | awk '{ print $NF }')"
[[ "$PROSA_INSTALL_ONLY" != true ]] || exit 0

mapfile -t paths < <(lines "$PROSA_PATHS")
mapfile -t further < <(lines "$PROSA_ARGS")
words=("$PROSA_COMMAND")
if [[ "$PROSA_COMMAND" == check ]]; then
  folder="$(mktemp -d "$temporary/prosa-XXXXXX")"
  words+=(--fail-on "$PROSA_FAIL_ON" --report "jsonl=$folder/findings.jsonl")
  [[ -z "${GITHUB_STEP_SUMMARY:-}" ]] || words+=(--report "markdown=$folder/summary.md")
  [[ "$PROSA_REPORT" != annotations ]] || words+=(--format github)
  [[ "$PROSA_REPORT" != sarif ]] || words+=(--report "sarif=$folder/prosa.sarif")
elif [[ "$PROSA_COMMAND" == fmt ]]; then
  words+=(--check)
elif [[ "$PROSA_COMMAND" == test ]]; then
  folder="$(mktemp -d "$temporary/prosa-XXXXXX")"
  words+=(--report "$folder/comment.md" --report "$folder/report.html")
  [[ "$PROSA_REPORT" != annotations ]] || words+=(--format github)
fi

status=0
prosa "${words[@]}" "${further[@]}" -- "${paths[@]}" || status=$?
if [[ "$PROSA_COMMAND" == check ]]; then
  [[ ! -f "$folder/findings.jsonl" ]] || output findings "$(grep -c '' "$folder/findings.jsonl" || true)"
  [[ ! -f "$folder/summary.md" ]] || cat "$folder/summary.md" >>"$GITHUB_STEP_SUMMARY"
  [[ ! -f "$folder/prosa.sarif" ]] || output sarif-file "$folder/prosa.sarif"
fi
if [[ "$PROSA_COMMAND" == test && -f "$folder/comment.md" ]]; then
  [[ -z "${GITHUB_STEP_SUMMARY:-}" ]] || cat "$folder/comment.md" >>"$GITHUB_STEP_SUMMARY"
  output report-folder "$folder"
fi
exit "$status"
