import { UNKNOWN_CONFIG } from '#shared/contract/api/kubelet-node.ts';
import { HEARTBEAT_MS } from '#shared/contract/api/silent-agent.ts';
import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { formatDuration } from '#shared/runtime/duration.ts';
import type { Fleet } from '../fleet.ts';
import type { MemberDecision } from '../rollout/decide-group.ts';
import type { Shown } from '../rollout/lifecycle.ts';
import type { Member, SkippedNode } from '../rollout/membership.ts';
import type { NodesPlan } from '../plan-nodes.ts';
import { refusedUnassigned, waitsToRecover } from '../rollout/node-progress.ts';
import { nodeTrouble, silence, type TroubleKind } from './node-trouble.ts';
import { formatFailedWrite } from './failed-write-line.ts';

/** Where a node stands now, and why it is changed or not. */
export interface NodeReason {
  readonly node: string;
  /** `-` where it belongs to none, or to one that is not known any more. */
  readonly pool: string;
  readonly standing: string;
  /** `change now`, `nothing to do`, `look at it` for a person, or the reason it is held for, such as `budget`. */
  readonly now: string;
  readonly because: string;
}

/** What was decided for every node, in words and in the order of their names. Pure. */
export function explainNodes(
  { groups, skipped, unwritten = [] }: NodesPlan,
  fleet: Fleet,
  now: Millis,
): readonly NodeReason[] {
  const failing = new Map(unwritten.flatMap((write) => (write.node === undefined ? [] : [[write.node, write]])));
  const decided = groups.flatMap(({ group, decisions }) =>
    decisions.map((decision) => {
      const reason = reasonOf(group.pool?.name ?? '-', decision, now);
      const write = failing.get(reason.node);
      return write === undefined ? reason : { ...reason, because: `${formatFailedWrite(write)}; ${reason.because}` };
    }),
  );
  const left = skipped.map(leftAlone);
  const known = new Set([...decided, ...left].map(({ node }) => node));
  const free = [...fleet.nodes.keys()].filter((node) => !known.has(node));
  const because = 'no pool selects it, and it runs its local config';
  const unselected = free.map((node): NodeReason => ({ node, ...NOBODYS, now: 'nothing to do', because }));
  return [...decided, ...left, ...unselected].sort((a, b) => BY_NUMBER.compare(a.node, b.node));
}

const BY_NUMBER = new Intl.Collator('en', { numeric: true });

const NOBODYS = { pool: '-', standing: '-' } as const;

function leftAlone({ node, choice }: SkippedNode): NodeReason {
  return { node: node.name, ...NOBODYS, now: choice.choice, because: becauseOf(choice) };
}

function becauseOf(choice: SkippedNode['choice']): string {
  switch (choice.choice) {
    case 'conflict':
      return `${choice.pools.join(' and ')} select it with the same priority: give one of them a higher one`;
    case 'opted-out':
    case 'unsupported':
      return choice.because;
    case 'unknown':
      return 'its pool is missing from the commit, so it keeps its config until a commit has the pool';
  }
}

function reasonOf(pool: string, { member, verdict }: MemberDecision, at: Millis): NodeReason {
  const { shown: standing } = member.lifecycle;
  const trouble = TROUBLED.has(standing) ? nodeTrouble(member.kubeletNode) : null;
  if (verdict.verdict === 'rest' && trouble !== null) {
    const because = `${before(trouble.kind, member)}${trouble.message}`;
    return { node: member.node.name, pool, standing: trouble.kind, now: 'look at it', because };
  }
  const now = verdict.verdict === 'hold' ? verdict.hold : NOW[verdict.verdict];
  const silent = now === 'no-agent' ? silence(member.kubeletNode, at) : null;
  const because = silent ?? (verdict.verdict === 'rest' ? restOf(member, standing, at) : verdict.because);
  return { node: member.node.name, pool, standing, now, because };
}

/** Standings of nodes that nothing is done about, in which they may be ill all the same. */
const TROUBLED: ReadonlySet<Shown> = new Set(['settled', 'soaking', 'failing', 'broken']);

/** What the node's trouble has to do with the config of its pool. */
function before(kind: TroubleKind, { kubeletNode }: Member): string {
  switch (kind) {
    case 'broken':
      return "its pool's config is not to blame, and is tried again when the kubelet is well: ";
    case 'failing':
      // One that ends before it registers tells nobody its version.
      return `not in order with what it had proven (last registered as ${kubeletNode?.status?.kubeletVersion ?? 'an unknown version'}): `;
    case 'unhealthy':
      return 'it has proven its config, and ';
    case 'drifted':
      return '';
  }
}

const NOW = { rest: 'nothing to do', change: 'change now', drain: 'drain' } as const;

/** A heartbeat is overdue, and a node is not called silent before it missed three. */
const OVERDUE_MS: Millis = HEARTBEAT_MS + 60_000;

function restOf({ node, kubeletNode, target }: Member, standing: Shown, now: Millis): string {
  if (standing === 'failed' && refusedUnassigned(kubeletNode, target) !== undefined) {
    return 'its agent refuses the config, so its pods stay and nothing was changed';
  }
  const { trial, active, assigned, error, phase } = kubeletNode?.status ?? {};
  if (standing === 'updating' && error && waitsToRecover(kubeletNode)) return error.message;
  const by = trial?.awaitsReboot;
  if (standing === 'updating' && by !== undefined) return `waiting for its machine to reboot (${by})`;
  if (standing === 'updating' && active?.name === UNKNOWN_CONFIG) {
    return `its agent lost its state, and cannot tell what it runs${error ? `: ${error.message}` : ''}`;
  }
  const silentMs = now - (fromTimestamp(kubeletNode?.status?.heartbeat) ?? now);
  if (standing === 'updating' && silentMs > OVERDUE_MS) {
    return `it was applying the config when its agent was last heard of, ${formatDuration(silentMs - (silentMs % 60_000))} ago`;
  }
  if (standing === 'updating' && phase === 'Trial' && trial) {
    const [healthy, all] = [trial.healthySeconds, trial.durationSeconds].map((seconds) =>
      formatDuration(seconds * 1000),
    );
    return `on trial: its kubelet was healthy for ${healthy} of ${all}`;
  }
  // After a pool was renamed: the same config under another name restarts no kubelet.
  const isNamedOtherwise = standing === 'settled' && active !== undefined && active.name !== assigned?.name;
  const otherwise = isNamedOtherwise ? ` (as ${active.name}, the same config under another name)` : '';
  // What is wrong there keeps places of the budget, and is nothing that the agent sees.
  return `${RESTS[standing] ?? ''}${otherwise}${standing === 'settled' && !node.ready ? ', but its Node is not Ready' : ''}`;
}

const RESTS: Readonly<Partial<Record<Shown, string>>> = {
  settled: 'up to date and proven',
  soaking: 'up to date, and soaking: it keeps its place in the budget until then',
  updating: 'applying the config now',
  failed: 'took the config back, and does not try it again',
};
