import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** A Node that does nothing: what nobody who ships one gets below. */
export interface EmptyNode {
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

/** Timers that it has. */
export const EMPTY_NODE_TIMERS = 1;

export async function startEmptyNode(): Promise<EmptyNode> {
  const child = spawn(process.execPath, ['-e', 'setInterval(()=>{},1e9)'], { stdio: 'ignore', env: {} });
  await once(child, 'spawn');
  return {
    pid: child.pid ?? Number.NaN,
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}
