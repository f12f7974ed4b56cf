import type { KubeletPoolStatus } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { parsePerson } from '../../git/objects/person.ts';
import type { Commit } from '../../policy/commit-snapshot.ts';
import type { PassResult } from '../pass-result.ts';

interface RolloutTime {
  readonly pool: string;
  /** `first`: a node runs the config, be it on trial. `last`: all nodes of the pool have proven it. */
  readonly reached: 'first' | 'last';
  /** Since the commit was made, as its committer's clock had it. */
  readonly seconds: number;
}

/** Measures the way of a commit through its pools, round by round. @returns what was reached since the last round */
export type RolloutTimes = (round: Pick<PassResult, 'fleet' | 'planned' | 'tip' | 'at'>) => readonly RolloutTime[];

interface Underway {
  readonly sha256: string;
  /** null where the change began before this process: its commit is unknown here. */
  readonly committedAt: Millis | null;
  readonly first: boolean;
  readonly last: boolean;
}

export function createRolloutTimes(): RolloutTimes {
  const pools = new Map<string, Underway>();
  return ({ fleet, planned, tip, at }) => {
    const reached: RolloutTime[] = [];
    for (const [pool, status] of planned.pools) {
      const before = pools.get(pool) ?? whatWasThere(fleet.pools.get(pool)?.status);
      const now = progress(before, status, tip, () => [...fleet.kubeletNodes.values()]);
      pools.set(pool, now);
      if (now.committedAt === null) continue;
      const seconds = Math.max(0, (at - now.committedAt) / 1000);
      const continued = before?.sha256 === now.sha256 ? before : undefined;
      if (now.first && continued?.first !== true) reached.push({ pool, reached: 'first', seconds });
      if (now.last && continued?.last !== true) reached.push({ pool, reached: 'last', seconds });
    }
    for (const pool of pools.keys()) if (!planned.pools.has(pool)) pools.delete(pool);
    return reached;
  };
}

/** What an earlier process was at, or had done: not to be counted again. */
function whatWasThere(status: KubeletPoolStatus | undefined): Underway | undefined {
  const { sha256 } = status ?? {};
  return sha256 === undefined ? undefined : { sha256, committedAt: null, first: true, last: true };
}

function progress(
  before: Underway | undefined,
  { sha256 = '', classes, phase, commit, counts }: KubeletPoolStatus,
  tip: Commit | null,
  nodes: () => readonly KubeletNode[],
): Underway {
  if (before !== undefined && before.sha256 === sha256 && before.last) return before;
  const isNew = before === undefined || before.sha256 !== sha256;
  const committedAt = isNew ? (tip !== null && tip.oid === commit ? committedAtOf(tip) : null) : before.committedAt;
  const someNode = (counts?.nodes ?? 0) > 0;
  const last = phase === 'Settled' && someNode;
  const payloads = new Set(classes?.map((each) => each.sha256) ?? [sha256]);
  const runs = ({ status }: KubeletNode): boolean => payloads.has(status?.active?.sha256 ?? '\0');
  const first = last || (!isNew && before.first) || (someNode && nodes().some(runs));
  return { sha256, committedAt, first, last };
}

const COMMITTER = 'committer ';

/** The committer's time, from the object itself; null if unreadable. */
export function committedAtOf({ raw }: Pick<Commit, 'raw'>): Millis | null {
  const header = Buffer.from(raw).toString('latin1').split('\n\n', 1)[0] ?? '';
  const line = header.split('\n').find((each) => each.startsWith(COMMITTER));
  const seconds = line === undefined ? null : parsePerson(line.slice(COMMITTER.length)).seconds;
  return seconds === null ? null : seconds * 1000;
}
