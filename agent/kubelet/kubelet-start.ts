import { basename } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';
import {
  type CountEnds,
  type KubeletStarter,
  type ReadKubeletStart,
  STARTER_PROGRAMS,
} from '../ports/kubelet-start.ts';
import { commandOf, countInRun, kubeletChild, lineOfRun } from './kubelet-process.ts';

/** k3s and RKE2 without the part of a server; k0s calls its worker so. */
const WITHOUT_SERVER = /^(?:agent|worker)$/;
const UNIT_WITHOUT_SERVER = /^(?:k3s-agent|rke2-agent|k0sworker)\b/;

/** k3s and RKE2 say so before they run the kubelet (k3s, pkg/daemons/agent/agent.go), RKE2 also when it ended. */
const BEGINS = /^time="[^"]*" level=[a-z]+ msg="(?:Running kubelet|Kubelet exited)\b/;
const MOST_BYTES = 4_096;

interface KubeletStartOptions {
  readonly files: HostFiles;
  /** `k3s-agent.service`. */
  readonly unit: string;
}

/** Reads the host's processes and its journal. */
export function createReadKubeletStart({ files, unit }: KubeletStartOptions): ReadKubeletStart {
  let begun: string | null = null;
  return async ({ run, pid }) => {
    if (run === null || pid === undefined || run === begun) return undefined;
    const starter = starterIn(unit, await commandOf(files, pid, MOST_BYTES));
    if (starter === undefined) return undefined;
    // A kubelet that dies at once is seldom there to be seen. Only k3s runs it in its own process.
    const line = await lineOfRun(files, unit, run, BEGINS);
    const sign = typeof line === 'string' || starter.program === 'k3s' ? line : await kubeletChild(files, pid);
    if (typeof sign === 'string') begun = run;
    return sign === null ? starter : undefined;
  };
}

/**
 * What RKE2 logs when its kubelet ended, and k0s when its own did (rancher/rke2 `pkg/executor/staticpod`, k0sproject/k0s `pkg/supervisor`).
 * Their unit goes on, and they start it again.
 */
const ENDS = /^time="[^"]*" level=(?:error msg="Kubelet exited: |info msg="respawning in [^"]*" component=kubelet$)/;

/**
 * Adds to the restarts that the service manager counts those of a kubelet that another program starts again in the same run of the unit.
 * The log is read once for each run, and while the kubelet is not healthy.
 */
export function createCountEnds({ files, unit }: KubeletStartOptions): CountEnds {
  let counted: { readonly run: string | null; readonly ends: number } = { run: null, ends: 0 };
  return async (status, isHealthy) => {
    const { run, pid, automaticRestarts } = status;
    if (run === null || pid === undefined) return status;
    if (counted.run !== run || !isHealthy) {
      const { program } = starterIn(unit, await commandOf(files, pid, MOST_BYTES)) ?? {};
      const isRead = program === 'rke2' || program === 'k0s';
      const before = counted.run === run ? counted.ends : 0;
      counted = { run, ends: isRead ? Math.max(before, await countInRun(files, unit, run, ENDS).catch(() => 0)) : 0 };
    }
    if (counted.ends === 0) return status;
    // The last end of the unit was not that of this kubelet.
    const { lastExit: _, ...rest } = status;
    return { ...rest, automaticRestarts: (automaticRestarts ?? 0) + counted.ends };
  };
}

/** By its command line, which k3s and RKE2 write as one word, and by the unit's name where another program runs it. */
export function starterIn(unit: string, command: readonly string[]): KubeletStarter | undefined {
  const words = command.slice(0, 3).flatMap((word) => word.split(/ +/));
  const at = words.findIndex((word) => STARTER_PROGRAMS.some((name) => name === basename(word)));
  const name = at < 0 ? unit : basename(words[at] ?? '');
  const program = STARTER_PROGRAMS.find((known) => name.startsWith(known));
  if (program === undefined) return undefined;
  const mode = at < 0 ? undefined : words[at + 1];
  const isWithout = mode ? WITHOUT_SERVER.test(mode) : UNIT_WITHOUT_SERVER.test(unit);
  return { program, hostsServer: !isWithout };
}
