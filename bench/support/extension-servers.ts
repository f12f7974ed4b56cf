import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { Credential } from '#shared/kube/kube-credentials.ts';
import { createAuthority, type Identity } from '../../test/cluster/support/certificate-authority.ts';
import { type Daemon, startDaemon } from '../../test/cluster/support/daemon.ts';
import { etcdReady, startEtcd } from '../../test/cluster/support/etcd.ts';
import { freePorts } from '../../test/cluster/support/free-ports.ts';
import { callHttps, type HttpsAnswer } from '../../test/cluster/support/https-json.ts';
import { kubeconfigText } from '../../test/cluster/support/kubeconfig.ts';
import { goProgram } from '../../test/support/go-program.ts';
import { until } from '../../test/support/until.ts';

/** API servers for custom resources alone, over one etcd. */
export interface ExtensionServers {
  /** In the order of their feature gates. */
  readonly urls: readonly string[];
  /** A cluster administrator. */
  readonly credential: Credential;
  readonly stop: () => Promise<void>;
}

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const KUBELET_NODES = '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes';

/** They would ask a core API server, which is not there: for namespaces, webhooks and policies. */
const ADMISSION = [
  'NamespaceLifecycle',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
];

/**
 * The apiextensions-apiserver of Kubernetes 1.38, once for each set of feature gates (`A=true,B=false`), with the definition of
 * KubeletNode.
 *
 * @throws where the programs are not built on this machine
 */
export async function startExtensionServers(gates: readonly string[]): Promise<ExtensionServers> {
  const [etcdProgram, serverProgram] = [
    program('etcd', 'etcd'),
    program('apiextensions-1.38', 'apiextensions-apiserver'),
  ];
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-extensions-'));
  const daemons: Daemon[] = [];
  const stop = async (): Promise<void> => {
    for (const daemon of daemons.toReversed()) await daemon.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    const authority = await createAuthority(directory);
    const admin = await authority.issue({ commonName: 'admin', organizations: ['system:masters'] });
    const serving = await authority.issueServing('apiextensions-apiserver', ['127.0.0.1']);
    const [etcdPort = 0, peerPort = 0, ...ports] = await freePorts(2 + gates.length);
    const etcd = startEtcd(etcdProgram, directory, etcdPort, peerPort);
    daemons.push(etcd);
    await etcdReady(etcd, etcdPort);

    const ask: Ask = (url, method, body) =>
      callHttps({ url, method, ca: authority.certificate, as: admin, ...(body === undefined ? {} : { body }) });
    const urls = ports.map((port) => `https://127.0.0.1:${port}`);
    const serves = (index: number, path: string): Promise<unknown> =>
      until(`${urls[index]}${path}`, async () => (await ask(`${urls[index]}${path}`, 'GET')).status === 200, {
        hopeless: () => daemons[index + 1]?.ended(),
        evidence: () => daemons[index + 1]?.logTail() ?? '',
      });
    for (const [index, port] of ports.entries()) {
      const kubeconfig = join(directory, `kubeconfig-${index}`);
      await writeFile(kubeconfig, kubeconfigText(urls[index] ?? '', authority.certificateFile, admin));
      daemons.push(
        startDaemon({
          name: 'apiextensions-apiserver',
          command: serverProgram,
          args: flags({ etcdPort, port, kubeconfig, serving, caFile: authority.certificateFile, gates: gates[index] }),
          logFile: join(directory, `server-${index}.log`),
          graceMs: 1_000,
        }),
      );
      await serves(index, CRDS);
    }
    await installDefinition(ask, urls[0] ?? '');
    for (const index of ports.keys()) await serves(index, KUBELET_NODES);
    return { urls, credential: { ca: authority.certificate, cert: admin.certificate, key: admin.key }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

type Ask = (url: string, method: string, body?: unknown) => Promise<HttpsAnswer>;

interface Setup {
  readonly etcdPort: number;
  readonly port: number;
  /** Whom it asks who others are, and what a core API server knows: itself, which knows nothing of either. */
  readonly kubeconfig: string;
  readonly serving: Identity;
  readonly caFile: string;
  readonly gates: string | undefined;
}

const flags = ({ etcdPort, port, kubeconfig, serving, caFile, gates = '' }: Setup): readonly string[] => [
  `--etcd-servers=http://127.0.0.1:${etcdPort}`,
  `--secure-port=${port}`,
  '--bind-address=127.0.0.1',
  `--tls-cert-file=${serving.certificateFile}`,
  `--tls-private-key-file=${serving.keyFile}`,
  `--client-ca-file=${caFile}`,
  '--authentication-skip-lookup',
  `--authentication-kubeconfig=${kubeconfig}`,
  `--authorization-kubeconfig=${kubeconfig}`,
  `--kubeconfig=${kubeconfig}`,
  '--enable-priority-and-fairness=false',
  `--disable-admission-plugins=${ADMISSION.join(',')}`,
  `--feature-gates=${gates}`,
];

async function installDefinition(ask: Ask, url: string): Promise<void> {
  const text = await readFile(new URL('../../deploy/crds/kubeletnodes.yaml', import.meta.url), 'utf8');
  const { status, text: answer } = await ask(`${url}${CRDS}`, 'POST', parse(text));
  if (status !== 201) throw new Error(`the definition of KubeletNode was not accepted: ${status} ${answer}`);
}

function program(folder: string, name: string): string {
  const { path, skip } = goProgram(folder, name, 'what managed fields cost');
  if (path === undefined) throw new Error(String(skip));
  return path;
}
