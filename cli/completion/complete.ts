import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { Command, Given } from '../command.ts';
import type { Io } from '../io.ts';
import { lookUpNames, type LookupContext } from './look-up-names.ts';
import { type Candidates, candidatesAt } from './candidates.ts';

/** A person waits for the completion. */
const DEADLINE_MS: Millis = 2_000;

/** How a shell goes on, as kubectl and other programs by cobra say it: files as well, nothing more, directories only. */
const DIRECTIVES = { files: 0, nothing: 4, directories: 16 } as const;

/**
 * `kubelet-gitops __complete WORD...`: writes what may stand in the place of the last word, one a line, and `:` with a directive.
 * Whatever goes wrong, and whatever takes too long, offers nothing and says nothing.
 */
export async function complete(
  words: readonly string[],
  commands: readonly Command[],
  io: Io,
  clock: Pick<Clock, 'sleep'>,
): Promise<void> {
  const wanted = candidatesAt(words, commands);
  const { before } = wanted;
  const typed = (words.at(-1) ?? '').slice(before.length);
  const offered = [...new Set([...wanted.words, ...(await inTime(wanted, words, commands, io, clock))])]
    .filter((name) => name.startsWith(typed) && isSafe(name))
    .sort();
  const lines = offered.map((name) => `${before}${name}`);
  io.out.write(`${[...lines, `:${DIRECTIVES[wanted.paths ?? 'nothing']}`].join('\n')}\n`);
}

/** A name that ends the line, hides something or looks like an option is not offered. */
const isSafe = (name: string): boolean =>
  /^[^-:\p{C}\p{Z}][^\p{C}\u2028\u2029]*$/u.test(name) || /^--[a-z-]+$/.test(name);

async function inTime(
  { sources }: Candidates,
  words: readonly string[],
  commands: readonly Command[],
  io: Io,
  clock: Pick<Clock, 'sleep'>,
): Promise<readonly string[]> {
  const command = commands.find(({ name }) => name === words[0]);
  if (command === undefined || sources.length === 0) return [];
  const given = givenIn(command, words.slice(1, -1));
  const place: LookupContext = { command, given, io };
  const over = new AbortController();
  const late = clock.sleep(DEADLINE_MS, over.signal).then(() => []);
  const found = sources.map(async (source) =>
    Promise.race([lookUpNames(source, place, over.signal).catch((): readonly string[] => []), late]),
  );
  const names = (await Promise.all(found)).flat();
  over.abort();
  return names;
}

/** Options of a line that is not finished: what makes no sense yet is left out. */
function givenIn(command: Command, words: readonly string[]): Given {
  const values = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    for (const [name, { type, short }] of Object.entries(command.options)) {
      const value = words[index + 1];
      if (type !== 'string') continue;
      if (word.startsWith(`--${name}=`)) values.set(name, word.slice(name.length + 3));
      else if ((word === `--${name}` || word === `-${short}`) && value !== undefined) values.set(name, value);
    }
  }
  const text = (option: string): string | undefined => values.get(option);
  return { words: [], text, texts: (option) => [text(option) ?? []].flat(), flag: () => false };
}
