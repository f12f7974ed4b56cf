import { isDeepStrictEqual } from 'node:util';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { CONFIG_MAPS, type Kube } from '#shared/kube/kube.ts';
import { mergeDiff } from '#shared/kube/merge-diff.ts';
import {
  readSourceState,
  SOURCE_STATE_NAME,
  type SourceState,
  sourceStateObject,
  type StateConfigMap,
} from './source-state.ts';

/** The record of the commit in force, kept in the cluster. */
export interface SourceRecord {
  /** Reads it once per process; throws a `KubeError` while the API server is away. */
  load(signal: AbortSignal): Promise<SourceState>;
  /** Writes the record if it differs from what is there; throws the `KubeError` of a failed write. */
  save(state: SourceState, signal: AbortSignal): Promise<void>;
}

export function createSourceRecord(kube: Kube, namespace: string): SourceRecord {
  const place = { resource: CONFIG_MAPS, namespace };
  let present: StateConfigMap | null | undefined;
  /** What was wanted when the present one was written: a webhook may have made something else of it, and would again. */
  let sent: StateConfigMap['data'];

  const fetch = async (signal: AbortSignal): Promise<StateConfigMap | null> => {
    present ??= await kube.get<StateConfigMap>(place, SOURCE_STATE_NAME, signal);
    return present;
  };

  return {
    load: async (signal) => readSourceState(await fetch(signal)),
    async save(state, signal) {
      const before = await fetch(signal);
      const wanted = sourceStateObject(state, namespace);
      if (before !== null && isDeepStrictEqual(before.data, wanted.data)) return;
      if (isDeepStrictEqual(sent, wanted.data)) return;
      try {
        present = before === null ? await kube.create(place, wanted, signal) : await patched(before, wanted, signal);
        sent = wanted.data;
      } catch (error) {
        // Another writer changed or deleted it: the next save starts from what is there then.
        if (isKubeError(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND', 'KUBE_ALREADY_EXISTS'))
          [present, sent] = [undefined, undefined];
        throw error;
      }
    },
  };

  function patched(before: StateConfigMap, wanted: StateConfigMap, signal: AbortSignal): Promise<StateConfigMap> {
    const { resourceVersion } = before.metadata;
    const data = mergeDiff(before.data ?? {}, wanted.data ?? {});
    return kube.mergePatch(place, SOURCE_STATE_NAME, { metadata: { resourceVersion }, data }, {}, signal);
  }
}
