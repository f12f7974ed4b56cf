import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, readFileSync } from 'node:fs';
import { type FileHandle, open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../support/until.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { kubeconfigOf } from '../support/kubeconfig/one-cluster.ts';

const BIN = 'cli/bin.js';
const WITHIN = { withinMs: 60_000, everyMs: 20 };

/** Processes below this one, by what `/proc` says. */
function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** A process that ended and was not looked at yet does nothing any more. */
function runs(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

describe('the command line', () => {
  const directory = temporaryDirectory();
  let old = '';
  before(async () => {
    old = join(directory, 'old.cjs');
    await writeFile(old, "Object.defineProperty(process.versions, 'node', { value: '20.0.0' });\n");
  });

  const writers: FileHandle[] = [];
  after(() => Promise.all(writers.map((writer) => writer.close())));

  /** `validate`, waiting for a file that nobody writes, and whoever it started. */
  async function waiting(
    flags: readonly string[],
  ): Promise<{ readonly pid: number; readonly children: readonly number[] }> {
    const pipe = join(directory, `${writers.length}.yaml`);
    execFileSync('mkfifo', [pipe]);
    const child = spawn(process.execPath, [...flags, BIN, 'validate', pipe], { stdio: 'ignore' });
    // It can be opened without waiting once somebody reads it: then everything has started.
    const opened = async (): Promise<boolean> => {
      const writer = await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => undefined);
      if (writer !== undefined) writers.push(writer);
      return writer !== undefined;
    };
    await until('validate to read', opened, WITHIN);
    const pid = child.pid ?? 0;
    return { pid, children: childrenOf(pid) };
  }

  it('is one process, where Node is new enough', async () => {
    const { pid, children } = await waiting([]);
    assert.deepEqual(children, []);
    process.kill(pid, 'SIGTERM');
    await until('it to end', async () => !runs(pid), WITHIN);
  });

  for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
    it(`leaves nothing behind where it is ended by ${signal}, under an old Node as well`, async () => {
      const { pid, children } = await waiting(['-r', old]);
      assert.equal(children.length, 1);
      process.kill(pid, signal);
      await until('both to end', async () => [pid, ...children].every((each) => !runs(each)), WITHIN);
    });
  }

  it('ends when it has said what failed, though a plugin that gets credentials goes on', async () => {
    // One of the questions fails at once; what the others wait for ends with who started it.
    const script = `mkdir ${join(directory, 'first')} 2>/dev/null && exit 1; while kill -0 $PPID; do sleep 0.1; done`;
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh', args: ['-c', script] };
    const kubeconfig = join(directory, 'kubeconfig');
    const user = { exec: { ...exec, interactiveMode: 'Never' } };
    await writeFile(kubeconfig, kubeconfigOf({ server: 'https://127.0.0.1:1' }, user));
    const child = spawn(process.execPath, [BIN, 'events', '--kubeconfig', kubeconfig], { stdio: 'ignore' });
    const { pid = 0 } = child;
    const ended = once(child, 'exit');
    await until('it to end', async () => !runs(pid), WITHIN).catch((error: unknown) => {
      child.kill('SIGKILL');
      throw error;
    });
    assert.deepEqual(await ended, [2, null]);
  });

  it('says that its output cannot be written, and ends with 2', async () => {
    const full = await open('/dev/full', 'w');
    const child = spawn(process.execPath, [BIN, '--help'], { stdio: ['ignore', full.fd, 'pipe'] });
    let said = '';
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
    assert.deepEqual(await once(child, 'close'), [2, null]);
    await full.close();
    assert.match(said, /^kubelet-gitops: standard output cannot be written: ENOSPC[^\n]*\n$/);
  });

  it('says the same and ends the same under an old Node', async () => {
    for (const flags of [[], ['-r', old]]) {
      const child = spawn(process.execPath, [...flags, BIN, 'validate', '--nonsense'], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
      assert.deepEqual(await once(child, 'close'), [2, null]);
      assert.match(said, /knows no option --nonsense/);
    }
  });
});
