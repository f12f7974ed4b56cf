import { generateKeyPairSync } from 'node:crypto';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlaneBinaries } from './binaries.ts';
import type { CertificateAuthority, Identity } from './certificate-authority.ts';
import { type Daemon, startDaemon } from './daemon.ts';
import { etcdData, etcdReady, startEtcd } from './etcd.ts';
import { freePorts } from './free-ports.ts';
import { callHttps } from './https-json.ts';
import { until } from '../../support/until.ts';

/** As a restore takes. Who misses the server three times lists again; after a shorter outage that can take a quarter of an hour. */
const AWAY_MS = 20_000;

export interface ApiServerSetup {
  readonly binaries: ControlPlaneBinaries;
  /** Made when it is missing; keys, logs and etcd's data go there. */
  readonly directory: string;
  readonly authority: CertificateAuthority;
  readonly admin: Identity;
  readonly extraArgs: readonly string[];
}

export interface ApiServer {
  readonly url: string;
  /** Starts it again after `stop`, on the same port and etcd; resolves when it is ready. */
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** SIGKILL, as when its machine dies. */
  readonly kill: () => Promise<void>;
  /** What is behind it, for tests that make it slow or read its history. */
  readonly etcd: { readonly url: string; readonly pid: number };
  /** Copies etcd's data, with both stopped meanwhile. @returns what puts the copy in the place of what is there by then */
  readonly backup: () => Promise<() => Promise<void>>;
  /** Ends etcd as well. */
  readonly stopAll: () => Promise<void>;
  readonly logTail: (lines?: number) => string;
}

/** Starts etcd and a kube-apiserver on free ports of 127.0.0.1; resolves when the API server is ready. */
export async function startApiServer(setup: ApiServerSetup): Promise<ApiServer> {
  const files = await prepare(setup);
  for (let attempt = 1; ; attempt += 1) {
    const [etcdPort = 0, peerPort = 0, port = 0] = await freePorts(3);
    const server = apiServer(setup, flags(setup, files, etcdPort, port), port, [etcdPort, peerPort]);
    try {
      await server.start();
      return server;
    } catch (error) {
      const portTaken = server.logTail().includes('address already in use');
      await server.stopAll();
      if (!portTaken || attempt === 3) throw error;
    }
  }
}

function apiServer(
  setup: ApiServerSetup,
  args: readonly string[],
  port: number,
  etcdPorts: readonly [client: number, peer: number],
): ApiServer {
  const url = `https://127.0.0.1:${port}`;
  let running: Daemon | undefined;
  const begin = (): Daemon => startEtcd(setup.binaries.etcd, setup.directory, ...etcdPorts);
  let etcd = begin();
  const stop = async (): Promise<void> => running?.stop();
  async function start(): Promise<void> {
    await etcdReady(etcd, etcdPorts[0]);
    running = startDaemon({
      name: 'kube-apiserver',
      command: setup.binaries.kubeApiserver,
      args: [...args, ...setup.extraArgs],
      logFile: join(setup.directory, 'kube-apiserver.log'),
      // It waits a minute for watches to end by themselves; kubelets and agents keep some open.
      graceMs: 1_000,
    });
    await ready(setup, url, running);
  }
  async function copy(from: string, to: string): Promise<void> {
    await stop();
    await etcd.stop();
    await rm(to, { recursive: true, force: true });
    await cp(from, to, { recursive: true });
    await sleep(AWAY_MS);
    etcd = begin();
    await start();
  }
  return {
    url,
    start,
    stop,
    async backup() {
      const [data, kept] = [etcdData(setup.directory, etcdPorts[0]), join(setup.directory, 'backup')];
      await copy(data, kept);
      return () => copy(kept, data);
    },
    async kill() {
      const server = running;
      if (server === undefined || server.ended() !== undefined) return;
      process.kill(server.pid, 'SIGKILL');
      await until('the end of the API server', async () => server.ended(), { everyMs: 20 });
    },
    etcd: {
      url: `http://127.0.0.1:${etcdPorts[0]}`,
      get pid() {
        return etcd.pid;
      },
    },
    async stopAll() {
      await stop();
      await etcd.stop();
    },
    logTail: (lines) => `${etcd.logTail(lines)}${running?.logTail(lines) ?? ''}`,
  };
}

interface ServerFiles {
  readonly serving: Identity;
  readonly towardsKubelets: Identity;
  readonly tokenKeyFile: string;
  readonly tokenPublicKeyFile: string;
}

async function prepare({ directory, authority }: ApiServerSetup): Promise<ServerFiles> {
  await mkdir(directory, { recursive: true });
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const tokenKeyFile = join(directory, 'service-account.key');
  const tokenPublicKeyFile = join(directory, 'service-account.pub');
  await writeFile(tokenKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  await writeFile(tokenPublicKeyFile, publicKey.export({ type: 'spki', format: 'pem' }));
  const [serving, towardsKubelets] = await Promise.all([
    authority.issueServing('kube-apiserver', ['127.0.0.1', '10.0.0.1', 'localhost', 'kubernetes.default.svc']),
    authority.issue({ commonName: 'kube-apiserver-kubelet-client', organizations: ['system:masters'] }),
  ]);
  return { serving, towardsKubelets, tokenKeyFile, tokenPublicKeyFile };
}

function flags({ directory, authority }: ApiServerSetup, files: ServerFiles, etcdPort: number, port: number): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcdPort}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    // A loopback address cannot be an endpoint of the service "kubernetes".
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.0.0.0/24',
    `--cert-dir=${directory}`,
    `--tls-cert-file=${files.serving.certificateFile}`,
    `--tls-private-key-file=${files.serving.keyFile}`,
    `--client-ca-file=${authority.certificateFile}`,
    `--service-account-key-file=${files.tokenPublicKeyFile}`,
    `--service-account-signing-key-file=${files.tokenKeyFile}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--kubelet-client-certificate=${files.towardsKubelets.certificateFile}`,
    `--kubelet-client-key=${files.towardsKubelets.keyFile}`,
    '--kubelet-preferred-address-types=InternalIP,Hostname',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    // It would refuse every pod: nobody here creates the namespaces' default accounts.
    '--disable-admission-plugins=ServiceAccount',
    '--allow-privileged=true',
  ];
}

async function ready({ authority, admin }: ApiServerSetup, url: string, server: Daemon): Promise<void> {
  const exists = async (path: string): Promise<boolean> => {
    const answer = await callHttps({ url: `${url}${path}`, ca: authority.certificate, as: admin });
    return answer.status === 200;
  };
  // The namespaces follow a moment after readiness; node leases and a first test need them.
  for (const path of ['/readyz', '/api/v1/namespaces/default', '/api/v1/namespaces/kube-node-lease']) {
    await until(`the API server's ${path}`, () => exists(path), {
      everyMs: 100,
      hopeless: server.ended,
      evidence: server.logTail,
    });
  }
}
