import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { dropInText, stagedPathOf } from '#agent/guard/guard-paths.ts';
import { underEachShell } from './support/guard-runs.ts';
import { sampleOf } from '../../support/sample.ts';
import { createGuardedHost, type GuardedHost, type Mode, NEW, OLD, SCRIPT } from './support/guarded-host.ts';
import { type Shell, SHELLS, skipWithoutStandIns } from './support/shells.ts';

/** What a disk can have in the place of a file. */
const DAMAGES: Readonly<Record<string, (path: string) => void>> = {
  missing: (path) => rmSync(path, { force: true }),
  empty: (path) => writeFileSync(path, ''),
  torn: (path) => writeFileSync(path, existsSync(path) ? readFileSync(path).subarray(0, -7) : 'x'),
  garbage: (path) => writeFileSync(path, Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 89 + 7) % 256))),
  'of many lines': (path) => writeFileSync(path, '$(touch /) `x` 99999999999999999999 -1 08\n'.repeat(20_000)),
  'one long line': (path) => writeFileSync(path, 'a'.repeat(100_000)),
  'a directory': (path) => {
    rmSync(path, { force: true });
    mkdirSync(path);
    writeFileSync(join(path, 'inside'), 'x');
  },
  'a FIFO': (path) => {
    rmSync(path, { force: true });
    execFileSync('mkfifo', [path]);
  },
  'a link to nowhere': (path) => {
    rmSync(path, { force: true });
    symlinkSync('/nowhere/at/all', path);
  },
  'a link to itself': (path) => {
    rmSync(path, { force: true });
    symlinkSync(path, path);
  },
  unreadable: (path) => {
    if (existsSync(path)) chmodSync(path, 0);
  },
};

const FILES: Readonly<Record<string, (host: GuardedHost) => string>> = {
  ...Object.fromEntries(
    ['plan', 'starts', 'boots', 'alive', 'doubt', 'note', 'fired', 'traces'].map((name) => [
      name,
      (host: GuardedHost) => join(host.guard, name),
    ]),
  ),
  'the staged file': (host) => stagedPathOf(host.config),
  'the config': (host) => host.config,
  'the state file': (host) => host.state,
  'the drop-in': (host) => host.dropIn,
  'the boot id': (host) => join(host.paths.proc, 'sys/kernel/random/boot_id'),
  'the uptime': (host) => join(host.paths.proc, 'uptime'),
};

/** Every damage, met by a start and by a tick. */
const DAMAGED_RUNS = Object.keys(DAMAGES).flatMap((damage) =>
  (['start', 'tick'] as const).map((mode) => ({ damage, mode })),
);

/** Half of what the guard gives itself here, and a third of what hangs: a machine that is busy may be slow. */
const AT_ONCE_MS = 100_000;
const PRECIOUS = 'precious\n';

/** The guard is at the point of acting: the next start is one too many, and the next tick finds nobody. */
function createHostAboutToFire(shell: Shell): GuardedHost {
  const host = createGuardedHost(shell, { maxStarts: 1, silence: 60 });
  host.write('starts', `11111111-2222-3333-4444-555555555555          1          900\n`);
  host.write('boots', `${'11111111-2222-3333-4444-555555555555 0 900 '.repeat(2).trim()}\n`);
  host.write('doubt', `11111111-2222-3333-4444-555555555555\n`);
  host.write('alive', `11111111-2222-3333-4444-555555555555 900\n`);
  host.write('note', `-${' '.repeat(44)}\n`);
  host.write('traces', 'file /nowhere.kubelet-gitops-restore\n');
  for (const directory of ['kubelet', 'unit.d']) writeFileSync(join(host.root, directory, 'bystander'), PRECIOUS);
  return host;
}

async function runThrough(host: GuardedHost, mode: Mode, asNobody: boolean) {
  // Again and again, as systemd would.
  for (let time = 0; time < 2 && existsSync(join(host.guard, 'guard.sh')); time += 1) {
    const { status, ms } = await host.run(mode, { asNobody });
    assert.equal(status, 0);
    assert.ok(ms < AT_ONCE_MS, `took ${Math.round(ms)} ms`);
  }
}

function isHarmless(host: GuardedHost, damaged: string): void {
  for (const directory of ['kubelet', 'unit.d']) {
    assert.equal(readFileSync(join(host.root, directory, 'bystander'), 'utf8'), PRECIOUS);
  }
  if (damaged === host.config || damaged === stagedPathOf(host.config)) return;
  assert.ok([NEW, OLD].includes(host.read(host.config) ?? ''), 'the config is one of the two, as a whole');
}

const SHELLS_HERE = SHELLS.slice(0, 2);

underEachShell(
  (it, shell) => {
    for (const [index, [name, pathIn]] of Object.entries(FILES).entries()) {
      it(`lets the kubelet start whatever is in the place of ${name}`, async () => {
        for (const { damage, mode } of sampleOf(DAMAGED_RUNS, 5, index)) {
          const host = createHostAboutToFire(shell);
          try {
            const path = pathIn(host);
            DAMAGES[damage]?.(path);
            await runThrough(host, mode, damage === 'unreadable');
            isHarmless(host, path);
          } catch (error) {
            throw new Error(`${name} ${damage}, at a ${mode}`, { cause: error });
          } finally {
            host.remove();
          }
        }
      });
    }

    it('restores in spite of damage to everything but the plan, the staged file and its own count', async () => {
      const enough = Object.keys(FILES).filter((name) => !/plan|staged|starts|config|boot|uptime|state/.test(name));
      const damages = Object.keys(DAMAGES).filter((each) => each !== 'unreadable');
      for (const [index, name] of enough.entries()) {
        for (const damage of sampleOf(damages, 3, index)) {
          const host = createHostAboutToFire(shell);
          DAMAGES[damage]?.(FILES[name]?.(host) ?? '');
          await host.start();
          assert.equal(host.read(host.config), OLD, `${name} ${damage}`);
          host.remove();
        }
      }
    });

    it('counts again where its count is damaged, and restores then', async () => {
      for (const damage of ['missing', 'empty', 'torn', 'garbage', 'of many lines', 'one long line']) {
        const host = createHostAboutToFire(shell);
        DAMAGES[damage]?.(join(host.guard, 'starts'));
        host.setTime(930);
        await host.start(2);
        assert.equal(host.read(host.config), OLD, damage);
        host.remove();
      }
    });

    it('gives up in time on a file without an end', async () => {
      for (const mode of ['start', 'tick'] as const) {
        const host = createHostAboutToFire(shell);
        truncateSync(join(host.guard, 'starts'), 0);
        truncateSync(join(host.guard, 'starts'), 20 * 1024 ** 3);
        const { status, ms } = await host.run(mode, { patience: 0.5 });
        assert.equal(status, 0);
        assert.ok(ms > 450 && ms < AT_ONCE_MS, `took ${Math.round(ms)} ms`);
        host.remove();
      }
    });

    it('does nothing with a plan that says more than it understands, or too little', async () => {
      const changes: readonly ((plan: string) => string)[] = [
        (plan) => plan.replace('guard 1', 'guard 2'),
        (plan) => plan.replace('end\n', ''),
        (plan) => plan.replace('end\n', 'end'),
        (plan) => `${plan}remove /tmp/x\n`,
        (plan) => plan.replace('put ', 'shred '),
        (plan) => plan.replace('put /', 'put ../'),
        (plan) => plan.replace(/unit .*\n/, ''),
        (plan) => plan.replace(/unit .*\n/, 'unit $(reboot)\n'),
        (plan) => plan.replace(/unit .*\n/, 'unit --all\n'),
        (plan) => plan.replace(/max-starts .*\n/, 'max-starts -1\n'),
        (plan) => plan.replace(/silence .*\n/, 'silence 1e3\n'),
        (plan) => plan.replace('end\n', `${'remove /tmp/x\n'.repeat(600)}end\n`),
      ];
      for (const change of changes) {
        const host = createHostAboutToFire(shell);
        host.write('plan', change(host.read(join(host.guard, 'plan')) ?? ''));
        await runThrough(host, 'start', false);
        await runThrough(host, 'tick', false);
        assert.equal(host.read(host.config), NEW, String(change));
        host.remove();
      }
    });

    it('does nothing where its own script was torn, wherever', async () => {
      const script = readFileSync(SCRIPT);
      const ends = [...script.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at);
      const beforeMain = ends.filter((at) => at < script.lastIndexOf('\nmain\n'));
      assert.ok(beforeMain.length > 250);
      const host = createHostAboutToFire(shell);
      const before = readdirSync(host.guard);
      for (const at of sampleOf(beforeMain, 11)) {
        for (const length of [at - 5, at + 1]) {
          writeFileSync(join(host.guard, 'guard.sh'), script.subarray(0, length));
          await host.run('start');
        }
      }
      assert.equal(host.read(host.config), NEW);
      assert.deepEqual(readdirSync(host.guard), before);
      assert.equal(host.commands(), 0, 'nothing was called');
      host.remove();
    });
  },
  {
    about: ', on a disk where a file is damaged',
    shells: sampleOf(SHELLS_HERE, SHELLS_HERE.length),
    concurrency: 3,
    host: createHostAboutToFire,
  },
);

underEachShell(
  (it) => {
    it('gives up in time where a command never ends, and goes on at the next start', async (host) => {
      writeFileSync(join(host.root, 'hang'), 'mv');
      const { status, ms } = await host.run('start', { patience: 0.5 });
      assert.equal(status, 0);
      assert.ok(ms > 450 && ms < AT_ONCE_MS, `took ${Math.round(ms)} ms`);
      process.kill(Number(host.read(join(host.root, 'hung'))));
      rmSync(join(host.root, 'hang'));
      await host.start();
      assert.equal(host.read(host.config), OLD);
    });

    it('does nothing where it lacks sleep, mv and rm', async (host) => {
      for (const name of ['sleep', 'mv', 'rm']) rmSync(join(host.paths.bin, name));
      await runThrough(host, 'start', false);
      await runThrough(host, 'tick', false);
      assert.equal(host.read(host.config), NEW);
    });
  },
  {
    about: ', whose commands fail',
    shells: sampleOf(SHELLS_HERE, SHELLS_HERE.length),
    skip: skipWithoutStandIns,
    host: createHostAboutToFire,
  },
);

describe('the line in the unit', () => {
  const command = (script: string): readonly string[] => {
    const line = dropInText(script, 7)
      .split('\n')
      .find((each) => each.startsWith('ExecStartPre='));
    const [, shell, text] = /^ExecStartPre=-(\/bin\/sh) -c '([^']+)'$/.exec(line ?? '') ?? [];
    assert.ok(shell !== undefined && text !== undefined, 'systemd ignores how it ends');
    return [shell, '-c', text];
  };

  it('runs the script, and comes to an end where there is none', async () => {
    const [shell = assert.fail('there is no shell')] = SHELLS;
    const host = createHostAboutToFire(shell);
    const script = join(host.guard, 'guard.sh');
    const run = (): string => {
      const [shell = '', ...args] = command(script);
      try {
        return execFileSync(shell, args, { timeout: AT_ONCE_MS, stdio: 'pipe' }).toString();
      } catch (error) {
        assert.notEqual((error as { readonly code?: string }).code, 'ETIMEDOUT');
        return '';
      }
    };
    writeFileSync(script, 'echo "$*"\n');
    assert.equal(run(), 'start 7\n');
    for (const damage of [
      'missing',
      'empty',
      'garbage',
      'one long line',
      'a directory',
      'a FIFO',
      'a link to itself',
    ]) {
      rmSync(script, { recursive: true, force: true });
      DAMAGES[damage]?.(script);
      assert.doesNotMatch(run(), /start/, damage);
      rmSync(script, { recursive: true, force: true });
    }
    host.remove();
  });
});
