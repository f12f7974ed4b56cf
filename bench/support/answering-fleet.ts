// A program of its own: the sandbox's API server with as many Nodes as its argument says, and their kubelets, which answer what an audit asks.
// Sends the server's URL to the process that forked it, and ends with that.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NODES } from '#shared/kube/kube.ts';
import { startApiServer } from '#sandbox/api-server/server.ts';
import { withDefaults, withEvictionDefaults } from '#sandbox/kubelet/defaults.ts';
import { nodeObject } from '../../test/support/fleet-process/node-object.ts';

const POOLS = 20;
/** Of each hundred: nothing listens there; the kubelet refuses; somebody has changed its config by hand. */
const [DEAD, FORBIDDEN, ODD] = [2, 1, 1];
const NOWHERE = 1;
const MI = 2 ** 20;

/** Loopback addresses, one for each kubelet: all of them have one listener. */
const addressOf = (index: number): string => `127.1.${index >> 8}.${index & 255}`;

const minorOf = (index: number): number => (index % POOLS < 3 ? 33 : 34);

/** Ready-made: to fill defaults in takes longer than all else that is asked here. */
const usual = new Map<string, object>();

function configOf(index: number): object {
  const pool = index % POOLS;
  const odd = Math.floor(index / POOLS) % 100 < ODD ? index % 5 : undefined;
  const config = usual.get(`${pool} ${odd}`) ?? usualConfig(pool, odd);
  usual.set(`${pool} ${odd}`, config);
  return { ...config, providerID: `aws:///eu-central-1a/i-${index.toString(16).padStart(17, '0')}` };
}

/** @param odd what somebody has changed by hand; undefined for nothing */
function usualConfig(pool: number, odd: number | undefined): object {
  const own = {
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: '/etc/kubernetes/pki/ca.crt' } },
    clusterDNS: ['10.96.0.10'],
    kubeReserved: { cpu: `${80 + pool}m`, memory: '893Mi' },
    maxPods: 58 + pool,
    serverTLSBootstrap: pool % 4 !== 0,
    ...(odd === undefined ? {} : { podPidsLimit: 1000 + odd, readOnlyPort: 10_255 }),
  };
  return withDefaults(withEvictionDefaults(own, minorOf(pool)), minorOf(pool));
}

const summaryOf = (index: number): object => ({
  node: {
    cpu: { usageNanoCores: 4e8 + index * 1000 },
    memory: { time: '2026-11-29T12:00:00Z', workingSetBytes: 900 * MI + index * 4096 },
    systemContainers: [
      { name: 'pods', cpu: { usageNanoCores: 1e8 }, memory: { workingSetBytes: 300 * MI } },
      { name: 'kubelet', cpu: { usageNanoCores: 2e7 }, memory: { workingSetBytes: 90 * MI } },
      { name: 'runtime', cpu: { usageNanoCores: 1e7 }, memory: { workingSetBytes: 60 * MI } },
    ],
  },
});

const isOf = (index: number, from: number, count: number): boolean => index % 100 >= from && index % 100 < from + count;

const kubelet: RequestListener = ({ url = '', socket }, response) => {
  const [, , high, low] = socket.localAddress?.split('.').map(Number) ?? [];
  const index = (high ?? 0) * 256 + (low ?? 0);
  if (isOf(index, DEAD, FORBIDDEN)) return void response.writeHead(403).end('Forbidden');
  const body = url === '/configz' ? { kubeletconfig: configOf(index) } : summaryOf(index);
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
};

const kubelets = createServer(kubelet).listen(0, '0.0.0.0');
await once(kubelets, 'listening');
const { port } = kubelets.address() as AddressInfo;
const api = await startApiServer({ tokens: [], anonymous: { user: 'bench' } });
for (let index = 0; index < Number(process.argv[2]); index += 1) {
  const node = nodeObject(index, POOLS);
  api.store.seed(NODES, {
    ...node,
    status: {
      ...node.status,
      addresses: [{ type: 'InternalIP', address: addressOf(index) }],
      daemonEndpoints: { kubeletEndpoint: { Port: isOf(index, 0, DEAD) ? NOWHERE : port } },
      nodeInfo: {
        kubeletVersion: `v1.${minorOf(index)}.2`,
        osImage: 'Example Linux 2026.11',
        operatingSystem: 'linux',
      },
    },
  });
}
process.once('disconnect', () => process.exit(0));
process.send?.(api.url);
