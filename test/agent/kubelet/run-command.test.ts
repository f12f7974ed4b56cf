import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

it('what a command leaves running holds its pipes, and keeps no agent from its end', async (t) => {
  const root = temporaryDirectory(t);
  const program = `
    import { runCommand } from '#agent/kubelet/run-command.ts';
    import { systemClock } from '#shared/runtime/clock.ts';
    const line = 'sleep 300 & echo $! >${root}/pid';
    await runCommand(line, 'a test', { timeoutMs: 60_000, clock: systemClock }, new AbortController().signal);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'ignore', 2] });
  const late = setTimeout(() => child.kill('SIGKILL'), 30_000);
  const [status] = (await once(child, 'exit')) as [number | null];
  clearTimeout(late);
  process.kill(Number(await readFile(join(root, 'pid'), 'utf8')));
  assert.equal(status, 0);
});
