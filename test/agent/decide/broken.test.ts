import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decide } from '#agent/decide/decide.ts';
import { failedService, table } from '../../support/agent/decision-table.ts';
import { B, broken, C, DOWN, seen, wanting } from '../../support/agent/states.ts';

table('a broken node', {
  'is watched': [broken(), seen(wanting(B), DOWN), 'broken: B, active local, CrashLoop'],
  'is left alone for ten minutes where its service manager gave up': [
    broken({}, 594_999),
    seen(wanting(B), DOWN, failedService),
    'broken: B, active local, CrashLoop',
  ],
  'is started again now and then where its service manager gave up': [
    broken({}, 595_000),
    seen(wanting(B), DOWN, failedService),
    'broken: B, active local, CrashLoop → restart',
  ],
  'is started again now and then where somebody stopped it': [
    broken({}, 595_000),
    seen(wanting(B), DOWN, { service: { state: 'stopped', run: null, automaticRestarts: 0 } }),
    'broken: B, active local, CrashLoop → restart',
  ],
  'is not started again one look before that': [
    broken({}, 594_999),
    seen(wanting(B), DOWN, failedService),
    'broken: B, active local, CrashLoop',
  ],
  'is left to a service manager that goes on by itself': [
    broken({}, 595_000),
    seen(wanting(B), DOWN),
    'broken: B, active local, CrashLoop',
  ],
  'is not well before its kubelet has been healthy for 10 seconds': [
    broken({ healthy: true, healthyMs: 4_999 }),
    seen(wanting(B)),
    'broken: B, active local, CrashLoop',
  ],
  'is well again when its kubelet is steadily healthy': [
    broken({ healthy: true, healthyMs: 5_000 }),
    seen(wanting(B)),
    'idle: B, active local, CrashLoop → collect-garbage',
  ],
  'is well again without an error where nothing is assigned any more': [
    { ...broken({ healthy: true, healthyMs: 5_000 }), assigned: null },
    seen(),
    'idle: local → collect-garbage',
  ],
  'tries another config: it may be the remedy': [
    broken(),
    seen(wanting(C), DOWN),
    'broken: B, active local, CrashLoop → stage C',
  ],
  'does not try the rejected one again': [broken(), seen(wanting(B), DOWN), 'broken: B, active local, CrashLoop'],
  'keeps its error when it is unassigned': [broken(), seen(wanting(null), DOWN), 'broken: local, CrashLoop'],
});

describe('the healthy time of a broken node', () => {
  it('begins again after every lapse, however short: nothing is counted that would tell a long one', () => {
    const well = broken({ healthy: true, everHealthy: true, healthyMs: 9_000 });
    const { next } = decide(well, seen(wanting(B), DOWN));
    assert.equal(next.doing.phase === 'broken' && next.doing.judged.healthyMs, 0);
  });
});

describe('what is counted of a broken node', () => {
  it('is the time that it is healthy', () => {
    const { next } = decide(broken({ healthy: true, healthyMs: 1_000 }), seen(wanting(B)));
    assert.equal(next.doing.phase === 'broken' && next.doing.judged.healthyMs, 6_000);
  });
});
