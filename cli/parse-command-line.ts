import { parseArgs } from 'node:util';
import { didYouMean } from '#shared/contract/kubelet-config/syntax/did-you-mean.ts';
import type { Command, Given } from './command.ts';

type CommandLine =
  | { readonly line: 'help'; readonly command: Command | undefined }
  | { readonly line: 'version' }
  /** A shell asks what may stand in the place of the last word. */
  | { readonly line: 'complete'; readonly words: readonly string[] }
  | { readonly line: 'mistake'; readonly message: string; readonly command: Command | undefined }
  | { readonly line: 'run'; readonly command: Command; readonly given: Given };

const COMMON = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean' } } as const;

/** What the words of the command line ask for. Never throws. */
export function parseCommandLine(argv: readonly string[], commands: readonly Command[]): CommandLine {
  const [first = '', ...rest] = argv;
  if (first === '' || first === '--help' || first === '-h') return { line: 'help', command: undefined };
  if (first === '__complete') return { line: 'complete', words: rest };
  if (first === '--version' || first === 'version') return { line: 'version' };
  const named = (wanted: string): Command | undefined => commands.find(({ name }) => name === wanted);
  if (first === 'help') {
    const [about] = rest;
    const command = about === undefined ? undefined : named(about);
    return about === undefined || command !== undefined ? { line: 'help', command } : unknownCommand(about, commands);
  }
  const command = named(first);
  return command === undefined ? unknownCommand(first, commands) : parseOptions(command, rest);
}

function unknownCommand(word: string, commands: readonly Command[]): CommandLine {
  const meant = didYouMean(
    word,
    commands.map(({ name }) => name),
  );
  const advice = meant === undefined ? '' : `; did you mean ${meant}?`;
  const message = word.startsWith('-') ? `no command given before ${word}` : `there is no command ${word}${advice}`;
  return { line: 'mistake', message, command: undefined };
}

function parseOptions(command: Command, args: readonly string[]): CommandLine {
  const mistake = (message: string): CommandLine => ({ line: 'mistake', message, command });
  let parsed: { values: Readonly<Record<string, unknown>>; positionals: readonly string[] };
  try {
    const options = Object.fromEntries(
      Object.entries(command.options).map(([name, { type, short, multiple }]) => [
        name,
        { type, ...(short === undefined ? {} : { short }), ...(multiple === undefined ? {} : { multiple }) },
      ]),
    );
    parsed = parseArgs({ args: [...args], options: { ...options, ...COMMON }, allowPositionals: true });
  } catch (error) {
    return mistake(sayWhat(error, command));
  }
  const { values, positionals: words } = parsed;
  if (values['help'] === true) return { line: 'help', command };
  if (values['version'] === true) return { line: 'version' };
  const empty = Object.keys(values).find((name) => !MAY_BE_EMPTY.has(name) && [values[name]].flat().includes(''));
  if (empty !== undefined) return mistake(`${command.name}: --${empty} needs a value, and got an empty one`);
  if (words.length > command.mostWords) {
    const takes = command.takes === undefined ? 'no argument' : `${command.takes} only`;
    return mistake(`${command.name} takes ${takes}, and got ${words.join(' ')}`);
  }
  return { line: 'run', command, given: givenOf(values, words) };
}

/** The root. Elsewhere an empty value is a slip: a variable that is not set, and `--base ""` would compare HEAD with itself. */
const MAY_BE_EMPTY: ReadonlySet<string> = new Set(['path']);

function givenOf(values: Readonly<Record<string, unknown>>, words: readonly string[]): Given {
  const texts = (option: string): readonly string[] =>
    [values[option] ?? []].flat().filter((value) => typeof value === 'string');
  return { words, texts, text: (option) => texts(option).at(-1), flag: (option) => values[option] === true };
}

/** Node's own sentence, with the option that was meant where that can be guessed. */
function sayWhat(error: unknown, command: Command): string {
  const [sentence = ''] = (error instanceof Error ? error.message : 'the arguments cannot be read').split('. ');
  const [, dashes, unknown] = /^Unknown option '(--?)([^']+)'/.exec(sentence) ?? [];
  const lacking = /^Option '(?:-\w, )?(--[\w-]+)(?: <value>)?' argument (?:missing|is ambiguous)/.exec(sentence)?.[1];
  if (lacking !== undefined) return `${command.name}: ${lacking} needs a value`;
  if (unknown === undefined) return sentence;
  const meant = didYouMean(unknown, Object.keys(command.options));
  return `${command.name} knows no option ${dashes}${unknown}${meant === undefined ? '' : `; did you mean --${meant}?`}`;
}
