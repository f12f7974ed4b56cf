import assert from 'node:assert/strict';
import type { Command, ExitCode, Given } from '#cli/command.ts';
import type { Io } from '#cli/io.ts';
import { parseCommandLine } from '#cli/parse-command-line.ts';
import { type Clock, type Millis, systemClock } from '#shared/runtime/clock.ts';

/** What a command that watches has shown, how long it thought that took, and how it ended: a code, or what it threw. */
export interface Watched {
  readonly code: ExitCode | string;
  readonly shown: readonly string[];
  readonly elapsed: Millis;
}

/**
 * Runs a command with a clock of its own; before each look after the first one, the next of these happens.
 *
 * @param sleepMs what passes between two looks, instead of what the command asks for
 */
export async function watch(
  command: Command,
  run: (given: Given, io: Io, clock: Clock) => Promise<ExitCode>,
  argv: readonly string[],
  happens: readonly (() => unknown)[] = [],
  { sleepMs, env = {} }: { readonly sleepMs?: Millis; readonly env?: Readonly<Record<string, string>> } = {},
): Promise<Watched> {
  const [left, shown] = [[...happens], [] as string[]];
  let elapsed = 0;
  const clock = {
    ...systemClock,
    monotonic: () => elapsed,
    async sleep(ms: Millis) {
      elapsed += sleepMs ?? ms;
      await left.shift()?.();
    },
  };
  const parsed = parseCommandLine([command.name, ...argv], [command]);
  assert.ok(parsed.line === 'run');
  const io = { out: { write: (text: string) => shown.push(text) }, err: { write: () => 0 }, env };
  const code = await run(parsed.given, io, clock).catch(String);
  return { code, shown, elapsed };
}
