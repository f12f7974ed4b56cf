import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { isStagedPath, removedPathOf, stagedPathOf } from '#agent/guard/guard-paths.ts';
import { aliveLine, NO_NOTE } from '#agent/guard/guard-records.ts';
import { noteOf, restarts, underEachShell } from './support/guard-runs.ts';
import { sampleOf } from '../../support/sample.ts';
import { BOOT, createGuardedHost, type GuardedHost, NEW, OLD } from './support/guarded-host.ts';
import { type Shell, SHELLS } from './support/shells.ts';

/** What of the way back has arrived on the disk when the power comes back, in whatever order. */
const HALVES: Readonly<Record<string, (host: GuardedHost) => void>> = {
  'the config is back, and the state file not gone': (host) => renameSync(stagedPathOf(host.config), host.config),
  'the state file is gone, and the config not back': (host) => renameSync(host.state, removedPathOf(host.state)),
};

function createInterruptedHost(shell: Shell): GuardedHost {
  const host = createGuardedHost(shell);
  host.write('note', NO_NOTE.toString());
  return host;
}

underEachShell(
  (it) => {
    for (const [what, arrives] of Object.entries(HALVES)) {
      it(`goes the rest of the way before the kubelet is started once more, where ${what}`, async (host) => {
        arrives(host);
        host.setTime(20, 'another-boot');
        await host.start();
        assert.equal(host.read(host.config), OLD);
        assert.equal(existsSync(host.state), false);
        assert.equal(existsSync(join(host.guard, 'plan')), false);
        const { cause, restarted } = noteOf(host);
        assert.deepEqual({ cause, restarted }, { cause: 'unknown', restarted: true });
        await host.tick();
        assert.deepEqual([stagedPathOf(host.config), removedPathOf(host.state)].filter(existsSync), []);
      });
    }

    for (const [what, arrives] of Object.entries(HALVES)) {
      it(`goes the rest of the way at the second tick after a start that ran out of time, where ${what}`, async (host) => {
        arrives(host);
        host.write('starts', `${BOOT} 4 990\n`);
        host.write('alive', aliveLine(BOOT, 995).toString());
        host.write('note', 'starts            4 yes 2026-11-21T05:51:55Z\n');
        await host.tick();
        assert.ok(existsSync(join(host.guard, 'plan')), 'a start that is at it may need no help');
        assert.equal(restarts(host), 0);
        await host.tick();
        assert.equal(host.read(host.config), OLD);
        assert.equal(existsSync(host.state), false);
        const { cause, starts, restarted } = noteOf(host);
        assert.deepEqual({ cause, starts, restarted }, { cause: 'starts', starts: 4, restarted: true });
        await host.tick();
        assert.equal(restarts(host), 1);
        assert.deepEqual(readdirSync(host.guard).toSorted(), ['fired', 'note']);
      });
    }

    it('leaves the rest to a start that is still at it', async (host) => {
      HALVES['the config is back, and the state file not gone']?.(host);
      await host.tick();
      await host.start();
      for (let ticks = 0; ticks < 2; ticks += 1) await host.run('tick');
      assert.equal(restarts(host), 0);
      assert.deepEqual(readdirSync(host.guard).toSorted(), ['fired', 'note']);
    });

    it('still knows why it began', async (host) => {
      host.write('note', 'silence           2 no  2026-11-21T05:51:55Z\n');
      renameSync(stagedPathOf(host.config), host.config);
      await host.start();
      const { at: _, ...note } = noteOf(host);
      assert.deepEqual(note, { cause: 'silence', starts: 2, restarted: true });
    });

    it('takes nothing away a second time: a state file that is there later is of the kubelet that it started', async (host) => {
      HALVES['the state file is gone, and the config not back']?.(host);
      await host.start();
      writeFileSync(host.state, 'written since\n');
      await host.start();
      assert.equal(host.read(host.state), 'written since\n');
    });

    const startsTooOften = (host: GuardedHost): void =>
      host.write('starts', '11111111-2222-3333-4444-555555555555 9 900\n');

    it('is not begun because somebody else took away what waits: that waits there again', async (host) => {
      rmSync(stagedPathOf(host.config));
      await host.start();
      assert.equal(host.read(host.config), NEW);
      assert.equal(host.read(host.state), 'new state\n');
      assert.equal(existsSync(join(host.guard, 'plan')), true);
      assert.equal(host.read(stagedPathOf(host.config)), OLD);
      startsTooOften(host);
      await host.start();
      assert.equal(host.read(host.config), OLD);
      assert.equal(existsSync(host.state), false);
    });

    it('puts back at a tick as well what somebody else took away just before', async (host) => {
      rmSync(stagedPathOf(host.config));
      chmodSync(host.copy, 0o640);
      host.write('starts', '11111111-2222-3333-4444-555555555555 1 100\n');
      host.write('doubt', '11111111-2222-3333-4444-555555555555\n');
      await host.tick();
      assert.equal(host.read(host.config), OLD);
      assert.equal(statSync(host.config).mode & 0o777, 0o640);
      assert.equal(existsSync(host.state), false);
      await host.tick();
      assert.deepEqual(readdirSync(dirname(host.config)), ['config.yaml']);
      assert.deepEqual(readdirSync(host.guard).toSorted(), ['fired', 'note']);
    });

    it('takes what waited for put back where there is no copy to compare with', async (host) => {
      rmSync(stagedPathOf(host.config));
      rmSync(host.copy);
      await host.start();
      assert.equal(existsSync(join(host.guard, 'fired')), true);
      assert.equal(existsSync(host.state), false);
    });

    it('is not kept from its way by a file that is gone already', async (host) => {
      rmSync(host.state);
      host.write('starts', '11111111-2222-3333-4444-555555555555 9 900\n');
      await host.start();
      assert.equal(host.read(host.config), OLD);
      assert.equal(existsSync(join(host.guard, 'fired')), true);
    });
  },
  { about: ', cut off half-way', shells: sampleOf(SHELLS, SHELLS.length), host: createInterruptedHost },
);

describe('what the guard leaves beside other files', () => {
  it('is known as its own, and never read by a kubelet', () => {
    for (const path of [stagedPathOf('/a/99.conf'), removedPathOf('/a/99.conf')]) {
      assert.ok(isStagedPath(path));
      assert.doesNotMatch(path, /\.conf$/);
    }
    assert.equal(isStagedPath('/a/99.conf'), false);
  });
});
