import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, NODES } from '#shared/kube/kube.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import type { Fleet, UnreadableObject, NodeView } from '../../policy/fleet.ts';
import { createTokenBucket } from '../../http-server/token-bucket.ts';
import { type ConfigHealth, conditionPatch, configHealthOf, unreadableHealth, isSameHealth } from './node-condition.ts';

interface ConditionWriterOptions {
  readonly kube: Kube;
  /** null until everything was seen once. */
  readonly fleet: () => Fleet | null;
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly log: Log;
  /** What nothing was decided about lately; default: what the fleet lacks. */
  readonly held?: () => readonly UnreadableObject[];
  readonly onOutcome: (outcome: 'written' | 'failed') => void;
}

/** Keeps the condition `KubeletConfigHealthy` on Nodes as the agents have it. */
interface ConditionWriter {
  /** Something may have changed. */
  poke(): void;
  run(signal: AbortSignal): Promise<void>;
}

const PACE = { burst: 50, everyMs: 100 };
/** Agents fall silent without an event. */
const RECHECK_MS: Millis = 60_000;
/** Between two looks at the whole fleet. */
const REST_MS: Millis = 1_000;
/** What was written and does not stay is not written again for this long: another writer may own the same condition. */
const STAND_BACK_MS: Millis = 10 * 60_000;
/** A message alone is no reason to write to a Node more often than this. */
const MESSAGE_EVERY_MS: Millis = 60_000;
/** After a failure: one API server that says no says it for all Nodes. */
const RETRY_MS: Millis = 30_000;

interface Written {
  readonly health: ConfigHealth;
  readonly at: Millis;
}

export function createConditionWriter(options: ConditionWriterOptions): ConditionWriter {
  const { kube, clock, log, mayWrite, onOutcome, held = () => [] } = options;
  const wakeUps = createWakeUps(clock);
  const written = new Map<string, Written>();
  /** Nodes whose agents' reports are unreadable, so that the log has each once. */
  const unreadable = new Set<string>();
  const pace = createTokenBucket(clock, PACE);
  let failing = false;

  function due(node: NodeView, fleet: Fleet, left: UnreadableObject | undefined): ConfigHealth | null {
    try {
      const wanted =
        left === undefined
          ? configHealthOf(fleet.kubeletNodes.get(node.name), node, clock.now())
          : unreadableHealth(left);
      return wanted === null || isSameHealth(wanted, node.configHealth) ? null : restedFrom(node.uid, wanted);
    } catch (error) {
      if (!unreadable.has(node.uid)) log.error({ node: node.name, err: error }, 'what an agent says cannot be read');
      unreadable.add(node.uid);
      return dueUnseen({ of: 'node', name: node.name, uid: node.uid, error });
    }
  }

  /** The Node's condition now is unreadable: it is written once. */
  function dueUnseen(left: UnreadableObject): ConfigHealth | null {
    const wanted = unreadableHealth(left);
    const last = written.get(left.uid)?.health;
    return last?.reason === wanted.reason && last.message === wanted.message ? null : wanted;
  }

  function restedFrom(uid: string, wanted: ConfigHealth): ConfigHealth | null {
    const last = written.get(uid);
    return last !== undefined && clock.monotonic() - last.at < restAfter(last.health, wanted) ? null : wanted;
  }

  /** @returns false where writing makes no sense for a while */
  async function write(
    node: Pick<NodeView, 'name' | 'uid' | 'configHealth'>,
    wanted: ConfigHealth,
    signal: AbortSignal,
  ): Promise<boolean> {
    written.set(node.uid, { health: wanted, at: clock.monotonic() });
    const patch = conditionPatch(wanted, presentOf(node), toTimestamp(clock.now()));
    const how = { subresource: 'status', lists: 'strategic' } as const;
    try {
      await kube.mergePatch({ resource: NODES }, node.name, patch, how, signal);
      onOutcome('written');
      failing = false;
      return true;
    } catch (error) {
      if (signal.aborted) return false;
      // A policy may refuse what is written to this Node: it is stood back from, and the others have their turn. Admission
      // webhooks refuse in the words of a missing right, which would hold for all: then the others have theirs after a rest.
      const isItsOwn = !isKubeError(error) || isKubeError(error, 'KUBE_INVALID');
      if (!isItsOwn && !isKubeError(error, 'KUBE_FORBIDDEN')) written.delete(node.uid);
      if (isKubeError(error, 'KUBE_NOT_FOUND')) return true;
      onOutcome('failed');
      if (!failing) log.warn({ node: node.name, err: error }, 'condition on the Node cannot be written: trying again');
      failing = true;
      return isItsOwn;
    }
  }

  /** @returns how long to rest */
  async function round(signal: AbortSignal): Promise<Millis> {
    const fleet = mayWrite() ? options.fleet() : null;
    if (fleet === null) return REST_MS;
    const all = [...(fleet.unreadable ?? []), ...held()].filter(({ of }) => of === 'node');
    const left = new Map(all.map((each) => [each.name, each]));
    const unseen = [...left.values()]
      .filter(({ name }) => !fleet.nodes.has(name))
      .map((each) => ({ ...each, uid: each.uid === '' ? each.name : each.uid }));
    const present = new Set([...fleet.nodes.values(), ...unseen].map(({ uid }) => uid));
    for (const known of [written, unreadable]) {
      for (const uid of known.keys()) if (!present.has(uid)) known.delete(uid);
    }
    for (const node of [...fleet.nodes.values(), ...unseen]) {
      const wanted = 'error' in node ? dueUnseen(node) : due(node, fleet, left.get(node.name));
      if (wanted === null) continue;
      await clock.sleep(pace.reserve(), signal);
      if (signal.aborted || !mayWrite()) return REST_MS;
      if (!(await write(node, wanted, signal))) return RETRY_MS;
    }
    return REST_MS;
  }

  return {
    poke: wakeUps.poke,
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(await round(signal), signal);
        await wakeUps.next(RECHECK_MS, signal);
      }
    },
  };
}

function restAfter(last: ConfigHealth, wanted: ConfigHealth): Millis {
  if (last.status !== wanted.status || last.reason !== wanted.reason) return 0;
  return last.message === wanted.message ? STAND_BACK_MS : MESSAGE_EVERY_MS;
}

/** Of a Node that cannot be read, what it says cannot be kept. */
function presentOf({ configHealth }: Pick<NodeView, 'configHealth'>): NodeView['configHealth'] {
  try {
    return configHealth && { ...configHealth };
  } catch {
    return undefined;
  }
}
