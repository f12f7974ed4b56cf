import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { describe, it } from 'node:test';
import { createNodeDisk } from '#agent/host/disk/node-disk.ts';
import { DROP_IN_NAME } from '#agent/kubelet/install-drop-ins.ts';
import { canonicalize } from '#shared/contract/kubelet-config/canonical.ts';
import { installerOn } from '../../support/agent/installer-on.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const HEAD = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
const CPU_STATE = '{"policyName":"none","defaultCpuSet":"","checksum":1353318690}';
const K3S_DEFAULTS = `${HEAD}authentication: {anonymous: {enabled: false}}\nmaxPods: 110\nclusterDomain: cluster.local\n`;

interface Layout {
  readonly name: string;
  readonly configFile: string;
  readonly dropIns?: string;
  /** What is on the node before us, below its root. */
  readonly files: Readonly<Record<string, string>>;
  /** The one file that is ours, or that is changed. */
  readonly ours: string;
}

const rancher = (name: string): Layout => {
  const dropIns = `/var/lib/rancher/${name}/agent/etc/kubelet.conf.d`;
  return {
    name,
    // There is none.
    configFile: '/var/lib/kubelet/config.yaml',
    dropIns,
    files: { [`${dropIns}/00-${name}-defaults.conf`]: K3S_DEFAULTS, '/var/lib/kubelet/cpu_manager_state': CPU_STATE },
    ours: `${dropIns}/${DROP_IN_NAME}`,
  };
};

const LAYOUTS: readonly Layout[] = [
  {
    name: 'kubeadm',
    configFile: '/var/lib/kubelet/config.yaml',
    files: {
      '/var/lib/kubelet/config.yaml': `${HEAD}maxPods: 110\nclusterDomain: cluster.local\n`,
      '/var/lib/kubelet/kubeadm-flags.env': 'KUBELET_KUBEADM_ARGS="--node-ip=10.0.0.1"\n',
      '/var/lib/kubelet/instance-config.yaml': `${HEAD}containerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n`,
    },
    ours: '/var/lib/kubelet/config.yaml',
  },
  rancher('k3s'),
  rancher('rke2'),
  {
    name: 'EKS, Amazon Linux 2023',
    configFile: '/etc/kubernetes/kubelet/config.json',
    dropIns: '/etc/kubernetes/kubelet/config.json.d',
    files: {
      '/etc/kubernetes/kubelet/config.json': `${JSON.stringify({ kind: 'KubeletConfiguration', apiVersion: 'kubelet.config.k8s.io/v1beta1', maxPods: 110, clusterDomain: 'cluster.local' })}\n`,
      '/etc/kubernetes/kubelet/config.json.d/40-nodeadm.conf': `${HEAD}maxPods: 58\n`,
    },
    ours: `/etc/kubernetes/kubelet/config.json.d/${DROP_IN_NAME}`,
  },
];

/** Path below the root → content. */
async function tree(root: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const read = files.sort().map(async (file) => [`/${relative(root, file)}`, await readFile(file, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(read));
}

describe('a config on a node that is laid out as', () => {
  for (const { name, configFile, dropIns, files, ours } of LAYOUTS) {
    it(`${name}: changes one file, and gives all of them back`, async (t) => {
      const root = temporaryDirectory(t);
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(root, path)), { recursive: true });
        await writeFile(join(root, path), text);
      }
      await mkdir(join(root, 'var/lib/kubelet-gitops'), { recursive: true });
      const installer = installerOn(createNodeDisk(), {
        stateDirectory: join(root, 'var/lib/kubelet-gitops'),
        configFile: join(root, configFile),
        dropInDirectory: dropIns === undefined ? undefined : join(root, dropIns),
        kubeletRootDirectory: join(root, 'var/lib/kubelet'),
        kubeletMinor: () => Promise.resolve('1.33'),
      });
      const nodeOwn = async () =>
        Object.fromEntries(Object.entries(await tree(root)).filter(([path]) => !path.includes('/kubelet-gitops/')));

      const plan = await installer.plan({ payload: canonicalize({ maxPods: 77 }), apply: 'overlay' });
      await installer.install(plan);
      assert.deepEqual([plan.effective['maxPods'], plan.effective['clusterDomain']], [77, 'cluster.local']);
      assert.ok(await installer.isInstalled(plan));
      const { [ours]: changed, ...others } = await nodeOwn();
      assert.match(changed ?? '', /77/);
      const { [ours]: _, ...provisioned } = files;
      assert.deepEqual(others, provisioned);

      await installer.install(await installer.plan(null));
      assert.deepEqual(await nodeOwn(), files);
    });
  }
});
