import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { after, describe, it } from 'node:test';
import { kubeconfigText } from '../../cluster/support/kubeconfig.ts';
import { LONG_TRIAL } from '../../node/support/assignments.ts';
import { CREDENTIALS } from '../../node/support/node-paths.ts';
import { say } from '../../node/support/say.ts';
import type { Credentials } from '../support/machine-node.ts';
import { API_SERVICE } from '../support/machine-paths.ts';
import { type Signer, startSigner } from '../support/signer.ts';
import { NODE, type World } from '../support/world.ts';

export const TOKEN_FLAG = '--enable-bootstrap-token-auth=true';
const TOKEN = { id: 'abcdef', secret: '0123456789abcdef' } as const;
const GROUP = 'system:bootstrappers:kubeadm:default-node-token';
const CLIENT_CERTIFICATE = '/var/lib/kubelet/pki/kubelet-client-current.pem';
const SERVING_CERTIFICATE = '/var/lib/kubelet/pki/kubelet-server-current.pem';

/** A wrong value costs the node its certificate, so that nobody may set it by default. */
const ALLOWED = { allowFields: ['serverTLSBootstrap'] };

let signer: Signer | undefined;

/** What `kubeadm init` leaves in a cluster for those that join, and `kubeadm join` on the node. */
export const joinsByToken: Credentials = async (cluster) => {
  const create = async (path: string, body: object): Promise<void> => {
    const { status, text } = await cluster.request('POST', path, body);
    assert.equal(status, 201, text);
  };
  const { id, secret } = TOKEN;
  await create('/api/v1/namespaces/kube-system/secrets', {
    metadata: { name: `bootstrap-token-${id}` },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': id,
      'token-secret': secret,
      'usage-bootstrap-authentication': 'true',
      'auth-extra-groups': GROUP,
    },
  });
  await create('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'kubeadm:kubelet-bootstrap' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: GROUP }],
  });
  signer = startSigner(cluster);
  signer.approves('kubernetes.io/kube-apiserver-client-kubelet');
  const ca = `${CREDENTIALS.kubelet}/ca.crt`;
  const kubeconfig = kubeconfigText(`https://${API_SERVICE}`, ca, { token: `${id}.${secret}` });
  return {
    [ca]: { text: cluster.ca, mode: 0o644 },
    [`${CREDENTIALS.kubelet}/bootstrap-kubelet.conf`]: { text: kubeconfig, mode: 0o600 },
  };
};

/** A kubelet whose certificates the cluster signs. */
export function describeJoining(world: () => World): void {
  describe('with certificates that the cluster signs', { concurrency: 1 }, () => {
    after(() => signer?.stop());

    it('has its own name towards the API server, and takes a change up', async () => {
      const { node, agentRanOn } = world();
      const subject = await subjectOf(world(), CLIENT_CERTIFICATE);
      assert.match(subject, new RegExp(`O ?= ?system:nodes.*CN ?= ?system:node:${NODE}`));
      const name = await node.assignments.assign({ maxPods: 41 });
      await node.settlesOn(name);
      assert.equal((await node.configz())['maxPods'], 41);
      await agentRanOn();
    });

    it('proves a config with serverTLSBootstrap once its new serving certificate is signed', async (t) => {
      const { node, agentRanOn } = world();
      const starts = await node.starts();
      const fields = { maxPods: 42, serverTLSBootstrap: true };
      const name = await node.assignments.assign(fields, { ...ALLOWED, trial: LONG_TRIAL });
      await node.waits('a request to be signed', async () =>
        (await signer?.pending())?.includes('kubernetes.io/kubelet-serving'),
      );
      await node.reaches('healthy time of the trial', ({ trial }) => (trial?.healthySeconds ?? 0) > 0);
      signer?.approves('kubernetes.io/kubelet-serving');
      const approved = performance.now();
      await node.waits('the certificate', () => subjectOf(world(), SERVING_CERTIFICATE));
      await node.assignments.assign(fields, ALLOWED);
      await node.settlesOn(name);
      say(t, 'serving certificate approved → promoted', approved);
      const { maxPods, serverTLSBootstrap } = await node.configz();
      assert.deepEqual({ maxPods, serverTLSBootstrap }, { maxPods: 42, serverTLSBootstrap: true });
      assert.equal(await node.starts(), starts + 1);
      await agentRanOn();
    });

    it('is asked by its agent under the new certificate', async () => {
      const { node, agentRanOn } = world();
      const name = await node.assignments.assign({ maxPods: 43, serverTLSBootstrap: true }, ALLOWED);
      const { conditions = [] } = await node.settlesOn(name);
      assert.equal(
        conditions.find(({ type }) => type === 'RunningConfigSeen')?.status,
        'True',
        JSON.stringify(conditions),
      );
      assert.equal((await node.configz())['maxPods'], 43);
      await agentRanOn();
    });
  });
}

/** @throws where there is no such certificate */
async function subjectOf({ node }: World, file: string): Promise<string> {
  return new X509Certificate(await node.machine.run(`cat ${file}`)).subject.replaceAll('\n', ', ');
}
