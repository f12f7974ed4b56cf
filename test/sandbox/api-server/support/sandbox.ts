import type { KubeletNode, KubeletNodeSpec } from '#shared/contract/api/kubelet-node.ts';
import { createKube } from '#shared/kube/client.ts';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import type { Kube } from '#shared/kube/kube.ts';
import { type Millis, systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { type ApiServerOptions, type SandboxApiServer, startApiServer } from '#sandbox/api-server/server.ts';
import { type Raw, rawClient } from '../../../conformance/support/raw.ts';
import { PATIENT } from '../../../shared/kube/support/test-kube.ts';

export interface ApiServerSandbox extends AsyncDisposable {
  readonly server: SandboxApiServer;
  readonly kube: Kube;
  readonly raw: Raw;
}

/**
 * A server of its own for one test, with clients that may do everything.
 *
 * @param callMs how long `kube` waits for an answer
 */
export async function aSandbox(
  options: Partial<ApiServerOptions> = {},
  { callMs = PATIENT.callMs }: { readonly callMs?: Millis } = {},
): Promise<ApiServerSandbox> {
  const server = await startApiServer({ tokens: ['all'], ...options });
  const kube = createKube({
    server: server.url,
    credentials: staticCredentials({ token: 'all' }),
    clock: systemClock,
    log: silentLog,
    userAgent: 'test',
    timeouts: { ...PATIENT, callMs },
  });
  return { server, kube, raw: rawClient({ url: server.url, token: 'all' }), [Symbol.asyncDispose]: server.stop };
}

export const nodeNamed = (name: string, spec: KubeletNodeSpec = {}): KubeletNode => ({ metadata: { name }, spec });
