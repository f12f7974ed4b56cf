import { readFile } from 'node:fs/promises';
import type { ControlPlane } from './control-plane.ts';
import { callHttps } from './https-json.ts';

/** A KubeletConfiguration, kubelet.config.k8s.io/v1beta1. */
export type KubeletConfig = Readonly<Record<string, unknown>>;

/** Whether the kubelet's plain /healthz says ok; false where nobody answers. */
export async function isHealthy(healthzPort: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${healthzPort}/healthz`, { signal: AbortSignal.timeout(10_000) });
    return answer.ok;
  } catch {
    return false;
  }
}

/** Whether the Node's condition Ready is True; false where there is no such Node. */
export async function isReady(controlPlane: ControlPlane, nodeName: string): Promise<boolean> {
  const answer = await controlPlane.request('GET', `/api/v1/nodes/${nodeName}`);
  if (answer.status !== 200) return false;
  const node = answer.json() as {
    status: { conditions?: readonly { readonly type: string; readonly status: string }[] };
  };
  return node.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** What the kubelet says it runs, asked on its secure port as the administrator. @throws where it does not answer */
export async function readConfigz(
  controlPlane: ControlPlane,
  nodeName: string,
  port: number,
  servingCertFile: string,
): Promise<KubeletConfig> {
  const ca = await readFile(servingCertFile, 'utf8');
  const url = `https://127.0.0.1:${port}/configz`;
  const answer = await callHttps({ url, ca, serverName: nodeName, as: controlPlane.admin });
  if (answer.status !== 200) throw new Error(`/configz of ${nodeName}: ${answer.status} ${answer.text}`);
  return (answer.json() as { readonly kubeletconfig: KubeletConfig }).kubeletconfig;
}
