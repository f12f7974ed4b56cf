import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { createHostFiles } from '#agent/host/host-files.ts';
import { createMarkLog, createReadLastErrors } from '#agent/kubelet/last-errors.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { nodeSkipReason as whyNoRunc } from '../cluster/support/binaries.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { type BootedNode, bootNode } from './support/booted-node.ts';
import { type PodNode, startPodNode } from './support/pod-node.ts';
import { type SandboxCluster, startSandboxCluster } from './support/sandbox-cluster.ts';
import { nodeSkipReason } from './support/tree.ts';

const skip = (await nodeSkipReason()) || (await whyNoRunc());
const never = new AbortController().signal;

/** Longer than what journald leaves uncompressed. */
const LONG = 'x'.repeat(700);

/** Says what a kubelet says, and ends; the third says nothing and stays, so that nobody reads half a run. */
const KUBELET = `#!/bin/sh
n=$(cat /run/starts 2>/dev/null || echo 0)
[ "$n" -lt 2 ] || exec sleep infinity
echo $((n + 1)) >/run/starts
echo "I1122 15:27:13.489379      69 server.go:416] Version: v1.20.2" >&2
echo "E1122 15:27:13.489379      69 a.go:1] ${LONG}" >&2
echo "E1122 15:27:13.489379      69 b.go:1] the same at every start" >&2
echo "F1122 15:27:13.489379      69 server.go:269] failed to run Kubelet: start $n" >&2
i=0; while [ $i -lt 300 ]; do echo "goroutine $i [running]:" >&2; i=$((i + 1)); done
exit 255
`;
const unit = (rest: string): string =>
  `[Unit]\nStartLimitIntervalSec=0\n[Service]\nExecStart=/usr/local/bin/kubelet\n${rest}\n`;

/** What journald wrote before systemd 252 and before 246. */
const LAYOUTS = {
  'as this systemd writes them': '',
  'as before 252': 'Environment=SYSTEMD_JOURNAL_COMPACT=0',
  'as before 246': 'Environment=SYSTEMD_JOURNAL_COMPACT=0 SYSTEMD_JOURNAL_KEYED_HASH=0',
};

for (const [layout, environment] of Object.entries(LAYOUTS)) {
  describeOrSkip(`journal files of a real journald, ${layout}`, { skip }, () => {
    let node: BootedNode;
    before(async () => {
      node = await bootNode({
        files: {
          '/etc/systemd/system/systemd-journald.service.d/layout.conf': `[Service]\n${environment}\n`,
          '/usr/local/bin/kubelet': { text: KUBELET, mode: 0o755 },
          '/etc/systemd/system/kubelet.service': unit('Restart=on-failure\nRestartSec=200ms'),
          '/etc/systemd/system/quiet.service': unit('StandardError=null\nRestart=no'),
        },
      });
    });
    after(() => node?.stop());

    const wordsOf = (name: string, since?: string, notOf: readonly string[] = []): Promise<readonly string[]> =>
      createReadLastErrors({ files: createHostFiles(node.root), unit: name, clock: systemClock })(
        { since, notOf },
        never,
      );

    it('give the last errors of a unit, over its restarts, and none of a run that is left out', async () => {
      assert.deepEqual(await wordsOf('kubelet.service'), []);
      await node.systemctl('start', '--no-block', 'kubelet.service');
      const words = await until('the second start’s error', async () => {
        const found = await wordsOf('kubelet.service');
        return found.some((line) => line.endsWith('start 1')) ? found : undefined;
      });
      await node.systemctl('stop', 'kubelet.service');
      assert.equal(words[0], 'server.go:269] failed to run Kubelet: start 1');
      assert.equal(words[1], 'b.go:1] the same at every start');
      const [header = ''] = (await node.run('journalctl', '--header')).match(/Incompatible flags:.*/) ?? [];
      assert.equal(header.includes('COMPACT'), environment === '', header);
      assert.equal(header.includes('KEYED-HASH'), !environment.includes('KEYED_HASH=0'), header);
      const lines = (await node.run('journalctl', '--unit=kubelet.service', '--output=json', '--lines=400'))
        .trim()
        .split('\n');
      const invocation = lines
        .map((line) => JSON.parse(line) as { readonly MESSAGE: string; readonly _SYSTEMD_INVOCATION_ID?: string })
        .findLast(({ MESSAGE }) => MESSAGE.includes('failed to run'))?._SYSTEMD_INVOCATION_ID;
      assert.ok(invocation !== undefined);
      const [last = ''] = await wordsOf('kubelet.service');
      const others = await wordsOf('kubelet.service', undefined, [invocation]);
      assert.ok(!others.includes(last), `${last} is among ${others.join()}`);
      assert.ok(others.includes('b.go:1] the same at every start'));
    });

    it('give what journald compressed, nothing from before a moment, and nothing of a unit that logs elsewhere', async () => {
      assert.ok((await wordsOf('kubelet.service')).length > 0);
      const files = createHostFiles(node.root);
      const all = createReadLastErrors({ files, unit: 'kubelet.service', clock: systemClock });
      const runs = await node.run('journalctl', '--unit=kubelet.service', '--output=export');
      const ids = [...new Set([...runs.matchAll(/^_SYSTEMD_INVOCATION_ID=(\w{32})$/gm)].map(([, id = '']) => id))];
      const [, ...butTheFirst] = ids;
      const first = await all({ since: undefined, notOf: butTheFirst }, never);
      assert.match(first[2] ?? '', /^a\.go:1\] x{271}…$/);
      assert.deepEqual(await wordsOf('kubelet.service', '2999-01-01T00:00:00Z'), []);
      await node.systemctl('start', 'quiet.service').catch(() => undefined);
      assert.deepEqual(await wordsOf('quiet.service'), []);
    });
  });
}

const LOG_FILE = '/var/log/kubelet/kubelet.log';
/** As RKE2: starts the kubelet again itself, writes what it says into a file, and into the journal only that it ended. */
const RKE2 = `#!/bin/sh
while :; do
  n=$((n + 1))
  { echo "I1122 15:27:13.489379      69 server.go:416] Version: v1.34.2"
    echo "E1122 15:27:13.489379      69 run.go:72] run $(cat /run/run), start $n"; } >>${LOG_FILE}
  echo 'time="2026-01-01T00:00:00Z" level=error msg="Kubelet exited: exit status 1"' >&2
  sleep 0.2
done
`;

describeOrSkip('the log file of a kubelet that RKE2 starts', { skip: await nodeSkipReason() }, () => {
  const name = 'rke2-agent.service';
  let node: BootedNode;
  before(async () => {
    node = await bootNode({
      files: {
        '/usr/local/bin/rke2': { text: RKE2, mode: 0o755 },
        [`/etc/systemd/system/${name}`]: '[Service]\nExecStart=/usr/local/bin/rke2 agent\n',
        [LOG_FILE]: '',
      },
    });
  });
  after(() => node?.stop());

  it('tells why it died, since the restart, also where it was put aside meanwhile', async () => {
    const options = { files: createHostFiles(`/proc/${node.leader()}/root`), clock: systemClock };
    const read = createReadLastErrors({ ...options, unit: name, logFile: LOG_FILE });
    const begin = async (run: number): Promise<void> => {
      await node.run('sh', '-c', `echo ${run} >/run/run && systemctl restart ${name}`);
      await until('three starts', async () => (await node.run('cat', LOG_FILE)).includes(`run ${run}, start 3`));
    };
    await begin(1);
    const since = new Date().toISOString();
    const mark = await createMarkLog({ ...options, logFile: LOG_FILE })(never);
    assert.ok(mark !== undefined && mark.offset > 0);
    await begin(2);
    const whole = await read({ since, notOf: [], mark }, never);
    assert.match(
      whole.join(),
      /^run\.go:72\] run 2, start \d+,run\.go:72\] run 2, start \d+,run\.go:72\] run 2, start \d+$/,
    );
    await node.run('mv', LOG_FILE, `${LOG_FILE}.1`);
    await until('the new file', async () => (await node.run('cat', LOG_FILE)).includes('start'));
    await node.systemctl('stop', name);
    const [newest, ...older] = await read({ since, notOf: [], mark }, never);
    assert.equal(older.length, 2);
    assert.match(newest ?? '', /run 2/);
    // Without a mark nobody knows whose lines these are.
    assert.deepEqual(await read({ since, notOf: [] }, never), [
      'time="2026-01-01T00:00:00Z" level=error msg="Kubelet exited: exit status 1"',
    ]);
  });
});

describeOrSkip('the last words of a kubelet, with exactly what the DaemonSet gives the agent', { skip }, () => {
  let cluster: SandboxCluster;
  let node: PodNode;
  before(async () => {
    cluster = await startSandboxCluster('node-a');
    node = await startPodNode(cluster, 'node-a');
  });
  after(async () => {
    await node?.stop();
    await cluster?.stop();
  });

  it('stand in the status of a node that took a config back', async () => {
    const pod = await node.startPod();
    const reaches = (what: string, holds: (status: KubeletNodeStatus) => boolean): Promise<KubeletNodeStatus> =>
      until(what, async () => (holds(cluster.status()) ? cluster.status() : undefined), {
        everyMs: 50,
        evidence: () => `${JSON.stringify(cluster.status())}\n${pod.log().slice(-3000)}`,
      });
    await reaches('rest on local', (now) => now.phase === 'Idle' && now.active?.name === 'local');
    const name = cluster.assign({ maxPods: 666 });
    const status = await reaches('the way back', (now) => now.phase === 'Idle' && now.error?.config === name);
    assert.equal(status.error?.reason, 'CrashLoop');
    assert.match(status.error?.message ?? '', /\. The kubelet’s last error: “maxPods: 666 makes no sense”$/);
    assert.equal(status.rejected?.[0]?.message, status.error?.message);
  });
});
