import { NO_STATE, readSourceState, type SourceState } from '#reconciler/reporting/notes/source-state.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { type Kube, KUBELET_SOURCES } from '#shared/kube/kube.ts';

/**
 * The commit in force and how git is doing; `NO_STATE` itself where nothing was written yet.
 *
 * @throws KubeError where it cannot be read
 */
export async function readSource(kube: Kube, signal?: AbortSignal): Promise<SourceState> {
  const source = await kube.get<KubeletSource>({ resource: KUBELET_SOURCES }, SOURCE_NAME, signal);
  return source?.status === undefined ? NO_STATE : readSourceState(source);
}
