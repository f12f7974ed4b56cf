import { isDeepStrictEqual as equal } from 'node:util';
import type { KubeletNode, KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { HEARTBEAT_MS } from '#shared/contract/api/silent-agent.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_NODES } from '#shared/kube/kube.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';
import { type BackoffOptions, backoffDelay } from '#shared/runtime/backoff.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import { forceFullGc } from '#shared/runtime/force-gc.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createOngoingFaultReasons } from '#shared/runtime/ongoing-fault-reasons.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import { type UnreadableState, statusOfStateUnreadable } from './state-unreadable.ts';
import { type NodeReport, statusOf } from './kubelet-node-status.ts';

interface ReporterOptions {
  readonly kube: Kube;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Gives back what is dead, when there is nothing new to say. */
  readonly collect?: () => void;
}

/** Keeps the KubeletNode's status true. It has a life of its own: a node never waits for its report. */
export interface Reporter {
  /**
   * The KubeletNode as the API server has it; null where there is none, and so nothing to report to.
   *
   * @param isListed it was just read, and so is no late event
   */
  received(node: KubeletNode | null, isListed?: boolean): void;
  /** What is to be reported from now on. Only the latest counts. */
  report(latest: NodeReport | UnreadableState): void;
  run(signal: AbortSignal): Promise<void>;
}

/** Least time between two writes: what changes more often than this is of no use to anybody else. */
const REST_MS: Millis = 250;
const REPORT_BACKOFF: BackoffOptions = { firstMs: 2_000, maxMs: 60_000, jitter: 0.5 };
/** Least time between two writes that say the same in other words, or that only ask for the same turn again. */
const WORDS_MS: Millis = 60_000;
/** The part of the heartbeat's time that is left to chance, so that a fleet does not beat in step. */
const JITTER = 0.2;

export function createReporter(options: ReporterOptions): Reporter {
  const { kube, nodeName, clock, random, log, collect = forceFullGc } = options;
  const wakeUps = createWakeUps(clock);
  const ownVersions: string[] = [];
  let present: KubeletNodeStatus | undefined;
  let latest: NodeReport | UnreadableState | undefined;
  /** What the definition of an older release dropped of the last write: only heartbeats bring it again. */
  let dropped: ReturnType<typeof mergeDiff> = null;
  let heartbeatAt: Millis = -Infinity;
  let wordsAt: Millis = -Infinity;
  let faults = 0;
  const reasons = createOngoingFaultReasons();

  /** @returns when to write again at the latest */
  const write = async (signal: AbortSignal, isAgain = false): Promise<Millis> => {
    if (present === undefined || latest === undefined) return heartbeatAt;
    const { heartbeat: _, ...before } = present;
    const wanted = 'unreadable' in latest ? statusOfStateUnreadable(latest, present) : statusOf(latest, present);
    const patch = mergeDiff(before, { ...wanted });
    const now = clock.monotonic();
    const news = newsIn(patch);
    const isSaid = Object.keys(news).length === 0 || equal(news, newsIn(dropped));
    const isWords = !isSaid && equal(essenceOf(before), essenceOf(wanted));
    if (now < heartbeatAt && (isSaid || (isWords && now < wordsAt))) {
      return isSaid ? heartbeatAt : Math.min(heartbeatAt, wordsAt);
    }
    if (isWords) wordsAt = now + WORDS_MS;
    const status = { ...patch, heartbeat: toTimestamp(clock.now()) };
    const subresource = { subresource: 'status' } as const;
    const written = await kube.mergePatch<KubeletNode>(
      { resource: KUBELET_NODES },
      nodeName,
      { status },
      subresource,
      signal,
    );
    ownVersions.push(written.metadata.resourceVersion ?? '');
    ownVersions.splice(0, ownVersions.length - 20);
    present = written.status ?? {};
    // What was not in the write was changed by somebody else, or by a restore of the cluster: that is news.
    const missing = Object.entries(mergeDiff({ ...present, heartbeat: undefined }, { ...wanted }) ?? {});
    dropped = Object.fromEntries(missing.filter(([field]) => patch !== null && field in patch));
    const isWhole = Object.keys(dropped).length === missing.length;
    heartbeatAt = clock.monotonic() + HEARTBEAT_MS * (1 - JITTER * random());
    // Without a rest: what comes with a heartbeat is believed.
    if (!isWhole && !isAgain) return write(signal, true);
    await clock.sleep(REST_MS, signal);
    if (isSaid) collect();
    return heartbeatAt;
  };

  const failed = (error: unknown): void => {
    faults += 1;
    // Deleted: the watch says when there is one again.
    if (isKubeError(error, 'KUBE_NOT_FOUND')) present = undefined;
    else if (reasons.isNew(error)) log.warn({ err: error }, 'status cannot be written: trying again');
  };

  return {
    received(node, isListed = false) {
      // A cluster that was restored gives the same versions again.
      if (isListed) ownVersions.length = 0;
      // A late event of an own write would look like a change by another writer.
      if (node !== null && ownVersions.includes(node.metadata.resourceVersion ?? '')) return;
      present = node === null ? undefined : (node.status ?? {});
      wakeUps.poke();
    },
    report(now) {
      latest = now;
      wakeUps.poke();
    },
    async run(signal) {
      while (!signal.aborted) {
        let nextAt: Millis;
        try {
          nextAt = await write(signal);
          faults = 0;
          reasons.over();
        } catch (error) {
          if (signal.aborted) return;
          failed(error);
          await clock.sleep(backoffDelay(faults, REPORT_BACKOFF, random()), signal);
          continue;
        }
        const waitMs = nextAt - clock.monotonic();
        await wakeUps.next(waitMs > 0 ? waitMs : HEARTBEAT_MS, signal);
      }
    },
  };
}

/** Measures change with every look: they are reported with the next heartbeat or with news. */
function newsIn(patch: ReturnType<typeof mergeDiff>): Readonly<Record<string, unknown>> {
  const { measures: _, ...news } = patch ?? {};
  return news;
}

/** All that a status says but for its words: sentences, since when an error holds, and what a request for a turn is bound to. */
function essenceOf({ error, awaitsTurn, measures: _measures, ...status }: KubeletNodeStatus): unknown {
  const { seen: _, ...request } = awaitsTurn ?? {};
  const essence = [error?.reason, error?.config, awaitsTurn ? request : null, status];
  return JSON.parse(JSON.stringify(essence, (key, value: unknown) => (key === 'message' ? undefined : value)));
}
