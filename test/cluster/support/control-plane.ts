import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiServer, startApiServer } from './api-server.ts';
import { locateControlPlane } from './binaries.ts';
import { type CertificateAuthority, createAuthority, type Identity, type Subject } from './certificate-authority.ts';
import { callHttps, type HttpsAnswer } from './https-json.ts';
import { type Credential, kubeconfigText } from './kubeconfig.ts';
import { type KubectlResult, runKubectl } from './kubectl.ts';

export interface ControlPlaneOptions {
  /** More flags for the kube-apiserver. */
  readonly apiServerArgs?: readonly string[];
}

/**
 * etcd and a kube-apiserver, and nothing else. No controller manager runs, therefore: service accounts and the
 * kube-root-ca.crt of a namespace do not appear by themselves; owner references collect no garbage; a deleted namespace
 * stays Terminating; aggregated cluster roles (admin, edit, view) are empty; a Node keeps the not-ready taint that it is
 * created with, and its conditions stay as the kubelet last wrote them, never Unknown. No scheduler runs either: a pod
 * names its node.
 */
export interface ControlPlane {
  readonly url: string;
  /** PEM of the authority behind the server's certificate and all client certificates. */
  readonly ca: string;
  readonly caFile: string;
  /** A cluster administrator (system:masters). */
  readonly admin: Identity;
  /** Path. */
  readonly adminKubeconfig: string;
  readonly issue: (subject: Subject) => Promise<Identity>;
  readonly sign: CertificateAuthority['sign'];
  /** @returns the path of a kubeconfig for this subject or credential; it goes away with the control plane */
  readonly kubeconfigFor: (who: Subject | Credential) => Promise<string>;
  /** As the administrator unless a kubeconfig is given; resolves whatever the exit code. Bounded by three minutes. */
  readonly kubectl: (
    args: readonly string[],
    options?: { readonly input?: string; readonly kubeconfig?: string },
  ) => Promise<KubectlResult>;
  /** A request to the API server as the administrator; resolves whatever the status. */
  readonly request: (method: string, path: string, body?: unknown, contentType?: string) => Promise<HttpsAnswer>;
  /** A token of an existing service account, for an hour, from the TokenRequest API. */
  readonly serviceAccountToken: (namespace: string, name: string) => Promise<string>;
  /** Ends the API server, as an outage does; etcd and all objects stay. */
  readonly stopApiServer: () => Promise<void>;
  /** The same by SIGKILL. */
  readonly killApiServer: () => Promise<void>;
  /** What is behind the API server, for tests that make it slow or read its history. */
  readonly etcd: ApiServer['etcd'];
  /** See `ApiServer`: of etcd, with everything stopped for a moment. */
  readonly backup: ApiServer['backup'];
  /** Brings it back on the same port. */
  readonly startApiServer: () => Promise<void>;
  /** Both. */
  readonly restart: () => Promise<void>;
  /** The end of the API server's log. */
  readonly logTail: (lines?: number) => string;
  /** Ends everything and removes its files. */
  readonly stop: () => Promise<void>;
}

/** @throws where there are no binaries (ask `controlPlaneSkipReason` first) or a process does not come up */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const located = await locateControlPlane();
  if (!located.found) throw new Error(`no control plane: ${located.reason}`);
  const { binaries } = located;
  const directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-control-plane-'));
  try {
    const authority = await createAuthority(directory);
    const admin = await authority.issue({ commonName: 'admin', organizations: ['system:masters'] });
    const server = await startApiServer({
      binaries,
      directory: join(directory, 'server'),
      authority,
      admin,
      extraArgs: options.apiServerArgs ?? [],
    });
    return await assemble({ directory, kubectl: binaries.kubectl, authority, admin, server });
  } catch (error) {
    await removeDirectory(directory);
    throw error;
  }
}

interface Parts {
  readonly directory: string;
  readonly kubectl: string;
  readonly authority: CertificateAuthority;
  readonly admin: Identity;
  readonly server: ApiServer;
}

async function assemble({ directory, kubectl, authority, admin, server }: Parts): Promise<ControlPlane> {
  const { url } = server;
  let kubeconfigs = 0;
  const kubeconfigFor = async (who: Subject | Credential): Promise<string> => {
    const credential = 'commonName' in who ? await authority.issue(who) : who;
    const path = join(directory, `kubeconfig-${(kubeconfigs += 1)}`);
    await writeFile(path, kubeconfigText(url, authority.certificateFile, credential), { mode: 0o600 });
    return path;
  };
  const adminKubeconfig = await kubeconfigFor(admin);
  const request: ControlPlane['request'] = (method, path, body, contentType = 'application/json') =>
    callHttps({ url: `${url}${path}`, method, body, contentType, ca: authority.certificate, as: admin });
  return {
    url,
    ca: authority.certificate,
    caFile: authority.certificateFile,
    admin,
    adminKubeconfig,
    issue: authority.issue,
    sign: authority.sign,
    kubeconfigFor,
    kubectl: (args, { input = '', kubeconfig = adminKubeconfig } = {}) =>
      runKubectl({ kubectl, args: ['--kubeconfig', kubeconfig, ...args], input, home: directory }),
    request,
    serviceAccountToken: (namespace, name) => requestToken(request, namespace, name),
    stopApiServer: server.stop,
    killApiServer: server.kill,
    etcd: server.etcd,
    backup: server.backup,
    startApiServer: server.start,
    async restart() {
      await server.stop();
      await server.start();
    },
    logTail: server.logTail,
    async stop() {
      await server.stopAll();
      await removeDirectory(directory);
    },
  };
}

const removeDirectory = (directory: string): Promise<void> => rm(directory, { recursive: true, force: true });

async function requestToken(request: ControlPlane['request'], namespace: string, name: string): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const answer = await request('POST', path, body);
  if (answer.status !== 201) throw new Error(`no token of service account ${namespace}/${name}: ${answer.text}`);
  return (answer.json() as { readonly status: { readonly token: string } }).status.token;
}
