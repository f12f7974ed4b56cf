import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { controlPlaneSkipReason, KUBERNETES } from '../support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { installManifests, NAMESPACE } from '../support/programs.ts';

const skip = await controlPlaneSkipReason();
const FILE = 'deploy/examples/audit.yaml';
const ACCOUNT = `system:serviceaccount:${NAMESPACE}:kubelet-gitops-audit`;

describeOrSkip(`the example that audits every day, on Kubernetes ${KUBERNETES}`, { skip }, () => {
  let cluster: ControlPlane;

  before(async () => {
    cluster = await startControlPlane();
    await installManifests(cluster);
  });
  after(() => cluster?.stop());

  const apply = async (): Promise<string> => {
    const { code, stdout, stderr } = await cluster.kubectl(['apply', '-f', FILE]);
    assert.deepEqual([code, stderr], [0, '']);
    return stdout;
  };
  const may = async (...question: readonly string[]): Promise<boolean> =>
    (await cluster.kubectl(['auth', 'can-i', `--as=${ACCOUNT}`, '-n', NAMESPACE, ...question])).code === 0;

  it('is taken as it is, and keeps what an audit wrote when it is applied again', async () => {
    assert.equal((await apply()).split('\n').filter((line) => line.endsWith(' created')).length, 8);
    const path = `/api/v1/namespaces/${NAMESPACE}/configmaps/kubelet-gitops-audit`;
    const written = { data: { 'summary.json': '{}' }, binaryData: { 'report.json.gz': 'AAAA' } };
    const { status, text } = await cluster.request('PATCH', path, written, 'application/merge-patch+json');
    assert.equal(status, 200, text);
    assert.doesNotMatch(await apply(), /configured|created/);
    const { json } = await cluster.request('GET', path);
    const { data, binaryData } = json() as typeof written;
    assert.deepEqual({ data, binaryData }, written);
  });

  it('gives its account what it needs, and nothing else', async () => {
    const questions = [
      ['list', 'nodes'],
      ['get', 'nodes', '--subresource=configz'],
      ['get', 'nodes', '--subresource=stats'],
      ['patch', 'configmaps/kubelet-gitops-audit'],
    ];
    for (const question of questions) assert.equal(await may(...question), true, question.join(' '));
    const others = [
      ['get', 'nodes', '--subresource=proxy'],
      ['patch', 'configmaps/kubelet-gitops-settings'],
      ['get', 'configmaps/kubelet-gitops-audit'],
      ['create', 'configmaps'],
      ['get', 'secrets'],
    ];
    for (const question of others) assert.equal(await may(...question), false, question.join(' '));
  });
});
