import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { locateControlPlane } from '../../cluster/support/binaries.ts';
import type { ControlPlane } from '../../cluster/support/control-plane.ts';
import { startDaemon } from '../../cluster/support/daemon.ts';
import { until } from '../../support/until.ts';

export interface StatusWrites {
  /** The status of each version of the KubeletNode that came up since the watch began, as text. */
  readonly all: () => Promise<readonly string[]>;
  readonly stop: () => Promise<void>;
}

/** Watches a KubeletNode with kubectl. Every write that changes anything makes another version of it. */
export async function watchWrites(cluster: ControlPlane, node: string, directory: string): Promise<StatusWrites> {
  const located = await locateControlPlane();
  if (!located.found) throw new Error(located.reason);
  const logFile = join(directory, `writes-${node}-${performance.now()}`);
  const format = 'jsonpath=v{.metadata.resourceVersion} {.status}{"\\n"}';
  const daemon = startDaemon({
    name: `watch of ${node}`,
    command: located.binaries.kubectl,
    args: ['--kubeconfig', cluster.adminKubeconfig, 'get', 'knode', node, '--watch', '--output', format],
    env: { HOME: directory },
    logFile,
  });
  const versions = async (): Promise<readonly string[]> => [
    // What comes after the last end of a line is in the middle of being written.
    ...new Set(
      (await readFile(logFile, 'utf8'))
        .split('\n')
        .slice(0, -1)
        .filter((line) => /^v\d+ /.test(line)),
    ),
  ];
  const bound = { everyMs: 50, hopeless: daemon.ended, evidence: daemon.logTail };
  await until('the watch', async () => (await versions()).length > 0, bound);
  return { all: async () => (await versions()).slice(1), stop: daemon.stop };
}
