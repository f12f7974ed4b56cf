import type { Millis } from '#shared/runtime/clock.ts';
import { blocked, type BlockersAnswer, NOT_BLOCKED } from '../policy/pool-blockers.ts';
import { judgePool } from '../policy/config-repo/judge-pool.ts';
import { type Desired, type DesiredPool, desiredState, poolIn } from '../policy/desired.ts';
import type { ConfigSourceView, Fleet, NodeView } from '../policy/fleet.ts';
import { judgeNodes } from '../policy/judge-nodes.ts';
import { createPayloadReader } from '../policy/payload-reader.ts';
import { skipUnreadable } from '../policy/skip-unreadable.ts';
import { type Plan, plan } from '../policy/plan.ts';
import type { SourceState } from './notes/source-state.ts';
import { nodesWithoutClockSkew } from '../policy/first-seen/clock-skew.ts';
import { firstSeenTimes } from '../policy/first-seen/first-seen-times.ts';
import { recordedPolicy } from '../policy/cluster-policy.ts';
import { writtenRecords } from '../policy/proof/own-records.ts';
import type { Signals } from '../policy/signals.ts';
import type { PassResult } from './pass-result.ts';

/**
 * What the planner makes of the cluster alone, for a process that has not read git: the reconciler's own decision, made once more on
 * what the cluster holds. What it asks others for (blockers) is taken from what the pools' status says of it. Pure.
 *
 * @param source the record of the commit in force
 */
export function planFromCluster(
  fleet: Fleet,
  source: SourceState,
  namespace: string,
  now: Millis,
): { readonly desired: Desired; readonly planned: Plan } {
  const desired = desiredState(null, fleet, () => [], recordedPolicy(source.policy, fleet.pools.size > 0));
  const settings = { namespace, keepUnusedMs: Number.POSITIVE_INFINITY };
  const read = asRead(desired, source, fleet);
  const seen = { ...fleet, nodes: nodesWithoutClockSkew(fleet, firstSeenTimes(null, read, fleet, now)) };
  return { desired, planned: plan(read, seen, settings, now, toldBy(fleet)) };
}

/**
 * The leader has read the commit that is recorded, and knows by it that a pool was taken out of git: nodes that still
 * name it are on their way, unless the commit has errors in it. While git fails, that may be otherwise after a restart.
 */
function asRead(seen: Desired, { commit, findings, failingSince }: SourceState, fleet: Fleet): Desired {
  const members = Map.groupBy(fleet.nodes.values(), ({ name }) => poolIn(seen.choices.get(name)));
  const bySha: Sources = new Map([...fleet.configSources.values()].map((source) => [source.sha256, source]));
  const { unverified: _, ...desired } = {
    ...seen,
    pools: new Map([...seen.pools].map(([name, pool]) => [name, asSaid(pool, members.get(name) ?? [], fleet, bySha)])),
  };
  if (commit === '' || failingSince !== '') return desired;
  const named = findings.split('\n').map((line) => /^pools\/([^/]+)\//.exec(line)?.[1]);
  return { ...desired, commit, unusable: new Set(named.filter((name) => name !== undefined)) };
}

/** The leader may have it from a commit, and judges that by the versions of nodes: here the ConfigMap stands for its files. */
function asSaid(kept: DesiredPool, nodes: readonly NodeView[], fleet: Fleet, bySha: Sources): DesiredPool {
  const { unverified: _, ...pool } = kept;
  const { name, spec, config } = pool;
  const value = config === null ? null : createPayloadReader(pool, bySha)(config.sha256);
  if (config === null || value === null) return pool;
  const identity = { sha256: config.sha256, configName: config.name, payload: '' };
  const inGit = { status: 'valid', name, spec, value, ...identity, findings: [] } as const;
  return { ...pool, unfit: judgeNodes(inGit, nodes, fleet, judgePool).unfit };
}

type Sources = ReadonlyMap<string, ConfigSourceView>;

/** The cluster's own word as a round: for showing, and for nothing else. Pure. */
export function passResultFromCluster(
  everything: Fleet,
  source: SourceState,
  namespace: string,
  at: Millis,
): PassResult {
  const decided = skipUnreadable(everything, (fleet) => planFromCluster(fleet, source, namespace, at));
  const { fleet } = decided;
  const applied = { done: 0, left: 0 };
  return { fleet, ...decided.result, applied, source, unreadable: fleet.unreadable ?? [], tip: null, at };
}

/** What holds a whole pool up holds all of its nodes; where the status names every node that is held, the others are not. */
function toldBy(fleet: Fleet): Signals {
  const blockers = [...fleet.pools].map(([name, { status }]): readonly [string, BlockersAnswer] => {
    const held = status?.holds?.find(({ reason }) => reason === 'blocked');
    if (held === undefined) return [name, NOT_BLOCKED];
    if (held.nodes > held.examples.length) return [name, blocked(held.message)];
    return [name, { ...NOT_BLOCKED, busy: new Map(held.examples.map((node) => [node, held.message])) }];
  });
  const unwritten = [...fleet.pools.values()].flatMap(({ status }) => status?.unwritten ?? []);
  return { blockers: new Map(blockers), drains: new Map(), records: writtenRecords(fleet.pools), unwritten };
}
