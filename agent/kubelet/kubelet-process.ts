import { basename } from 'node:path';
import type { HostFiles } from '../host/host-files.ts';
import { unitLines } from '../host/journal/journal.ts';

/** Of a list of children. A node with many pods has hundreds of them. */
const MOST_BYTES = 4_096;
/** More than a unit writes while it waits for an hour. */
const MOST_LINES = 5_000;

/** The words of a process's command line; none where it cannot be seen. k3s and RKE2 write theirs as one word. */
export async function commandOf(
  files: Pick<HostFiles, 'text'>,
  pid: number | string,
  mostBytes?: number,
): Promise<readonly string[]> {
  const text = (await files.text(`/proc/${pid}/cmdline`, mostBytes)) ?? '';
  return text === '' ? [] : text.replace(/\0$/, '').split('\0');
}

/** The flags where a command is a kubelet: by itself, as a part of Hyperkube, or in an interpreter of scripts, which names its file. */
export function kubeletArgsIn(command: readonly string[]): readonly string[] | undefined {
  const isHyperkube = command[0]?.endsWith('hyperkube') === true;
  const at = command
    .slice(0, 3)
    .findIndex((word, index) => basename(word) === 'kubelet' && (index === 0 || isHyperkube || word.startsWith('/')));
  return at < 0 ? undefined : command.slice(at + 1);
}

/** The process of the kubelet among the children of another: null where there is none, undefined where they cannot be seen. */
export async function kubeletChild(files: HostFiles, pid: number): Promise<string | null | undefined> {
  let isSeen = false;
  // One by one: the agent has little memory.
  for (const thread of (await files.names(`/proc/${pid}/task`)) ?? []) {
    const list = await files.text(`/proc/${pid}/task/${thread}/children`, MOST_BYTES);
    isSeen ||= list !== undefined;
    for (const [child] of list?.matchAll(/\d+/g) ?? []) {
      if (kubeletArgsIn(await commandOf(files, child, MOST_BYTES)) !== undefined) return child;
    }
  }
  return isSeen ? null : undefined;
}

/**
 * The newest line of a unit's run that matches: null where the run's log has none, undefined where that log cannot be seen.
 *
 * @param run `InvocationID`
 */
export async function lineOfRun(
  files: HostFiles,
  unit: string,
  run: string,
  pattern: RegExp,
): Promise<string | null | undefined> {
  let isSeen = false;
  let left = MOST_LINES;
  for await (const message of messagesOf(files, unit, run)) {
    if (message !== undefined && pattern.test(message)) return message;
    isSeen ||= message !== undefined;
    left -= 1;
  }
  return isSeen && left > 0 ? null : undefined;
}

/** How many lines of a unit's run match, among the newest. */
export async function countInRun(files: HostFiles, unit: string, run: string, pattern: RegExp): Promise<number> {
  let count = 0;
  for await (const message of messagesOf(files, unit, run))
    if (message !== undefined && pattern.test(message)) count += 1;
  return count;
}

/** What a run of a unit logged, the newest first, as far as it is read; undefined for a line of another run that is newer. */
async function* messagesOf(files: HostFiles, unit: string, run: string): AsyncGenerator<string | undefined> {
  let left = MOST_LINES;
  let isSeen = false;
  for await (const { fields } of unitLines(files, unit, ['MESSAGE', '_SYSTEMD_INVOCATION_ID'])) {
    const isOfRun = fields.get('_SYSTEMD_INVOCATION_ID') === run;
    if (left === 0 || (isSeen && !isOfRun)) return;
    isSeen ||= isOfRun;
    left -= 1;
    yield isOfRun ? (fields.get('MESSAGE') ?? '') : undefined;
  }
}
