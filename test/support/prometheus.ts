import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDaemon } from '../cluster/support/daemon.ts';
import { freePorts } from '../cluster/support/free-ports.ts';
import { until } from './until.ts';

/** A real Prometheus on this machine, for one test file. */
export interface RealPrometheus {
  /** Base address of its API, with the prefix and without a slash at its end. */
  readonly url: string;
  /** What a query has for a result now. Rejects where Prometheus takes it for none. */
  ask(query: string): Promise<readonly unknown[]>;
  /** Waits until a query has a result, and hands that out. */
  answer(query: string): Promise<readonly unknown[]>;
  stop(): Promise<void>;
}

/**
 * @param files configuration by name; `config.yaml` is read at the start
 * @param data  directory with blocks of samples; default: none
 */
export async function startPrometheus(
  files: Readonly<Record<string, string>>,
  routePrefix = '/',
  data?: string,
): Promise<RealPrometheus> {
  const directory = await mkdtemp(join(tmpdir(), 'prometheus-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}${routePrefix}`.replace(/\/$/, '');
  const args = [
    `--config.file=${join(directory, 'config.yaml')}`,
    `--storage.tsdb.path=${data ?? join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    `--web.route-prefix=${routePrefix}`,
  ];
  const logFile = join(directory, 'log');
  const daemon = startDaemon({ name: 'prometheus', command: 'prometheus', args, logFile });

  async function ask(query: string): Promise<readonly unknown[]> {
    const response = await fetch(`${url}/api/v1/query?query=${encodeURIComponent(query)}`);
    const answer = (await response.json()) as { status: string; error?: string; data?: { result?: unknown[] } };
    if (answer.status !== 'success') throw new Error(`${query}: ${answer.error}`);
    return answer.data?.result ?? [];
  }

  const evidence = { everyMs: 50, evidence: daemon.logTail, hopeless: daemon.ended };
  const isUp = (): Promise<boolean> =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until('Prometheus', isUp, evidence);
  return {
    url,
    ask,
    async answer(query) {
      let result: readonly unknown[] = [];
      const hasResult = async (): Promise<boolean> => (result = await ask(query)).length > 0;
      await until(query, hasResult, evidence);
      return result;
    },
    async stop() {
      await daemon.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
