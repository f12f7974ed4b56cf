import { spawnSync } from 'node:child_process';

/**
 * For the `skip` of a test or of `describeOrSkip`: false where a program is installed; otherwise a loud reason. On a machine
 * without it the rest of the tests still tell something; in CI nothing may be missing, and nothing is skipped.
 *
 * @param why what nobody has proven when the tests are skipped
 */
export function without(program: string, args: readonly string[], why: string): string | false {
  const { error } = spawnSync(program, args, { stdio: 'ignore' });
  if (error === undefined) return false;
  if (process.env['CI'] === 'true') throw new Error(`CI has to install ${program}: without it ${why}`);
  return `SKIPPED: ${program} is not installed, so ${why}`;
}

export const WITHOUT_GIT = without(
  'git',
  ['--version'],
  'nothing proves that we work with real git servers and clients',
);
export const WITHOUT_OPENSSL = without(
  'openssl',
  ['version'],
  'nothing proves that private certificate authorities work',
);

export const WITHOUT_PROMTOOL = without(
  'promtool',
  ['--version'],
  'nothing proves that Prometheus can read our metrics and rules',
);
