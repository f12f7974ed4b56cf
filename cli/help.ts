import type { Command, OptionSpec } from './command.ts';

const INTRODUCTION = `kubelet-gitops: kubelet configuration from git`;

const CODES = `Exit codes: 0 OK, nothing changes; 1 findings or changes; 2 the command failed; 3 the changes would be refused.`;

/** What is not meant for a terminal is as wide as that. */
const WIDEST = 120;
/** Names of options that are longer have what they are for on the next line. */
const LONGEST_NAME = 30;

/**
 * Help of the whole program.
 *
 * @param docs    the folder of the documentation
 * @param columns of the terminal, if any
 */
export function programHelp(commands: readonly Command[], docs: string, columns = WIDEST): string {
  const list = twoColumns(
    commands.map(({ name, summary }) => [name, summary]),
    columns,
  );
  const examples = commands.flatMap(({ examples: [first] }) => (first === undefined ? [] : [`  ${first}`]));
  return `${INTRODUCTION}

Usage: kubelet-gitops COMMAND [OPTIONS]

Commands:
${list.join('\n')}

  Run kubelet-gitops COMMAND --help for the options of a command.

${inLines(CODES, columns).join('\n')}

Examples:
${examples.join('\n')}

Documentation: ${docs}
`;
}

/** Help of one command. @param columns of the terminal, if any */
export function commandHelp(command: Command, columns = WIDEST): string {
  const { name, summary, takes, about, options, examples } = command;
  const rows = Object.entries(options).map(([option, spec]) => [nameOf(option, spec), spec.about] as const);
  const list = twoColumns(rows, columns);
  const parts = [
    inLines(`kubelet-gitops ${name}: ${summary}`, columns).join('\n'),
    `Usage: kubelet-gitops ${name}${rows.length === 0 ? '' : ' [OPTIONS]'}${takes === undefined ? '' : ` ${takes}`}`,
    ...about.map((paragraph) => flowing(paragraph, columns)),
    ...(list.length === 0 ? [] : [`Options:\n${list.join('\n')}`]),
    inLines(CODES, columns).join('\n'),
    ...(examples.length === 0 ? [] : [`Examples:\n${examples.map((example) => `  ${example}`).join('\n')}`]),
  ];
  return `${parts.join('\n\n')}\n`;
}

function nameOf(option: string, { short, value, words, type }: OptionSpec): string {
  const takes = type === 'boolean' ? '' : ` ${value ?? words?.join('|') ?? 'VALUE'}`;
  return `${short === undefined ? '    ' : `-${short}, `}--${option}${takes}`;
}

function twoColumns(rows: readonly (readonly [left: string, right: string])[], columns: number): readonly string[] {
  const short = rows.map(([left]) => left.length).filter((length) => length <= LONGEST_NAME);
  const indent = Math.max(0, ...short) + 4;
  return rows.flatMap(([left, right]) => {
    const [first = '', ...rest] = inLines(right, columns - indent).map((line) => `${' '.repeat(indent)}${line}`);
    const isLong = left.length + 4 > indent;
    return isLong ? [`  ${left}`, first, ...rest] : [`  ${left}`.padEnd(indent) + first.slice(indent), ...rest];
  });
}

/** A paragraph as wide as there is room; what is further in, such as a command, stays as it is. */
function flowing(paragraph: string, columns: number): string {
  const lines = paragraph.split('\n');
  const prose = lines.filter((line) => !line.startsWith(' ')).join(' ');
  return [...inLines(prose, columns), ...lines.filter((line) => line.startsWith(' '))].join('\n');
}

/** Broken between words. */
function inLines(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
