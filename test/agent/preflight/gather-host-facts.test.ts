import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createReadCommandLine } from '#agent/kubelet/command-line.ts';
import { createHostFiles } from '#agent/host/host-files.ts';
import type { ConfigForHost } from '#agent/preflight/host-facts.ts';
import { createHostFactsReader } from '#agent/preflight/gather-host-facts.ts';
import { createPreflight } from '#agent/preflight/preflight.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';

const candidate = (config: Readonly<Record<string, unknown>>): ConfigForHost => ({
  view: viewOf(config, 34, 'replace'),
  fromFiles: config,
  assigned: config,
  configFile: '/var/lib/kubelet/config.yaml',
  configDirectory: undefined,
  version: 'v1.34.0',
  asDropIn: false,
});

describe('a machine as the host root shows it', () => {
  let root = '';
  const put = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  };
  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'kubelet-gitops-host-'));
    await put(
      'proc/meminfo',
      'MemTotal:       16384 kB\nMemFree: 1 kB\nMemAvailable: 5 kB\nInactive(anon): 90 kB\nInactive(file): 8 kB\n',
    );
    await put('proc/swaps', 'Filename Type Size Used Priority\n/dev/sda2 partition 1 0 -2\n');
    await put('proc/loadavg', '0.10 0.20 0.30 2/567 8901\n');
    await put('proc/sys/vm/overcommit_memory', '0\n');
    await put('proc/sys/kernel/pid_max', '32768\n');
    await put('proc/sys/kernel/threads-max', '30000\n');
    await put('sys/devices/system/cpu/online', '0-3,6\n');
    await put('sys/devices/system/cpu/cpu1/topology/thread_siblings_list', '1,3\n');
    await put('sys/devices/system/node/node0/cpulist', '0-3\n');
    await put('sys/fs/cgroup/cgroup.controllers', 'cpu memory\n');
    const pod = (name: string) => put(`sys/fs/cgroup/kubepods.slice/${name}.slice/cgroup.procs`, '');
    await pod('kubepods-pod0a1b2c3d_0000_1111_2222_333344445555');
    await pod('kubepods-burstable.slice/kubepods-burstable-pod1a1b2c3d_0000_1111_2222_333344445555');
    await put('sys/fs/cgroup/system.slice/cgroup.procs', '');
    await put('sys/fs/cgroup/system.slice/memory.current', '1000\n');
    await put('sys/fs/cgroup/system.slice/memory.stat', 'anon 600\ninactive_file 300\nactive_file 100\n');
    await put('sys/fs/cgroup/system.slice/pids.current', '37\n');
    const dropIn = (path: string, fields: string) =>
      put(`etc/k/${path}`, `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields}\n`);
    await dropIn('50-b.conf', 'maxPods: 33');
    await dropIn('10-a.d/x.conf', 'podPidsLimit: 5');
    await dropIn('99-kubelet-gitops.conf', 'maxPods: 1');
    await dropIn('60.txt', 'maxPods: 2');
    await put('etc/k/70-torn.conf', '{');
    await put('proc/191/cmdline', '/usr/bin/kubelet\0--config-dir=/etc/k\0');
    await put(
      'proc/1/net/tcp',
      '  sl  local_address rem_address   st\n   0: 0100007F:2808 00000000:0000 0A 0\n   1: 0100007F:1F90 00000000:0000 01 0\n',
    );
    await put('proc/77/cmdline', 'usr/bin/kubelet\0--config=/var/lib/kubelet/config.yaml\0--v=2\0');
    await put('proc/78/cmdline', '/usr/bin/k3s\0agent\0');
    await put('etc/containerd/config.toml', '[plugins.x.options]\n  SystemdCgroup = true\n');
    await put(
      'var/lib/kubelet/config.yaml',
      'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nport: 10350\ncontainerRuntimeEndpoint: unix:///run/containerd/containerd.sock\n',
    );
    await put('real/ca.crt', 'x');
    await mkdir(join(root, 'etc/kubernetes'), { recursive: true });
    await symlink('/real/ca.crt', join(root, 'etc/kubernetes/ca.crt'));
    await symlink('/loop', join(root, 'loop'));
  });
  after(() => rm(root, { recursive: true, force: true }));

  const look = async (config: Readonly<Record<string, unknown>> = {}, pid = 77) => {
    const files = createHostFiles(root);
    const line = await createReadCommandLine({ files, unit: '' })({ run: 'this', pid });
    const host = createHostFactsReader({ files, commandLine: async () => line });
    return host.look(candidate(config), line?.args);
  };

  it('says what a reserved cgroup uses, without pages that could be dropped', async () => {
    const { cgroupUse } = await look({
      enforceNodeAllocatable: ['system-reserved'],
      systemReservedCgroup: '/system.slice',
    });
    assert.deepEqual([...cgroupUse], [['systemReservedCgroup', { bytes: 700, pids: 37 }]]);
  });

  it('counts sockets, pods’ user ids and controllers where a config depends on them', async () => {
    for (const [cpu, socket] of [0, 0, 1, 1, 1].entries())
      await put(`sys/devices/system/cpu/cpu${[0, 1, 2, 3, 6][cpu]}/topology/physical_package_id`, `${socket}\n`);
    await put('var/lib/kubelet/pods/a/userns', '{"uidMappings":[{"hostId":1,"containerId":0,"length":65536}]}');
    await put('sys/fs/cgroup/system.slice/cgroup.controllers', 'memory\n');
    const { sockets, idsOfPods, subordinateIds, cgroupGaps } = await look({
      cpuManagerPolicy: 'static',
      cpuManagerPolicyOptions: { 'align-by-socket': 'true' },
      enforceNodeAllocatable: ['system-reserved'],
      systemReservedCgroup: '/system.slice',
    });
    assert.equal(sockets, 2);
    assert.deepEqual(idsOfPods, [65_536]);
    assert.equal(subordinateIds, undefined);
    assert.deepEqual([...(cgroupGaps ?? [])], [['systemReservedCgroup', ['cpu']]]);
    const without = await look({ featureGates: { UserNamespacesSupport: false } });
    assert.deepEqual([without.sockets, without.idsOfPods], [undefined, undefined]);
    await rm(join(root, 'sys/fs/cgroup/system.slice/cgroup.controllers'));
  });

  it('has the drop-ins of the kubelet’s own flag, in its order, ours left out', async () => {
    const { dropIns } = await look({}, 191);
    const said = dropIns.map(({ path, fields: { maxPods, podPidsLimit }, fault }) => [
      path,
      maxPods ?? podPidsLimit ?? typeof fault,
    ]);
    assert.deepEqual(said, [
      ['/etc/k/10-a.d/x.conf', 5],
      ['/etc/k/50-b.conf', 33],
      ['/etc/k/70-torn.conf', 'string'],
    ]);
    assert.deepEqual((await look({})).dropIns, [], 'a kubelet without the flag reads none');
  });

  it('is read through that root, links of the host included', async () => {
    const facts = await look({
      authentication: { x509: { clientCAFile: '/etc/kubernetes/ca.crt' } },
      resolvConf: '/nowhere',
      enforceNodeAllocatable: ['system-reserved', 'kube-reserved'],
      systemReservedCgroup: '/system.slice',
      kubeReservedCgroup: '/podruntime.slice',
      cgroupDriver: 'systemd',
      reservedSystemCPUs: '1-2',
    });
    assert.deepEqual(facts.coreOf, new Map([[1, new Set([1, 3])]]));
    assert.equal(facts.memoryBytes, 16 * 2 ** 20);
    assert.equal(facts.availableMemoryBytes, 9 * 1024);
    assert.ok((facts.nodefs?.availableBytes ?? Infinity) <= (facts.nodefs?.bytes ?? 0));
    assert.ok((facts.nodefs?.freeInodes ?? Infinity) <= (facts.nodefs?.inodes ?? 0));
    assert.equal(facts.pids, 567);
    assert.deepEqual(facts.present?.['port'], 10_350);
    assert.deepEqual(facts.onlineCpus, new Set([0, 1, 2, 3, 6]));
    assert.deepEqual(facts.numaNodes, new Set([0]));
    assert.deepEqual(facts.swaps, ['/dev/sda2']);
    assert.equal(facts.sysctls.get('vm.overcommit_memory'), '0');
    assert.equal(facts.cgroupVersion, 2);
    assert.deepEqual(
      [...facts.cgroups],
      [
        ['systemReservedCgroup', true],
        ['kubeReservedCgroup', false],
      ],
    );
    assert.equal(facts.paths.get('/etc/kubernetes/ca.crt'), 'file');
    assert.equal(facts.paths.get('/nowhere'), 'missing');
    assert.equal(facts.runningPods, 2);
    assert.equal(facts.mostPids, 30_000);
    assert.ok((facts.nodefs?.bytes ?? 0) > 2 ** 20);
    assert.deepEqual(facts.listening, new Set([0x2808]));
    assert.deepEqual(facts.kubeletArgs, ['--config=/var/lib/kubelet/config.yaml', '--v=2']);
    assert.equal(facts.runtimeDriver?.driver, 'systemd');
    assert.ok(facts.ownPorts.has(10_350));
    assert.ok(facts.ownRuntimes.has('unix:///run/containerd/containerd.sock'));
  });

  it('calls no port taken when the kubelet’s own cannot be told, because its config file was spoiled or deleted', async () => {
    const path = join(root, 'var/lib/kubelet/config.yaml');
    const text = await readFile(path, 'utf8');
    await writeFile(path, 'port: [oops\n');
    assert.equal((await look()).listening, undefined);
    await rm(path);
    assert.equal((await look()).listening, undefined);
    await writeFile(path, text);
  });

  it('knows the flags that k3s is told to add, which is none here, and nothing of no process', async () => {
    assert.deepEqual((await look({}, 78)).kubeletArgs, []);
    assert.equal((await look({}, 79)).kubeletArgs, undefined);
  });

  it('is not led round in circles', async () => {
    assert.equal(await createHostFiles(root).kind('/loop'), undefined);
    assert.equal(await createHostFiles(root).text('/loop'), undefined);
  });

  it('that is not shown at all speaks against nothing but what stands in the config', async () => {
    const host = createHostFactsReader({
      files: createHostFiles(join(root, 'nothing')),
      commandLine: async () => undefined,
    });
    const preflight = createPreflight({ configFile: '/c', configDirectory: undefined, host });
    const effective = { maxPods: 1, kubeReserved: { memory: '900Gi' }, cgroupRoot: '/x', tlsCertFile: '/y' };
    const found = await preflight(effective, 'v1.34.2', { payload: effective, apply: 'overlay' });
    assert.deepEqual(
      found.map(({ code, severity }) => [code, severity]),
      [['command-line-unseen', 'warning']],
    );
  });

  it('that is this one has what the system says it has', async () => {
    const host = createHostFactsReader({ files: createHostFiles('/'), commandLine: async () => undefined });
    const facts = await host.look(candidate({}), undefined);
    assert.equal(facts.memoryBytes, totalmem());
    assert.ok((facts.mostPids ?? 0) > 100);
    assert.ok((facts.onlineCpus?.size ?? 0) >= cpus().length);
    assert.ok(facts.addresses?.includes('127.0.0.1'));
  });
});
