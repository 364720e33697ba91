#!/usr/bin/env bash
# The one step of action.yml: installs Prosa and runs it. What the workflow chose comes in the environment and is never
# part of a command's text. Exit status: that of Prosa; 2 for a choice that does not exist.
set -euo pipefail

wrong() {
  echo "::error title=Prosa::$1"
  exit 2
}

lines() { # the lines of a text that hold something
  grep -v '^[[:space:]]*$' <<<"$1" || true
}

install() {
  local package=prosa
  case "$PROSA_COMMAND:$PROSA_INSTALL_ONLY" in check:false | fmt:false) package=prosa-core ;; esac
  package+="${PROSA_VERSION:+==$PROSA_VERSION}"
  [[ "$PROSA_VERSION" == installed ]] && return
  [[ "$PROSA_VERSION" =~ ^[0-9A-Za-z.+!-]*$ ]] || wrong "version: '$PROSA_VERSION' is no version"
  if command -v uv >/dev/null; then
    uv tool install --quiet "$package"
    PATH="$(uv tool dir --bin):$PATH"
  elif command -v pipx >/dev/null; then
    pipx install --quiet "$package"
    PATH="$(pipx environment --value PIPX_BIN_DIR):$PATH"
  else
    local folder="${RUNNER_TEMP:-/tmp}/prosa-venv"
    python3 -m venv "$folder"
    "$folder/bin/pip" install --quiet --disable-pip-version-check "$package"
    PATH="$folder/bin:$PATH"
  fi
  export PATH
  [[ -z "${GITHUB_PATH:-}" ]] || dirname "$(command -v prosa)" >>"$GITHUB_PATH"
}

output() {
  [[ -z "${GITHUB_OUTPUT:-}" ]] || echo "$1=$2" >>"$GITHUB_OUTPUT"
}

case "$PROSA_COMMAND" in check | fmt | probe | run) ;; *) wrong "command: '$PROSA_COMMAND' is none of check, fmt, probe, run" ;; esac
case "$PROSA_REPORT" in annotations | sarif | logs) ;; *) wrong "report: '$PROSA_REPORT' is none of annotations, sarif, logs" ;; esac

install
output version "$(prosa --version | awk '{ print $NF }')"
[[ "$PROSA_INSTALL_ONLY" != true ]] || exit 0

mapfile -t paths < <(lines "$PROSA_PATHS")
mapfile -t further < <(lines "$PROSA_ARGS")
words=("$PROSA_COMMAND")
if [[ "$PROSA_COMMAND" == check ]]; then
  folder="$(mktemp -d "${RUNNER_TEMP:-/tmp}/prosa-XXXXXX")"
  words+=(--fail-on "$PROSA_FAIL_ON" --report "jsonl=$folder/findings.jsonl")
  [[ -z "${GITHUB_STEP_SUMMARY:-}" ]] || words+=(--report "markdown=$folder/summary.md")
  [[ "$PROSA_REPORT" != annotations ]] || words+=(--format github)
  [[ "$PROSA_REPORT" != sarif ]] || words+=(--report "sarif=$folder/prosa.sarif")
elif [[ "$PROSA_COMMAND" == fmt ]]; then
  words+=(--check)
fi

status=0
prosa "${words[@]}" "${further[@]}" -- "${paths[@]}" || status=$?
if [[ "$PROSA_COMMAND" == check ]]; then
  [[ ! -f "$folder/findings.jsonl" ]] || output findings "$(grep -c '' "$folder/findings.jsonl" || true)"
  [[ ! -f "$folder/summary.md" ]] || cat "$folder/summary.md" >>"$GITHUB_STEP_SUMMARY"
  [[ ! -f "$folder/prosa.sarif" ]] || output sarif-file "$folder/prosa.sarif"
fi
exit "$status"
