import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kubelet } from '../../test/cluster/support/kubelet.ts';

/** One process of the kubelet; times in seconds of `performance.now`. */
export interface KubeletRun {
  readonly pid: string;
  readonly from: number;
  readonly to: number | undefined;
}

/** Follows a kubelet from one run to the next, often enough that no run of a fifth of a second goes unseen. */
export interface RunRecorder {
  readonly runs: () => readonly KubeletRun[];
  readonly stop: () => Promise<void>;
}

const EVERY_MS = 10;

export const seconds = (): number => performance.now() / 1000;

export function recordRuns(kubelet: Kubelet): RunRecorder {
  let runs: readonly KubeletRun[] = [];
  const stop = new AbortController();
  const follow = async (): Promise<void> => {
    while (!stop.signal.aborted) {
      const pid = (await readFile(kubelet.pidFile, 'utf8').catch(() => '')).trim();
      const last = runs.at(-1);
      if (last !== undefined && last.to === undefined && last.pid !== pid) {
        runs = [...runs.slice(0, -1), { ...last, to: seconds() }];
      }
      if (pid !== '' && last?.pid !== pid) runs = [...runs, { pid, from: seconds(), to: undefined }];
      await sleep(EVERY_MS);
    }
  };
  const following = follow();
  return {
    runs: () => runs,
    async stop() {
      stop.abort();
      await following;
    },
  };
}
