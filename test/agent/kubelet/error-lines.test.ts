import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createErrorLines } from '#agent/kubelet/error-lines.ts';

const at = 'E1122 15:27:13.502266      69';

const byK0s = (text: string, chunk = ''): string =>
  `time="2026-01-01 00:00:00" level=info msg="${text}" ${chunk}component=kubelet stream=stderr`;

function errorsOf(...lines: readonly string[]): readonly string[] {
  const errors = createErrorLines();
  for (const line of lines.toReversed()) errors.add(line);
  return errors.lines();
}

/** What a kubelet wrote, the oldest first, and what is shown of it. */
const ROWS: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  [
    'an error of klog, without its time and process',
    [`${at} run.go:74] "command failed" err="failed to run Kubelet: no such cgroup"`],
    ['run.go:74] "command failed" err="failed to run Kubelet: no such cgroup"'],
  ],
  [
    'a fatal error, and not the stacks below it',
    [
      'F1122 15:27:13.502266      69 server.go:269] failed to run Kubelet: no room',
      'goroutine 1 [running]:',
      'k8s.io/kubernetes/vendor/k8s.io/klog/v2.stacks(0xc00000e001, 0xc000a4a000, 0x9c, 0x1f4)',
      '\t/go/src/k8s.io/kubernetes/vendor/k8s.io/klog/v2/klog.go:1026 +0xb9',
      'created by k8s.io/kubernetes/cmd/kubelet/app.run',
      '',
    ],
    ['server.go:269] failed to run Kubelet: no room'],
  ],
  [
    'an error with line breaks, as kubelet 1.37 writes it of a drop-in that sets a field twice',
    [
      `${at} run.go:72] "command failed" err=<`,
      '\tfailed to load kubelet dropin file: yaml: unmarshal errors:',
      '\t  line 4: key "maxPods" already set in map',
      ' >',
    ],
    [
      'run.go:72] "command failed" err=< failed to load kubelet dropin file: yaml: unmarshal errors: line 4: key "maxPods" already set in map >',
    ],
  ],
  [
    'of errors with line breaks what is theirs, and not all of a long one',
    [
      'I1122 15:27:13.489379      69 server.go:257] "Effective KubeletConfiguration" config=<',
      '\taddress: 0.0.0.0',
      ' >',
      `${at} a.go:1] "Unable" err=<`,
      ...Array.from({ length: 20 }, (_, line) => `\tline ${line}`),
      ' >',
      'E1122 15:27:13.502266      69 a.go:1] cannot read: yaml: unmarshal errors:',
      '  line 5: no such field',
      'F1122 15:27:13.502266      69 a.go:1] no more',
      '\t/go/src/klog.go:1026 +0xb9',
    ],
    [
      'a.go:1] no more',
      'a.go:1] cannot read: yaml: unmarshal errors: line 5: no such field',
      'a.go:1] "Unable" err=< line 0 line 1 line 2 line 3 line 4 line 5 line 6 line 7',
    ],
  ],
  [
    'an error that k0s passes on, and not what k0s says itself',
    [
      byK0s(`${at} run.go:72] \\"command failed\\" err=<`),
      byK0s(String.raw`\tfailed to load: no such C:\\gate`),
      byK0s(' >'),
      byK0s(`${at} a.go:1] a chunk of many`, 'chunk=1 '),
      byK0s('I1122 15:27:13.502266      69 a.go:1] fine'),
      'time="2026-01-01 00:00:00" level=info msg="E1122 15:27:13.502266      69 a.go:1] of etcd" component=etcd stream=stderr',
      'time="2026-01-01 00:00:00" level=warning msg="Failed to wait for process" component=kubelet error="exit status 1"',
    ],
    ['a.go:1] a chunk of many', 'run.go:72] "command failed" err=< failed to load: no such C:\\gate >'],
  ],
  ['nothing of lines that say nothing', ['\u0000\u0007', '{}'], []],
  [
    'nothing of what is no error',
    [
      'I1122 15:27:13.489379      69 server.go:416] Version: v1.20.2',
      'W1122 15:27:13.502237      69 container_manager_linux.go:949] CPUAccounting not enabled for pid: 69',
      'Flag --cloud-provider has been deprecated, will be removed',
    ],
    [],
  ],
  [
    'the newest three, the newest first, each once however often the kubelet was started again',
    ['one', 'two', 'three', 'four', 'three', 'four'].map((text) => `${at} a.go:1] ${text}`),
    ['a.go:1] four', 'a.go:1] three', 'a.go:1] two'],
  ],
  [
    'an error of a log in JSON, and not its lines that have a verbosity',
    [
      '{"ts":1700000000000.1,"caller":"app/server.go:1","msg":"Starting","v":0}',
      '{"ts":1700000000000.2,"caller":"kubelet/run.go:72","msg":"command failed","err":"no such file"}',
      '{"ts":1700000000000.3,"caller":"cut o',
    ],
    ['kubelet/run.go:72: command failed: no such file'],
  ],
  [
    'an error of a log in JSON that is longer than what is read of it',
    [
      `{"ts":1700000000000.1,"caller":"app/server.go:1","msg":"Effective","v":0,"config":"${'x'.repeat(4000)}`,
      `{"ts":1700000000000.2,"caller":"pod_workers.go:1301","msg":"Error syncing pod, skipping","pod":{"name":"a${'x'.repeat(4000)}`,
      `{"ts":1700000000000.3,"logger":"UnhandledError","caller":"run.go:72","msg":"command \\"failed\\"","err":"no such file: ${'y'.repeat(4000)}`,
    ],
    [
      `${String.raw`run.go:72: command \"failed\": no such file: `.padEnd(279, 'y')}…`,
      `${'pod_workers.go:1301: Error syncing pod, skipping: "pod":{"name":"a'.padEnd(279, 'x')}…`,
    ],
  ],
  [
    'a panic',
    ['panic: runtime error: index out of range [3]', 'main.main()'],
    ['panic: runtime error: index out of range [3]'],
  ],
  [
    'a mistake in its flags, and not the usage below it',
    ['Error: unknown flag: --nope', 'Usage:', '  kubelet [flags]', '      --v Level'],
    ['Error: unknown flag: --nope'],
  ],
  [
    'what starts the kubelet, where the kubelet itself says nothing',
    ['exec /usr/bin/kubelet: no such file or directory'],
    ['exec /usr/bin/kubelet: no such file or directory'],
  ],
  ['the kubelet, where both say something', [`${at} a.go:1] one`, 'a wrapper wonders'], ['a.go:1] one']],
  [
    'no secret',
    [`${at} a.go:1] POST https://bot:hunter2@example.com?key=hunter2 with Bearer hunter2hunter2`],
    ['a.go:1] POST https://[redacted]@example.com?[redacted] with Bearer [redacted]'],
  ],
  [
    'nothing that a container was told, as kubelets print one that does not start, but why it does not',
    [
      `${at} kuberuntime_manager.go:1222] container &Container{Name:app,Image:app:1,Command:[app -p hunter2],Args:[],Env:[]EnvVar{EnvVar{Name:DB_PASSWORD,Value:hunter2,ValueFrom:nil,},EnvVar{Name:DB,Value:https://db/x?y=1,ValueFrom:nil,},},ResizePolicy:[]ContainerResizePolicy{},} start failed in pod app_default(8f43): CreateContainerConfigError: secret "app" not found`,
    ],
    [
      'kuberuntime_manager.go:1222] container &Container{Name:app,[redacted]} start failed in pod app_default(8f43): CreateContainerConfigError: secret "app" not found',
    ],
  ],
  ['no control characters', [`${at} a.go:1] one\u0007\ntwo\u001b[31m`], ['a.go:1] one two [31m']],
  ['no characters that turn the order of letters', [`${at} a.go:1] one\u202etwo`], ['a.go:1] one two']],
];

describe('what is shown of a kubelet’s log', () => {
  for (const [what, lines, expected] of ROWS) {
    it(what, async () => assert.deepEqual(errorsOf(...lines), expected));
  }

  it('is cut after it was redacted, so that no half of a secret is left', async () => {
    const token = `eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(400)}`;
    const [line = ''] = errorsOf(`${at} a.go:1] ${'x'.repeat(230)} ${token}`);
    assert.match(line, /^a\.go:1\] x{230} \[redacted\]$/);
    const [long = ''] = errorsOf(`${at} a.go:1] ${'x'.repeat(5000)}`);
    assert.equal(long.length, 280);
    assert.match(long, /x…$/);
  });

  it('costs little of a long line that is made to cost much', async () => {
    const started = performance.now();
    errorsOf(`${'('.repeat(4096)}!`, `${'a.'.repeat(2048)}(`, `${at} a.go:1] ${'token '.repeat(700)}`);
    assert.ok(performance.now() - started < 2_000);
  });

  it('tells how many different errors it has, and keeps no more than three', () => {
    const errors = createErrorLines();
    const counts = ['goroutine 1 [running]:', 'a start script', 'one', 'one', 'two', 'three', 'four'].map((text) =>
      errors.add(/^(goroutine|a )/.test(text) ? text : `${at} a.go:1] ${text}`),
    );
    assert.deepEqual(counts, [0, 0, 1, 1, 2, 3, 3]);
    assert.deepEqual(errors.lines(), ['a.go:1] one', 'a.go:1] two', 'a.go:1] three']);
  });
});
