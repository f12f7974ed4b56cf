import type { Command } from '../command.ts';

const optionsOf = ({ options }: Command): readonly string[] => [...Object.keys(options), 'help'];

/** Options that take one of a few words, as they may stand on a line, with these words. */
const choicesOf = ({ options }: Command): readonly (readonly [flags: readonly string[], words: readonly string[]])[] =>
  Object.entries(options).flatMap(([option, { short, words }]) =>
    words === undefined ? [] : [[[`--${option}`, ...(short === undefined ? [] : [`-${short}`])], words] as const],
  );

/** Words after a command are files, as far as a shell can tell. */
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
        `    ${flags.map((flag) => `"${command.name} ${flag}"`).join('|')}) COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$word")); return ;;`,
    ),
  );
  return `_kubelet_gitops() {
  local word=\${COMP_WORDS[COMP_CWORD]} options=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${[...commands.map(({ name }) => name), 'completion', '--help', '--version'].join(' ')}" -- "$word"))
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")); return ;;
  esac
  case "\${COMP_WORDS[1]} \${COMP_WORDS[COMP_CWORD-1]}" in
${choices.join('\n')}
  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$options" -- "$word")) ;;
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _kubelet_gitops kubelet-gitops
`;
}

/** zsh runs bash's completions. */
export function zshCompletion(commands: readonly Command[]): string {
  return `autoload -U +X compinit && compinit -u
autoload -U +X bashcompinit && bashcompinit
${bashCompletion(commands)}`;
}

export function fishCompletion(commands: readonly Command[]): string {
  const lines = commands.flatMap(({ name, summary, options }) => [
    `complete -c kubelet-gitops -n __fish_use_subcommand -f -a ${name} -d ${quote(summary)}`,
    ...Object.entries(options).map(([option, { about, short, type, words }]) => {
      const takes = words === undefined ? (type === 'string' ? ' -r' : '') : ` -x -a ${quote(words.join(' '))}`;
      const flags = `${short === undefined ? '' : ` -s ${short}`} -l ${option}${takes}`;
      return `complete -c kubelet-gitops -n '__fish_seen_subcommand_from ${name}'${flags} -d ${quote(about)}`;
    }),
  ]);
  return `${lines.join('\n')}\n`;
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
