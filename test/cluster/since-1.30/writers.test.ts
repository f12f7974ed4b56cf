import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { callHttps, type HttpsAnswer } from '../support/https-json.ts';
import { KUBERNETES, controlPlaneSkipReason } from '../support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { installManifests, NAMESPACE } from '../support/programs.ts';
import { claimText } from '#shared/contract/claim.ts';
import { configMapName, otherConfigMapName, payloadSha256 } from '#shared/contract/config-map-hash.ts';
import { fencedBlocks } from '../../support/fenced-blocks.ts';
import { until } from '../../support/until.ts';

const skip = await controlPlaneSkipReason();
const POOLS = '/apis/kubelet-gitops.dev/v1alpha1/kubeletpools';
const NODES = '/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes';
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const SOURCES = '/apis/kubelet-gitops.dev/v1alpha1/kubeletsources';
const RECORD = {
  status: { commit: 'a'.repeat(40), policy: '{}', refused: { commit: 'b', reason: 'c', message: 'd' } },
};
const KIND = { apiVersion: 'kubelet-gitops.dev/v1alpha1' };
const OURS = { 'app.kubernetes.io/managed-by': 'kubelet-gitops' };
const SPEC = {
  nodeSelector: { matchLabels: { a: 'b' } },
  priority: 0,
  layers: ['pools/gpu/kubelet.yaml'],
  apply: 'overlay',
  rollout: { maxUnavailable: 1, soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
  trial: { duration: '10m', startTimeout: '2m', maxRestarts: 2 },
};

/** Two attacks on a cluster of which nobody has git or a key, judged by the API server itself: by accounts with every right that RBAC can give. */
describeOrSkip(`whoever may write our objects by RBAC on Kubernetes ${KUBERNETES}`, { skip }, () => {
  let cluster: ControlPlane;
  let reconciler: string;
  let mallory: string;
  let operator: string;
  let approver: string;

  before(async () => {
    cluster = await startControlPlane();
    await installManifests(cluster);
    for (const file of ['writers', 'operators']) {
      const apply = () => cluster.kubectl(['apply', '-f', `deploy/components/admission/${file}.yaml`]);
      const { code, stderr } = await apply();
      assert.equal(code, 0, stderr);
      assert.doesNotMatch(stderr, /Warning/);
      // Who applies again, and reads that something was configured, looks for what it was.
      assert.doesNotMatch((await apply()).stdout, /configured/);
    }
    [mallory, operator] = [await account('mallory', 'cluster-admin'), await account('olga', 'kubelet-gitops-operator')];
    approver = await account('ada', 'kubelet-gitops-approver');
    reconciler = await cluster.serviceAccountToken(NAMESPACE, 'kubelet-gitops-reconciler');
    made(await as(reconciler, 'POST', POOLS, { ...KIND, kind: 'KubeletPool', metadata: { name: 'gpu' }, spec: SPEC }));
    made(
      await as(reconciler, 'POST', SOURCES, { ...KIND, kind: 'KubeletSource', metadata: { name: 'kubelet-gitops' } }),
    );
    made(await as(reconciler, 'POST', NODES, { ...KIND, kind: 'KubeletNode', metadata: { name: 'node-a' } }));
    made(await as(reconciler, 'POST', MAPS, configMap('gpu-0123456789', OURS)));
    // A policy is in force a moment after it was made.
    const isInForce = async (): Promise<boolean> =>
      (await as(mallory, 'POST', `${MAPS}?dryRun=All`, configMap('gpu-abcdefghij', OURS))).status !== 201 &&
      (await as(mallory, 'PATCH', `${POOLS}/gpu?dryRun=All`, { spec: { priority: 1 } })).status !== 200;
    await until('the policies', isInForce, { everyMs: 200 });
  });
  after(() => cluster?.stop());

  const made = ({ status, text }: HttpsAnswer): void => assert.equal(status, 201, text);
  const configMap = (name: string, labels: object) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels },
    immutable: true,
    data: { kubelet: '{}' },
  });

  /** A token of an account that has this ClusterRole. */
  async function account(name: string, role: string): Promise<string> {
    for (const args of [
      ['create', 'serviceaccount', name, '-n', 'default'],
      ['create', 'clusterrolebinding', name, `--clusterrole=${role}`, `--serviceaccount=default:${name}`],
    ]) {
      const { code, stderr } = await cluster.kubectl(args);
      assert.equal(code, 0, stderr);
    }
    return cluster.serviceAccountToken('default', name);
  }

  const as = (token: string, method: string, path: string, body: object): Promise<HttpsAnswer> =>
    callHttps({
      url: `${cluster.url}${path}`,
      method,
      body,
      ...(method === 'PATCH' ? { contentType: 'application/merge-patch+json' } : {}),
      ca: cluster.ca,
      as: { token },
    });

  const refused = ({ status, text }: HttpsAnswer, why: RegExp): void => {
    assert.ok(status === 403 || status === 422, `${status} ${text}`);
    assert.match(text, why);
  };

  it('moves no node into another pool by its spec', async () => {
    const spec = { priority: 1000, rollout: { maxUnavailable: '100%' } };
    refused(await as(mallory, 'PATCH', `${POOLS}/gpu`, { spec }), /only the reconciler writes the spec/);
  });

  it('forges no config source, no status of a pool, no record and no assignment', async () => {
    refused(
      await as(mallory, 'POST', MAPS, configMap('gpu-abcdefghij', OURS)),
      /only the reconciler writes config sources/,
    );
    refused(
      await as(mallory, 'PATCH', `${MAPS}/gpu-0123456789`, { metadata: { labels: { a: 'b' } } }),
      /config sources/,
    );
    refused(await as(mallory, 'PATCH', `${SOURCES}/kubelet-gitops/status`, RECORD), /writes their status/);
    const status = { configName: 'gpu-abcdefghij', sha256: 'a'.repeat(64) };
    refused(await as(mallory, 'PATCH', `${POOLS}/gpu/status`, { status }), /writes their status/);
    refused(
      await as(mallory, 'PATCH', `${NODES}/node-a`, { spec: { pool: 'gpu' } }),
      /only the reconciler writes the spec/,
    );
    refused(
      await as(mallory, 'POST', POOLS, { ...KIND, kind: 'KubeletPool', metadata: { name: 'mine' }, spec: SPEC }),
      /only the reconciler makes/,
    );
  });

  it('suspends, resumes and releases with the operators’ right, and does nothing else', async () => {
    const annotate = (annotations: object) => as(operator, 'PATCH', `${POOLS}/gpu`, { metadata: { annotations } });
    for (const annotations of [
      { 'kubelet-gitops.dev/suspend': 'look' },
      { 'kubelet-gitops.dev/suspend': null, 'kubelet-gitops.dev/release': 'x' },
    ]) {
      const { status, text } = await annotate(annotations);
      assert.equal(status, 200, text);
    }
    const by = (who: string) => ({
      'kubelet-gitops.dev/by': claimText({ verb: 'suspend', at: '2026-11-22T10:00:00Z', who }, 'look'),
    });
    const mine = await annotate(by('system:serviceaccount:default:olga'));
    assert.equal(mine.status, 200, mine.text);
    for (const wrong of [by('somebody-else'), { 'kubelet-gitops.dev/by': 'short' }])
      refused(await annotate(wrong), /names somebody else/);
    refused(await annotate({ 'kubelet-gitops.dev/first-seen': 'x' }), /annotations other than/);
    const owners = { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'x', uid: 'x' }] };
    refused(await as(operator, 'PATCH', `${POOLS}/gpu`, { metadata: owners }), /labels, finalizers and owners/);
    refused(await as(operator, 'PATCH', `${POOLS}/gpu`, { spec: { priority: 9 } }), /writes the spec/);
    refused(await as(operator, 'PATCH', `${POOLS}/gpu/status`, { status: {} }), /forbidden/i);
    const metadata = { annotations: { 'kubelet-gitops.dev/release': 'x' } };
    const commit = await as(operator, 'PATCH', `${SOURCES}/kubelet-gitops`, { metadata });
    assert.equal(commit.status, 200, commit.text);
    refused(await as(operator, 'PATCH', `${SOURCES}/kubelet-gitops/status`, RECORD), /forbidden/i);
  });

  it('approves with the approvers’ right alone, in its own name, and nothing else with it', async () => {
    const value = `${'a'.repeat(64)}@2026-11-22T10:00:00Z canary`;
    const approve = (token: string, who: string) =>
      as(token, 'PATCH', `${POOLS}/gpu`, {
        metadata: {
          annotations: {
            'kubelet-gitops.dev/approve': value,
            'kubelet-gitops.dev/by': claimText({ verb: 'approve', at: '2026-11-22T10:00:00Z', who }, value),
          },
        },
      });
    refused(
      await approve(operator, 'system:serviceaccount:default:olga'),
      /olga may not approve .* grant the verb .*approve/,
    );
    refused(await approve(approver, 'system:serviceaccount:default:olga'), /names somebody else/);
    const nobody = { metadata: { annotations: { 'kubelet-gitops.dev/approve': value } } };
    refused(await as(approver, 'PATCH', `${POOLS}/gpu`, nobody), /who gives it/);
    const { status, text } = await approve(approver, 'system:serviceaccount:default:ada');
    assert.equal(status, 200, text);
    refused(await as(approver, 'PATCH', `${POOLS}/gpu`, { spec: { priority: 9 } }), /writes the spec/);
    // Beside it, who may not approve goes on to suspend.
    const suspend = {
      metadata: { annotations: { 'kubelet-gitops.dev/suspend': 'look', 'kubelet-gitops.dev/by': null } },
    };
    const suspended = await as(operator, 'PATCH', `${POOLS}/gpu`, suspend);
    assert.equal(suspended.status, 200, suspended.text);
  });

  it('takes the Lease from no reconciler, and deletes it not', async () => {
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`;
    const lease = (name: string) => ({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name } });
    const name = 'kubelet-gitops-reconciler';
    refused(await as(mallory, 'POST', leases, lease(name)), /only the reconciler writes the Lease/);
    made(await as(reconciler, 'POST', leases, lease(name)));
    const spec = { holderIdentity: 'mallory' };
    refused(await as(mallory, 'PATCH', `${leases}/${name}`, { spec }), /only the reconciler writes the Lease/);
    refused(await as(mallory, 'DELETE', `${leases}/${name}`, {}), /only the reconciler writes the Lease/);
    refused(await as(mallory, 'DELETE', leases, {}), /only the reconciler writes the Lease/);
    made(await as(mallory, 'POST', leases, lease('of-others')));
    const renewed = await as(reconciler, 'PATCH', `${leases}/${name}`, { spec: { holderIdentity: 'reconciler-0' } });
    assert.equal(renewed.status, 200, renewed.text);
  });

  it('takes the name of a config source and holds nothing up: the reconciler may make it under another, and assign that', async () => {
    const payload = '{}';
    made(await as(mallory, 'POST', MAPS, configMap(configMapName('gpu', payload), {})));
    const name = otherConfigMapName('gpu', '0a1b2c3d', payload);
    made(await as(reconciler, 'POST', MAPS, configMap(name, OURS)));
    const sha256 = payloadSha256(payload);
    const configSource = { namespace: NAMESPACE, name, uid: 'x', resourceVersion: '1', key: 'kubelet', sha256 };
    const { trial } = SPEC;
    const spec = { pool: 'gpu', configSource, apply: 'overlay', trial };
    const { status, text } = await as(reconciler, 'PATCH', `${NODES}/node-a`, { spec });
    assert.equal(status, 200, text);
    const pool = { configName: name, sha256 };
    const { status: written, text: said } = await as(reconciler, 'PATCH', `${POOLS}/gpu/status`, { status: pool });
    assert.equal(written, 200, said);
  });

  it('takes an assignment away as the emergency page has it: an administrator in the reconciler’s name', async () => {
    const assigned = async (): Promise<string> =>
      (await cluster.kubectl(['get', 'knode', 'node-a', '-o', 'jsonpath={.spec.configSource.name}'])).stdout;
    assert.notEqual(await assigned(), '');
    const [page = ''] = fencedBlocks('docs/operate.md', 'sh').filter((block) => block.includes('kubectl patch knode'));
    const [, command = ''] = /kubectl (patch knode (?:.*\\\n)*.*)/.exec(page) ?? [];
    const words = command
      .replaceAll('\\\n', ' ')
      .replace('NODE', 'node-a')
      .replace('$ORDER', '7')
      .matchAll(/(?:'[^']*'|\S)+/g);
    const args = [...words].map(([word]) => word.replaceAll("'", ''));
    const { code: herOwn } = await cluster.kubectl(args.filter((word) => !word.startsWith('--as')));
    assert.notEqual(herOwn, 0);
    const { code, stderr } = await cluster.kubectl(args);
    assert.equal(code, 0, stderr);
    assert.equal(await assigned(), '');
  });

  it('leaves the reconciler its work, and other ConfigMaps to others', async () => {
    for (const [path, body] of [
      [`${POOLS}/gpu`, { spec: { priority: 2 } }],
      [`${POOLS}/gpu/status`, { status: { phase: 'Settled' } }],
      [`${NODES}/node-a`, { spec: { pool: 'gpu' } }],
      [`${SOURCES}/kubelet-gitops/status`, RECORD],
    ] as const) {
      const { status, text } = await as(reconciler, 'PATCH', path, body);
      assert.equal(status, 200, text);
    }
    made(await as(mallory, 'POST', MAPS, configMap('my-settings', {})));
  });
});
