import { reasonOf } from '#shared/runtime/errors.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { VERSION } from '#shared/runtime/version.ts';
import { type ExitCode, UsageError } from './command.ts';
import { COMMANDS } from './commands.ts';
import { complete } from './completion/complete.ts';
import { commandHelp, programHelp } from './help.ts';
import { type Io, safeIo } from './io.ts';
import { parseCommandLine } from './parse-command-line.ts';
import { programFile } from './program-files.ts';
import { columnsOf, wrapFor } from './wrap.ts';

async function main(argv: readonly string[], io: Io): Promise<ExitCode | 2> {
  const parsed = parseCommandLine(argv, COMMANDS);
  switch (parsed.line) {
    case 'help': {
      const columns = columnsOf(io.out);
      const { command } = parsed;
      const help =
        command === undefined ? programHelp(COMMANDS, programFile('docs'), columns) : commandHelp(command, columns);
      io.out.write(wrapFor(io.out)(help));
      return 0;
    }
    case 'version':
      io.out.write(`kubelet-gitops ${VERSION}\n`);
      return 0;
    case 'complete':
      await complete(parsed.words, COMMANDS, io, systemClock);
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

// A reader that has seen enough (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  io.err.write(`kubelet-gitops: standard output cannot be written: ${reasonOf(error)}\n`);
  process.exit(2);
});
// Without a reader there is nothing to report to.
process.stderr.on('error', () => undefined);
// Started by bin.js under another Node: it ends with who started it, and keeps no caller waiting because of that. An orderly exit
// would wait for a read that never ends, of a pipe for example.
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
process.channel?.unref();
const io = safeIo({ out: process.stdout, err: process.stderr, in: process.stdin, env: process.env });
try {
  process.exitCode = await main(process.argv.slice(2), io);
} catch (error) {
  io.err.write(`kubelet-gitops: ${reasonOf(error)}\n`);
  process.exitCode = 2;
}
// The exit does not wait for a connection, or for a program that gets credentials.
process.stdout.write('', () => process.stderr.write('', () => setImmediate(() => process.exit())));
