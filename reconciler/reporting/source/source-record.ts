import { isDeepStrictEqual } from 'node:util';
import {
  API_VERSION,
  BY_ANNOTATION,
  MANAGED_BY,
  MANAGED_BY_LABEL,
  RELEASE_ANNOTATION,
} from '#shared/contract/api/group.ts';
import { type KubeletSource, type KubeletSourceStatus, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import type { ReleaseRequest } from '../notes/recorded-commits.ts';
import { readSourceState, type SourceState } from '../notes/source-state.ts';

/** The record of the commit in force: the status of the KubeletSource. */
export interface SourceRecord {
  /** As this process wrote it last, or else as it was found; throws a `KubeError` while the API server is away. */
  load(signal: AbortSignal): Promise<SourceState>;
  /** The annotation of the KubeletSource by which a person releases a commit, as it was seconds ago, and the one that says who. */
  release(signal: AbortSignal): Promise<ReleaseRequest | undefined>;
  /**
   * Writes the status if it differs from what is there; throws the `KubeError` of a failed write.
   *
   * @returns the object as it stands; null where the lead was lost meanwhile
   */
  save(
    statusAfter: (present: KubeletSource) => KubeletSourceStatus,
    signal: AbortSignal,
  ): Promise<KubeletSource | null>;
}

const PLACE = { resource: KUBELET_SOURCES };
/** What others did to the object is put right after this time. */
const LOOK_AGAIN_MS: Millis = 10 * 60_000;
/** While a person is waited for. */
const LOOK_FOR_RELEASE_MS: Millis = 15_000;

export function createSourceRecord(kube: Kube, clock: Clock, mayWrite: () => boolean): SourceRecord {
  let recorded: SourceState | undefined;
  let present: KubeletSource | null | undefined;
  let lookedAt: Millis = Number.NEGATIVE_INFINITY;
  /** What was written last, and what the API server made of it: a webhook may have changed it, and would again. */
  let last: { readonly sent: KubeletSourceStatus; readonly kept: KubeletSourceStatus | undefined } | undefined;

  async function look(signal: AbortSignal, againMs = LOOK_AGAIN_MS): Promise<KubeletSource | null> {
    if (present !== undefined && clock.monotonic() - lookedAt < againMs) return present;
    present = await kube.get<KubeletSource>(PLACE, SOURCE_NAME, signal);
    lookedAt = clock.monotonic();
    return present;
  }

  async function write(
    statusAfter: (present: KubeletSource) => KubeletSourceStatus,
    signal: AbortSignal,
  ): Promise<KubeletSource | null> {
    const found = await look(signal);
    if (!mayWrite()) return null;
    const before = found ?? (present = await kube.create<KubeletSource>(PLACE, fresh(), signal));
    if (!mayWrite()) return null;
    const { status = {}, metadata } = before;
    const sent = statusAfter(before);
    const diff = mergeDiff({ ...status }, { ...sent });
    if (diff !== null && !(isDeepStrictEqual(last?.sent, sent) && isDeepStrictEqual(last?.kept, status))) {
      const patch = { metadata: { resourceVersion: metadata.resourceVersion }, status: diff };
      present = await kube.mergePatch<KubeletSource>(PLACE, SOURCE_NAME, patch, { subresource: 'status' }, signal);
      last = { sent, kept: present.status };
    }
    recorded = readSourceState({ ...before, status: sent });
    return present ?? before;
  }

  return {
    async release(signal) {
      const { annotations = {} } = (await look(signal, LOOK_FOR_RELEASE_MS))?.metadata ?? {};
      const { [RELEASE_ANNOTATION]: value, [BY_ANNOTATION]: by } = annotations;
      return value === undefined ? undefined : { value, by };
    },
    load: async (signal) => (recorded ??= readSourceState(await look(signal))),
    async save(statusAfter, signal) {
      try {
        return await write(statusAfter, signal);
      } catch (error) {
        if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_ALREADY_EXISTS')) present = undefined;
        // Another reconciler may have written it: the next pass starts from what is there then. One that was deleted is made again.
        if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_ALREADY_EXISTS')) recorded = undefined;
        throw error;
      }
    },
  };
}

const fresh = (): KubeletSource => ({
  apiVersion: API_VERSION,
  kind: 'KubeletSource',
  metadata: { name: SOURCE_NAME, labels: { [MANAGED_BY_LABEL]: MANAGED_BY } },
});
