import type { Command } from '../command.ts';
import { SHELLS } from './candidates.ts';

const optionsOf = ({ options }: Command): readonly string[] => [...Object.keys(options), 'help'];

/** Options that take one of a few words, as they may stand on a line, with these words. */
const choicesOf = ({ options }: Command): readonly (readonly [flags: readonly string[], words: readonly string[]])[] =>
  Object.entries(options).flatMap(([option, { short, words }]) =>
    words === undefined ? [] : [[[`--${option}`, ...(short === undefined ? [] : [`-${short}`])], words] as const],
  );

/** Options whose values the program knows, as they may stand on a line. */
const askedOptions = (command: Command): readonly string[] =>
  Object.entries(command.options).flatMap(([option, { short, type, words }]) =>
    type === 'string' && words === undefined
      ? [`"${command.name} --${option}"`, ...(short === undefined ? [] : [`"${command.name} -${short}"`])]
      : [],
  );

/** Commands whose words are names, not files. */
const takesNames = ({ name, takes }: Command): readonly string[] =>
  takes !== undefined && /POOL|NODE(?!=)/.test(takes) ? [name] : [];

/**
 * Commands, options and their words stand in the script; the program is asked for names only. What it says is never expanded:
 * a name is offered as the shell would have it quoted.
 */
export function bashCompletion(commands: readonly Command[]): string {
  const cases = commands.map(
    (command) =>
      `    ${command.name}) options="${optionsOf(command)
        .map((option) => `--${option}`)
        .join(' ')}" ;;`,
  );
  const choices = commands.flatMap((command) =>
    choicesOf(command).map(
      ([flags, words]) =>
        `    ${flags.map((flag) => `"${command.name} ${flag}"`).join('|')}) _kubelet_gitops_words "${words.join(' ')}"; return ;;`,
    ),
  );
  return `# bash replaces what stands behind the last = : or @, zsh the whole word.
_kubelet_gitops_offer() {
  local whole=$option$1
  COMPREPLY+=("\${whole#"$head"}")
}
_kubelet_gitops_words() {
  local each
  for each in $(compgen -W "$1" -- "$value"); do _kubelet_gitops_offer "$each"; done
}
_kubelet_gitops_paths() {
  compopt -o filenames 2>/dev/null
  COMPREPLY=($(compgen "$1" -- "$value"))
}
# Line by line, and each one quoted: a name may hold anything.
_kubelet_gitops_ask() {
  local line quoted
  while IFS= read -r line; do
    case $line in
      :0) _kubelet_gitops_paths -f ;;
      :16) _kubelet_gitops_paths -d ;;
      :*) ;;
      *)
        line=\${line#"$option"}
        printf -v quoted %q "$line"
        if [[ $quoted == "$value"* ]]; then _kubelet_gitops_offer "$quoted"; fi
        ;;
    esac
  done < <("\${typed[0]/#\\~/$HOME}" __complete "\${typed[@]:1:\${#typed[@]}-2}" "$option" 2>/dev/null </dev/null)
}
_kubelet_gitops() {
  local rest=\${COMP_LINE:-} piece at typed value option= head options=
  local typed=()
  # The shell parts words at = and : as well; what no space parts is one word.
  for ((at = 0; at <= COMP_CWORD; at++)); do
    piece=\${COMP_WORDS[at]}
    if [[ -n $rest && $at -gt 0 && $rest != [[:space:]]* ]]; then
      typed[\${#typed[@]}-1]=\${typed[\${#typed[@]}-1]}$piece
    else
      typed+=("$piece")
      rest=\${rest#"\${rest%%[![:space:]]*}"}
    fi
    rest=\${rest#"$piece"}
  done
  COMPREPLY=()
  value=\${typed[\${#typed[@]}-1]}
  local last=\${typed[\${#typed[@]}-2]} command=\${typed[1]}
  [[ $piece == [=:@] ]] && piece=
  head=\${value%"$piece"}
  if [[ $value == --*=* ]]; then
    option=\${value%%=*}= last=\${value%%=*} value=\${value#*=}
  fi
  if [ "\${#typed[@]}" -le 2 ]; then
    _kubelet_gitops_words "${[...commands.map(({ name }) => name), 'completion', 'help', '--help', '--version'].join(' ')}"
    return
  fi
  case $command in
${cases.join('\n')}
    completion) _kubelet_gitops_words "${SHELLS.join(' ')}"; return ;;
    help) _kubelet_gitops_words "${commands.map(({ name }) => name).join(' ')}"; return ;;
  esac
  case "$command $last" in
${choices.join('\n')}
    ${commands.flatMap(askedOptions).join('|')}) _kubelet_gitops_ask; return ;;
  esac
  case $value in
    -*) _kubelet_gitops_words "$options"; return ;;
  esac
  case $command in
    ${commands.flatMap(takesNames).join('|')}) _kubelet_gitops_ask ;;
    *) _kubelet_gitops_paths -f ;;
  esac
}
complete -F _kubelet_gitops kubelet-gitops kubectl-kubelet_gitops
`;
}

/** What kubectl runs to complete its plugin; it understands the answer as it is. */
export const KUBECTL_COMPLETION = `#!/bin/sh
# kubectl looks for kubectl_complete-kubelet_gitops in PATH to complete "kubectl kubelet-gitops".
exec kubectl-kubelet_gitops __complete "$@" 2>/dev/null </dev/null
`;

/** zsh runs bash's completions. */
export function zshCompletion(commands: readonly Command[]): string {
  return `autoload -U +X compinit && compinit -u
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(commands)}`;
}

export function fishCompletion(commands: readonly Command[]): string {
  const lines = commands.flatMap((command) => {
    const { name, summary, options } = command;
    const after = `complete -c kubelet-gitops -n '__fish_seen_subcommand_from ${name}'`;
    return [
      `complete -c kubelet-gitops -n __fish_use_subcommand -f -a ${name} -d ${quote(summary)}`,
      ...takesNames(command).map(() => `${after} -f -a '(__kubelet_gitops_ask)'`),
      ...Object.entries(options).map(([option, { about, short, type, words }]) => {
        const values = words === undefined ? ` -x -a '(__kubelet_gitops_ask)'` : ` -x -a ${quote(words.join(' '))}`;
        const flags = `${short === undefined ? '' : ` -s ${short}`} -l ${option}${type === 'string' ? values : ''}`;
        return `${after}${flags} -d ${quote(about)}`;
      }),
    ];
  });
  return `${FISH_ASKS}${lines.join('\n')}\n`;
}

/** fish quotes what it inserts by itself. */
const FISH_ASKS = `function __kubelet_gitops_ask
  set -l typed (commandline -opc)
  set -l program (string replace -r '^~(?=/)' $HOME -- $typed[1])
  for line in ($program __complete $typed[2..] (commandline -ct) 2>/dev/null </dev/null)
    switch $line
      case ':0'
        __fish_complete_path (commandline -ct)
      case ':16'
        __fish_complete_directories (commandline -ct)
      case ':*'
      case '--*=*'
        string replace -r '^--[a-z-]+=' '' -- $line
      case '*'
        echo $line
    end
  end
end
`;

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
