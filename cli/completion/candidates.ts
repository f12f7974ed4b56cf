import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import type { Command, OptionSpec } from '../command.ts';

/** Names that have to be looked up. */
export type NameSource = 'pools' | 'nodes' | 'contexts' | 'namespaces' | 'clusters' | 'revisions';

/** What may stand where the cursor is. */
export interface Candidates {
  readonly words: readonly string[];
  readonly sources: readonly NameSource[];
  readonly paths: 'files' | 'directories' | null;
  /** What stands before the value in the same word: `--output=`. */
  readonly before: string;
}

const NOTHING: Candidates = { words: [], sources: [], paths: null, before: '' };

export const SHELLS = ['bash', 'zsh', 'fish', 'kubectl'] as const;

/** What the values of options are, by their names, which mean the same in every command. */
const OF_OPTIONS: Readonly<Record<string, NameSource>> = {
  pool: 'pools',
  node: 'nodes',
  context: 'contexts',
  namespace: 'namespaces',
  cluster: 'clusters',
};

/** What the words of a usage line stand for. */
const OF_WORDS: Readonly<Record<string, Partial<Candidates>>> = {
  POOL: { sources: ['pools'] },
  NODE: { sources: ['nodes'] },
  FIELD: { words: [...FIELDS.keys()].filter((path) => !path.includes('[]')) },
  DIRECTORY: { paths: 'directories' },
};

const MINORS = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => minorName(OLDEST_MINOR + index));

/**
 * What may stand in the place of the last word.
 *
 * @param words behind the program's name, as far as the cursor; the last one may be empty
 */
export function candidatesAt(words: readonly string[], commands: readonly Command[]): Candidates {
  const names = commands.map(({ name }) => name);
  const [first = '', ...rest] = words;
  if (rest.length === 0) return { ...NOTHING, words: [...names, 'help', '--help', '--version'] };
  if (first === 'help') return { ...NOTHING, words: names };
  if (first === 'completion') return { ...NOTHING, words: SHELLS };
  const command = commands.find(({ name }) => name === first);
  return command === undefined ? NOTHING : inCommand(command, rest);
}

function inCommand(command: Command, words: readonly string[]): Candidates {
  const current = words.at(-1) ?? '';
  const [, name = '', value] = /^--([a-z-]+)(=?)/.exec(current) ?? [];
  if (value === '=') return { ...ofOption(name, command.options[name]), before: `--${name}=` };
  const awaiting = optionBefore(command, words);
  if (awaiting !== undefined) return ofOption(...awaiting);
  if (current.startsWith('-')) {
    return { ...NOTHING, words: [...Object.keys(command.options), 'help'].map((option) => `--${option}`) };
  }
  return ofWord(command, wordsBefore(command, words));
}

/** The option that stands right before the cursor and waits for its value. */
function optionBefore(command: Command, words: readonly string[]): readonly [string, OptionSpec] | undefined {
  const previous = words.at(-2) ?? '';
  return Object.entries(command.options).find(
    ([name, { type, short }]) =>
      type === 'string' && (previous === `--${name}` || (short !== undefined && previous === `-${short}`)),
  );
}

/** How many words of its own the command has before the cursor. */
const wordsBefore = (command: Command, words: readonly string[]): number =>
  words
    .slice(0, -1)
    .filter((word, index, all) => !word.startsWith('-') && optionBefore(command, all.slice(0, index + 1)) === undefined)
    .length;

function ofOption(name: string, spec: OptionSpec | undefined): Candidates {
  if (spec?.type !== 'string') return NOTHING;
  if (spec.words !== undefined) return { ...NOTHING, words: spec.words };
  const source = OF_OPTIONS[name];
  if (source !== undefined) return { ...NOTHING, sources: [source] };
  if (spec.value === 'REV') return { ...NOTHING, sources: ['revisions'] };
  if (name === 'kubelet-version') return { ...NOTHING, words: MINORS };
  if (spec.value === 'DIRECTORY' || spec.value === 'FOLDER') return { ...NOTHING, paths: 'directories' };
  return { ...NOTHING, paths: spec.value === 'FILE' || spec.value === 'PATH' ? 'files' : null };
}

/** `NODE FIELD`, `POOL...|--all`, `POOL|NODE`, `[PATH]...`. */
function ofWord({ takes, mostWords }: Command, before: number): Candidates {
  if (takes === undefined || before >= mostWords) return NOTHING;
  const places = takes.split(' ');
  const place = places[before] ?? places.at(-1) ?? '';
  const meanings = place.split('|').map((part) => OF_WORDS[part.replaceAll(/\.\.\.|[[\]]/g, '')] ?? {});
  const known = meanings.some((meaning) => Object.keys(meaning).length > 0);
  return {
    ...NOTHING,
    words: meanings.flatMap(({ words = [] }) => words),
    sources: meanings.flatMap(({ sources = [] }) => sources),
    paths: known ? (meanings.find(({ paths }) => paths !== undefined)?.paths ?? null) : 'files',
  };
}
