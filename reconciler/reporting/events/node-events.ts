import { CONFIG_HEALTH, type KubeletNode, LOCAL, PROVEN_CONFIG_FAILS } from '#shared/contract/api/kubelet-node.ts';
import type { Condition } from '#shared/contract/api/object.ts';
import { type Conflict, formatConflicts } from '../../policy/pool-selection/conflict-lines.ts';
import type { ClusterEvent, EventReason, EventSubject } from './cluster-event.ts';

/** All events of a node by its status as it is now, reported before or not. Pure. */
export function eventsOfNode(node: KubeletNode, uid: string): readonly ClusterEvent[] {
  const about: EventSubject = { kind: 'Node', name: node.metadata.name, uid };
  const pool = node.spec?.pool ?? '';
  return [
    ...turns(node, about, pool),
    ...proofs(node, about, pool),
    ...failures(node, about, pool),
    ...troubles(node, about, pool),
  ];
}

/** The node's assignment as one text; it changes when another config is assigned. */
export function assignedTo({ spec }: KubeletNode): string {
  if (spec === undefined) return '';
  return spec.configSource === undefined ? LOCAL : `${spec.configSource.name} ${spec.apply ?? 'overlay'}`;
}

/** The event of the node's present assignment. */
export function assignment(node: KubeletNode, uid: string): ClusterEvent {
  const { spec, metadata } = node;
  const config = spec?.configSource?.name ?? '';
  const pool = spec?.pool ?? '';
  const commit = spec?.commit === undefined ? '' : `, commit ${spec.commit.slice(0, 12)}`;
  return {
    about: { kind: 'Node', name: metadata.name, uid },
    reason: 'ConfigAssigned',
    type: 'Normal',
    note: config === '' ? 'Assigned its own local config' : `Assigned ${config} (pool ${pool}${commit})`,
    pool,
    config,
    identity: `assigned ${metadata.uid ?? ''} ${metadata.generation ?? 0} ${config}`,
  };
}

/** A turn stays in the spec when it is over: what it was for is known only as long as the node asks. */
function turns({ spec, status = {} }: KubeletNode, about: EventSubject, pool: string): readonly ClusterEvent[] {
  const { turn, configSource } = spec ?? {};
  if (turn === undefined) return [];
  const asked = status.awaitsTurn?.seen === turn.seen ? `: ${status.awaitsTurn.message}` : '';
  const note = `Its turn to restart its kubelet has come${asked}`;
  const config = configSource?.name ?? '';
  return [{ about, reason: 'RestartGranted', type: 'Normal', note, pool, config, identity: `granted ${turn.seen}` }];
}

/** By what it falls back to, whatever it runs just then: a trial that ends with a fall back proves nothing anew. */
function proofs({ status = {} }: KubeletNode, about: EventSubject, pool: string): readonly ClusterEvent[] {
  const { lastKnownGood, promotedAt } = status;
  const config = lastKnownGood?.name ?? LOCAL;
  if (config === LOCAL || promotedAt === undefined || promotedAt === null) return [];
  const note = `${config} is proven, and is now the last known good config`;
  const identity = `applied ${lastKnownGood?.sha256} ${promotedAt}`;
  return [{ about, reason: 'ConfigApplied', type: 'Normal', note, pool, config, at: promotedAt, identity }];
}

function failures({ status = {} }: KubeletNode, about: EventSubject, pool: string): readonly ClusterEvent[] {
  const { error, rejected = [] } = status;
  const listed = rejected.map(({ name, reason, message, at }) => ({ config: name, reason, message, at }));
  // What cannot be blamed on the config, or was not tried yet, is an error without being a rejection.
  const isListed = listed.some(({ reason, at }) => reason === error?.reason && at === error.at);
  const all = error === undefined || error === null || isListed ? listed : [...listed, { config: '', ...error }];
  return all.map(({ config, reason, message, at }): ClusterEvent => {
    const identity = `failed ${config} ${reason} ${at}`;
    // It was not taken back, and the kubelet is down with it.
    if (reason === PROVEN_CONFIG_FAILS)
      return {
        about,
        reason: 'KubeletBroken',
        type: 'Warning',
        note: message,
        pool,
        config,
        cause: reason,
        at,
        identity,
      };
    const fellBack = touchedKubelet(reason);
    const what = config === '' ? 'The config' : config;
    const outcome = fellBack ? 'was taken back' : 'was refused, the kubelet was not touched';
    // Most messages begin with the config and what became of it.
    const isSaid = config !== '' && message.startsWith(`${config} `);
    return {
      about,
      reason: fellBack ? 'ConfigFellBack' : 'ConfigRefused',
      type: 'Warning',
      note: `${isSaid ? '' : `${what} ${outcome}: `}${reason}: ${message}`,
      pool,
      config,
      cause: reason,
      at,
      identity,
    };
  });
}

function troubles({ status = {} }: KubeletNode, about: EventSubject, pool: string): readonly ClusterEvent[] {
  const health = status.conditions?.find(({ type }) => type === CONFIG_HEALTH);
  const happening = troubleOf(health);
  if (health === undefined || happening === undefined) return [];
  const { reason, message: note, lastTransitionTime: at } = health;
  const config = status.active?.name ?? LOCAL;
  const identity = `trouble ${reason} ${at}`;
  return [{ about, reason: happening, type: 'Warning', note, pool, config, cause: reason, at, identity }];
}

function troubleOf(health: Condition | undefined): EventReason | undefined {
  return health?.status === 'False' ? TROUBLES[health.reason] : undefined;
}

const TROUBLES: Readonly<Record<string, EventReason>> = {
  Drifted: 'ConfigDrifted',
  Broken: 'KubeletBroken',
  NotHealthy: 'KubeletUnhealthy',
};

/** Undated, as nobody writes down when it began: a process that comes later says nothing of it. */
export function conflictEvent({ node, pools }: Conflict, uid: string): ClusterEvent {
  const [note = ''] = formatConflicts([{ node, pools }]);
  const about: EventSubject = { kind: 'Node', name: node, uid };
  const identity = `conflict ${pools.join(' ')}`;
  return { about, reason: 'NodeInConflict', type: 'Warning', note, pool: '', config: '', identity };
}

/**
 * The reasons with which an agent gives a config up that its kubelet never heard of. With every other reason the kubelet
 * ran it, or was to: the node fell back.
 */
const BEFORE_THE_KUBELET: ReadonlySet<string> = new Set([
  'InvalidAssignment',
  'ConfigMapNotFound',
  'DownloadFailed',
  'PayloadMismatch',
  'VersionUnknown',
  'CheckpointFailed',
  'FieldDenied',
  'ConfigInvalid',
  'PreflightFailed',
  'CannotInstall',
  'GuardFailed',
  'KubeletStopped',
  'StateUnreadable',
]);

export const touchedKubelet = (reason: string): boolean => !BEFORE_THE_KUBELET.has(reason);
