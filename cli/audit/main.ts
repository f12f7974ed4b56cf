import { reasonOf } from '#shared/runtime/errors.ts';
import { safeIo } from '../io.ts';
import { runCommandLine } from '../run-command-line.ts';
import { AUDIT } from './command.ts';

// The one command that the image has, for a CronJob: its arguments are those of `kubelet-gitops audit`.
const io = safeIo({ out: process.stdout, err: process.stderr, in: process.stdin, env: process.env });
try {
  process.exitCode = await runCommandLine(['audit', ...process.argv.slice(2)], [AUDIT], io);
} catch (error) {
  io.err.write(`kubelet-gitops audit: ${reasonOf(error)}\n`);
  process.exitCode = 2;
}
