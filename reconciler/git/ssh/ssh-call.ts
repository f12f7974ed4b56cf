import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { chunksOf, collectBody, streamBody } from '#shared/http/body.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import { GitError } from '../errors.ts';
import type { RequestDeadlines } from '../request-deadlines.ts';
import { withBufferGc, type Take } from '../wire/pack-answer.ts';
import { createGreetingReader } from './greeting.ts';
import { sshErrorOf } from './ssh-error.ts';

export interface SshCall {
  readonly program: string;
  readonly args: readonly string[];
  /** Whether version 2 of git's protocol is asked for. */
  readonly version: 0 | 2;
  /** What is said after the server's greeting; null to say goodbye at once. */
  readonly body: Uint8Array | null;
  readonly maxGreetingBytes: number;
  readonly maxBytes: number;
  /** Takes in what follows the greeting, in place of `SshAnswer.body`, which is empty then. */
  readonly take?: Take | undefined;
  /** The repository, for messages. */
  readonly shown: string;
}

export interface SshAnswer {
  readonly greeting: Buffer;
  /** Everything after it. */
  readonly body: Buffer;
}

const GOODBYE = Buffer.from('0000');
const MOST_OF_STDERR = 4096;
/** Where ssh is looked for. Nothing else of this program's environment is any of its business. */
const PATH = '/usr/local/bin:/usr/bin:/bin';

/** One command on the server: its greeting, what we say, its answer. The process is gone when this settles. */
export async function callSsh(call: SshCall, patience: RequestDeadlines): Promise<SshAnswer> {
  const child = spawn(call.program, [...call.args], {
    env: { PATH, LC_ALL: 'C', ...(call.version === 2 ? { GIT_PROTOCOL: 'version=2' } : {}) },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const giveUp = (): void => void child.kill('SIGKILL');
  patience.life.signal.addEventListener('abort', giveUp, { once: true });
  if (patience.life.signal.aborted) giveUp();
  const ended = endOf(child, call);
  const stderr = collectStderr(child.stderr);
  try {
    const answer = await converse(child, call, patience);
    if (answer.cutShort) return answer;
    const exitCode = await ended;
    if (patience.life.signal.aborted) throw patience.life.signal.reason;
    if (exitCode !== 0) throw sshErrorOf(call.shown, exitCode, await stderr);
    return answer;
  } finally {
    patience.life.signal.removeEventListener('abort', giveUp);
    giveUp();
    await ended.catch(() => undefined);
  }
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

function endOf(child: Child, { program }: SshCall): Promise<number | null> {
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('close', resolve);
    child.once('error', (cause) => {
      reject(
        new GitError(
          'GIT_SSH_MISSING',
          `${program} cannot be run (${codeOf(cause) ?? 'for an unknown reason'}): reading over ssh takes the image that has it`,
          { cause },
        ),
      );
    });
  });
  // Looked at later, if at all.
  ended.catch(() => undefined);
  return ended;
}

async function collectStderr(stream: Readable): Promise<string> {
  let text = '';
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (text.length < MOST_OF_STDERR) text += chunk.toString('utf8').slice(0, MOST_OF_STDERR);
    }
  } catch {
    // What was heard until then will do.
  }
  return text;
}

async function converse(
  { stdin, stdout }: Child,
  call: SshCall,
  { life, connect, idle }: RequestDeadlines,
): Promise<SshAnswer & { readonly cutShort: boolean }> {
  // The other end may hang up before it heard everything: its exit code and its words say why.
  stdin.on('error', () => undefined);
  const greeting = createGreetingReader(call.maxGreetingBytes);
  let greetingEnd: number | null = null;
  async function* afterGreeting(): AsyncGenerator<Buffer> {
    for await (const chunk of chunksOf(stdout, life, idle, connect)) {
      if (greetingEnd !== null) {
        yield chunk;
        continue;
      }
      const room = call.maxGreetingBytes - greeting.bytes().length;
      // What is not git's protocol is that, however much of it comes at once.
      greetingEnd = greeting.push(chunk.subarray(0, room));
      if (chunk.length > room) throw tooLong(call, call.maxGreetingBytes);
      if (greetingEnd === null) continue;
      stdin.end(call.body ?? GOODBYE);
      yield greeting.bytes().subarray(greetingEnd);
    }
  }
  const bounds = { maxBytes: call.maxBytes, tooLong: () => tooLong(call, call.maxBytes) };
  const cutShort = call.take !== undefined && (await streamBody(afterGreeting(), bounds, withBufferGc(call.take)));
  const body = call.take === undefined ? await collectBody(afterGreeting(), bounds) : Buffer.alloc(0);
  const heard = greeting.bytes();
  return { greeting: heard.subarray(0, greetingEnd ?? heard.length), body, cutShort };
}

function tooLong({ shown }: SshCall, most: number): GitError {
  return new GitError('GIT_TOO_BIG', `${shown} sends more than the ${most} bytes that are read of one answer`);
}
