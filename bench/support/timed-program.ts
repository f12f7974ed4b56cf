import { spawnSync } from 'node:child_process';

export interface TimedRun {
  readonly wallMs: number;
  /** User and system, of all that was started. */
  readonly cpuMs: number;
}

/** Runs a program to its end. @throws where it fails */
export function timedProgram(program: string, args: readonly string[]): TimedRun {
  const begun = performance.now();
  const script = '"$@" >&2 || exit; times';
  const { status, stdout, stderr } = spawnSync('bash', ['-c', script, 'bash', program, ...args], { encoding: 'utf8' });
  const wallMs = performance.now() - begun;
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}: ${stderr.slice(0, 500)}`);
  // The last line of `times` is what the children used: user and system, as 0m0.012s.
  const children = stdout.trim().split('\n').at(-1) ?? '';
  const cpuMs = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, minutes, seconds]) => sum + Number(minutes) * 60_000 + Number(seconds) * 1000,
    0,
  );
  return { wallMs, cpuMs };
}
