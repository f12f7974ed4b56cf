import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createCommandService } from '#agent/kubelet/service-command.ts';
import type { KubeletService } from '#agent/ports/kubelet-service.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { until } from '../../support/until.ts';

const never = new AbortController().signal;

describe('a kubelet behind a command', () => {
  let directory: string;
  let pidFile: string;
  let processes: ChildProcess[];
  const at = (name: string): string => join(directory, name);
  const service = (restartCommand = 'true', timeoutMs = 10_000): KubeletService =>
    createCommandService({ restartCommand, pidFile, timeoutMs });
  const start = async (): Promise<ChildProcess> => {
    const child = spawn('sleep', ['1000']);
    processes.push(child);
    await once(child, 'spawn');
    await writeFile(pidFile, `${child.pid}\n`);
    return child;
  };
  const failsWith = (message: RegExp) => (error: unknown) =>
    codeOf(error) === 'SERVICE_RESTART_FAILED' && error instanceof Error && message.test(error.message);

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-command-'));
    pidFile = at('kubelet.pid');
    processes = [];
  });
  afterEach(async () => {
    for (const child of processes) child.kill('SIGKILL');
    await rm(directory, { recursive: true });
  });

  it('runs while its process does, each time as another run', async () => {
    const first = await start();
    const before = await service().status(never);
    assert.equal(before.state, 'running');
    assert.equal((await service().status(never)).run, before.run);
    const gone = once(first, 'exit');
    first.kill('SIGKILL');
    await gone;
    assert.deepEqual(await service().status(never), { state: 'stopped', run: null, automaticRestarts: null });
    await start();
    const after = await service().status(never);
    assert.ok(after.state === 'running' && after.run !== before.run);
  });

  it('is stopped without its pid file, or with nonsense in it', async () => {
    assert.equal((await service().status(never)).state, 'stopped');
    for (const text of ['', 'x', '-1', '0', '4194305']) {
      await writeFile(pidFile, text);
      assert.equal((await service().status(never)).state, 'stopped', text);
    }
  });

  it('is unknown where there is no pid file to look at', async () => {
    const { state, reason } = await createCommandService({ restartCommand: 'true', pidFile: undefined }).status(never);
    assert.deepEqual({ state, named: /KUBELET_PID_FILE/.test(reason ?? '') }, { state: 'unknown', named: true });
  });

  it('that appears and disappears is told of', async () => {
    let changes = 0;
    const stop = service().watch(() => (changes += 1));
    await start();
    await until('the pid file is noticed', () => changes > 0);
    stop();
    const nowhere = createCommandService({ restartCommand: 'true', pidFile: '/nowhere/kubelet.pid' });
    nowhere.watch(() => undefined)();
  });

  it('is restarted by the shell line, which knows why', async () => {
    await service(`printf %s "$KUBELET_RESTART_REASON" > ${at('why')}; true && exit 0`).restart(`it's "new"`, never);
    assert.equal(await readFile(at('why'), 'utf8'), `it's "new"`);
  });

  it('is not waited for when the line leaves it running in the background', async () => {
    const line = `sh -c 'echo started; while :; do echo on; echo >> ${at('beats')}; sleep 0.01; done' & echo $! > ${pidFile}`;
    await service(line).restart('test', never);
    const { run } = await service().status(never);
    assert.notEqual(run, null);
    // It goes on writing to the pipe that it got from us.
    await until('it has written often', () => existsSync(at('beats')) && statSync(at('beats')).size > 10);
    assert.equal((await service().status(never)).run, run);
    process.kill(Number(await readFile(pidFile, 'utf8')), 'SIGKILL');
  });

  it('whose command fails says how, with the end of the output', async () => {
    const noisy = service('seq 1 10000; echo no such service >&2; exit 5');
    await assert.rejects(noisy.restart('test', never), failsWith(/status 5: [\s\S]*10000\s+no such service$/));
    await assert.rejects(service('kill -TERM $$').restart('test', never), failsWith(/signal SIGTERM/));
  });

  it('whose command takes too long is given up, and the command is ended with all that it started', async () => {
    const line = `sh -c 'echo $$ > ${at('inner')}; sleep 1000'; echo never`;
    let inner = '';
    // A busy machine may not have started the inner process by then.
    for (let limitMs = 100; inner === ''; limitMs *= 2) {
      const restarting = service(line, limitMs).restart('test', never);
      await assert.rejects(restarting, failsWith(new RegExp(`more than ${limitMs} ms`)));
      inner = existsSync(at('inner')) ? (await readFile(at('inner'), 'utf8')).trim() : '';
    }
    await until('the inner process is gone', () => !existsSync(`/proc/${inner}`));
    const giveUp = new AbortController();
    const given = service('sleep 1000').restart('test', giveUp.signal);
    giveUp.abort();
    await assert.rejects(given, failsWith(/given up/));
  });
});
