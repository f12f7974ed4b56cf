import { type Diagnosis, diagnosis } from '../diagnosis.ts';
import type { Facts, Part } from '../facts.ts';
import { diagnoseCommits } from './diagnose-commits.ts';
import { diagnoseInstallation } from './diagnose-installation.ts';
import { diagnoseNodes } from './diagnose-nodes.ts';
import { diagnosePools } from './diagnose-pools.ts';

const ORDER = { error: 0, warning: 1, note: 2 } as const;

/** Everything that is wrong with an installation, errors first. Pure. */
export function diagnose(facts: Facts): readonly Diagnosis[] {
  const all = [
    ...unread(facts),
    ...diagnoseInstallation(facts),
    ...diagnoseCommits(facts),
    ...diagnosePools(facts),
    ...diagnoseNodes(facts),
  ];
  return all.toSorted((a, b) => ORDER[a.severity] - ORDER[b.severity]);
}

/** A part without its CRD is explained by the CRD. */
function unread(facts: Facts): readonly Diagnosis[] {
  const parts: readonly (readonly [string, Part<unknown>])[] = [
    ['the CRDs', facts.crds],
    ['the Deployment of the reconciler', facts.reconciler],
    ['the DaemonSet of the agents', facts.agents],
    ['the pods of both programs', facts.pods],
    ['the Lease of the reconciler', facts.lease],
    ['the record of the commit in force', facts.source],
    ['the last audit', facts.audit],
    ['the Service of the webhook', facts.webhookService],
    ['the rights of both programs', facts.missingRights],
    ['the Nodes', facts.nodes],
    ['the KubeletNodes', facts.kubeletNodes],
    ['the KubeletPools', facts.pools],
  ];
  const ours = new Set<Part<unknown>>([facts.source, facts.kubeletNodes, facts.pools]);
  return parts.flatMap(([name, part]) => {
    if (part.read || (ours.has(part) && part.code === 'KUBE_NOT_FOUND')) return [];
    return [diagnosis('not-readable', `${name}: ${part.why}`)];
  });
}
