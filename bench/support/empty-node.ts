import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { IsolatedProcess } from './isolated-process.ts';

/** A Node that does nothing: the least that a program on Node takes. */
export interface EmptyNode {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

export async function startEmptyNode({ node, cgroupProcs }: IsolatedProcess): Promise<EmptyNode> {
  const script = 'echo $$ > "$1" && exec "$2" -e "setInterval(()=>{},1e9)"';
  const child = spawn('/bin/sh', ['-c', script, 'sh', cgroupProcs, node], { stdio: 'ignore', env: {} });
  await once(child, 'spawn');
  return {
    pid: child.pid ?? Number.NaN,
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
