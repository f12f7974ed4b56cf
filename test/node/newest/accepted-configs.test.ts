import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, it } from 'node:test';
import { createHostFiles } from '#agent/host/host-files.ts';
import { createHostFactsReader } from '#agent/preflight/gather-host-facts.ts';
import { createPreflight } from '#agent/preflight/preflight.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { KUBERNETES, locateNode, nodeSkipReason } from '../../cluster/support/binaries.ts';
import { generate } from '../../oracle/corpus/generate.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { sampleOf } from '../../support/sample.ts';
import { type BootedNode, bootNode } from '../support/booted-node.ts';
import { CGROUPS_UNIT, CNI_CONFIG, CONTAINERD_CONFIG, CONTAINERD_UNIT } from '../support/node-files.ts';
import { CNI_FILE, LOCAL_CONFIG_FILE, MOUNTS } from '../support/node-paths.ts';
import { kubeconfigOf } from '../../support/kubeconfig/one-cluster.ts';

/**
 * The real kubelet is started with generated configs that nothing here has a word against: not `validate`, and not the agent's preflight of
 * the machine. None of them may end it. A fifth is tried, all with `--all`.
 */
const COUNT = 200;
const SEED = 34;
const SECONDS = 3;

type Config = Readonly<Record<string, unknown>>;

/** What this machine and a kubelet without an API server need. */
const HERE: Config = {
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  cgroupDriver: 'cgroupfs',
  failSwapOn: false,
  failCgroupV1: false,
  makeIPTablesUtilChains: false,
  containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
};

const KUBECONFIG_FILE = '/etc/kubernetes/kubelet.conf';
/** Nobody answers there: the kubelet keeps trying. */
const KUBECONFIG = kubeconfigOf({ server: 'http://127.0.0.1:1' }, { token: 't' });
const FLAGS = [`--config=${LOCAL_CONFIG_FILE}`, `--kubeconfig=${KUBECONFIG_FILE}`, '--hostname-override=n1'];

/** Codes of warnings, too, that say of a config that the kubelet ends with it. */
const DEADLY: ReadonlySet<string> = new Set(['fails-at-start', 'known-bad']);

const isAccepted = (config: Config): boolean =>
  !validateKubeletConfig(config, { minor: KUBERNETES }).some(
    ({ severity, code }) => severity === 'error' || DEADLY.has(code),
  );

function accepted(): readonly (readonly [name: string, config: Config])[] {
  const found: (readonly [string, Config])[] = [];
  for (const { name, text } of generate(100 * COUNT, SEED)) {
    const { value } = decodeKubeletConfig(Buffer.from(text));
    const config = { ...HERE, ...value };
    // Numbers beyond 2^53 have no JSON.
    const isPlain = !/: ?\d{16}/.test(text);
    if (value !== undefined && isPlain && isAccepted(config)) found.push([name, config]);
    if (found.length === COUNT) break;
  }
  return found;
}

describeOrSkip('a kubelet', { skip: await nodeSkipReason() }, () => {
  let machine: BootedNode;
  before(async () => {
    const located = await locateNode();
    assert.ok(located.found);
    const { kubelet, directory, cniPlugins } = located.binaries;
    const mounts = { [MOUNTS.kubelet]: dirname(kubelet), [MOUNTS.runtime]: directory, [MOUNTS.cniPlugins]: cniPlugins };
    machine = await bootNode({
      env: { SYSTEMD_NSPAWN_API_VFS_WRITABLE: '1' },
      args: [
        '--capability=all',
        '--bind=/dev/kmsg',
        ...Object.entries(mounts).map(([inside, outside]) => `--bind-ro=${outside}:${inside}`),
      ],
      files: {
        [LOCAL_CONFIG_FILE]: JSON.stringify(HERE),
        [KUBECONFIG_FILE]: KUBECONFIG,
        [CNI_FILE]: CNI_CONFIG,
        '/etc/containerd/config.toml': CONTAINERD_CONFIG,
        '/etc/systemd/system/cgroups.service': CGROUPS_UNIT,
        '/etc/systemd/system/containerd.service': CONTAINERD_UNIT,
      },
      enable: ['cgroups.service', 'containerd.service'],
    });
  });
  after(() => machine.stop());

  /** The last of what it says where it ends within some seconds; empty where it runs on. */
  const lastWords = async (config: Config, seconds = SECONDS): Promise<string> => {
    await writeFile(join(machine.root, LOCAL_CONFIG_FILE), JSON.stringify(config));
    const script = `
      PATH=${MOUNTS.runtime}:$PATH
      for try in 1 2 3 4 5; do [ -S /run/containerd/containerd.sock ] && break; sleep 1; done
      rm -f /var/lib/kubelet/*_state
      timeout ${seconds} ${MOUNTS.kubelet}/kubelet ${FLAGS.join(' ')} >/root/log 2>&1
      [ $? -eq 124 ] || grep -E '^[EF]|panic' /root/log | tail -n 3 | cut -c 1-600`;
    return machine.run('/bin/sh', '-c', script);
  };

  /** What preflight has against it on this machine, as on a node that runs another one. */
  const refusals = async (config: Config): Promise<readonly string[]> => {
    await writeFile(join(machine.root, LOCAL_CONFIG_FILE), JSON.stringify(HERE));
    const files = createHostFiles(`/proc/${machine.leader()}/root`);
    const host = createHostFactsReader({ files, commandLine: async () => ({ args: FLAGS, seenIn: 'process' }) });
    const preflight = createPreflight({
      configFile: LOCAL_CONFIG_FILE,
      configDirectory: undefined,
      host,
    });
    const findings = await preflight(config, KUBERNETES, { payload: config, apply: 'replace' });
    return findings.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  };

  it('ends with what validate says that it ends with', async () => {
    for (const fault of [
      { systemCgroups: '/', cgroupRoot: '/' },
      { maxPods: 65_536 },
      { tlsCipherSuites: ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'] },
      { staticPodPath: '/etc/kubernetes/manifests', fileCheckFrequency: '-1s' },
      { maxOpenFiles: 10 },
      { imageServiceEndpoint: 'a' },
    ]) {
      assert.equal(isAccepted({ ...HERE, ...fault }), false, JSON.stringify(fault));
      // It is waited for no longer than it takes to end.
      assert.notEqual(await lastWords({ ...HERE, ...fault }, 30), '', JSON.stringify(fault));
    }
  });

  it('runs on with what neither validate nor preflight speaks against', async (t) => {
    const all = accepted();
    assert.equal(all.length, COUNT);
    const died: string[] = [];
    let refused = 0;
    const tried = sampleOf(all, 5);
    for (const [name, config] of tried) {
      if ((await refusals(config)).length > 0) {
        refused += 1;
        continue;
      }
      const words = await lastWords(config);
      if (words !== '') died.push(`${name}: ${JSON.stringify(config)}: ${words}`);
    }
    t.diagnostic(`${tried.length} configs, of which preflight refused ${refused}`);
    assert.deepEqual(died, []);
  });
});
