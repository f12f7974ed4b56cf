import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Candidate } from '../observation.ts';
import { intentOf } from './intent.ts';

/** The config that the node is to check before its pods leave for it; null where there is none, or none that can be read. */
export function preflightRequestOf(node: KubeletNode | null): Pick<Candidate, 'config' | 'retry'> | null {
  if (typeof node?.spec?.preflight !== 'object' || node.spec.preflight === null) return null;
  const { retry = '', ...spec } = node.spec.preflight;
  const intent = intentOf({ metadata: node.metadata, spec });
  return intent.intent === 'config' && typeof retry === 'string' ? { config: intent.config, retry } : null;
}
