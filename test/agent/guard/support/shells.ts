import { spawnSync } from 'node:child_process';
import { without } from '../../../support/required-tools.ts';

export interface Shell {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** For the `skip` of a test or of `describeOrSkip`. */
  readonly skip: string | false;
  /** It takes its own `mv`, `rm`, `date` and the like before those in PATH, as BusyBox of Debian's `busybox-static` does. */
  readonly hasOwnCommands: boolean;
}

const shell = (name: string, ...argv: readonly [string, ...string[]]): Shell => ({
  name,
  argv,
  skip: without(argv[0], [...argv.slice(1), '-c', ':'], `nothing proves that the guard works under ${name}`),
  hasOwnCommands: spawnSync(argv[0], [...argv.slice(1), '-c', 'PATH=/nowhere; date'], { stdio: 'ignore' }).status === 0,
});

/** What hosts have as /bin/sh. Where only how the script ends is tried, `npm test` takes the first of them. */
export const SHELLS: readonly Shell[] = [
  shell('dash', 'dash'),
  shell('busybox sh', 'busybox', 'sh'),
  shell('bash as sh', 'bash', '--posix'),
];

/** For the `skip` of what puts something else in the place of a command of the shell's own. */
export const skipWithoutStandIns = ({ name, skip, hasOwnCommands }: Shell): string | false =>
  hasOwnCommands
    ? `SKIPPED: this ${name} takes its own commands, so nothing proves what follows where one fails`
    : skip;
