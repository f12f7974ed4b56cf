import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Amount, KubeletPoolSpec, RolloutSpec } from '#shared/contract/api/kubelet-pool.ts';
import { DEFAULT_PROBATION } from '#shared/contract/api/probation.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { differingLimits, fewerUnavailable, stricter } from '#reconciler/policy/pool-limits/stricter.ts';
import { limitOf as boundOf, shareOf, thresholdOf } from '#reconciler/policy/rollout/amount.ts';
import { mostOnTrial } from '#reconciler/policy/rollout/on-trial.ts';
import { probationOf, trialTermsOf } from '#reconciler/policy/rollout/trial-terms.ts';
import { stepsFor } from '#reconciler/policy/rollout/waves.ts';
import { fc } from '../../../support/property.ts';
import { poolSpec } from '../../../support/fleet.ts';

const amount = (least: 0 | 1): fc.Arbitrary<Amount> =>
  fc.oneof(
    fc.integer({ min: least, max: 30 }),
    fc.integer({ min: least, max: 100 }).map((percent) => `${percent}%`),
  );
const span = fc.constantFrom('0s', '30s', '1m', '90s', '10m', '1h');
const trialSpan = fc.constantFrom('1m', '150s', '10m', '1h');
const absent = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T;

const pause = absent(fc.boolean());
const canary = fc.record({ nodes: amount(1), soak: absent(span), pause }).map(defined);
const step = fc.record({ nodes: amount(1), soak: absent(span), pause }).map(defined);
const steps = fc.uniqueArray(step, { selector: ({ nodes }) => nodes, minLength: 1, maxLength: 4 });
const rollout: fc.Arbitrary<RolloutSpec> = fc
  .record({
    maxUnavailable: amount(0),
    maxUnavailablePerZone: absent(amount(0)),
    maxOnTrial: absent(amount(1)),
    probation: absent(fc.constantFrom('full', '50s', '2m', '1h')),
    soak: span,
    canary: absent(canary),
    steps: absent(steps),
    onFailure: amount(1).map((threshold) => ({ threshold, action: 'halt' as const })),
  })
  .map((said) => defined(said) as RolloutSpec);
const spec: fc.Arbitrary<KubeletPoolSpec> = fc
  .record({
    rollout,
    trial: fc
      .record({
        duration: trialSpan,
        startTimeout: trialSpan,
        maxRestarts: fc.nat(5),
        durationAfterCanary: absent(trialSpan),
      })
      .map(defined) as fc.Arbitrary<KubeletPoolSpec['trial']>,
    drift: fc.constantFrom('repair', 'report'),
  })
  .map((said) => poolSpec(said));

const ms = (text: string): number => parseDuration(text) ?? Number.NaN;

/** Of each limit, how far it lets a config get in a pool of so many nodes: less is stricter. No more can be reached than there are. */
function exposure({ rollout: of, trial, drift }: KubeletPoolSpec, nodes: number): Readonly<Record<string, number>> {
  const limitOf = (bound: Amount): number => Math.min(nodes, boundOf(bound, nodes));
  const isFull = probationOf(of) === null;
  const { full, afterCanary } = trialTermsOf({ rollout: of, trial });
  const boundaries = [...stepsFor(of, nodes).map((step) => step.nodes), nodes];
  const canaries = of.canary?.nodes === undefined ? nodes : shareOf(of.canary.nodes, nodes);
  const asked = [
    ...(of.canary?.pause === true ? [canaries] : []),
    ...stepsFor(of, nodes).flatMap((each) => (each.pause ? [each.nodes] : [])),
  ].toSorted((a, b) => a - b);
  return {
    maxUnavailable: limitOf(of.maxUnavailable),
    maxUnavailablePerZone: of.maxUnavailablePerZone === undefined ? nodes : limitOf(of.maxUnavailablePerZone),
    maxOnTrial: isFull ? limitOf(of.maxUnavailable) : Math.min(nodes, mostOnTrial(of, nodes)),
    place: -Math.min(probationOf(of) ?? Number.POSITIVE_INFINITY, ms(trial.duration)),
    soak: -ms(of.soak),
    canary: canaries,
    'first wave': of.canary === undefined ? (boundaries[0] ?? nodes) : canaries,
    // How far it gets before so many people have approved it.
    ...Object.fromEntries([0, 1, 2].map((approvals) => [`${approvals} approvals`, asked[approvals] ?? nodes])),
    'soak of the canary': of.canary === undefined ? 0 : -ms(of.canary.soak ?? of.soak),
    ...Object.fromEntries(
      Array.from({ length: nodes }, (_, proven) => [
        `after ${proven} nodes`,
        boundaries.find((each) => each > proven) ?? nodes,
      ]),
    ),
    threshold: Math.min(nodes, thresholdOf(of.onFailure.threshold, nodes)),
    trial: -ms(full.duration),
    'trial after the canaries': -ms(afterCanary.duration),
    startTimeout: ms(trial.startTimeout),
    maxRestarts: trial.maxRestarts,
    drift: drift === 'repair' ? 0 : 1,
  };
}

describe('the stricter of two specs', () => {
  it('lets a config get no further than either, in a pool of any size', () => {
    fc.assert(
      fc.property(spec, spec, fc.integer({ min: 1, max: 40 }), (former, now, nodes) => {
        const found = exposure(stricter(former, now), nodes);
        for (const each of [exposure(former, nodes), exposure(now, nodes)]) {
          for (const [limit, value] of Object.entries(each)) {
            const has = found[limit] ?? Number.NaN;
            assert.ok(has <= value, `${limit}: ${has} > ${value} of ${nodes}`);
          }
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('lets every step prove itself for as long as either asks', () => {
    fc.assert(
      fc.property(spec, spec, (former, now) => {
        const found = stricter(former, now).rollout;
        for (const { rollout: each } of [former, now]) {
          for (const step of each.steps ?? []) {
            const same = found.steps?.filter(({ nodes }) => nodes === step.nodes) ?? [];
            const longest = Math.max(...same.map((one) => ms(one.soak ?? found.soak)));
            assert.ok(longest >= ms(step.soak ?? each.soak));
          }
        }
      }),
    );
  });

  it('is the second itself where that is the first, and stays what it is', () => {
    fc.assert(
      fc.property(spec, spec, (former, now) => {
        assert.equal(stricter(now, now), now);
        const once = stricter(former, now);
        const twice = stricter(once, now);
        assert.deepEqual(stricter(twice, now), twice);
        assert.deepEqual(exposure(twice, 17), exposure(once, 17));
        assert.equal(differingLimits(now, once).length === 0, once === now);
      }),
    );
  });
});

const strict: KubeletPoolSpec = poolSpec({
  rollout: {
    maxUnavailable: 1,
    maxUnavailablePerZone: 1,
    maxOnTrial: 4,
    probation: '2m',
    soak: '10m',
    canary: { nodes: 1, soak: '1h', pause: true },
    steps: [
      { nodes: 3, soak: '1h' },
      { nodes: '50%', pause: true },
    ],
    analysis: { measures: ['cpu'], timeout: '1h' },
    onFailure: { threshold: 1, action: 'halt' },
  },
});
const { rollout: of } = strict;

type Row = readonly [looser: Partial<KubeletPoolSpec>, limits: string];
const withRollout = (more: Partial<RolloutSpec>): Partial<KubeletPoolSpec> => ({ rollout: { ...of, ...more } });
const rolloutWithout = (...keys: readonly (keyof RolloutSpec)[]): RolloutSpec =>
  Object.fromEntries(
    Object.entries(of).filter(([key]) => !keys.some((each) => each === key)),
  ) as unknown as RolloutSpec;
const without = (...keys: readonly (keyof RolloutSpec)[]): Partial<KubeletPoolSpec> => ({
  rollout: rolloutWithout(...keys),
});

const ROWS: readonly Row[] = [
  [withRollout({ maxUnavailable: 2 }), 'rollout.maxUnavailable'],
  [withRollout({ maxUnavailable: '100%' }), 'rollout.maxUnavailable'],
  [without('maxUnavailablePerZone'), 'rollout.maxUnavailablePerZone'],
  [without('maxOnTrial'), 'rollout.maxOnTrial'],
  [withRollout({ maxOnTrial: '100%' }), 'rollout.maxOnTrial'],
  [without('probation'), 'rollout.probation'],
  [withRollout({ soak: '0s' }), 'rollout.soak'],
  [without('canary'), 'rollout.canary'],
  [withRollout({ canary: { nodes: 3, soak: '1h', pause: true } }), 'rollout.canary'],
  [withRollout({ canary: { nodes: 1, pause: true } }), 'rollout.canary'],
  [withRollout({ canary: { nodes: 1, soak: '1h' } }), 'rollout.canary'],
  [withRollout({ steps: [{ nodes: 3, soak: '1h' }, { nodes: '50%' }] }), 'rollout.steps'],
  [withRollout({ canary: { selector: {} } }), 'rollout.canary'],
  [without('steps'), 'rollout.steps'],
  [without('analysis'), 'rollout.analysis'],
  [without('canary', 'analysis'), 'rollout.canary rollout.analysis'],
  [withRollout({ steps: [{ nodes: 3 }, { nodes: '50%', pause: true }] }), 'rollout.steps'],
  [withRollout({ onFailure: { threshold: 5, action: 'halt' } }), 'rollout.onFailure'],
  [{ rollout: of, trial: { ...strict.trial, duration: '1m' } }, 'trial.duration'],
  [{ rollout: of, trial: { ...strict.trial, startTimeout: '1h' } }, 'trial.startTimeout'],
  [{ rollout: of, trial: { ...strict.trial, maxRestarts: 9 } }, 'trial.maxRestarts'],
  [{ rollout: of, trial: { ...strict.trial, durationAfterCanary: '1m' } }, 'trial.durationAfterCanary'],
  [{ rollout: of, drift: 'report' }, 'drift'],
];

describe('a spec that is looser than the one before', () => {
  for (const [more, limits] of ROWS) {
    const looser = poolSpec(more);
    it(`by ${limits} (${JSON.stringify(more).slice(0, 60)}) is held to that, and to nothing where it comes first`, () => {
      const held = stricter(strict, looser);
      assert.deepEqual(differingLimits(looser, held).toSorted(), limits.split(' ').toSorted());
      assert.deepEqual(
        differingLimits(strict, stricter(looser, strict)).filter((key) => !limits.includes(key)),
        [],
      );
    });
  }

  it('is held to what else it says: who is excepted from windows, who may be not Ready, what is done about failures', () => {
    const looser = poolSpec(
      withRollout({
        maxUnavailable: 9,
        emergency: 'down',
        notReadyNodes: 'change',
        onFailure: { threshold: 1, action: 'revert' },
      }),
    );
    const { emergency, notReadyNodes, onFailure, maxUnavailable } = stricter(strict, looser).rollout;
    assert.deepEqual([emergency, notReadyNodes, onFailure.action, maxUnavailable], ['down', 'change', 'revert', 1]);
  });

  it('is held to the analysis before it, which cannot be compared with its own, and has its own where there was none', () => {
    const other = poolSpec(withRollout({ analysis: { measures: ['relist'], timeout: '2h' } }));
    assert.deepEqual(stricter(strict, other).rollout.analysis, of.analysis);
    assert.equal(
      stricter(strict, poolSpec(withRollout({ analysis: { measures: ['cpu'], timeout: '1h' } }))).rollout.analysis ===
        of.analysis,
      false,
    );
    assert.equal(stricter(poolSpec(without('analysis')), other), other);
  });

  it('need not say how many may be on trial where those are fewer by default', () => {
    const usual = poolSpec({ rollout: { ...rolloutWithout('maxOnTrial'), maxUnavailable: 3 } });
    for (const maxOnTrial of ['100%', '30%'] as const)
      assert.equal(
        stricter(poolSpec(withRollout({ maxOnTrial, maxUnavailable: 3 })), usual).rollout.maxOnTrial,
        maxOnTrial === '100%' ? undefined : '20%',
      );
  });

  it('is held to maxUnavailable alone where that is asked', () => {
    const looser = poolSpec(withRollout({ maxUnavailable: 9, soak: '0s' }));
    const held = fewerUnavailable(strict, looser);
    assert.deepEqual(differingLimits(looser, held), ['rollout.maxUnavailable']);
    assert.equal(fewerUnavailable(strict, strict), strict);
  });

  it('keeps the canaries that were named, and no more of them than it asks for', () => {
    const named = poolSpec(withRollout({ canary: { selector: { matchLabels: { canary: 'yes' } } } }));
    const counted = poolSpec(withRollout({ canary: { nodes: 2 } }));
    assert.deepEqual(stricter(named, counted).rollout.canary, {
      nodes: 2,
      selector: { matchLabels: { canary: 'yes' } },
    });
  });

  it('begins with one canary where one of both counts canaries of each class', () => {
    const each = poolSpec(withRollout({ canary: { nodes: 2, perClass: true } }));
    const all = poolSpec(withRollout({ canary: { nodes: 3 } }));
    assert.deepEqual(
      [stricter(each, all), stricter(all, each)].map((held) => held.rollout.canary),
      [{ nodes: 1 }, { nodes: 1 }],
    );
    assert.deepEqual(
      stricter(each, poolSpec(withRollout({ canary: { nodes: '10%', perClass: true } }))).rollout.canary,
      {
        nodes: '2,10%',
        perClass: true,
      },
    );
  });

  it('holds places to the end of the trial where one of both says full, and bounds who tries it by both', () => {
    const { probation: _, ...paced } = of;
    const full = poolSpec(withRollout({ maxUnavailable: 5, probation: 'full' }));
    const soon = poolSpec({ rollout: { ...paced, maxUnavailable: 5, maxOnTrial: '50%' } });
    for (const held of [stricter(full, soon), stricter(soon, full)]) {
      assert.deepEqual([held.rollout.probation, held.rollout.maxOnTrial], ['10m', '5,50%']);
      assert.equal(trialTermsOf(held).afterCanary.duration, '10m');
    }
    const one = poolSpec(withRollout({ maxUnavailable: 1, probation: 'full' }));
    assert.equal(stricter(soon, one).rollout.probation, 'full');
    assert.equal(probationOf(stricter(soon, poolSpec({ rollout: paced })).rollout), ms(DEFAULT_PROBATION));
  });
});
