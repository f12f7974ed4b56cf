import { without } from '../../../support/required-tools.ts';

export interface Shell {
  readonly name: string;
  readonly argv: readonly [string, ...string[]];
  /** For the `skip` of a test or of `describeOrSkip`. */
  readonly skip: string | false;
}

const shell = (name: string, ...argv: readonly [string, ...string[]]): Shell => ({
  name,
  argv,
  skip: without(argv[0], [...argv.slice(1), '-c', ':'], `nothing proves that the guard works under ${name}`),
});

/** What hosts have as /bin/sh. Where only how the script ends is tried, `npm test` takes the first of them. */
export const SHELLS: readonly Shell[] = [
  shell('dash', 'dash'),
  shell('busybox sh', 'busybox', 'sh'),
  shell('bash as sh', 'bash', '--posix'),
];
