import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, it } from 'node:test';
import { parse, stringify } from 'yaml';
import { DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import { CHART, HELM, WITHOUT_RENDERERS } from '../../deploy/chart/render.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { fencedBlocks } from '../../support/fenced-blocks.ts';
import { until } from '../../support/until.ts';
import { KUBERNETES, locateControlPlane, controlPlaneSkipReason } from '../support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';

const skip = (await controlPlaneSkipReason()) || WITHOUT_RENDERERS;
const KINDS = 'crd,clusterrole,clusterrolebinding,role,rolebinding,daemonset,deployment,validatingadmissionpolicy';

/** The documentation's own commands. Nothing here runs pods: `--wait` would wait forever. */
describeOrSkip(`helm on Kubernetes ${KUBERNETES}`, { skip }, () => {
  let cluster: ControlPlane;
  let directory: string;
  const valuesFile = (): string => join(directory, 'my-cluster/values.yaml');

  before(async () => {
    cluster = await startControlPlane();
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-helm-'));
    for (const name of ['my-cluster', 'bin', 'home']) await mkdir(join(directory, name));
    await symlink(process.cwd(), join(directory, 'kubelet-gitops'));
    const located = await locateControlPlane();
    assert.ok(located.found && HELM !== undefined);
    await symlink(located.binaries.kubectl, join(directory, 'bin/kubectl'));
    await symlink(HELM, join(directory, 'bin/helm'));
    await writeFile(valuesFile(), exampleValues());
  });
  after(async () => {
    await cluster?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });

  const exampleValues = (): string => {
    const [text] = fencedBlocks('docs/install.md', 'yaml').filter((block) =>
      block.startsWith('# my-cluster/values.yaml'),
    );
    return text ?? assert.fail('the page has no example of values');
  };

  /** @returns what was shown, and fails where it warns */
  function type(commands: string): string {
    const env = {
      PATH: `${join(directory, 'bin')}:${dirname(process.execPath)}:${process.env['PATH']}`,
      HOME: join(directory, 'home'),
      KUBECONFIG: cluster.adminKubeconfig,
    };
    const { status, stdout, stderr } = spawnSync('sh', ['-ec', commands], {
      cwd: directory,
      env,
      encoding: 'utf8',
      timeout: 300_000,
    });
    assert.equal(status, 0, `${commands}\n${stdout}${stderr}`);
    assert.doesNotMatch(stderr, /warn/i);
    return stdout;
  }

  const command = (page: string, language: string, pattern: RegExp): string =>
    fencedBlocks(page, language)
      .find((text) => pattern.test(text))
      ?.replace(' --wait', '') ?? assert.fail(`${page} has no ${pattern}`);

  const imageOf = (workload: string): string =>
    type(`kubectl -n kubelet-gitops get ${workload} -o jsonpath={.spec.template.spec.containers[0].image}`);

  it('lint finds nothing', () => {
    assert.match(
      type(`helm lint --strict kubelet-gitops/${CHART} --values my-cluster/values.yaml`),
      /1 chart\(s\) linted, 0 chart\(s\) failed/,
    );
  });

  it('install: the API server takes everything, and the fields are explained', async () => {
    assert.match(type(command('docs/install.md', 'sh', /^helm install/m)), /STATUS: deployed/);
    assert.match(imageOf('daemonset/kubelet-gitops-agent'), /^registry\.example\.com\/platform\/kubelet-gitops:/);
    // An API server that has established a CRD may take a moment more to tell clients of it.
    const explained = await until('the new kinds', async () => type('kubectl explain kubeletnode.spec.turn'));
    assert.match(explained, /seen/);
    assert.match(type('kubectl get kpool,knode 2>&1'), /No resources found/);
  });

  it('upgrade and rollback: the other image, and the one before', async () => {
    const before = imageOf('daemonset/kubelet-gitops-agent');
    const values = parse(exampleValues()) as { readonly image: object };
    await writeFile(
      valuesFile(),
      stringify({ ...values, image: { ...values.image, tag: '0.2.0' }, admission: { enabled: true } }),
    );
    type(command('docs/upgrade.md', 'console', /^helm upgrade/m));
    assert.match(imageOf('daemonset/kubelet-gitops-agent'), /:0\.2\.0$/);
    assert.match(type('kubectl get validatingadmissionpolicy -o name'), /kubelet-gitops/);
    type('helm rollback kubelet-gitops 1 --namespace kubelet-gitops');
    assert.equal(imageOf('daemonset/kubelet-gitops-agent'), before);
    assert.equal(imageOf('deployment/kubelet-gitops-reconciler'), before);
  });

  const agents = (): readonly string[] =>
    type('kubectl -n kubelet-gitops get daemonset -o name').trim().split('\n').toSorted();

  it('upgrade to another distribution: servers and other nodes get DaemonSets, whose names are told, and back', async () => {
    const otherNodes = [{ name: 'edge', label: { key: 'example.com/site', value: 'edge' }, distribution: 'k0s' }];
    const values = parse(exampleValues()) as object;
    await writeFile(valuesFile(), stringify({ ...values, distribution: 'k3s', otherNodes }));
    type(command('docs/upgrade.md', 'console', /^helm upgrade/m));
    const names = ['', '-edge', '-edge-servers', '-servers'].map((suffix) => `kubelet-gitops-agent${suffix}`);
    assert.deepEqual(
      agents(),
      names.map((name) => `daemonset.apps/${name}`),
    );
    const notes = type('helm get notes kubelet-gitops --namespace kubelet-gitops');
    const told = [...notes.matchAll(/rollout status daemonset\/(\S+)/g)].map(([, name = '']) => name);
    assert.deepEqual(told.toSorted(), names);
    type('helm rollback kubelet-gitops 1 --namespace kubelet-gitops');
    assert.deepEqual(agents(), ['daemonset.apps/kubelet-gitops-agent']);
  });

  it('the API server takes the DaemonSets of every distribution', () => {
    for (const distribution of Object.keys(DISTRIBUTIONS)) {
      const template = `helm template kubelet-gitops kubelet-gitops/${CHART} --namespace kubelet-gitops --values my-cluster/values.yaml`;
      const only = `--show-only templates/daemonset.yaml --set distribution=${distribution},otherNodes=null`;
      const said = type(`${template} ${only} | kubectl apply --server-side --force-conflicts --dry-run=server -f -`);
      assert.match(
        said,
        /^daemonset\.apps\/kubelet-gitops-agent serverside-applied \(server dry run\)$/m,
        distribution,
      );
    }
  });

  it('uninstall: nothing of ours is left', async () => {
    type('helm uninstall kubelet-gitops --namespace kubelet-gitops');
    await until(
      'everything to be gone',
      async () => !type(`kubectl get ${KINDS} -A -o name`).includes('kubelet-gitops'),
    );
  });
});
