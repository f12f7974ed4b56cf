import { join } from 'node:path';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { conformance } from '../../conformance/suite.ts';
import { PATIENT } from '../../shared/kube/support/test-kube.ts';
import { rawClient } from '../../conformance/support/raw.ts';
import { controlPlaneSkipReason } from '../support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { until } from '../../support/until.ts';

const DEPLOY = join(import.meta.dirname, '..', '..', '..', 'deploy');

conformance('a real kube-apiserver', async () => {
  const reason = await controlPlaneSkipReason();
  if (reason !== false) return { skip: reason };
  const cluster = await startControlPlane();
  await install(cluster);
  const { url, ca, admin } = cluster;
  const { minor } = (await cluster.request('GET', '/version')).json() as { readonly minor: string };
  const { certificate: cert, key } = admin;
  return {
    kube: createKube({
      server: url,
      credentials: staticCredentials({ ca, cert, key }),
      clock: systemClock,
      log: silentLog,
      userAgent: 'conformance',
      timeouts: PATIENT,
    }),
    raw: rawClient({ url, ca, cert, key }),
    minor: Number(minor),
    agentToken: await cluster.serviceAccountToken('kubelet-gitops', 'kubelet-gitops-agent'),
    forgetHistory: () => loseHistory(cluster),
    close: cluster.stop,
  };
});

async function install(cluster: ControlPlane): Promise<void> {
  for (const files of ['namespace', 'crds', 'rbac']) {
    const { code, stderr } = await cluster.kubectl(['apply', '-f', join(DEPLOY, files)]);
    if (code !== 0) throw new Error(`kubectl apply: ${stderr}`);
  }
  // In no order, a moment after their definitions.
  for (const kind of ['kubeletnodes', 'kubeletpools', 'kubeletsources']) {
    const path = `/apis/kubelet-gitops.dev/v1alpha1/${kind}`;
    await until(kind, async () => (await cluster.request('GET', path)).status === 200, { everyMs: 50 });
  }
}

/** The watch cache starts empty with the server: nothing from before can be watched from. While it fills, it is busy (429). */
async function loseHistory(cluster: ControlPlane): Promise<void> {
  await cluster.restart();
  const fromCache = '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes?resourceVersion=0';
  await until('the watch cache', async () => (await cluster.request('GET', fromCache)).status === 200, { everyMs: 50 });
}
