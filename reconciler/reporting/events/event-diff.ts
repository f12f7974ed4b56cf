import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletSource } from '#shared/contract/api/kubelet-source.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { PassResult } from '../pass-result.ts';
import { suspensionAt } from '../../policy/suspension.ts';
import type { NodesPlan } from '../../policy/plan-nodes.ts';
import { conflictsAmong } from '../../policy/pool-selection/conflict-lines.ts';
import { assignedTo, assignment, conflictEvent, eventsOfNode } from './node-events.ts';
import { eventsOfUnreadable } from './unreadable-events.ts';
import { isSilentlyResumed, eventsOfPool, silentResumption, SINCE } from './pool-events.ts';
import { eventsOfSource } from './source-events.ts';
import type { ClusterEvent } from './cluster-event.ts';

/**
 * Turns states into news. What a state says is reported once; after a restart only what the status dates within the last few
 * minutes is reported, under the same identity as before, so that the API server refuses what it has already.
 *
 * @returns what happened since the last round
 */
export type EventDiff = (round: Pick<PassResult, 'fleet' | 'at'> & Partial<Planned>) => readonly ClusterEvent[];

/** Whom no pool may have. */
interface Planned {
  readonly planned: { readonly nodes: Pick<NodesPlan, 'skipped'> };
}

/** The same for the branch, by what its object says. */
type SourceEventDiff = (source: KubeletSource, at: Millis) => readonly ClusterEvent[];

/** Events live for an hour by default: what is older than a part of that may have been reported and expired. */
const FRESH_MS: Millis = 15 * 60_000;

/** A slip in a selector brings hundreds of nodes into conflict at once. */
const MOST_CONFLICTS = 10;

interface Told {
  /** The object as it was when its identities were computed: a node that did not change is not looked at again. */
  readonly seen: object;
  readonly identities: ReadonlySet<string>;
  readonly assigned: string;
  /** Of a pool: a person had suspended it. */
  readonly suspended?: boolean;
}

export function createEventDiff(): EventDiff {
  let reported: ReadonlyMap<string, Told> | null = null;
  return ({ fleet, at, planned }) => {
    const news: ClusterEvent[] = [];
    const now = new Map<string, Told>();
    const keep = (
      key: string,
      seen: object,
      current: readonly ClusterEvent[],
      more: Pick<Told, 'assigned' | 'suspended'>,
    ): void => {
      const before = reported?.get(key)?.identities;
      news.push(...current.filter((each) => isNews(each, before, reported !== null, at)));
      now.set(key, { seen, identities: new Set(current.map(({ identity }) => identity)), ...more });
    };
    /** What cannot be read is not news: what was reported of it before counts. */
    const each = (key: string, look: () => void): void => {
      try {
        look();
      } catch {
        const before = reported?.get(key);
        if (before !== undefined) now.set(key, before);
      }
    };
    for (const [name, node] of fleet.kubeletNodes) {
      const uid = fleet.nodes.get(name)?.uid;
      if (uid === undefined) continue;
      const key = `node ${uid}`;
      const before = reported?.get(key);
      if (before?.seen === node) {
        now.set(key, before);
        continue;
      }
      each(key, () => {
        const current = eventsOfNode(node, uid);
        if (isNewlyAssigned(node, before)) news.push(assignment(node, uid));
        keep(key, node, current, { assigned: assignedTo(node) });
      });
    }
    // By what was written, not by what was only planned: a write that fails is planned again with another date, which would be
    // reported as something else.
    for (const pool of fleet.pools.values()) {
      const { uid } = pool.metadata;
      if (uid === undefined || pool.status === undefined) continue;
      const key = `pool ${uid}`;
      each(key, () => {
        if (isSilentlyResumed(reported?.get(key)?.suspended === true, pool, at))
          news.push(silentResumption(pool, toTimestamp(at)));
        keep(key, pool, eventsOfPool(pool), { assigned: '', suspended: suspensionAt(pool, at) !== null });
      });
    }
    for (const conflict of conflictsAmong(planned?.nodes.skipped ?? []).slice(0, MOST_CONFLICTS)) {
      const uid = fleet.nodes.get(conflict.node)?.uid;
      if (uid !== undefined) keep(`conflict ${uid}`, conflict, [conflictEvent(conflict, uid)], { assigned: '' });
    }
    for (const left of fleet.unreadable ?? []) {
      const key = `unreadable ${left.of} ${left.name}`;
      keep(key, left, eventsOfUnreadable(left, toTimestamp(at)), { assigned: '' });
    }
    reported = now;
    return news;
  };
}

/** As `createEventDiff`, of one object. */
export function createSourceEventDiff(): SourceEventDiff {
  let reported: ReadonlySet<string> | null = null;
  return (source, at) => {
    const current = eventsOfSource(source);
    const news = current.filter((each) => isNews(each, reported ?? undefined, reported !== null, at));
    reported = new Set(current.map(({ identity }) => identity));
    return news;
  };
}

/** A node that was never seen before had its assignment from an earlier process, or has none yet. */
function isNewlyAssigned(node: KubeletNode, before: Told | undefined): boolean {
  return before !== undefined && node.spec !== undefined && before.assigned !== assignedTo(node);
}

/**
 * An object that is new to us is judged by its dates, like all of them after a restart; undated things are reported only by
 * a process that saw the object before.
 */
function isNews(each: ClusterEvent, before: ReadonlySet<string> | undefined, seenRounds: boolean, at: Millis): boolean {
  if (before?.has(each.identity) === true) return false;
  if (each.at === undefined) return seenRounds && !isKnownBut(each.identity, before);
  if (before !== undefined) return true;
  const happened = fromTimestamp(each.at);
  return happened !== undefined && at - happened <= FRESH_MS;
}

/** Whether the same was dated before. */
const isKnownBut = (identity: string, before: ReadonlySet<string> | undefined): boolean =>
  [...(before ?? [])].some((each) => each.startsWith(`${identity}${SINCE}`));
