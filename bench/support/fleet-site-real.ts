import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startControlPlane } from '../../test/cluster/support/control-plane.ts';
import { kubeconfigText } from '../../test/cluster/support/kubeconfig.ts';
import { installManifests, NAMESPACE } from '../../test/cluster/support/programs.ts';
import { startFleetProcess } from '../../test/support/fleet-process/start.ts';
import type { TrialManners } from '../../test/support/fleet-process/asks.ts';
import { type AuditedRequest, prepareAudit } from './audit.ts';
import { AGENT_STEP_MS, type FleetSite, POOLS } from './fleet-site.ts';

const RECONCILER = 'kubelet-gitops-reconciler';

export interface RealSite extends FleetSite {
  /** `v1.37.2`. */
  readonly version: string;
  /** All that the reconciler asked for until now. */
  readonly requests: () => Promise<readonly AuditedRequest[]>;
}

/**
 * A real kube-apiserver with etcd, with this many nodes; the reconciler has the rights of the manifests and no more.
 *
 * @param trials how long trials take; default: a step
 */
export async function realSite(nodes: number, directory: string, trials?: TrialManners): Promise<RealSite> {
  const audit = await prepareAudit(`system:serviceaccount:${NAMESPACE}:${RECONCILER}`);
  const cluster = await startControlPlane({ apiServerArgs: audit.apiServerArgs });
  await installManifests(cluster);
  const { certificate: cert, key } = cluster.admin;
  const server = { url: cluster.url, credential: { ca: cluster.ca, cert, key } };
  const { gitVersion } = (await cluster.request('GET', '/version')).json() as { readonly gitVersion: string };
  const fleet = await startFleetProcess({
    nodes,
    pools: POOLS,
    agentStepMs: AGENT_STEP_MS,
    server,
    ...(trials === undefined ? {} : { trials }),
  });
  const token = await cluster.serviceAccountToken(NAMESPACE, RECONCILER);
  const kubeconfig = join(directory, `kubeconfig-${nodes}`);
  await writeFile(kubeconfig, kubeconfigText(cluster.url, cluster.caFile, { token }));
  let counted = 0;
  return {
    fleet,
    kubeconfig,
    version: gitVersion,
    requests: audit.requests,
    async calls() {
      const requests = await audit.requests();
      const calls: Record<string, number> = {};
      for (const { what } of requests.slice(counted)) calls[what] = (calls[what] ?? 0) + 1;
      counted = requests.length;
      return calls;
    },
    async stop() {
      await fleet.stop();
      await cluster.stop();
      await audit.remove();
    },
  };
}
