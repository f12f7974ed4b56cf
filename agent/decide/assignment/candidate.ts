import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Candidate } from '../observation.ts';
import { intentOf } from './assignment.ts';

/** The config that the node is to check before its pods leave for it; null where there is none, or none that can be read. */
export function candidateOf(node: KubeletNode | null): Pick<Candidate, 'config' | 'retry'> | null {
  const order = node?.spec?.preflight;
  if (node === null || typeof order !== 'object' || order === null) return null;
  const { configSource, apply, allowFields, tolerate, retry = '' } = order;
  const spec = {
    configSource,
    ...(apply === undefined ? {} : { apply }),
    ...(allowFields === undefined ? {} : { allowFields }),
    ...(tolerate === undefined ? {} : { tolerate }),
  };
  const intent = intentOf({ metadata: node.metadata, spec });
  return intent.intent === 'config' && typeof retry === 'string' ? { config: intent.config, retry } : null;
}
