import { type ChildProcess, spawn } from 'node:child_process';
import { createLifetime, within } from '#shared/runtime/lifetime.ts';
import type { Clock, Millis } from '#shared/runtime/clock.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';

export interface RunOptions {
  readonly timeoutMs: Millis;
  readonly clock: Clock;
}

/** The end of a failed command's output that goes into the error. */
const MOST_OUTPUT = 500;

/** What is still in the pipe comes at once; whatever the command left running may hold it open forever. */
const LAST_WORDS_MS = 100;

/**
 * Runs a shell line to its end. What it leaves running in the background is left alone; when it takes too long, all of it
 * is ended.
 *
 * @throws GitopsError SERVICE_RESTART_FAILED with the end of its output
 */
export async function runCommand(
  line: string,
  because: string,
  { timeoutMs, clock }: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const life = createLifetime(clock, signal, () => failed(line, 'given up', ''));
  life.cutAfter(timeoutMs, () => failed(line, `it takes more than ${timeoutMs} ms`, ''));
  // A process group of its own, so that it can be ended as a whole.
  const script = `export KUBELET_RESTART_REASON="$1"\n${line}`;
  const child = spawn('sh', ['-c', script, 'sh', because], { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const output = tailOf(child);
  try {
    const end = await within(life.signal, ended(child));
    if (end === 'status 0') return;
    await Promise.race([closed(child), clock.sleep(LAST_WORDS_MS)]);
    throw failed(line, end, output());
  } catch (error) {
    if (life.signal.aborted) killGroup(child);
    throw error;
  } finally {
    life.end();
  }
}

function ended(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (status, signal) => resolve(signal === null ? `status ${status}` : `signal ${signal}`));
    child.once('error', (error) => resolve(reasonOf(error)));
  });
}

const closed = (child: ChildProcess): Promise<void> => new Promise((resolve) => child.once('close', () => resolve()));

/** Reads on for as long as a process holds the pipes, so that no writer gets SIGPIPE; that keeps no process alive. */
function tailOf(child: ChildProcess): () => string {
  let tail = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-MOST_OUTPUT);
    });
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
  return () => tail.trim();
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended meanwhile.
  }
}

function failed(line: string, how: string, output: string): GitopsError<'SERVICE_RESTART_FAILED'> {
  const shownOutput = output === '' ? '' : `: ${output}`;
  return new GitopsError(
    'SERVICE_RESTART_FAILED',
    `the command that restarts the kubelet failed (${line}): ${how}${shownOutput}`,
  );
}
