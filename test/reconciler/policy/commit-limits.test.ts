import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JudgedSnapshot } from '#reconciler/policy/commit-snapshot.ts';
import { type Desired, desiredState } from '#reconciler/policy/desired.ts';
import type { Fleet } from '#reconciler/policy/fleet.ts';
import { createAcceptedCommits, type RecordedCommits } from '#reconciler/policy/commit-admission/accepted-commits.ts';
import {
  formerLimits,
  isWider,
  limitsOf,
  loosenedLimits,
  readLimits,
  writeLimits,
} from '#reconciler/policy/commit-limits.ts';
import { plan } from '#reconciler/policy/plan.ts';
import type { ClusterConfig, LoadedPool, PoolBounds } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import {
  configSource,
  fleetOf,
  invalidPool,
  nodeView,
  NOW,
  poolInCluster,
  settledNode,
  validPool,
} from '../../support/fleet.ts';

const [A, B, C] = ['a', 'b', 'c'].map((digit) => digit.repeat(40)) as [string, string, string];
const OLD = validPool('workers', 100, {
  rollout: { maxUnavailable: '100%', probation: 'full', soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
});
const NEW = validPool('workers', 110, { rollout: OLD.spec.rollout });
const nodes = Array.from({ length: 10 }, (_, index) => nodeView(`n${index}`, 'workers'));
const fleet: Fleet = fleetOf({
  nodes,
  kubeletNodes: nodes.map((node) => settledNode(node, OLD)),
  configSources: [configSource(OLD), configSource(NEW)],
  pools: [poolInCluster(OLD)],
});

interface Said {
  readonly cluster?: Partial<ClusterConfig>;
  readonly pools?: readonly LoadedPool[];
}

/** Commits that say these things, taken up one after the other by one process. */
function story(commits: Readonly<Record<string, Said>>) {
  const readBy = new Map<string, PoolBounds | undefined>();
  const acceptedCommits = createAcceptedCommits({
    load: ({ commit: { oid } }, boundsBefore) => {
      readBy.set(oid, boundsBefore);
      const { cluster, pools = [OLD] } = commits[oid] ?? {};
      return { cluster: { ...DEFAULT_CLUSTER, ...cluster }, pools, findings: [] };
    },
    judge: () => [],
    policy: 'refuse',
  });
  const take = (oid: string, recorded: RecordedCommits = { inForce: null, refused: null }, of: Fleet = fleet) => {
    const since = acceptedCommits.inForce() ?? recorded.inForce;
    const taken = acceptedCommits.consider(read(oid, since), of, recorded);
    const desired: Desired = desiredState(taken.inForce, of, () => [], undefined, acceptedCommits.known());
    acceptedCommits.keep(taken, desired);
    return { taken, desired };
  };
  return { take, readBy };
}

function read(oid: string, since: string | null): JudgedSnapshot {
  const about = { oid, parents: [], author: { name: '', email: '', at: '' }, subject: '', raw: new Uint8Array() };
  const lineage = since === null ? 'first' : 'descendant';
  return { commit: about, since, lineage, files: new Map(), findings: [], signature: { verdict: 'not-required' } };
}

const told = (desired: Desired): number =>
  plan(desired, fleet, { namespace: 'kubelet-gitops', keepUnusedMs: 3_600_000 }, NOW).steps.filter(
    ({ step }) => step === 'assign',
  ).length;
const isHeld = ({ findings }: Desired): boolean => findings.some(({ code }) => code === 'limit-not-yet');

describe('a commit is held to the limits in force', () => {
  it('by maxChange: it cannot raise it and go beyond it at once, and the next one can', () => {
    const tight = { maxChange: '20%' };
    const { take } = story({
      [A]: { cluster: tight },
      [B]: { cluster: { maxChange: '100%' }, pools: [NEW] },
      [C]: { cluster: { maxChange: '100%' } },
    });
    take(A);
    assert.equal(take(B).taken.refused?.reason, 'changes-too-many');
    assert.equal(take(C).taken.inForce?.oid, C);
    assert.equal(take(B).taken.inForce?.oid, B);
  });

  it('by maxUnassign in the same way', () => {
    const { take } = story({
      [A]: {},
      [B]: { cluster: { maxUnassign: '100%' }, pools: [validPool('other', 1)] },
      [C]: { cluster: { maxUnassign: '100%' } },
    });
    take(A);
    assert.equal(take(B).taken.refused?.reason, 'unassigns-too-many');
    take(C);
    assert.equal(take(B).taken.inForce?.oid, B);
  });

  it('by what is in force, whatever KubeletPools say', () => {
    const { take } = story({
      [A]: { cluster: { maxChange: '20%' }, pools: [NEW] },
      [B]: { cluster: { maxChange: '20%' } },
    });
    const gone = nodeView('gone', 'workers');
    const moved = {
      ...fleet,
      kubeletNodes: new Map([...nodes, gone].map((node) => [node.name, settledNode(node, NEW)])),
    };
    take(A, { inForce: A, refused: null }, moved);
    assert.equal(take(B, undefined, moved).taken.refused?.reason, 'changes-too-many');
  });

  it('and the very first one to its own alone', () => {
    const cluster = { maxUnassign: '100%', maxUnavailable: '100%' };
    const { take } = story({ [A]: { cluster, pools: [validPool('other', 1)] } });
    const { taken, desired } = take(A, undefined, { ...fleet, pools: new Map() });
    assert.deepEqual([taken.inForce?.oid, isHeld(desired)], [A, false]);
  });

  it('by its own as well, where it tightens them', () => {
    const { take } = story({ [A]: {}, [B]: { cluster: { maxChange: 1 }, pools: [NEW] } });
    take(A);
    assert.equal(take(B).taken.refused?.reason, 'changes-too-many');
  });

  it('by what is on record, after a restart', () => {
    const limits = readLimits(writeLimits({ ...limitsOf(DEFAULT_CLUSTER), maxChange: 1 }, undefined));
    const { take } = story({ [B]: { cluster: { maxChange: '100%' }, pools: [NEW] } });
    assert.equal(take(B, { inForce: A, refused: null, limits }).taken.refused?.reason, 'changes-too-many');
  });

  it('by maxUnavailable of the cluster: what it loosens for its own change holds until the next commit', () => {
    const { take } = story({ [A]: { cluster: { maxUnavailable: 1 } }, [B]: { pools: [NEW] }, [C]: { pools: [NEW] } });
    assert.equal(isHeld(take(A).desired), false);
    const { desired } = take(B);
    assert.deepEqual([told(desired), isHeld(desired)], [1, true]);
    const { message: _, ...finding } = desired.findings[0] ?? { message: '' };
    assert.deepEqual(finding, { code: 'limit-not-yet', severity: 'warning', kind: 'security', field: 'spec' });
    assert.equal(isHeld(take(B).desired), true, 'as often as it is read');
    const next = take(C).desired;
    assert.deepEqual([told(next), isHeld(next)], [10, false]);
  });

  it('by windows in the same way, and not where it changes nothing else', () => {
    const never = { allow: [{ cron: '0 0 30 2 *', duration: '1h' }], deny: [], overrun: 'stop' } as const;
    const both = story({ [A]: { cluster: { windows: never } }, [B]: { pools: [NEW] } });
    both.take(A);
    assert.equal(told(both.take(B).desired), 0);
    const opens = story({ [A]: { cluster: { windows: never }, pools: [NEW] }, [B]: { pools: [NEW] } });
    assert.equal(told(opens.take(A).desired), 0);
    const { desired } = opens.take(B);
    assert.deepEqual([told(desired), isHeld(desired)], [10, false]);
  });

  it('of rollouts also after a restart', () => {
    const former = { maxUnavailable: 2, maxUnassign: '20%', windows: null };
    const { take } = story({ [B]: { pools: [NEW] } });
    const { desired } = take(B, {
      inForce: B,
      refused: null,
      former,
      limits: { limits: limitsOf(DEFAULT_CLUSTER), boundsBefore: { fields: { allow: [], deny: [] } } },
    });
    assert.deepEqual([told(desired), isHeld(desired)], [2, true]);
  });

  it('is read by what the commit before allowed: nothing at first, and after a restart what is on record', () => {
    const fields = { allow: ['port'], deny: [] };
    const { take, readBy } = story({ [A]: { cluster: { fields } }, [B]: {} });
    take(A);
    take(B);
    assert.deepEqual(
      [readBy.get(A), readBy.get(B)],
      [{ fields: { allow: [], deny: [] } }, { fields, trial: DEFAULT_CLUSTER.trial }],
    );
    const again = story({ [A]: { cluster: { fields } } });
    const { inForce } = again.take(A, {
      inForce: A,
      refused: null,
      limits: { limits: limitsOf(DEFAULT_CLUSTER), boundsBefore: { fields: { allow: [], deny: ['maxPods'] } } },
    }).taken;
    assert.deepEqual(again.readBy.get(A), { fields: { allow: [], deny: ['maxPods'] } });
    assert.deepEqual(inForce?.boundsBefore, again.readBy.get(A), 'which is recorded again');
  });
});

describe('limits of trials are those in force', () => {
  const short = { minDuration: '1s', maxStartTimeout: '1h' };
  const trials = (readBy: ReadonlyMap<string, PoolBounds | undefined>) =>
    [A, B, C].map((oid) => readBy.get(oid)?.trial);

  it('of the commit before; the very first has its own alone', () => {
    const { take, readBy } = story({ [A]: {}, [B]: { cluster: { trial: short } }, [C]: {} });
    for (const oid of [A, B, C]) take(oid, undefined, { ...fleet, pools: new Map() });
    assert.deepEqual(trials(readBy), [undefined, DEFAULT_CLUSTER.trial, short]);
  });

  it('of the record after a restart, and the usual ones where that is lost', () => {
    const limits = readLimits(writeLimits({ ...limitsOf(DEFAULT_CLUSTER), trial: short }, undefined));
    const known = story({});
    known.take(B, { inForce: A, refused: null, limits });
    const lost = story({});
    lost.take(B, { inForce: A, refused: null });
    const found = [known, lost].map(({ readBy }) => readBy.get(B)?.trial);
    assert.deepEqual(found, [short, DEFAULT_CLUSTER.trial]);
  });
});

describe('a pool with errors', () => {
  it('goes on as a commit in force said it since the start, whatever its KubeletPool says', () => {
    const { take } = story({ [A]: { pools: [NEW] }, [B]: { pools: [invalidPool('workers')] } });
    take(A);
    const { desired } = take(B);
    assert.deepEqual(
      [desired.pools.get('workers')?.origin, desired.pools.get('workers')?.config?.sha256],
      ['kept', NEW.sha256],
    );
    assert.equal(told(desired), 10);
    assert.equal(told(take(B).desired), 10, 'as long as the commit is in force');
  });

  it('is forgotten with its folder', () => {
    const cluster = { maxUnassign: '100%' };
    const other = validPool('other', 1);
    const { take } = story({
      [A]: { cluster, pools: [NEW, other] },
      [B]: { cluster, pools: [other] },
      [C]: { cluster, pools: [invalidPool('workers'), other] },
    });
    take(A);
    assert.equal(take(B).taken.inForce?.oid, B);
    assert.equal(take(C).desired.pools.get('workers')?.unverified, true);
  });
});

describe('limits before a commit hold besides its own', () => {
  const [strict, loose] = [{ ...DEFAULT_CLUSTER, maxUnavailable: 1 }, DEFAULT_CLUSTER];
  const repo = (cluster: ClusterConfig, ...pools: readonly LoadedPool[]) => ({ cluster, pools, findings: [] });
  const [broken, other] = [invalidPool('workers'), invalidPool('other')];
  const rows: readonly (readonly [
    string,
    readonly LoadedPool[] | null,
    readonly LoadedPool[],
    ClusterConfig,
    boolean,
  ])[] = [
    ['where it changes a payload', [OLD], [NEW], loose, true],
    ['where it breaks a pool', [OLD], [invalidPool(OLD.name)], loose, true],
    ['where it breaks another pool', [broken], [other], loose, true],
    ['where nobody knows what was in force', null, [OLD], loose, true],
    ['not where it changes no pool', [OLD, broken], [OLD, broken], loose, false],
    ['not where it loosens nothing', [OLD], [NEW], strict, false],
  ];
  for (const [name, before, now, cluster, holds] of rows) {
    it(name, () => {
      const { maxUnavailable, maxUnassign, windows } = strict;
      const expected = holds ? { maxUnavailable, maxUnassign, windows } : undefined;
      assert.deepEqual(
        formerLimits(limitsOf(strict), before && repo(strict, ...before), repo(cluster, ...now)),
        expected,
      );
    });
  }
});

describe('the record of limits', () => {
  const boundsBefore = { fields: { allow: ['port'], deny: [] }, trial: { minDuration: '5s', maxStartTimeout: '1h' } };
  const own = { ...limitsOf(DEFAULT_CLUSTER), maxChange: 3 };

  it('is read as it was written', () => {
    assert.deepEqual(readLimits(writeLimits(own, boundsBefore)), { limits: own, boundsBefore });
  });

  for (const limits of [
    null,
    undefined,
    { maxUnavailable: 1, maxUnassign: 1, maxChange: 1 },
    { ...own, maxChange: true },
    { ...own, maxUnassign: null, trial: { minDuration: '1s', maxStartTimeout: '1h' } },
  ]) {
    it(`is as good as the usual limits where it says ${JSON.stringify(limits)}, and what it allowed stays`, () => {
      const found = readLimits(JSON.stringify({ limits, boundsBefore }));
      assert.deepEqual(found, { limits: limitsOf(DEFAULT_CLUSTER), boundsBefore });
    });
  }

  it('allows nothing where it cannot be read', () => {
    const nothing = { fields: { allow: [], deny: [] } };
    for (const text of ['', '{'])
      assert.deepEqual(readLimits(text), { limits: limitsOf(DEFAULT_CLUSTER), boundsBefore: nothing });
    const damaged = JSON.stringify({
      limits: { ...own, fields: { allow: 'port', deny: [1, 'maxPods'] } },
      boundsBefore: null,
    });
    assert.deepEqual(readLimits(damaged), {
      limits: { ...own, fields: { allow: [], deny: ['maxPods'] } },
      boundsBefore: nothing,
    });
  });
});

describe('a limit is looser', () => {
  for (const [before, now, expected] of [
    [1, 2, true],
    [2, 1, false],
    [2, 2, false],
    ['10%', '10%', false],
    ['10%', 5, true],
    [50, '10%', true],
    [5, '0%', false],
    ['10%', null, true],
    ['10%', '20%', true],
    ['20%', '10%', false],
    ['100%', 5, false],
    [5, '10%', true],
    ['10%', 0, false],
    ['10%', '0%', false],
    [3, null, true],
    [null, 3, false],
    [null, null, false],
  ] as const) {
    it(`${before} → ${now}: ${expected}`, () => assert.equal(isWider(before, now), expected));
  }

  it('where windows are others, which nobody can compare, and not where there are some for the first time', () => {
    const former = {
      maxUnavailable: null,
      maxUnassign: '20%',
      windows: { allow: [], deny: [], overrun: 'stop' },
    } as const;
    assert.deepEqual(loosenedLimits(former, { ...former, windows: null }), ['windows']);
    assert.deepEqual(loosenedLimits({ ...former, windows: null }, former), []);
    assert.deepEqual(loosenedLimits(former, { ...former, windows: { overrun: 'stop', deny: [], allow: [] } }), []);
  });
});
