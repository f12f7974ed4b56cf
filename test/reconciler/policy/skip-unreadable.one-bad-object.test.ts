import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../support/property.ts';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { skipUnreadable, touchesUnreadable } from '#reconciler/policy/skip-unreadable.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import {
  commit,
  COMMIT_B,
  configSource,
  fleetOf,
  idleNode,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../support/fleet.ts';

const SETTINGS = { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 };
const ALLOW = { disruption: { allow: ['restart', 'drain'] as const, drainTimeout: '10m' } };

/** Two pools with a change under way; `bad` and its node are the ones that are meddled with. */
const [bad, good] = [validPool('bad', 100, ALLOW), validPool('good', 100, ALLOW)];
const [badNext, goodNext] = [validPool('bad', 110, ALLOW), validPool('good', 110, ALLOW)];
const nodes = ['bad-0', 'bad-1', 'good-0', 'good-1'].map((name) => nodeView(name, name.split('-')[0] ?? ''));
const [bad0, bad1, good0, good1] = nodes as [
  (typeof nodes)[0],
  (typeof nodes)[0],
  (typeof nodes)[0],
  (typeof nodes)[0],
];
const FLEET = fleetOf({
  nodes,
  kubeletNodes: [settledNode(bad0, bad), settledNode(bad1, bad), settledNode(good0, good), settledNode(good1, good)],
  configSources: [bad, good, badNext, goodNext].map((pool) => configSource(pool)),
  pools: [poolInCluster(bad), poolInCluster(good)],
});

function stepsFor(everything: Fleet): readonly Step[] {
  const wanted = skipUnreadable(everything, (fleet) =>
    desiredState(commit(COMMIT_B, badNext, goodNext), fleet, () => []),
  );
  const decided = skipUnreadable(wanted.fleet, (fleet) => plan(wanted.result, fleet, SETTINGS, NOW));
  const { unreadable = [] } = decided.fleet;
  return decided.result.steps.filter((step) => !touchesUnreadable(step, unreadable));
}

const about = (steps: readonly Step[], name: RegExp): readonly string[] =>
  steps.map((step) => JSON.stringify(step)).filter((text) => name.test(text));

/** An object that throws when it is read for the nth time, however deep. */
function poisoned(object: object, nth: number): { readonly object: object; disarm(): number } {
  let reads = 0;
  let armed = true;
  const wrap = <O extends object>(inner: O): O =>
    new Proxy(inner, {
      get(target, key, receiver): unknown {
        if (typeof key === 'symbol') return Reflect.get(target, key, receiver);
        if (armed) reads += 1;
        if (armed && reads === nth) throw new RangeError(`poison at ${key}`);
        const value: unknown = Reflect.get(target, key, receiver);
        return typeof value === 'object' && value !== null ? wrap(value) : value;
      },
    });
  return {
    object: wrap(object),
    disarm() {
      armed = false;
      return reads;
    },
  };
}

const with1 = (kind: 'nodes' | 'kubeletNodes' | 'pools', name: string, object: object): Fleet => ({
  ...FLEET,
  [kind]: new Map([...FLEET[kind], [name, object]]),
});

describe('one bad object', () => {
  const healthy = (): readonly string[] => about(stepsFor(FLEET), /"good/);

  it('is one among others that are changed meanwhile', () => {
    assert.ok(healthy().some((step) => step.includes('"assign"')));
    assert.ok(about(stepsFor(FLEET), /"bad/).some((step) => step.includes('"assign"')));
  });

  const kinds = [
    ['nodes', 'bad-0', bad0],
    ['kubeletNodes', 'bad-0', FLEET.kubeletNodes.get('bad-0') ?? {}],
    ['pools', 'bad', FLEET.pools.get('bad') ?? {}],
  ] as const;
  for (const [kind, name, object] of kinds) {
    it(`of ${kind} holds nobody else, wherever looking at it throws`, (t) => {
      const wanted = healthy();
      let nth = 0;
      for (let more = true; more;) {
        nth += 1;
        const poison = poisoned(object, nth);
        const steps = stepsFor(with1(kind, name, poison.object));
        more = poison.disarm() >= nth;
        assert.deepEqual(about(steps, /"good/), wanted, `read ${nth}`);
      }
      t.diagnostic(`${nth - 1} readings`);
      assert.ok(nth > 5);
    });
  }

  const junk = fc.oneof(
    fc.constantFrom('+275760-09-13T00:00:00Z', '9999-12-31T23:59:59Z', '-1', 'null', '%', '-5%', '9'.repeat(400)),
    fc.string({ maxLength: 40 }),
  );
  it('of strings that nobody foresaw holds nobody else', () => {
    const annotated = fc.record({
      config: junk,
      at: junk,
      heartbeat: junk,
      promotedAt: junk,
      version: junk,
      zone: junk,
    });
    const wanted = healthy();
    fc.assert(
      fc.property(annotated, ({ config, at, heartbeat, promotedAt, version, zone }) => {
        const kubeletNode = settledNode(bad0, bad);
        const status = {
          ...kubeletNode.status,
          heartbeat,
          promotedAt,
          rejected: [{ name: config, sha256: at, reason: zone, message: version, at, apply: 'overlay' as const }],
        };
        const labels = { ...bad0.labels, 'topology.kubernetes.io/zone': zone };
        const fleet: Fleet = {
          ...FLEET,
          nodes: new Map([...FLEET.nodes, ['bad-0', { ...bad0, labels, kubeletVersion: version }]]),
          kubeletNodes: new Map([...FLEET.kubeletNodes, ['bad-0', { ...kubeletNode, status }]]),
        };
        assert.deepEqual(about(stepsFor(fleet), /"good/), wanted);
      }),
      { numRuns: 300 },
    );
  });

  it('keeps what it refers to: nothing is pruned while anything cannot be read', () => {
    const step = { step: 'delete-config-source', name: 'bad-old', uid: 'u', because: 'unused' } as const;
    assert.equal(touchesUnreadable(step, []), false);
    for (const kind of ['node', 'pool'] as const) {
      assert.ok(touchesUnreadable(step, [{ of: kind, name: 'bad', uid: '', error: null }]));
    }
  });

  const seen = (of: 'node' | 'pool' | 'config-source', name: string) => ({ of, name, uid: '', error: null });
  it('that nobody could read to begin with is not taken for gone, and neither is what goes with it', () => {
    for (const [of, name, kind] of [
      ['node', 'bad-0', 'nodes'],
      ['node', 'bad-0', 'kubeletNodes'],
      ['pool', 'bad', 'pools'],
    ] as const) {
      const left = new Map<string, unknown>(FLEET[kind]);
      left.delete(name);
      const steps = stepsFor({ ...FLEET, [kind]: left, unreadable: [seen(of, name)] });
      assert.deepEqual(about(steps, /"good/), healthy(), kind);
      const ofIts = steps.map((step) => JSON.stringify(step)).filter((text) => text.includes(`"${name}"`));
      assert.deepEqual(ofIts, [], kind);
    }
    const configSources = new Map(FLEET.configSources);
    configSources.delete(badNext.configName);
    const steps = stepsFor({ ...FLEET, configSources, unreadable: [seen('config-source', badNext.configName)] });
    assert.deepEqual(about(steps, /"good/), healthy());
    assert.deepEqual(
      steps.filter(({ step }) => step === 'create-config-source'),
      [],
    );
  });

  it('leaves its nodes to nobody: a pool that git does not tell of, and that cannot be read, may want them', () => {
    const everybody = validPool('all', 90, { nodeSelector: { matchLabels: {} }, priority: -1 });
    const joined = nodeView('bad-2', 'bad');
    const fleet: Fleet = {
      ...fleetOf({
        nodes: [joined],
        kubeletNodes: [idleNode(joined)],
        configSources: [configSource(everybody)],
        pools: [poolInCluster(everybody, { configName: everybody.configName, sha256: everybody.sha256 })],
      }),
    };
    const told = (unreadable: Fleet['unreadable']): readonly string[] => {
      const present = unreadable === undefined ? fleet : { ...fleet, unreadable };
      const desired = desiredState(commit(COMMIT_B, everybody), present, () => []);
      const { steps } = plan(desired, present, SETTINGS, NOW);
      return steps.filter((step) => !touchesUnreadable(step, unreadable ?? [], desired.pools)).map(({ step }) => step);
    };
    assert.ok(told(undefined).includes('assign'));
    assert.ok(!told([seen('pool', 'bad')]).includes('assign'));
    assert.ok(told([seen('pool', 'all')]).every((step) => step !== 'assign'));
  });
});
