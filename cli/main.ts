import { parseCommandLine, USAGE } from './usage.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { runStatus } from './status/command.ts';
import { runValidate } from './validate/command.ts';
import { VERSION } from '#shared/runtime/version.ts';

/** Exit codes of every command: nothing to say, something found or different, could not run. */
async function main(argv: readonly string[]): Promise<0 | 1 | 2> {
  const line = parseCommandLine(argv);
  const io = { out: process.stdout, err: process.stderr, env: process.env };
  switch (line.command) {
    case 'help':
      process.stdout.write(USAGE);
      return 0;
    case 'version':
      process.stdout.write(`kubelet-gitops ${VERSION}\n`);
      return 0;
    case 'mistake':
      process.stderr.write(`kubelet-gitops: ${line.message}\nTry kubelet-gitops --help.\n`);
      return 2;
    case 'status':
      return runStatus(line.options, io);
    case 'validate':
      return runValidate(line.options, io);
  }
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`kubelet-gitops: ${reasonOf(error)}\n`);
  process.exitCode = 2;
}
