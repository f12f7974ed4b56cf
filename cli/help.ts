import type { Command, OptionSpec } from './command.ts';

const INTRODUCTION = `kubelet-gitops: kubelet configuration from git`;

const CODES = `Exit codes: 0 nothing to say, 1 findings or changes, 2 the command could not run.`;

/** Help of the whole program. */
export function programHelp(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length));
  const list = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`);
  const examples = commands.flatMap(({ examples: [first] }) => (first === undefined ? [] : [`  ${first}`]));
  return `${INTRODUCTION}

Usage: kubelet-gitops COMMAND [OPTIONS]

Commands:
${list.join('\n')}

  kubelet-gitops COMMAND --help says more of each.

${CODES}

Examples:
${examples.join('\n')}

In a checkout, npm run demo shows the whole system at work without a cluster.
`;
}

/** Help of one command. */
export function commandHelp(command: Command): string {
  const { name, summary, takes, about, options, examples } = command;
  const rows = Object.entries(options).map(([option, spec]) => [nameOf(option, spec), spec.about] as const);
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  const list = rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
  const parts = [
    `kubelet-gitops ${name}: ${summary}`,
    `Usage: kubelet-gitops ${name}${rows.length === 0 ? '' : ' [OPTIONS]'}${takes === undefined ? '' : ` ${takes}`}`,
    ...about,
    ...(list.length === 0 ? [] : [`Options:\n${list.join('\n')}`]),
    CODES,
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function nameOf(option: string, { short, value, words, type }: OptionSpec): string {
  const takes = type === 'boolean' ? '' : ` ${words?.join('|') ?? value ?? 'VALUE'}`;
  return `${short === undefined ? '    ' : `-${short}, `}--${option}${takes}`;
}
