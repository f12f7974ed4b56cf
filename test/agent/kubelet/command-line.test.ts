import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostFiles } from '#agent/host/host-files.ts';
import { createReadCommandLine, type CommandLineMemory, type RememberedLine } from '#agent/kubelet/command-line.ts';
import type { CommandLine } from '#agent/ports/command-line.ts';
import { journalOf } from '../host/journal/support/journal-writer.ts';

const JOURNAL = '/run/log/journal/machine/system.journal';

/** A host of these files, and of a journal with these lines of runs of a unit. */
function hostWith(
  texts: Readonly<Record<string, string>>,
  logged: readonly (readonly [unit: string, run: string, line: string])[] = [],
): HostFiles & { readonly asked: string[] } {
  const journal = (): Buffer =>
    journalOf(
      logged.map(([unit, run, MESSAGE], at) => ({
        at,
        fields: { _SYSTEMD_UNIT: unit, _SYSTEMD_INVOCATION_ID: run, MESSAGE },
      })),
      { isCompact: true },
    );
  const asked: string[] = [];
  const below = (path: string): readonly string[] =>
    Object.keys(texts).flatMap((name) => (name.startsWith(`${path}/`) ? [name.slice(path.length + 1)] : []));
  return {
    asked,
    async text(path) {
      asked.push(path);
      return path === '/etc/machine-id' ? 'machine' : texts[path];
    },
    names: async (path) =>
      JOURNAL.startsWith(path) && logged.length > 0
        ? ['system.journal']
        : [...new Set(below(path).map((name) => name.split('/')[0] ?? ''))],
    kind: async (path) => (below(path).length > 0 ? 'directory' : 'missing'),
    real: async (path) => path,
    room: async () => undefined,
    async open(path) {
      if (path !== JOURNAL) return undefined;
      const bytes = journal();
      const read = async (at: number, length: number) => bytes.subarray(at, at + length);
      return { read, close: async () => undefined };
    },
    openPlain: async () => undefined,
  };
}

const UNIT = 'kubelet.service';
const lineOn = async (texts: Readonly<Record<string, string>>, unit = UNIT): Promise<CommandLine | undefined> => {
  const line = await createReadCommandLine({ files: hostWith(texts), unit })({ run: 'run-1', pid: 7 });
  return line && { args: line.args, seenIn: line.seenIn };
};

describe('the command line of a kubelet', () => {
  const rows: readonly (readonly [cmdline: string, args: readonly string[] | undefined])[] = [
    ['/usr/bin/kubelet\0--v=2\0--config=/a b\0', ['--v=2', '--config=/a b']],
    ['kubelet\0', []],
    ['kubelet\0--x=\0', ['--x=']],
    ['/opt/hyperkube\0kubelet\0--v=2\0--x\0', ['--v=2', '--x']],
    ['/opt/hyperkube\0apiserver\0--v=2\0', undefined],
    ['/bin/sh\0/usr/local/bin/kubelet\0--v=2\0', ['--v=2']],
    ['/usr/bin/not-kubelet\0', undefined],
    ['bash\0/home/kubernetes/bin/health-monitor.sh\0kubelet\0', undefined],
    ['', undefined],
  ];
  for (const [cmdline, args] of rows) {
    it(`is ${JSON.stringify(args)} of ${JSON.stringify(cmdline)}`, async () => {
      assert.deepEqual((await lineOn({ '/proc/7/cmdline': cmdline }))?.args, args);
    });
  }

  it('is that of the child where another program runs it', async () => {
    const texts = {
      '/proc/7/cmdline': '/usr/local/bin/rke2 agent\0',
      '/proc/7/task/7/children': '8 9 ',
      '/proc/8/cmdline': 'containerd\0-c\0/etc/containerd.toml\0',
      '/proc/9/cmdline': 'kubelet\0--config-dir=/etc\0--sync-frequency=30s\0',
    };
    const args = ['--config-dir=/etc', '--sync-frequency=30s'];
    assert.deepEqual(await lineOn(texts, 'rke2-agent.service'), { args, seenIn: 'process' });
  });

  it('is what k3s is set to where it cannot be seen: the last file wins, and + adds', async () => {
    const texts = {
      '/proc/7/cmdline': '/usr/local/bin/k3s agent\0',
      '/etc/rancher/k3s/config.yaml': 'kubelet-arg: [max-pods=50, v=4]\ndata-dir: /data/k3s\n',
      '/etc/rancher/k3s/config.yaml.d/20-b.yaml': 'kubelet-arg+: "pod-max-pids=900"\n',
      '/etc/rancher/k3s/config.yaml.d/10-a.yaml': 'kubelet-arg: max-pods=60\n',
      '/etc/rancher/k3s/config.yaml.d/30-c.txt': 'kubelet-arg: max-pods=70\n',
      '/data/k3s/agent/etc/kubelet.conf.d/00-k3s-defaults.conf': 'kind: KubeletConfiguration\n',
    };
    const own = ['--read-only-port=0', '--config-dir=/data/k3s/agent/etc/kubelet.conf.d'];
    const args = [...own, '--max-pods=60', '--pod-max-pids=900'];
    assert.deepEqual(await lineOn(texts, 'k3s-agent.service'), { args, seenIn: 'files' });
  });

  it('is what stands in the file of kubelite, with the places of its snap', async () => {
    const texts = {
      '/proc/7/cmdline': '/snap/microk8s/6809/kubelite\0--kubelet-args-file=/var/snap/microk8s/6809/args/kubelet\0',
      '/var/snap/microk8s/6809/args/kubelet':
        '# one a line\n--cert-dir=${SNAP_DATA}/certs\n--root-dir=$SNAP_COMMON/var/lib/kubelet\n  --eviction-hard="a<1,b<2"\n  --x=${SNAP}/y\n\n',
    };
    const args = [
      '--cert-dir=/var/snap/microk8s/6809/certs',
      '--root-dir=/var/snap/microk8s/common/var/lib/kubelet',
      '--eviction-hard=a<1,b<2',
      '--x=/snap/microk8s/6809/y',
    ];
    const unit = 'snap.microk8s.daemon-kubelite.service';
    assert.deepEqual(await lineOn(texts, unit), { args, seenIn: 'files' });
  });
});

describe('a command line that was seen', () => {
  const reader = (memory?: CommandLineMemory, unit = UNIT) => {
    const texts: Record<string, string> = {};
    const logged: [unit: string, run: string, line: string][] = [];
    const host = hostWith(texts, logged);
    const read = createReadCommandLine({ files: host, unit, ...(memory && { memory }) });
    const args = async (run: string | null, pid: number | undefined) =>
      (await read(pid === undefined ? { run } : { run, pid }))?.args;
    return { texts, logged, host, args };
  };
  const RUNNING = 'time="2026-01-01T00:00:00Z" level=info msg="Running kubelet --config-dir=/etc"';

  it('is read once for each run, and that of the last run holds while the kubelet is down', async () => {
    const { texts, host, args } = reader();
    assert.equal(await args(null, undefined), undefined);
    assert.equal(await args('one', 1), undefined, 'not a kubelet yet');
    texts['/proc/1/cmdline'] = 'kubelet\0--v=1\0';
    assert.deepEqual(await args('one', 1), ['--v=1']);
    const reads = host.asked.length;
    assert.deepEqual(await args('one', 1), ['--v=1']);
    assert.deepEqual(await args(null, undefined), ['--v=1']);
    assert.equal(host.asked.length, reads);
    assert.deepEqual(await args('two', 2), ['--v=1'], 'it could not be read');
    texts['/proc/2/cmdline'] = 'kubelet\0--v=2\0';
    assert.deepEqual(await args('two', 2), ['--v=2']);
  });

  it('is asked for a few times only where nothing shows it', async () => {
    const { texts, host, args } = reader();
    for (let look = 0; look < 39; look += 1) await args('one', 1);
    assert.ok(host.asked.filter((path) => path === '/proc/1/cmdline').length <= 12);
    texts['/proc/1/cmdline'] = 'kubelet\0--v=1\0';
    await args('one', 1);
    assert.deepEqual(await args('one', 1), ['--v=1'], 'also minutes later');
  });

  it('is not given up for what a program is set to while the next run has not logged its own yet', async () => {
    const { texts, args } = reader(undefined, 'k3s-agent.service');
    texts['/proc/1/cmdline'] = 'kubelet\0--v=1\0';
    await args('one', 1);
    texts['/proc/2/cmdline'] = '/usr/local/bin/k3s agent\0';
    assert.deepEqual(await args('two', 2), ['--v=1']);
  });

  it('is what k3s logs, read once', async () => {
    const unit = 'k3s-agent.service';
    const { texts, logged, host, args } = reader(undefined, unit);
    texts['/proc/1/cmdline'] = '/usr/local/bin/k3s agent\0';
    logged.push([unit, 'one', RUNNING]);
    assert.deepEqual(await args('one', 1), ['--config-dir=/etc']);
    const reads = host.asked.length;
    assert.deepEqual(await args('one', 1), ['--config-dir=/etc']);
    assert.equal(host.asked.length, reads);
  });

  it('is what RKE2 logs only until its kubelet is there, which is started with more', async () => {
    const unit = 'rke2-agent.service';
    const { texts, logged, args } = reader(undefined, unit);
    for (const [pid, run] of [
      [1, 'one'],
      [2, 'two'],
    ] as const) {
      texts[`/proc/${pid}/cmdline`] = '/usr/local/bin/rke2 agent\0';
      texts[`/proc/${pid}/task/${pid}/children`] = '';
      logged.push([unit, run, RUNNING]);
      const earlier = run === 'one' ? ['--config-dir=/etc'] : ['--sync-frequency=30s', '--config-dir=/etc', '--v=1'];
      assert.deepEqual(await args(run, pid), earlier);
      texts[`/proc/${pid}/task/${pid}/children`] = `${pid}0`;
      texts[`/proc/${pid}0/cmdline`] = `kubelet\0--sync-frequency=30s\0--config-dir=/etc\0--v=${pid}\0`;
      assert.deepEqual(await args(run, pid), ['--sync-frequency=30s', '--config-dir=/etc', `--v=${pid}`]);
    }
  });

  it('outlives the process that saw it, and is not written again', async () => {
    const saved: RememberedLine[] = [];
    const memory: CommandLineMemory = {
      load: async () => saved.at(-1),
      save: async (line) => void saved.push(line),
    };
    const first = reader(memory);
    first.texts['/proc/1/cmdline'] = 'kubelet\0--v=1\0';
    await first.args('one', 1);
    await first.args('one', 1);
    assert.deepEqual(saved, [{ run: 'one', unit: UNIT, args: ['--v=1'], seenIn: 'process' }]);
    const next = reader(memory);
    assert.deepEqual(await next.args(null, undefined), ['--v=1'], 'the kubelet is down');
    assert.deepEqual(await next.args('one', 1), ['--v=1']);
    assert.deepEqual(next.host.asked, []);
    assert.equal(saved.length, 1);
  });
});
