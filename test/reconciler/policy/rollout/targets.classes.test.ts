import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { desiredState } from '#reconciler/policy/desired.ts';
import type { NodeView } from '#reconciler/policy/fleet.ts';
import { withConfirmedSettled, configsOnNodes } from '#reconciler/policy/rollout/inherited-status.ts';
import { NO_CONFIG } from '#reconciler/policy/payload-classes.ts';
import { configNameFor, membershipOf, targetFor, targetOf } from '#reconciler/policy/rollout/membership.ts';
import { settledConfigFor } from '#reconciler/policy/rollout/settled-config.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { SettledConfig } from '#shared/contract/api/kubelet-pool.ts';
import { assignedNode, commit, COMMIT_A, fleetOf, idleNode, NOW, settledNode } from '../../../support/fleet.ts';
import {
  classOf,
  given,
  HUGE,
  LARGE,
  computedPool,
  poolFor,
  settledOn,
  SMALL,
} from '../../../support/rollout/separate-classes.ts';
import { sizedPool } from '../../../support/rollout/sized-pool.ts';

describe('what a class settled on before', () => {
  const largeAndSmall = () => poolFor([LARGE, SMALL]);
  const before = () => settledOn(classOf(LARGE), classOf(HUGE, 'gone'));
  const found = (node: NodeView, kubeletNode?: KubeletNode, settled: SettledConfig | null | undefined = before()) =>
    settledConfigFor(settled, largeAndSmall())({ node, kubeletNode })?.configName;

  it('is that of its name, or what the node has proven; otherwise nothing', () => {
    const [pool, on] = [largeAndSmall(), before()];
    const { sha256, configName } = given(LARGE);
    assert.deepEqual(settledConfigFor(on, pool)({ node: LARGE, kubeletNode: undefined }), {
      ...classOf(LARGE),
      configName,
      target: { sha256, apply: 'overlay' },
    });
    assert.equal(found(LARGE, settledNode(LARGE, given(HUGE))), given(LARGE).configName);
    assert.equal(found(SMALL, settledNode(SMALL, given(HUGE))), given(HUGE).configName);
    assert.equal(found(SMALL, idleNode(SMALL)), undefined);
    const { status: _, ...mute } = idleNode(SMALL);
    assert.equal(found(SMALL, mute), undefined);
    assert.equal(found(SMALL, { ...mute, status: {} }), undefined);
    assert.equal(found(HUGE), undefined);
    const { classes: __, ...plain } = pool;
    assert.equal(settledConfigFor(on, plain)({ node: LARGE, kubeletNode: undefined }), null);
    assert.equal(found(SMALL), undefined);
    assert.equal(found(LARGE, undefined, null), undefined);
    assert.equal(settledConfigFor(undefined, pool)({ node: LARGE, kubeletNode: undefined }), null);
    assert.equal(settledConfigFor(on, null)({ node: LARGE, kubeletNode: undefined }), null);
  });

  it('is the same for all where nothing was computed', () => {
    const { classes: _, ...plain } = before();
    const target = { sha256: computedPool().sha256, apply: 'overlay' };
    assert.deepEqual(settledConfigFor(plain, largeAndSmall())({ node: SMALL, kubeletNode: undefined }), {
      configName: computedPool().configName,
      target,
    });
  });

  it('counts as far as a node was told it or has proven it', () => {
    const on = before();
    const witnesses = (...nodes: readonly KubeletNode[]) =>
      withConfirmedSettled({ settled: on }, configsOnNodes(nodes));
    assert.deepEqual(witnesses(assignedNode(LARGE, given(LARGE))), { settled: settledOn(classOf(LARGE)) });
    assert.deepEqual(witnesses(settledNode(LARGE, given(LARGE)), settledNode(HUGE, given(HUGE))), { settled: on });
    assert.deepEqual(witnesses(idleNode(LARGE)), {});
    const replaced = assignedNode(LARGE, { ...given(LARGE), spec: { ...computedPool().spec, apply: 'replace' } });
    assert.deepEqual(witnesses(replaced), {});
    const replacing = { settled: { ...on, apply: 'replace' } } as const;
    assert.deepEqual(withConfirmedSettled(replacing, configsOnNodes([replaced])), {
      settled: { ...settledOn(classOf(LARGE)), apply: 'replace' },
    });
    const strange = { ...replaced, spec: { ...replaced.spec, apply: 'another' as 'replace' } };
    assert.deepEqual(witnesses(strange), {});
    const reports = idleNode(LARGE, { lastKnownGood: { name: 'x', sha256: 'e', apply: 'another' as 'replace' } });
    assert.deepEqual(witnesses(reports), {});
    const { apply: _, ...wordless } = assignedNode(LARGE, given(LARGE)).spec ?? {};
    assert.deepEqual(witnesses({ ...idleNode(LARGE), spec: wordless }), { settled: settledOn(classOf(LARGE)) });
    const { sha256, configName: name } = given(HUGE);
    assert.deepEqual(witnesses(idleNode(HUGE, { lastKnownGood: { name, sha256 } })), {
      settled: settledOn(classOf(HUGE, 'gone')),
    });
  });
});

describe('the target of a node', () => {
  it('is that of its class, and no config at all where that has none or nobody sorted the node', () => {
    const pool = poolFor([LARGE, SMALL]);
    assert.deepEqual(targetFor(pool, 'large'), { sha256: given(LARGE).sha256, apply: 'overlay' });
    for (const name of ['small', 'unknown'])
      assert.deepEqual(targetFor(pool, name), { sha256: NO_CONFIG, apply: 'overlay' });
    const { classes: _, ...plain } = pool;
    assert.deepEqual(targetFor(plain, 'small'), targetOf(plain));
    assert.equal(targetFor({ ...pool, config: null }, 'large'), null);
    for (const none of [null, undefined]) assert.equal(targetFor(none, 'large'), null);
  });

  it('is applied as its pool says', () => {
    const replacing = sizedPool(
      "computed: {systemReserved: {memory: 'memory * 0.1'}}\n",
      undefined,
      '  apply: replace\n',
    );
    const fleet = fleetOf({ nodes: [LARGE] });
    const { groups } = membershipOf(
      desiredState(commit(COMMIT_A, replacing), fleet, () => []),
      fleet,
      NOW,
    );
    assert.equal(groups[0]?.members[0]?.target?.apply, 'replace');
  });

  it('has the name of the config of its class, or of the pool', () => {
    const pool = poolFor([LARGE, SMALL]);
    assert.equal(configNameFor(pool, 'large'), given(LARGE).configName);
    for (const name of ['small', 'unknown']) assert.equal(configNameFor(pool, name), computedPool().configName);
    assert.equal(configNameFor(null, 'small'), undefined);
    const { classes: _, ...plain } = pool;
    assert.equal(configNameFor({ ...plain, config: null }, 'large'), undefined);
  });

  it('is known to its group, with the reason why there is none', () => {
    const fleet = fleetOf({ nodes: [LARGE, SMALL] });
    const desired = desiredState(commit(COMMIT_A, computedPool()), fleet, () => []);
    const members = membershipOf(desired, fleet, NOW).groups[0]?.members.map(({ node, target, unrendered }) => [
      node.name,
      target?.sha256,
      unrendered?.replace(/:.*/, ''),
    ]);
    assert.deepEqual(members, [
      ['large', given(LARGE).sha256, undefined],
      ['small', NO_CONFIG, 'systemReserved.memory cannot be computed'],
    ]);
    const unsorted = { ...desired, pools: new Map([[computedPool().name, poolFor([LARGE])]]) };
    const [, small] = membershipOf(unsorted, fleet, NOW).groups[0]?.members ?? [];
    assert.match(small?.unrendered ?? '', /^no commit was read/);
  });
});
