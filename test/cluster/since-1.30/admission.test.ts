import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { callHttps, type HttpsAnswer } from '../support/https-json.ts';
import { KUBERNETES, controlPlaneSkipReason } from '../support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { installManifests, NAMESPACE } from '../support/programs.ts';
import { until } from '../../support/until.ts';

const skip = await controlPlaneSkipReason();
const NODES = '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes';
const MERGE = 'application/merge-patch+json';

/** The policies of admission, judged by the API server itself, with tokens that it gave to pods. */
describeOrSkip(`admission on Kubernetes ${KUBERNETES}`, { skip }, () => {
  let cluster: ControlPlane;
  let ofNodeA: string;

  before(async () => {
    cluster = await startControlPlane();
    await installManifests(cluster);
    const apply = () => cluster.kubectl(['apply', '-f', 'deploy/components/admission/policy.yaml']);
    const { code, stderr } = await apply();
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stderr, /Warning/);
    assert.doesNotMatch((await apply()).stdout, /configured/);
    for (const name of ['node-a', 'node-b']) {
      await ask('POST', '/api/v1/nodes', { metadata: { name } });
      await ask('POST', NODES, { apiVersion: 'kubelet-gitops.dev/v1alpha1', kind: 'KubeletNode', metadata: { name } });
    }
    ofNodeA = await tokenOnNode('node-a');
    // A policy is in force a moment after it was made.
    await until('the policy', async () => (await as(ofNodeA, 'node-b')).status === 403, { everyMs: 200 });
  });
  after(() => cluster?.stop());

  async function ask(method: string, path: string, body: object): Promise<void> {
    const { status, text } = await cluster.request(method, path, body);
    assert.equal(status, 201, text);
  }

  /** As the kubelet gets it for the agent's pod on that node. */
  async function tokenOnNode(nodeName: string): Promise<string> {
    const name = `kubelet-gitops-agent-on-${nodeName}`;
    const spec = { nodeName, serviceAccountName: 'kubelet-gitops-agent', containers: [{ name: 'agent', image: 'x' }] };
    const path = `/api/v1/namespaces/${NAMESPACE}/pods`;
    const made = await cluster.request('POST', path, { metadata: { name }, spec });
    assert.equal(made.status, 201, made.text);
    const { uid } = (made.json() as { readonly metadata: { readonly uid: string } }).metadata;
    const { status, text, json } = await cluster.request(
      'POST',
      `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/kubelet-gitops-agent/token`,
      { spec: { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid } } },
    );
    assert.equal(status, 201, text);
    return (json() as { readonly status: { readonly token: string } }).status.token;
  }

  /** Writes the status of a KubeletNode, or what else the path says. */
  const as = (token: string, node: string, path = '/status', body: object = { status: { agentVersion: '0.1.0' } }) =>
    callHttps({
      url: `${cluster.url}${NODES}/${node}${path}`,
      method: 'PATCH',
      body,
      contentType: MERGE,
      ca: cluster.ca,
      as: { token },
    });

  const refused = ({ status, text }: HttpsAnswer, why: RegExp): void => {
    assert.equal(status, 403, text);
    assert.match(text, why);
  };

  it('lets an agent write the status of its own node', async () => {
    const { status, text } = await as(ofNodeA, 'node-a');
    assert.equal(status, 200, text);
  });

  it('refuses the status of another node', async () => {
    refused(
      await as(ofNodeA, 'node-b'),
      /the agent on node node-a writes the status of its own KubeletNode only, and this is node-b/,
    );
  });

  it('refuses a token that was made by hand and names no node', async () => {
    const token = await cluster.serviceAccountToken(NAMESPACE, 'kubelet-gitops-agent');
    refused(await as(token, 'node-a'), /names no node/);
  });
});
