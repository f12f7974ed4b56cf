import { isDeepStrictEqual } from 'node:util';
import { API_VERSION, MANAGED_BY, MANAGED_BY_LABEL } from '#shared/contract/api/group.ts';
import { type KubeletSource, type KubeletSourceStatus, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { askedToWaitMs, isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';
import { type BackoffOptions, backoffDelay } from '#shared/runtime/backoff.ts';
import { type Clock, type Millis, toTimestamp } from '#shared/runtime/clock.ts';
import type { Log } from '#shared/runtime/log.ts';
import { createWakeUps } from '#shared/runtime/wake-ups.ts';
import { type SourceFacts, sourceStatus } from './source-status.ts';

export interface SourceWriterOptions {
  readonly kube: Kube;
  readonly mayWrite: () => boolean;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** The object is as it was last shown. */
  readonly onStands?: (source: KubeletSource) => void;
}

/** Keeps the KubeletSource as the passes have it. Nothing waits for it, and nothing depends on it. */
export interface SourceWriter {
  show(facts: SourceFacts): void;
  run(signal: AbortSignal): Promise<void>;
}

const PLACE = { resource: KUBELET_SOURCES };
/** What others did to the object, and CRDs and rights that were missing, are seen after this time. */
const LOOK_AGAIN_MS: Millis = 10 * 60_000;
const BACKOFF: BackoffOptions = { firstMs: 1_000, maxMs: 5 * 60_000, jitter: 0.3 };

export function createSourceWriter({
  kube,
  mayWrite,
  clock,
  random,
  log,
  onStands,
}: SourceWriterOptions): SourceWriter {
  const wakeUps = createWakeUps(clock);
  let facts: SourceFacts | undefined;
  let present: KubeletSource | undefined;
  let lookedAt: Millis = Number.NEGATIVE_INFINITY;
  /** What was written last, and what the API server made of it. */
  let last: { readonly sent: KubeletSourceStatus; readonly kept: KubeletSourceStatus | undefined } | undefined;
  let faults = 0;
  let saidMissing = false;

  /** @returns null where the lead was lost meanwhile */
  async function fetch(signal: AbortSignal): Promise<KubeletSource | null> {
    if (present !== undefined && clock.monotonic() - lookedAt < LOOK_AGAIN_MS) return present;
    const found = await kube.get<KubeletSource>(PLACE, SOURCE_NAME, signal);
    lookedAt = clock.monotonic();
    if (!mayWrite()) return null;
    present = found ?? (await kube.create<KubeletSource>(PLACE, fresh(), signal));
    return present;
  }

  async function write(now: SourceFacts, signal: AbortSignal): Promise<void> {
    const before = await fetch(signal);
    if (before === null) return;
    const { status = {}, metadata } = before;
    const wanted = sourceStatus(now, before, toTimestamp(clock.now()));
    const diff = mergeDiff({ ...status }, { ...wanted });
    // An API server may keep something else than it was sent, and would again.
    if (diff === null || (isDeepStrictEqual(last?.sent, wanted) && isDeepStrictEqual(last?.kept, status))) return;
    const { resourceVersion } = metadata;
    const patch = { metadata: { resourceVersion }, status: diff };
    present = await kube.mergePatch<KubeletSource>(PLACE, SOURCE_NAME, patch, { subresource: 'status' }, signal);
    last = { sent: wanted, kept: present.status };
  }

  /** @returns how long to leave it alone */
  async function attempt(signal: AbortSignal): Promise<Millis> {
    if (facts === undefined || !mayWrite()) return 0;
    try {
      await write(facts, signal);
      if (saidMissing) log.info({}, 'the KubeletSource is written again');
      [faults, saidMissing] = [0, false];
      if (present !== undefined) onStands?.(present);
      return 0;
    } catch (error) {
      if (signal.aborted) return 0;
      present = undefined;
      faults += 1;
      // Another writer changed, created or deleted it.
      if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_ALREADY_EXISTS') && faults === 1) return 0;
      const isMissing = isKubeError(error, 'KUBE_NOT_FOUND', 'KUBE_FORBIDDEN');
      if (isMissing ? !saidMissing : faults === 1)
        log.warn({ err: error }, UNWRITTEN[isMissing ? 'missing' : 'failed']);
      saidMissing ||= isMissing;
      return isMissing ? LOOK_AGAIN_MS : (askedToWaitMs(error) ?? backoffDelay(faults, BACKOFF, random()));
    }
  }

  return {
    show(now) {
      // A process that has only just begun has nothing to add to what the one before said.
      if (now.tip === null && now.source.failure === '' && now.source.commit !== '') return;
      facts = now;
      wakeUps.poke();
    },
    async run(signal) {
      while (!signal.aborted) {
        const waitMs = await attempt(signal);
        await (waitMs > 0 ? clock.sleep(waitMs, signal) : wakeUps.next(LOOK_AGAIN_MS, signal));
      }
    },
  };
}

const UNWRITTEN = {
  missing: 'no KubeletSource is written: apply the CRDs and rights of this release; everything else goes on',
  failed: 'the KubeletSource cannot be written: trying again',
} as const;

const fresh = (): KubeletSource => ({
  apiVersion: API_VERSION,
  kind: 'KubeletSource',
  metadata: { name: SOURCE_NAME, labels: { [MANAGED_BY_LABEL]: MANAGED_BY } },
});
