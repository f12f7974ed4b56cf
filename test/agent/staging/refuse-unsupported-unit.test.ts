import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { DBusValue } from '#agent/host/dbus/value.ts';
import { type Guard, type GuardSeen, noGuard } from '#agent/ports/guard.ts';
import { whyUnitUnsupported } from '#agent/kubelet/unsupported-unit.ts';
import { createUnsupportedUnit } from '#agent/staging/refuse-unsupported-unit.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { codeOf } from '#shared/runtime/errors.ts';

type Value = string | number | boolean | bigint;
const variant = (value: Value) => {
  const signatures = { string: 's', number: 'u', boolean: 'b', bigint: 't' };
  const signature = signatures[typeof value as keyof typeof signatures];
  return { signature, value };
};
const FIT = {
  LoadState: 'loaded',
  Type: 'simple',
  CanStart: true,
  CanStop: true,
  FailureAction: 'none',
  StartLimitAction: 'none',
  ActiveState: 'active',
  MainPID: 123,
  TimeoutStartUSec: 90_000_000n,
};
const judge = (changes: Readonly<Record<string, Value>>, isGuarded = true): string | undefined =>
  whyUnitUnsupported(
    'kubelet.service',
    new Map<DBusValue, DBusValue>(
      Object.entries({ ...FIT, ...changes }).map(([name, value]) => [name, variant(value)]),
    ),
    isGuarded,
  );

describe('whether a unit is one that can be looked after', () => {
  const rows: readonly (readonly [string, Readonly<Record<string, Value>>, RegExp | undefined])[] = [
    ['one that runs', {}, undefined],
    ['one that is down', { ActiveState: 'failed', MainPID: 0 }, undefined],
    ['one that is starting, without a process yet', { ActiveState: 'activating', MainPID: 0 }, undefined],
    ['notify', { Type: 'notify' }, undefined],
    ['masked', { LoadState: 'masked' }, /is masked/],
    ['missing', { LoadState: 'not-found' }, /knows no unit kubelet\.service/],
    ['one that cannot be read', { LoadState: 'error' }, /LoadState=error/],
    ['oneshot', { Type: 'oneshot' }, /Type=oneshot/],
    ['one that only seems to run', { MainPID: 0 }, /without a main process/],
    ['one that nobody may start', { CanStart: false }, /RefuseManualStart/],
    ['one that nobody may stop', { CanStop: false }, /RefuseManualStop/],
    ['one that takes the machine down with it', { FailureAction: 'reboot-force' }, /FailureAction=reboot-force/],
    ['one that may take 15 s to start', { TimeoutStartUSec: 15_000_000n }, undefined],
    ['one that may take less', { TimeoutStartUSec: 14_999_999n }, /TimeoutStartSec=14\.999999,.*set 15 s or more/],
    ['one that may take as long as it likes', { TimeoutStartUSec: 2n ** 64n - 1n }, undefined],
    ['one that may, under an old systemd', { TimeoutStartUSec: 0n }, undefined],
    ['one that does so at its start limit', { StartLimitAction: 'poweroff' }, /StartLimitAction=poweroff/],
  ];
  for (const [what, changes, reason] of rows) {
    it(`${what}: ${reason === undefined ? 'yes' : 'no'}`, () => {
      if (reason === undefined) assert.equal(judge(changes), undefined);
      else assert.match(judge(changes) ?? '', reason);
    });
  }

  it('leaves the time for a start to whoever does without a guard, and nothing else', () => {
    assert.equal(judge({ TimeoutStartUSec: 1_000_000n }, false), undefined);
    assert.match(judge({ TimeoutStartUSec: 1_000_000n, Type: 'oneshot' }, false) ?? '', /Type=oneshot/);
  });

  it('an old systemd that does not know half of this speaks against nothing', () => {
    assert.equal(whyUnitUnsupported('kubelet.service', new Map([['LoadState', variant('loaded')]]), true), undefined);
  });
});

const guardSeeing = (seen: GuardSeen): Guard => ({ ...noGuard(''), look: () => Promise.resolve(seen) });
const passes = () => [];

describe('a unit that cannot be looked after', () => {
  it('has no guard, lets no config pass, and is told of once', async () => {
    const told: unknown[] = [];
    const log = { ...silentLog, error: (fields: unknown) => void told.push(fields) } as Log;
    const unit = createUnsupportedUnit(() => Promise.resolve('it is masked'), log);
    const unfit = { guard: 'none', why: 'it is masked', isUnfit: true };
    assert.deepEqual(await unit.guard(guardSeeing({ guard: 'disarmed' })).look(), unfit);
    assert.deepEqual(await unit.guard(noGuard('GUARD=off is set')).look(), unfit);
    await assert.rejects(
      async () => unit.preflight(passes)({}, 'v1.34.2', { payload: {}, apply: 'overlay' }),
      (error) => codeOf(error) === 'SERVICE_UNFIT',
    );
    assert.deepEqual(told, [{ reason: 'it is masked' }]);
  });

  it('does not hide a guard that is armed: it has to be taken away', async () => {
    const armed: GuardSeen = { guard: 'armed', trial: 't', to: 'local' };
    const unit = createUnsupportedUnit(() => Promise.resolve('it is masked'), silentLog);
    assert.deepEqual(await unit.guard(guardSeeing(armed)).look(), armed);
    const watching: GuardSeen = { guard: 'disarmed', boots: armed };
    assert.deepEqual(await unit.guard(guardSeeing(watching)).look(), watching, 'nor one that watches boots');
    const idle: GuardSeen = { guard: 'disarmed', boots: { guard: 'disarmed' } };
    assert.equal((await unit.guard(guardSeeing(idle)).look()).guard, 'none');
  });

  it('is what it is only as long as it is that; what cannot be asked speaks against nothing', async () => {
    const answers: (string | undefined | Error)[] = ['it is masked', undefined, new Error('no bus')];
    const unfitness = async (): Promise<string | undefined> => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const guard = createUnsupportedUnit(unfitness, silentLog).guard(guardSeeing({ guard: 'disarmed' }));
    assert.equal((await guard.look()).guard, 'none');
    assert.equal((await guard.look()).guard, 'disarmed');
    assert.equal((await guard.look()).guard, 'disarmed');
  });
});
