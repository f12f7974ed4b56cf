import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { aliveLine } from '#agent/guard/guard-records.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { inCi } from '../../support/recipe.ts';
import { BOOT, createGuardedHost, type GuardedHost, NEW, OLD } from './support/guarded-host.ts';
import { type Shell, SHELLS } from './support/shells.ts';

const POD = '0a1b2c3d-0000-1111-2222-333344445555';

/** 50 at a time, as the volumes of pods, and as long as the overlay of a container with a dozen layers. */
const MAKE_MOUNTS = `set -e
mount -t tmpfs guarded "$1"
mkdir "$1/1"
long=$(printf %0700d 0)
mount -t tmpfs "$long" "$1/1"
for volume in $(seq 49); do
  place="$1/1/pods/$(printf %08x "$volume")-1111-2222-3333-444455556666/volumes/kubernetes.io~projected/token"
  mkdir -p "$place"
  mount -t tmpfs "$long" "$place"
done
for copy in $(seq 2 "$2"); do
  mkdir "$1/$copy"
  mount --rbind "$1/1" "$1/$copy"
done
echo made
exec cat`;

/** Counts what outlives the guard's main process, too. No process of it gets more than the seconds that all of it may take. */
const COUNT_CPU = `ulimit -t 2
"$@"
status=$?
while kill -0 -1; do sleep 0.02 & wait $!; done
times >"$0"
exit $status`;

interface Crowd {
  readonly child: ChildProcess;
  readonly enter: readonly [string, ...string[]];
}

/** A mount namespace of its own with so many mounts. It ends with its standard input. */
async function crowdOf(mounts: number, place: string): Promise<Crowd> {
  const child = spawn('unshare', ['-m', 'sh', '-c', MAKE_MOUNTS, 'sh', place, String(mounts / 50)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
  return { child, enter: ['nsenter', '-t', String(child.pid), '-m'] };
}

const skip = ((): string | false => {
  try {
    execFileSync('unshare', ['-m', '-p', '-f', 'mount', '-t', 'tmpfs', 'guarded', tmpdir()], { stdio: 'pipe' });
    return false;
  } catch (error) {
    // On a hosted runner CI is an ordinary user, and only root may mount.
    if (inCi() && process.getuid?.() === 0) throw error;
    return 'SKIPPED: nobody may mount anything here, so nothing proves that the guard keeps up with thousands of mounts';
  }
})();

describeOrSkip('the guard on a node of many mounts', { skip }, () => {
  const place = mkdtempSync(join(tmpdir(), 'kubelet-gitops-mounts-'));
  let few: Crowd;
  let many: Crowd;
  before(async () => {
    few = await crowdOf(500, place);
    many = await crowdOf(5_000, place);
  });
  after(async () => {
    for (const { child } of [few, many]) {
      child.stdin?.end();
      if (child.exitCode === null) await once(child, 'exit');
    }
    for (const path of [place, `${place}-cpu`]) rmSync(path, { recursive: true, force: true });
  });

  const inside = ({ enter: [command, ...args] }: Crowd, ...more: readonly string[]): string =>
    execFileSync(command, [...args, ...more], { encoding: 'utf8' });

  /** The agent's pod is there when the kubelet starts, and ended by it. @returns seconds of CPU of all that the guard ran */
  async function takeBackAmong(crowd: Crowd, host: GuardedHost, cpu: string): Promise<number> {
    let spent = 0;
    const run = async (mode: 'start' | 'tick', age: number): Promise<void> => {
      host.setTime(age);
      assert.equal((await host.run(mode, { patience: 20 })).status, 0);
      spent += secondsOf(host.read(cpu) ?? '');
    };
    const plan = host.read(join(host.guard, 'plan')) ?? '';
    host.write('plan', plan.replace('put /', `watch ${BOOT}\nput /`));
    host.write('alive', aliveLine(BOOT, 900, POD).toString());
    symlinkSync('/proc/self/mounts', join(host.paths.proc, 'mounts'));

    const volume = join(place, 'pods', POD, 'volumes/kubernetes.io~projected/token');
    inside(crowd, 'sh', '-c', 'mkdir -p "$0" && mount -t tmpfs guarded "$0"', volume);
    await run('start', 1_000);
    assert.match(host.read(join(host.guard, 'starts')) ?? '', new RegExp(`^${BOOT} +1 +1000$`, 'm'));
    inside(crowd, 'umount', volume);
    for (const age of [1_015, 2_000]) await run('tick', age);
    assert.equal(host.read(host.config), NEW);
    await run('tick', 2_015);
    assert.equal(host.read(host.config), OLD);
    assert.ok(existsSync(join(host.guard, 'fired')));
    return spent;
  }

  for (const shell of SHELLS) {
    it(
      `comes to its end under ${shell.name}, and ten times as many take it ten times as long at most`,
      {
        skip: shell.skip,
      },
      async (test) => {
        const spent: number[] = [];
        for (const crowd of [few, many]) {
          const cpu = `${place}-cpu`;
          const counting = ['unshare', '-p', '-f', 'sh', '-c', COUNT_CPU, cpu] as const;
          const counted: Shell = { ...shell, argv: [...crowd.enter, ...counting, ...shell.argv] };
          const host = createGuardedHost(counted, { silence: 900 });
          try {
            spent.push(await takeBackAmong(crowd, host, cpu));
          } finally {
            host.remove();
          }
        }
        const [alone = 0, crowded = 0] = spent;
        test.diagnostic(`${alone} s of CPU among 500 mounts, ${crowded} s among 5000`);
        // What it costs to run the guard at all is much more here.
        assert.ok(crowded < 15 * Math.max(alone, RESOLUTION), `${alone} s of CPU, then ${crowded} s`);
      },
    );
  }

  it('is on one of as many as that', () => {
    for (const [crowd, mounts] of [[few, 500] as const, [many, 5_000] as const]) {
      assert.ok(Number(inside(crowd, 'grep', '-c', 'pods', '/proc/self/mounts')) >= mounts * 0.97);
    }
  });
});

const RESOLUTION = 0.05;

/** The second line of `times`: user and system time of all children, as 0m0.120s. */
function secondsOf(times: string): number {
  const [, children = ''] = times.split('\n');
  const parts = [...children.matchAll(/(\d+)m([\d.]+)s/g)];
  assert.equal(parts.length, 2, times);
  return parts.reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}
