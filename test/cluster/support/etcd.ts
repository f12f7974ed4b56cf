import { join } from 'node:path';
import { until } from '../../support/until.ts';
import { type Daemon, startDaemon } from './daemon.ts';

/**
 * Starts an etcd on 127.0.0.1; `etcdReady` says when it serves.
 *
 * @param command path of the program
 * @param directory its log and its data go there
 */
export function startEtcd(command: string, directory: string, port: number, peerPort: number): Daemon {
  const client = `http://127.0.0.1:${port}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return startDaemon({
    name: 'etcd',
    command,
    args: [
      '--unsafe-no-fsync',
      `--data-dir=${etcdData(directory, port)}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=default=${peer}`,
    ],
    logFile: join(directory, 'etcd.log'),
  });
}

/** Where it keeps its data. */
export const etcdData = (directory: string, port: number): string => join(directory, `etcd-${port}`);

export async function etcdReady(etcd: Daemon, port: number): Promise<void> {
  const look = async (): Promise<boolean> => {
    const answer = await fetch(`http://127.0.0.1:${port}/health`, { signal: AbortSignal.timeout(10_000) });
    return (await answer.text()).includes('"true"');
  };
  await until('etcd', look, { everyMs: 50, hopeless: etcd.ended, evidence: etcd.logTail });
}
