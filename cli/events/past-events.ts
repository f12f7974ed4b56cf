import { type EventObject, eventObject } from '#reconciler/reporting/events/event-object.ts';
import { eventsOfNode } from '#reconciler/reporting/events/node-events.ts';
import type { EventSubject } from '#reconciler/reporting/events/cluster-event.ts';
import { eventsOfPool } from '#reconciler/reporting/events/pool-events.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { fromTimestamp, type Millis, toTimestamp } from '#shared/runtime/clock.ts';

/** Something that happened to a node, a pool or the branch. */
export interface PastEvent {
  /** RFC 3339, UTC. Of what happened several times, the last. */
  readonly at: string;
  /** The words of docs/events.md: `ConfigFellBack`. */
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  readonly kind: EventSubject['kind'];
  readonly name: string;
  /** Of a node: the pool that it belongs to now. */
  readonly pool: string;
  readonly note: string;
  /** How often within a few minutes. */
  readonly count: number;
  /** The same in every reading: the name of its Event. */
  readonly id: string;
}

/** What is known of the past: Events, which the API server forgets, and what statuses still say. */
export interface PastFacts {
  readonly events: readonly EventObject[];
  readonly nodes: readonly KubeObject[];
  readonly kubeletNodes: readonly KubeletNode[];
  readonly pools: readonly KubeletPool[];
}

/** Which of it is asked for; absent for all. */
export interface EventsQuestion {
  readonly pool?: string | undefined;
  readonly node?: string | undefined;
  readonly since?: Millis | undefined;
}

/**
 * Everything that happened, oldest first, each once: a promotion or a failure that its Event was forgotten of is known as
 * long as the status says it. Pure.
 */
export function listPastEvents(traces: PastFacts, question: EventsQuestion = {}): readonly PastEvent[] {
  const poolOf = new Map(traces.kubeletNodes.map(({ metadata, spec }) => [metadata.name, spec?.pool ?? '']));
  const byName = new Map<string, PastEvent>();
  const series = traces.events.filter((event) => (event.series?.count ?? 1) > 1);
  const dated = fromStatus(traces).filter((event) => !series.some((each) => counts(each, event)));
  for (const event of [...dated, ...traces.events]) {
    const happened = fromEvent(event, poolOf);
    if (happened !== undefined) byName.set(event.metadata.name, happened);
  }
  const { pool, node, since } = question;
  return [...byName.values()]
    .filter((each) => pool === undefined || each.pool === pool)
    .filter((each) => node === undefined || (each.kind === 'Node' && each.name === node))
    .filter(({ at }) => since === undefined || (fromTimestamp(at) ?? 0) >= since)
    .sort(inOrder);
}

/** Within a second causes come before effects: orders, what nodes did about them, and what became of their pool. */
function inOrder(a: PastEvent, b: PastEvent): number {
  const byTime = (fromTimestamp(a.at) ?? 0) - (fromTimestamp(b.at) ?? 0);
  return byTime || rank(a) - rank(b) || a.name.localeCompare(b.name, 'en');
}

const ORDERS: readonly string[] = ['ConfigAssigned', 'RestartGranted'];
const rank = ({ kind, reason }: PastEvent): number => (kind === 'KubeletPool' ? 2 : ORDERS.includes(reason) ? 0 : 1);

/** What the statuses date, in the form and under the names of the Events that the reconciler makes of it. */
function fromStatus({ nodes, kubeletNodes, pools }: PastFacts): readonly EventObject[] {
  const uids = new Map(nodes.map(({ metadata }) => [metadata.name, metadata.uid ?? '']));
  const occurrences = [
    ...kubeletNodes.flatMap((node) => eventsOfNode(node, uids.get(node.metadata.name) ?? '')),
    ...pools.flatMap(eventsOfPool),
  ];
  return occurrences.flatMap((occurrence) => {
    const at = fromTimestamp(occurrence.at);
    return at === undefined ? [] : [eventObject(occurrence, '', '', at)];
  });
}

/** Whether a series has this among what it counts: it goes by the name of its first, and by the time of its last. */
function counts({ series, ...first }: EventObject, { regarding, reason, note, eventTime }: EventObject): boolean {
  const isAlike = first.reason === reason && first.note === note && first.regarding.name === regarding.name;
  const at = fromTimestamp(eventTime) ?? 0;
  return isAlike && at >= (fromTimestamp(first.eventTime) ?? 0) && at <= (fromTimestamp(series?.lastObservedTime) ?? 0);
}

function fromEvent(event: EventObject, poolOf: ReadonlyMap<string, string>): PastEvent | undefined {
  const { regarding, series, eventTime, reason, type, note } = event;
  const at = fromTimestamp(series?.lastObservedTime ?? eventTime);
  const { kind, name } = regarding ?? { kind: '', name: '' };
  if (at === undefined || (kind !== 'Node' && kind !== 'KubeletPool' && kind !== 'KubeletSource')) return undefined;
  const pool = kind === 'KubeletPool' ? name : (poolOf.get(name) ?? '');
  return {
    at: toTimestamp(at),
    reason,
    type,
    kind,
    name,
    pool,
    note,
    count: series?.count ?? 1,
    id: event.metadata.name,
  };
}
