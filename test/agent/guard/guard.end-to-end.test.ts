import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { createHostGuard, readGuardScript } from '#agent/guard/host-guard.ts';
import { stagedPathOf } from '#agent/guard/guard-paths.ts';
import { createFakeSystemd } from './support/fake-systemd.ts';
import { BOOT, createGuardedHost, type GuardedHost, NEW, OLD, UNIT } from './support/guarded-host.ts';
import { underEachShell } from './support/guard-runs.ts';
import type { Shell } from './support/shells.ts';

/** Every file of the host with its text and mode, but for what belongs to the test. */
function treeOf(host: GuardedHost): Readonly<Record<string, string>> {
  const entries = readdirSync(host.root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const ours = files.filter((path) => !/^(?:bin\/|proc\/|log$|timer$|unit$)/.test(relative(host.root, path)));
  const directories = entries.filter((entry) => entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries([
    ...directories.map((path) => [relative(host.root, path), 'directory'] as const),
    ...ours.map((path) => [
      relative(host.root, path),
      `${statSync(path).mode.toString(8)} ${readFileSync(path, 'utf8')}`,
    ]),
  ]);
}

/** A host before anything was armed. */
function createUnarmedHost(shell: Shell): GuardedHost {
  const host = createGuardedHost(shell);
  for (const path of [host.guard, join(host.root, 'unit.d'), stagedPathOf(host.config)])
    rmSync(path, { recursive: true });
  return host;
}

/** The agent's side of the guard. */
function agentOn(host: GuardedHost) {
  const disk = createNodeDisk();
  let uptime = 1000;
  const systemd = createFakeSystemd(disk, host.dropIn);
  const guard = createHostGuard({
    disk,
    stateDirectory: host.root,
    unit: UNIT,
    unitDirectory: join(host.root, 'unit.d'),
    systemd,
    script: readGuardScript,
    bootId: () => Promise.resolve(BOOT),
    uptimeSeconds: () => Promise.resolve(uptime),
  });
  const arm = (): Promise<void> =>
    guard.arm({
      trial: 'pool-x/1/overlay@1',
      to: 'local',
      maxStarts: 2,
      silenceSeconds: 600,
      restore: [
        { path: host.config, bytes: Buffer.from(OLD), owner: { mode: 0o640 } },
        { path: host.state, bytes: null },
      ],
    });
  const pass = (seconds: number): void => {
    uptime += seconds;
    host.setTime(uptime);
  };
  return { guard, systemd, arm, pass };
}

const restored = (before: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries({ ...before, 'kubelet/config.yaml': `100640 ${OLD}` }).filter(
      ([path]) => path !== 'kubelet/memory_manager_state',
    ),
  );

underEachShell(
  (it) => {
    it('a trial that is good leaves nothing behind', async (host) => {
      const { guard, arm, pass } = agentOn(host);
      const before = treeOf(host);
      await arm();
      await host.start();
      for (let time = 0; time < 60; time += 1) {
        pass(20);
        await guard.heartbeat();
        if (time % 20 === 0) await host.tick();
      }
      assert.equal(host.read(host.config), NEW);
      await guard.disarm();
      assert.deepEqual(treeOf(host), before);
      await guard.disarm();
    });

    it('a kubelet that starts too often runs the old config, and the agent reads why', async (host) => {
      const { guard, arm } = agentOn(host);
      const before = treeOf(host);
      await arm();
      await host.start(3);
      const seen = await guard.look();
      assert.ok(seen.guard === 'fired');
      const { at, ...rest } = seen;
      assert.ok(at !== undefined);
      assert.deepEqual(rest, {
        guard: 'fired',
        trial: 'pool-x/1/overlay@1',
        to: 'local',
        cause: 'starts',
        starts: 3,
        restarted: true,
      });
      await guard.disarm();
      assert.deepEqual(treeOf(host), restored(before));
      assert.deepEqual(await guard.look(), { guard: 'disarmed' });
    });

    it('an agent that is gone for good leaves the note, and an agent that comes back removes it', async (host) => {
      const { guard, systemd, arm, pass } = agentOn(host);
      const before = treeOf(host);
      await arm();
      await host.start();
      pass(601);
      for (let time = 0; time < 3; time += 1) await host.tick();
      const seen = await guard.look();
      assert.ok(seen.guard === 'fired');
      assert.deepEqual([seen.cause, seen.restarted], ['silence', true]);
      assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note', 'traces']);
      await guard.disarm();
      assert.deepEqual(treeOf(host), restored(before));
      assert.equal(systemd.asked.at(-1), 'stop kubelet-gitops-guard.timer');
    });

    it('an agent that is late is told what happened, and its order is gone', async (host) => {
      const { guard, arm, pass } = agentOn(host);
      await arm();
      await host.start(3);
      pass(20);
      await guard.heartbeat();
      assert.equal((await guard.look()).guard, 'fired');
      await arm();
      assert.equal((await guard.look()).guard, 'armed');
      await host.start(2);
      assert.equal((await guard.look()).guard, 'armed', 'starts of another trial do not count');
    });
  },
  { about: ' and the agent', host: createUnarmedHost },
);
