import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import type { GuardCause } from '#agent/ports/guard.ts';
import { stagedPathOf } from '#agent/guard/guard-paths.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { sampleOf } from '../../support/sample.ts';
import { createGuardedHost, type GuardedHost, type Mode, NEW, OLD } from './support/guarded-host.ts';
import { isTicking, noteOf, restarts } from './support/guard-runs.ts';
import { SHELLS } from './support/shells.ts';

interface Story {
  readonly name: string;
  readonly mode: Mode;
  readonly cause: GuardCause;
  readonly prepare: (host: GuardedHost) => void;
}

const CERTAIN = '11111111-2222-3333-4444-555555555555';

const STORIES: readonly Story[] = [
  {
    name: 'at a start that is one too many',
    mode: 'start',
    cause: 'starts',
    prepare: (host) => host.write('starts', `${CERTAIN} 9 900\n`),
  },
  {
    name: 'at a start after two boots that were lost',
    mode: 'start',
    cause: 'boots',
    prepare: (host) => host.write('boots', `${'the-boot-before 1 20 '.repeat(2).trim()}\n`),
  },
  {
    name: 'at a tick when the agent is silent',
    mode: 'tick',
    cause: 'silence',
    prepare(host) {
      host.write('starts', `${CERTAIN} 1 100\n`);
      host.write('doubt', `${CERTAIN}\n`);
    },
  },
  {
    name: 'at a tick when the unit is down',
    mode: 'tick',
    cause: 'down',
    prepare(host) {
      host.write('starts', `${CERTAIN} 1 900\n`);
      host.write('doubt', `${CERTAIN}\n`);
      host.setUnit('failed');
    },
  },
  {
    name: 'at a tick when the unit starts its kubelet again and again',
    mode: 'tick',
    cause: 'starts',
    prepare(host) {
      host.write('starts', `${CERTAIN} 1 900\n`);
      host.write('doubt', `${CERTAIN} 6\n`);
      host.setProgram(
        '/usr/local/bin/rke2 agent',
        'time="" level=error msg="Kubelet exited: 1"\n'.repeat(8),
        'running',
      );
    },
  },
];

/** What systemd goes on doing: a start where the story was about one, and ticks while there is a timer or a plan. */
async function goOn(host: GuardedHost, mode: Mode): Promise<void> {
  if (mode === 'start') await host.run('start');
  for (let ticks = 0; ticks < 5 && existsSync(join(host.guard, 'guard.sh')); ticks += 1) await host.run('tick');
}

for (const shell of sampleOf(SHELLS, SHELLS.length)) {
  describeOrSkip(`the guard under ${shell.name}, killed before any of its commands`, { skip: shell.skip }, () => {
    for (const { name, mode, cause, prepare } of STORIES) {
      it(`${name}: the next run brings it to its end`, async (test) => {
        let points = 0;
        for (let killAt = 1; ; killAt += 1) {
          const host = createGuardedHost(shell);
          prepare(host);
          const { status } = await host.run(mode, { killAt });
          if (status === 0) {
            host.remove();
            break;
          }
          points += 1;
          assert.ok([NEW, OLD].includes(host.read(host.config) ?? ''), `at point ${killAt} the config is broken`);
          await goOn(host, mode);
          assert.equal(host.read(host.config), OLD, `point ${killAt}`);
          assert.equal(existsSync(host.state), false, `point ${killAt}`);
          assert.equal(existsSync(stagedPathOf(host.config)), false, `point ${killAt}`);
          assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note'], `point ${killAt}`);
          assert.equal(existsSync(host.dropIn), false, `point ${killAt}`);
          assert.equal(isTicking(host), false, `point ${killAt}`);
          const note = noteOf(host);
          assert.deepEqual([note.cause, note.restarted], [cause, true], `point ${killAt}`);
          assert.ok(restarts(host) <= (mode === 'start' ? 0 : 2), `${restarts(host)} restarts, point ${killAt}`);
          if (mode === 'tick') assert.ok(restarts(host) >= 1, `no restart, point ${killAt}`);
          host.remove();
        }
        assert.ok(points >= 6, `only ${points} points`);
        test.diagnostic(`${points} points`);
      });
    }

    it('at a tick that cleans up: the next one brings it to its end', async (test) => {
      let points = 0;
      for (let killAt = 1; ; killAt += 1) {
        const host = createGuardedHost(shell, { maxStarts: 0 });
        await host.run('start');
        const { status } = await host.run('tick', { killAt });
        if (status !== 0) {
          points += 1;
          await goOn(host, 'tick');
        }
        assert.deepEqual(
          [readdirSync(host.guard).filter((name) => !['fired', 'note'].includes(name)), existsSync(host.dropIn)],
          [[], false],
          `point ${killAt}`,
        );
        host.remove();
        if (status === 0) break;
      }
      assert.ok(points >= 4, `only ${points} points`);
      test.diagnostic(`${points} points`);
    });

    it('comes to the same end when a start and a tick run at once', async () => {
      for (let time = 0; time < 15; time += 1) {
        const host = createGuardedHost(shell);
        host.write('starts', `${CERTAIN} 9 100\n`);
        host.write('doubt', `${CERTAIN}\n`);
        const both = await Promise.all([host.run('start'), host.run('tick')]);
        assert.deepEqual(
          both.map(({ status }) => status),
          [0, 0],
        );
        assert.equal(host.read(host.config), OLD);
        assert.equal(existsSync(host.state), false);
        await goOn(host, 'tick');
        assert.deepEqual(readdirSync(host.guard).sort(), ['fired', 'note']);
        assert.ok(restarts(host) <= 2);
        host.remove();
      }
    });
  });
}
