import { Readable } from 'node:stream';
import { COMMANDS } from '#cli/commands.ts';
import { complete } from '#cli/completion/complete.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { UsageError } from '#cli/command.ts';
import { safeIo } from '#cli/io.ts';
import { parseCommandLine } from '#cli/parse-command-line.ts';
import { reasonOf } from '#shared/runtime/errors.ts';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line as the program does, without its process. */
export const run = (...argv: readonly string[]): Promise<Ran> => runIn({}, argv);

/** The same with an environment, and with something on standard input. */
export async function runIn(
  env: Readonly<Record<string, string>>,
  argv: readonly string[],
  piped?: readonly string[],
): Promise<Ran> {
  let [out, err] = ['', ''];
  const io = safeIo({
    out: { write: (text: string) => (out += text) },
    err: { write: (text: string) => (err += text) },
    ...(piped === undefined ? {} : { in: Readable.from(piped.map((part) => Buffer.from(part))) }),
    env,
  });
  const parsed = parseCommandLine(argv, COMMANDS);
  if (parsed.line === 'complete') {
    await complete(parsed.words, COMMANDS, io, systemClock);
    return { code: 0, out, err };
  }
  if (parsed.line !== 'run') return { code: 2, out, err: parsed.line };
  try {
    const code = await parsed.command.run(parsed.given, io);
    return { code, out, err };
  } catch (error) {
    return { code: 2, out, err: err + (error instanceof UsageError ? error.message : reasonOf(error)) };
  }
}
