import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeVerdict } from '#reconciler/policy/rollout/decide-group.ts';
import { hold } from '#reconciler/policy/rollout/holds/hold.ts';
import { settled, time, timeLeft, waits, withoutAgent } from './support/time-left.ts';

describe('the time that is left of a rollout', () => {
  const held = (...[reason, because]: Parameters<typeof hold>): NodeVerdict => ({
    verdict: 'hold',
    ...hold(reason, because),
  });
  type Row = readonly [string, readonly NodeVerdict[], string | null];
  const PASSING = [
    'budget',
    'zone-budget',
    'overall-budget',
    'control-plane',
    'wave',
    'not-ready',
    'cordoned',
    'no-agent',
    'leaving',
    'not-computable',
  ] as const;
  const VERDICTS: readonly Row[] = [
    ['is known where a node begins', [{ verdict: 'change', because: 'it has a place' }], null],
    ...PASSING.map((reason): Row => [`is known where nodes wait as ${reason}`, [held(reason, 'it waits')], null]),
    [
      'is not known where a node waits for something else',
      [held('budget', 'no place is left'), held('window', 'the window is closed')],
      'the window is closed',
    ],
  ];
  for (const [name, verdicts, because] of VERDICTS) {
    it(name, () => {
      const expected = because === null ? time([190, 185, 210]) : { is: 'unknown', because };
      assert.deepEqual(timeLeft([waits(), waits()], { verdicts }), expected);
    });
  }

  it('is not known where failures stopped a wave', () => {
    const waves = [
      { name: 'canary', nodes: 1, state: 'done' },
      { name: 'step 1', nodes: 2, state: 'stopped' },
    ] as const;
    const because = 'too many nodes of step 1 failed or are not Ready for it to end';
    assert.deepEqual(timeLeft([waits()], { waves }), { is: 'unknown', because });
  });

  for (const [who, worker] of [
    ['not Ready', waits({ ready: false })],
    ['silent', withoutAgent()],
    ['not Ready any more', settled({ ready: false })],
  ] as const) {
    it(`is not known where only a node that is ${who} is left`, () => {
      const because = 'it waits for nodes that cannot take part now: n1';
      assert.deepEqual(timeLeft([settled(), worker]), { is: 'unknown', because });
    });
  }

  it('is not known where nodes that cannot take part fill maxUnavailable, and the bound that names them says so', () => {
    const verdicts = [held('cordoned', 'the node is cordoned'), held('budget', 'unavailable already: n0')];
    const found = timeLeft([waits({ cordoned: true }), waits()], { verdicts, rollout: { maxUnavailable: 1 } });
    assert.deepEqual(found, { is: 'unknown', because: 'unavailable already: n0' });
  });

  it('is nothing where nobody knows the pool', () => {
    assert.equal(timeLeft([waits()], { isUnknown: true }), null);
  });
});
