import { NO_STATE, readSourceState, SOURCE_STATE_NAME } from '#reconciler/reporting/notes/source-state.ts';
import type { SourceState, StateConfigMap } from '#reconciler/reporting/notes/source-state.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { isKubeError } from '#shared/kube/kube-error.ts';
import { CONFIG_MAPS, type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';

/**
 * The commit in force and how git is doing: by the reconciler's record, and by the KubeletSource where the record is not in this
 * namespace or may not be read.
 *
 * @throws KubeError where neither can be read
 */
export async function readSource(kube: Kube, namespace: string, signal?: AbortSignal): Promise<SourceState> {
  const record = await kube
    .get<StateConfigMap>({ resource: CONFIG_MAPS, namespace }, SOURCE_STATE_NAME, signal)
    .catch((error: unknown) => {
      if (isKubeError(error, 'KUBE_FORBIDDEN')) return error;
      throw error;
    });
  if (record !== null && !isKubeError(record)) return readSourceState(record);
  const source = await kube
    .get<KubeletSource>({ resource: KUBELET_SOURCES }, SOURCE_NAME, signal)
    .catch((error: unknown) => {
      if (isKubeError(error, 'KUBE_FORBIDDEN', 'KUBE_NOT_FOUND')) return null;
      throw error;
    });
  if (source?.status !== undefined) return stateOf(source.status);
  if (record !== null) throw record;
  return NO_STATE;
}

/** What the KubeletSource says, in the form of the record. It has neither history nor limits. */
function stateOf(status: NonNullable<KubeletSource['status']>): SourceState {
  const { url = '', branch = '', cluster = '', commit = '', subject = '', author = '', takenUpAt = '' } = status;
  const { refused, failure, conditions = [] } = status;
  const stalled = conditions.find(({ type, status: is }) => type === 'Stalled' && is === 'True');
  return {
    ...NO_STATE,
    url,
    branch,
    cluster,
    commit,
    subject,
    author,
    takenUpAt,
    refusedCommit: refused?.commit ?? '',
    refusedReason: refused?.reason ?? '',
    refusedBecause: refused?.message ?? '',
    failingSince: failure?.since ?? '',
    failure: failure?.message ?? '',
    findings: stalled === undefined || stalled.reason === 'CommitRefused' ? '' : stalled.message,
  };
}
