import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runInSubprocess } from '#sandbox/git-server/subprocess/run-in-subprocess.ts';

it('the process that starts programs outlives an interrupt, which a terminal sends to all', async () => {
  const script = 'kill -INT $PPID && echo "still there"';
  const program = {
    file: 'sh',
    args: ['-c', script],
    env: { PATH: process.env['PATH'] },
    input: '',
    timeoutMs: 60_000,
  };
  const { code, out } = await runInSubprocess(program);
  assert.deepEqual([code, String(out)], [0, 'still there\n']);
});
