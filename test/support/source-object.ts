import { NO_STATE, type SourceState, writeSourceState } from '#reconciler/reporting/notes/source-state.ts';
import { API_VERSION } from '#shared/contract/api/group.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';

/** The KubeletSource as a reconciler leaves it that recorded this. */
export const sourceObject = (state: Partial<SourceState>): KubeletSource => ({
  apiVersion: API_VERSION,
  kind: 'KubeletSource',
  metadata: { name: SOURCE_NAME },
  status: writeSourceState({ ...NO_STATE, ...state }),
});
