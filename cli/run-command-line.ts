import { systemClock } from '#shared/runtime/clock.ts';
import { VERSION } from '#shared/runtime/version.ts';
import { type Command, type ExitCode, UsageError } from './command.ts';
import { complete } from './completion/complete.ts';
import { commandHelp, programHelp } from './help.ts';
import type { Io } from './io.ts';
import { parseCommandLine } from './parse-command-line.ts';
import { programFile } from './program-files.ts';
import { columnsOf, wrapFor } from './wrap.ts';

/** Runs a command line of a program that knows these commands. @throws what the command throws, but for a `UsageError` */
export async function runCommandLine(
  argv: readonly string[],
  commands: readonly Command[],
  io: Io,
): Promise<ExitCode | 2> {
  const parsed = parseCommandLine(argv, commands);
  switch (parsed.line) {
    case 'help': {
      const columns = columnsOf(io.out);
      const { command } = parsed;
      const help =
        command === undefined ? programHelp(commands, programFile('docs'), columns) : commandHelp(command, columns);
      io.out.write(wrapFor(io.out)(help));
      return 0;
    }
    case 'version':
      io.out.write(`kubelet-gitops ${VERSION}\n`);
      return 0;
    case 'complete':
      await complete(parsed.words, commands, io, systemClock);
      return 0;
    case 'mistake':
      return sayMistake(parsed.message, parsed.command?.name, io);
    case 'run':
      try {
        return await parsed.command.run(parsed.given, io);
      } catch (error) {
        if (error instanceof UsageError) return sayMistake(error.message, parsed.command.name, io);
        throw error;
      }
  }
}

function sayMistake(message: string, command: string | undefined, io: Io): 2 {
  const more = command === undefined ? '' : ` ${command}`;
  io.err.write(`kubelet-gitops: ${message}\nTry kubelet-gitops${more} --help.\n`);
  return 2;
}
