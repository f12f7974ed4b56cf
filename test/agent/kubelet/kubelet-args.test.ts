import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createKubeletArgs, kubeletArgsOf } from '#agent/kubelet/kubelet-args.ts';

describe('the command line of a kubelet', () => {
  const argsOf = (cmdline: string | undefined, pid: number | undefined = 7) =>
    kubeletArgsOf(pid, { text: async (path) => (path === '/proc/7/cmdline' ? cmdline : undefined) });

  const rows: readonly (readonly [cmdline: string | undefined, args: readonly string[] | undefined])[] = [
    ['/usr/bin/kubelet\0--v=2\0--config=/a b\0', ['--v=2', '--config=/a b']],
    ['kubelet\0', []],
    ['kubelet\0--x=\0', ['--x=']],
    ['/opt/hyperkube\0kubelet\0--v=2\0--x\0', ['--v=2', '--x']],
    ['/opt/hyperkube\0apiserver\0--v=2\0', undefined],
    ['/usr/bin/k3s\0server\0', undefined],
    ['/usr/bin/not-kubelet\0', undefined],
    ['', undefined],
    [undefined, undefined],
  ];
  for (const [cmdline, args] of rows) {
    it(`is ${JSON.stringify(args)} of ${JSON.stringify(cmdline)}`, async () => {
      assert.deepEqual(await argsOf(cmdline), args);
    });
  }

  it('is not known of no process, nor of another one', async () => {
    assert.equal(await kubeletArgsOf(undefined, { text: async () => 'kubelet\0' }), undefined);
    assert.equal(await argsOf('kubelet\0', 8), undefined);
  });
});

it('a command line is read once for each run, and that of the last run holds while the kubelet is down', async () => {
  const reads: number[] = [];
  const answers: (readonly string[] | Error | undefined)[] = [undefined, ['--v=1'], new Error('gone'), ['--v=2']];
  const args = createKubeletArgs(async (pid) => {
    reads.push(pid);
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer;
  });
  assert.equal(await args(null, undefined), undefined);
  assert.equal(await args('one', 1), undefined, 'not a kubelet yet');
  assert.deepEqual(await args('one', 1), ['--v=1']);
  assert.deepEqual(await args('one', 1), ['--v=1']);
  assert.deepEqual(await args(null, undefined), ['--v=1']);
  assert.deepEqual(await args('two', 2), ['--v=1'], 'it could not be read');
  assert.deepEqual(await args('two', 2), ['--v=2']);
  assert.deepEqual(reads, [1, 1, 2, 2]);
});
