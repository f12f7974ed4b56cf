import { basename } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';
import { unitLines } from '../host/journal/journal.ts';
import { type KubeletStarter, type ReadKubeletStart, STARTER_PROGRAMS } from '../ports/kubelet-start.ts';

/** k3s and RKE2 without the part of a server; k0s calls its worker so. */
const WITHOUT_SERVER = /^(?:agent|worker)$/;
const UNIT_WITHOUT_SERVER = /^(?:k3s-agent|rke2-agent|k0sworker)\b/;

/** k3s and RKE2 say so before they run the kubelet (k3s, pkg/daemons/agent/agent.go), RKE2 also when it ended. */
const BEGINS = /\b(?:Running kubelet|Kubelet exited)\b/;
/** Of a command line or a list of children. A node with many pods has hundreds of them. */
const MOST_BYTES = 4_096;
/** More than a unit writes while it waits for an hour. */
const MOST_LINES = 5_000;

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
    const starter = starterIn(unit, (await files.text(`/proc/${pid}/cmdline`, MOST_BYTES)) ?? '');
    if (starter === undefined) return undefined;
    // A kubelet that dies at once is seldom there to be seen. Only k3s runs it in its own process.
    const says = await saysThatItBegins(files, unit, run);
    const hasBegun = says === true || starter.program === 'k3s' ? says : await hasKubeletChild(files, pid);
    if (hasBegun === true) begun = run;
    return hasBegun === false ? starter : undefined;
  };
}

/** By its command line, which k3s and RKE2 write as one word, and by the unit's name where another program runs it. */
function starterIn(unit: string, commandLine: string): KubeletStarter | undefined {
  const words = commandLine.split(/[\0 ]+/);
  const at = words.findIndex((word) => STARTER_PROGRAMS.some((name) => name === basename(word)));
  const name = at < 0 ? unit : basename(words[at] ?? '');
  const program = STARTER_PROGRAMS.find((known) => name.startsWith(known));
  if (program === undefined) return undefined;
  const mode = at < 0 ? undefined : words[at + 1];
  const isWithout = mode ? WITHOUT_SERVER.test(mode) : UNIT_WITHOUT_SERVER.test(unit);
  return { program, hostsServer: !isWithout };
}

/** Undefined where its children cannot be seen. */
async function hasKubeletChild(files: HostFiles, pid: number): Promise<boolean | undefined> {
  let isSeen = false;
  // One by one: the agent has little memory.
  for (const thread of (await files.names(`/proc/${pid}/task`)) ?? []) {
    const list = await files.text(`/proc/${pid}/task/${thread}/children`, MOST_BYTES);
    isSeen ||= list !== undefined;
    for (const [child] of list?.matchAll(/\d+/g) ?? []) {
      const command = await files.text(`/proc/${child}/cmdline`, MOST_BYTES);
      if (command?.split('\0', 3).some((word) => basename(word) === 'kubelet') === true) return true;
    }
  }
  return isSeen ? false : undefined;
}

/** Undefined where the log of this run cannot be seen. */
async function saysThatItBegins(files: HostFiles, unit: string, run: string): Promise<boolean | undefined> {
  let left = MOST_LINES;
  let isSeen = false;
  for await (const { fields } of unitLines(files, unit, ['MESSAGE', '_SYSTEMD_INVOCATION_ID'])) {
    const isOfRun = fields.get('_SYSTEMD_INVOCATION_ID') === run;
    if (isOfRun && BEGINS.test(fields.get('MESSAGE') ?? '')) return true;
    isSeen ||= isOfRun;
    left -= 1;
    if (left === 0) return undefined;
    if (isSeen && !isOfRun) return false;
  }
  return isSeen ? false : undefined;
}
