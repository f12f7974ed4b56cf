import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { NOW, source } from './support.ts';
import { begin, CHAT, halted, type Process, refusal, SECOND, title } from './notifier-process.ts';

describe('the notifier, over restarts and takeovers', () => {
  it('tells everything at least once, and twice only after a lost write, whatever restarts and takeovers there are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(STEP, { minLength: 5, maxLength: 60 }), async (steps) => {
        await playStory(steps);
      }),
      { numRuns: 150 },
    );
  });
});

type Step =
  | { readonly do: 'halt'; readonly pool: number }
  /** A person lets a pool go on, which ends what there is to tell of it. */
  | { readonly do: 'release'; readonly pool: number }
  | { readonly do: 'pass' }
  /** The API server does not take the record. */
  | { readonly do: 'pass, not saved' }
  | { readonly do: 'time' }
  | { readonly do: 'receiver'; readonly is: 'down' | 'up' }
  | { readonly do: 'restart' }
  /** It ends without a word, and what was taken since its last pass is lost. */
  | { readonly do: 'kill' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('halt' as const), pool: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const), pool: fc.nat({ max: 3 }) }) },
  { weight: 4, arbitrary: fc.constant({ do: 'pass' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'pass, not saved' } as const) },
  { weight: 4, arbitrary: fc.constant({ do: 'time' } as const) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('receiver' as const), is: fc.constantFrom('down', 'up') }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'kill' } as const) },
);

async function playStory(steps: readonly Step[]): Promise<void> {
  const clock = createManualClock(NOW);
  const told: string[] = [];
  let isDown = false;
  /** What stands in the cluster. */
  let record = '';
  /** Sent by a process that was killed before it could say so. */
  const lost = new Set<string>();
  let unsaved = new Set<string>();
  const pools = new Map<string, KubeletPool>();
  const happened = new Set<string>();
  const start = (): Process =>
    begin(clock, [CHAT], {
      answer: (_, what) => {
        if (isDown) return refusal('NOTIFICATION_UNREACHABLE');
        told.push(what);
        unsaved.add(what);
        return undefined;
      },
    });
  let process = start();
  let count = 0;
  /** Each halt has a title of its own. */
  const haltOf = (n: number): KubeletPool => halted(`p${n}-${(count += 1)}`, clock.now());

  const pass = (isSaved: boolean): void => {
    const seen = { source: source(), pools: [...pools.values()], now: clock.now(), isRead: true };
    const next = process.notifier.next(record, seen, () => true);
    if (!isSaved) return;
    record = next;
    process.notifier.saved(next);
    unsaved = new Set();
    for (const { metadata } of pools.values()) happened.add(title(metadata.name));
  };

  for (const step of steps) {
    if (step.do === 'halt') pools.set(String(step.pool), haltOf(step.pool));
    if (step.do === 'release') pools.delete(String(step.pool));
    if (step.do === 'pass') pass(true);
    if (step.do === 'pass, not saved') pass(false);
    if (step.do === 'time') await clock.advance(20 * SECOND);
    if (step.do === 'receiver') isDown = step.is === 'down';
    if (step.do === 'restart') {
      await process.end();
      record = process.notifier.atEnd(record);
      unsaved = new Set();
      process = start();
    }
    if (step.do === 'kill') {
      for (const what of unsaved) lost.add(what);
      unsaved = new Set();
      await process.end();
      process = start();
    }
  }
  isDown = false;
  for (let round = 0; round < 5; round += 1) {
    pass(true);
    await clock.advance(20 * 60 * SECOND);
  }
  await process.end();
  for (const what of happened) assert.ok(told.includes(what), `${what} was never told: ${JSON.stringify(told)}`);
  for (const what of told) {
    const times = told.filter((each) => each === what).length;
    if (times > 1) assert.ok(lost.has(what), `${what} was told ${times} times without a lost write`);
  }
}
