import { reasonOf } from '#shared/runtime/errors.ts';
import { COMMANDS } from './commands.ts';
import { safeIo } from './io.ts';
import { runCommandLine } from './run-command-line.ts';

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
  process.exitCode = await runCommandLine(process.argv.slice(2), COMMANDS, io);
} catch (error) {
  io.err.write(`kubelet-gitops: ${reasonOf(error)}\n`);
  process.exitCode = 2;
}
// The exit does not wait for a connection, or for a program that gets credentials.
process.stdout.write('', () => process.stderr.write('', () => setImmediate(() => process.exit())));
