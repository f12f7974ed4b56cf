import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Diagnosis } from '#cli/doctor/diagnosis.ts';
import { toTimestamp } from '#shared/runtime/clock.ts';
import { componentNames } from '../../../scripts/generate/chart.ts';
import { run } from '../../cli/support/run.ts';
import { renderKustomization } from '../../deploy/chart/render.ts';
import { controlPlaneSkipReason } from '../support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { until } from '../../support/until.ts';
import { column } from '../../support/columns.ts';

// What operators' commands find in a cluster, asked of a real API server: its rights, its CRDs, its clock.
const skip = await controlPlaneSkipReason();
const NAMESPACE = 'kubelet-gitops';
let cluster: ControlPlane;
let directory = '';

if (skip === false) {
  before(async () => {
    cluster = await startControlPlane();
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-operators-'));
  });
}

after(async () => {
  await cluster?.stop();
  if (directory !== '') await rm(directory, { recursive: true });
});

const cli = (...argv: readonly string[]) => run(...argv, '--kubeconfig', cluster.adminKubeconfig);
const doctor = async (): Promise<readonly Diagnosis[]> => {
  const { code, out, err } = await cli('doctor', '-o', 'json');
  assert.notEqual(code, 2, err);
  return (JSON.parse(out) as { readonly diagnoses: readonly Diagnosis[] }).diagnoses;
};
const codes = async (): Promise<readonly string[]> => (await doctor()).map(({ code }) => code);

async function kubectl(args: readonly string[], input = ''): Promise<string> {
  const { code, stdout, stderr } = await cluster.kubectl(args, { input });
  assert.equal(code, 0, stderr);
  return stdout;
}
const apply = (object: object): Promise<string> => kubectl(['apply', '-f', '-'], JSON.stringify(object));

test('doctor says that nothing is installed where nothing is', { skip }, async () => {
  const found = await doctor();
  assert.deepEqual(column(found, 'code'), [
    'crd-missing',
    'crd-missing',
    'crd-missing',
    'rights-missing',
    'rights-missing',
    'reconciler-missing',
    'agents-missing',
    'no-leader',
  ]);
});

test('doctor finds every right where deploy/rbac was applied, and the one that was taken away', { skip }, async () => {
  for (const files of ['namespace', 'crds', 'rbac', 'agent/daemonset.yaml', 'reconciler/deployment.yaml']) {
    // An API server of 1.20 does not know every field of the workloads.
    await kubectl(['apply', '--validate=false', '-f', `deploy/${files}`]);
  }
  const installed = async (): Promise<true | undefined> =>
    (await codes()).join() === 'no-leader,no-commit' ? true : undefined;
  await until('what is installed to be served', installed, { everyMs: 200 });
  await kubectl(['-n', NAMESPACE, 'delete', 'rolebinding', 'kubelet-gitops-agent']);
  const taken = async (): Promise<Diagnosis | undefined> =>
    (await doctor()).find(({ code }) => code === 'rights-missing');
  const { what } = await until('the right to be gone', taken, { everyMs: 100 });
  assert.equal(what, `kubelet-gitops-agent may not get configmaps in ${NAMESPACE}`);
  await kubectl(['apply', '-f', 'deploy/rbac']);
});

for (const distribution of ['k3s', 'k0s']) {
  test(
    `the API server takes what is installed with the component ${distribution} and with all others`,
    { skip },
    async () => {
      // One of 1.20 knows neither the policies of admission nor the Prometheus operator's kinds.
      const foreign = ['admission', 'monitoring', 'uninstall'];
      const others = componentNames().filter((name) => !foreign.includes(name));
      const items = renderKustomization({
        components: [distribution, ...others].map((name) => `../deploy/components/${name}`),
      });
      assert.ok(items.some(({ kind }) => kind === 'ResourceQuota'));
      const list = { apiVersion: 'v1', kind: 'List', items };
      const said = await kubectl(['apply', '--dry-run=server', '-f', '-'], JSON.stringify(list));
      assert.match(said, /^daemonset.apps\/kubelet-gitops-agent-servers created \(server dry run\)$/m);
      assert.equal(said.trim().split('\n').length, items.length);
    },
  );
}

test('doctor finds a CRD that lacks a field', { skip }, async () => {
  const name = 'kubeletnodes.kubelet-gitops.dev';
  const path = '/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/promotedAt';
  await kubectl(['patch', 'crd', name, '--type=json', '-p', JSON.stringify([{ op: 'remove', path }])]);
  const old = (await doctor()).find(({ code }) => code === 'crd-old');
  assert.equal(old?.what, `the CRD ${name} does not know status.promotedAt`);
  await kubectl(['apply', '-f', 'deploy/crds']);
});

test('doctor compares clocks by the stamps of the API server', { skip }, async () => {
  const report = async (name: string, skewMs: number): Promise<true> => {
    const said = Date.now();
    const status = { phase: 'Idle', agentVersion: '0.1.0', heartbeat: toTimestamp(said + skewMs) };
    const at = `/apis/kubelet-gitops.dev/v1alpha1/kubeletnodes/${name}/status`;
    const { status: code } = await cluster.request('PATCH', at, { status }, 'application/merge-patch+json');
    assert.equal(code, 200);
    assert.ok(Date.now() - said < 5_000, 'it was stamped long after it was said');
    return true;
  };
  const node = async (name: string, skewMs: number): Promise<void> => {
    const metadata = { name };
    await apply({ apiVersion: 'v1', kind: 'Node', metadata: { ...metadata, labels: { pool: 'x' } } });
    await apply({ apiVersion: 'kubelet-gitops.dev/v1alpha1', kind: 'KubeletNode', metadata, spec: {} });
    await until(`a report of ${name} that was on its way for a moment only`, () => report(name, skewMs));
  };
  await node('right', 0);
  await node('behind', -5 * 60_000);
  await node('ahead', 10 * 60_000);
  const skewed = (await doctor()).filter(({ code }) => code === 'clock-skew');
  assert.deepEqual(
    skewed
      .map(({ objects }) => objects)
      .flat()
      .sort(),
    ['node ahead', 'node behind'],
  );
  assert.match(skewed.map(({ what }) => what).join(), /the clock of node behind is (2[7-9]\d|3[0-2]\d) s behind/);
});

test('a support bundle packs what there is, and no Secret', { skip }, async () => {
  await kubectl([
    '-n',
    NAMESPACE,
    'create',
    'secret',
    'generic',
    'kubelet-gitops-git',
    '--from-literal=password=needle',
  ]);
  const into = join(directory, 'bundle');
  const { code, err, out } = await cli('support-bundle', '--into', into);
  assert.deepEqual([code, err], [0, ''], out);
  const objects = async (file: string): Promise<string> => readFile(join(into, 'objects', `${file}.json`), 'utf8');
  assert.match(await objects('kubeletnodes'), /"ahead"/);
  assert.match(await objects('deployment'), /GIT_CREDENTIALS_DIR/);
  assert.match(await objects('crds'), /Established/);
  assert.match(await readFile(join(into, 'doctor.txt'), 'utf8'), /clock-skew/);
  const all = await Promise.all(['settings', 'deployment', 'pods', 'kubeletsources'].map(objects));
  assert.doesNotMatch(all.join(), /needle/);
});

test('diff reads pools, nodes and configs, and asks the API server for what a kubelet runs', { skip }, async () => {
  const { code, out, err } = await cli('diff', 'node/right');
  assert.equal(code, 0, err);
  assert.match(out, /^node right: settled on local$[^]*^no field differs$[^]*the kubelet was not asked: /m);
});

test('events are read from a real API server', { skip }, async () => {
  await apply({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: 'n.1', namespace: 'kube-system' },
    eventTime: '2026-11-21T10:00:00.000000Z',
    reportingController: 'kubelet-gitops.dev/reconciler',
    reportingInstance: 'r',
    action: 'ConfigureKubelet',
    reason: 'ConfigAssigned',
    type: 'Normal',
    note: 'Assigned workers-2gmf6b4k8c',
    regarding: { apiVersion: 'v1', kind: 'Node', name: 'right', uid: 'u' },
  });
  const { out } = await cli('events', '--node', 'right');
  assert.match(out, /^2026-11-21 10:00:00  ConfigAssigned  right  -     Assigned workers-2gmf6b4k8c$/m);
});
