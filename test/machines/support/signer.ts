import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';

/** Stands for the controllers that approve and sign what kubelets ask for, which are not here. */
export interface Signer {
  /** Certificates for this are signed from now on. */
  readonly approves: (purpose: Purpose) => void;
  /** What is asked for and not signed yet. */
  readonly pending: () => Promise<readonly Purpose[]>;
  readonly stop: () => Promise<void>;
}

/** Towards the API server, or towards who asks the kubelet. */
export type Purpose = 'kubernetes.io/kube-apiserver-client-kubelet' | 'kubernetes.io/kubelet-serving';

interface SigningRequest {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly signerName: Purpose; readonly request: string };
  readonly status: { readonly certificate?: string };
}

const PATH = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
const LOOK_EVERY_MS = 500;

export function startSigner({ request, sign, kubectl }: ControlPlane): Signer {
  const approved = new Set<Purpose>();
  const end = new AbortController();
  const open = async (): Promise<readonly SigningRequest[]> => {
    const answer = await request('GET', PATH);
    const { items } = answer.json() as { readonly items: readonly SigningRequest[] };
    return items.filter(({ status }) => status.certificate === undefined);
  };
  const signOne = async ({ metadata, spec }: SigningRequest): Promise<void> => {
    const { code, stderr } = await kubectl(['certificate', 'approve', metadata.name]);
    if (code !== 0) throw new Error(stderr);
    const asked = Buffer.from(spec.request, 'base64').toString();
    const usage = spec.signerName === 'kubernetes.io/kubelet-serving' ? 'serverAuth' : 'clientAuth';
    const certificate = Buffer.from(await sign(asked, usage)).toString('base64');
    const path = `${PATH}/${metadata.name}/status`;
    const answer = await request('PATCH', path, { status: { certificate } }, 'application/merge-patch+json');
    if (answer.status !== 200) throw new Error(answer.text);
  };
  const life = (async () => {
    while (!end.signal.aborted) {
      const waiting = await open().catch(() => []);
      // What failed is tried again, as controllers do.
      await Promise.allSettled(waiting.filter(({ spec }) => approved.has(spec.signerName)).map(signOne));
      await sleep(LOOK_EVERY_MS);
    }
  })();
  return {
    approves: (purpose) => void approved.add(purpose),
    pending: async () => (await open()).map(({ spec }) => spec.signerName),
    stop() {
      end.abort();
      return life;
    },
  };
}
