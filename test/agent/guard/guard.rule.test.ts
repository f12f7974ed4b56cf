import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { readGuardNote } from '#agent/guard/guard-records.ts';
import {
  type BootRecord,
  causeAtStart,
  causeAtTick,
  isSpared,
  lostBoots,
  MOST_LOST_BOOTS,
  SETTLED_SECONDS,
  TICK_MS,
  WHOLE_BOOT_SECONDS,
} from '../../support/agent/guard-rule.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { BOOT, createGuardedHost, type GuardedHost, SCRIPT } from './support/guarded-host.ts';
import { SHELLS } from './support/shells.ts';

const ARMED_AT = 1_000;
const [MAX_STARTS, SILENCE] = [3, 600];
const SHELL = SHELLS.find(({ skip }) => skip === false) ?? SHELLS[0];

/** @returns why the script took the trial back; undefined where it did not */
const causeOn = (host: GuardedHost): string | undefined =>
  existsSync(join(host.guard, 'fired')) ? readGuardNote(readFileSync(join(host.guard, 'note'))).cause : undefined;

async function onHost(story: (host: GuardedHost, run: (mode: 'start' | 'tick') => Promise<void>) => Promise<void>) {
  assert.ok(SHELL !== undefined);
  const host = createGuardedHost(SHELL, { maxStarts: MAX_STARTS, silence: SILENCE });
  try {
    await story(host, async (mode) => assert.equal((await host.run(mode)).status, 0));
  } finally {
    host.remove();
  }
}

describeOrSkip('the rule of the guard that its stand-ins go by is that of the script', { skip: SHELL?.skip }, () => {
  for (const [quietSeconds, unit] of [
    [44, 'failed'],
    [45, 'failed'],
    [45, 'active'],
    [599, 'active'],
    [600, 'active'],
    [600, 'failed'],
  ] as const) {
    it(`at the second tick after ${quietSeconds} s of silence, of a unit that is ${unit}`, () =>
      onHost(async (host, run) => {
        await run('start');
        host.write('alive', `${BOOT} ${ARMED_AT}\n`);
        host.setUnit(unit);
        host.setTime(ARMED_AT + quietSeconds);
        await run('tick');
        assert.equal(causeOn(host), undefined);
        await run('tick');
        assert.equal(
          causeOn(host),
          causeAtTick({ silenceSeconds: SILENCE, quietSeconds }, () => unit === 'failed'),
        );
      }));
  }

  for (const [starts, quietSeconds] of [
    [MAX_STARTS, 0],
    [MAX_STARTS + 1, 0],
    [2, SILENCE - 1],
    [2, SILENCE],
    [MAX_STARTS + 1, SILENCE],
  ] as const) {
    it(`at start ${starts} of ${MAX_STARTS} after ${quietSeconds} s of silence`, () =>
      onHost(async (host, run) => {
        for (let start = 1; start < starts; start += 1) await run('start');
        host.setTime(ARMED_AT + quietSeconds);
        await run('start');
        const question = { maxStarts: MAX_STARTS, silenceSeconds: SILENCE, quietSeconds, lost: 0 };
        assert.equal(causeOn(host), causeAtStart(question, starts));
      }));
  }

  for (const [what, { since, endsAt, signAt }] of Object.entries({
    'that ended soon': { since: 20, endsAt: 619, signAt: undefined },
    'that lasted': { since: 20, endsAt: 620, signAt: undefined },
    'that the agent was there in': { since: 20, endsAt: 50, signAt: 21 },
    'that the agent was last there in before the kubelet’s start': { since: 20, endsAt: 50, signAt: 20 },
  })) {
    it(`at the start after two boots ${what}`, () =>
      onHost(async (host, run) => {
        let record: BootRecord = { boot: '', lost: 0, since: undefined };
        const sign = { boot: '', age: 0 };
        for (const boot of ['boot-1', 'boot-2', 'boot-3']) {
          const lost = lostBoots(record, boot, sign);
          record = { boot, lost, since };
          host.setTime(since, boot);
          await run('start');
          assert.equal(causeOn(host), lost >= MOST_LOST_BOOTS ? 'boots' : undefined);
          if (signAt !== undefined) {
            Object.assign(sign, { boot, age: signAt });
            host.write('alive', `${boot} ${signAt}\n`);
          }
          host.setTime(endsAt, boot);
          if (causeOn(host) === undefined) await run('tick');
          if (isSpared(since, endsAt, signAt)) record = { boot, lost, since: undefined };
        }
        assert.equal(record.lost, what.includes('soon') || what.includes('before') ? 2 : 0);
      }));
  }

  it('and so are the time between two ticks and that after which an agent has outlived a start', () => {
    const seconds = TICK_MS / 1000;
    assert.ok(readFileSync(SCRIPT, 'utf8').includes(`\nsettled=${SETTLED_SECONDS}\n`));
    assert.ok(readFileSync(SCRIPT, 'utf8').includes(`\nwhole_boot=${WHOLE_BOOT_SECONDS}\n`));
    assert.ok(readFileSync(SCRIPT, 'utf8').includes(`\nmost_lost=${MOST_LOST_BOOTS}\n`));
    assert.ok(readFileSync(SCRIPT, 'utf8').includes(`--on-active=${seconds} --on-unit-inactive=${seconds} `));
  });
});
