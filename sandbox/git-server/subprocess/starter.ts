import { spawn } from 'node:child_process';
import type { Asked, Told } from './protocol.ts';

/** A process of its own that starts programs for one that is large. */
process.on('message', (asked: Asked) => {
  const { id, file, args, cwd, env, input, timeoutMs } = asked;
  const [out, err]: [Buffer[], Buffer[]] = [[], []];
  const child = spawn(file, args, { cwd, env, timeout: timeoutMs, stdio: 'pipe' });
  child.on('error', (error: NodeJS.ErrnoException) => tell({ id, error, errorCode: error.code }));
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk));
  // It may end without having read everything: its exit code says what that means, the broken pipe nothing.
  child.stdin.on('error', () => undefined).end(input);
  child.on('close', (code) => tell({ id, code, out: Buffer.concat(out), err: Buffer.concat(err) }));
});

// An interrupt from the terminal is for whoever it starts programs for, who needs some more for an orderly end.
process.on('SIGINT', () => undefined);
// Of a program that could not be started, Node keeps the time limit until it has passed.
process.on('disconnect', () => process.exit());

/** Nobody waits for an answer any more when the other process is gone. */
const tell = (told: Told): void => void process.send?.(told, () => undefined);
