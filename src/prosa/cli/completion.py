"""`prosa completion`: print a script that makes a shell complete command lines of Prosa.

The script calls `prosa complete` at every Tab, so it knows documents, ids, rules and the inputs of a program, and
never has to be regenerated.
"""

from __future__ import annotations

import argparse

from prosa.cli.console import Console

BASH = r"""# Completion of prosa for bash: put  source <(prosa completion bash)  in ~/.bashrc
_prosa() {
  local line word found cut kind at
  local -a words=()
  # bash cuts words at = and :, and completes only what stands behind them
  for ((at = 0; at <= COMP_CWORD; at++)); do
    word="${COMP_WORDS[at]}"
    word="${word//[\\\"\']/}"
    if ((at)) && [[ "$word" == [=:]* || "${words[${#words[@]} - 1]}" == *[=:] ]]; then
      words[${#words[@]} - 1]+="$word"
    else
      words+=("$word")
    fi
  done
  cut="${words[${#words[@]} - 1]}"
  [[ "$word" == [=:] ]] || cut="${cut%"$word"}"
  COMPREPLY=()
  while IFS= read -r line; do
    case "$line" in
      $'\tfiles' | $'\tfolders')
        compopt -o filenames 2>/dev/null
        kind=-f
        [[ "$line" == *folders ]] && kind=-d
        while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen $kind -- "${word#[=:]}")
        ;;
      *)
        found="${line%%$'\t'*}"
        [[ "$found" == *= ]] && compopt -o nospace 2>/dev/null
        COMPREPLY+=("${found#"$cut"}")
        ;;
    esac
  done < <(prosa complete -- "${words[@]}" 2>/dev/null)
}
complete -F _prosa prosa"""

ZSH = r"""#compdef prosa
# Completion of prosa for zsh: put  source <(prosa completion zsh)  in ~/.zshrc, behind compinit
_prosa() {
  local line word meaning
  local -a plain open
  while IFS= read -r line; do
    case "$line" in
      $'\tfiles') _files ;;
      $'\tfolders') _files -/ ;;
      *)
        word="${line%%$'\t'*}"
        meaning="${line#"$word"}"
        meaning="${meaning#$'\t'}"
        if [[ "$word" == *= ]]; then
          open+=("${word//:/\\:}${meaning:+:$meaning}")
        else
          plain+=("${word//:/\\:}${meaning:+:$meaning}")
        fi
        ;;
    esac
  done < <(prosa complete -- "${(@)words[1,CURRENT]}" 2>/dev/null)
  (( ${#plain} )) && _describe prosa plain
  (( ${#open} )) && _describe prosa open -S ''
  return 0
}
compdef _prosa prosa"""

FISH = r"""# Completion of prosa for fish: put  prosa completion fish | source  in ~/.config/fish/config.fish
function __prosa_complete
    set -l word (commandline -ct)
    for line in (prosa complete -- (commandline -opc) "$word" 2>/dev/null)
        switch $line
            case \tfiles
                __fish_complete_path "$word"
            case \tfolders
                __fish_complete_directories "$word"
            case '*'
                echo $line
        end
    end
end
complete -c prosa -f -a '(__prosa_complete)'"""

SHELLS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `completion`."""
    parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the script. Always 0."""
    console.out(SHELLS[args.shell])
    return 0
