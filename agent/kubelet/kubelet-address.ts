import type { KubeletAddress } from '../ports/kubelet-probe.ts';

/** Ports and addresses that a kubelet listens on where its config says nothing (k8s.io/kubelet v1beta1). */
const DEFAULTS = { healthzBindAddress: '127.0.0.1', healthzPort: 10248, address: '0.0.0.0', port: 10250 } as const;

/** Where a kubelet that runs this config is to be found on its own node. */
export function addressOf(effective: Readonly<Record<string, unknown>>): KubeletAddress {
  const healthzPort = effective['healthzPort'] ?? DEFAULTS.healthzPort;
  const hasApi = effective['enableServer'] !== false;
  return {
    // A pointer in Go: 0 is a value there, and means off.
    healthz:
      healthzPort === 0
        ? null
        : { host: hostIn(effective, 'healthzBindAddress'), port: portFrom(healthzPort, DEFAULTS.healthzPort) },
    api: hasApi ? { host: hostIn(effective, 'address'), port: portFrom(effective['port'], DEFAULTS.port) } : null,
  };
}

function hostIn(effective: Readonly<Record<string, unknown>>, field: 'healthzBindAddress' | 'address'): string {
  const value = effective[field];
  const host = typeof value === 'string' && value !== '' ? value : DEFAULTS[field];
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

const portFrom = (value: unknown, fallback: number): number =>
  typeof value === 'number' && value > 0 && value < 65_536 ? value : fallback;
