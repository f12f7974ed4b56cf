import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Every text that a note ever had, in order, by the commit that it is about: as git itself tells it. */
export async function noteHistory(
  gitDirectory: string,
  cluster: string,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const ref = `refs/notes/kubelet-gitops/${cluster}`;
  const git = async (...args: string[]): Promise<string> =>
    (await run('git', ['--git-dir', gitDirectory, ...args], { maxBuffer: 64 * 1024 * 1024 })).stdout;
  const raw = await git('log', '--reverse', '--raw', '--no-abbrev', '--no-renames', '--format=', ref);
  const notes = new Map<string, string[]>();
  for (const line of raw.split('\n').filter((each) => each.startsWith(':'))) {
    const [, , , blob = '', , path = ''] = line.split(/\s/);
    const commit = path.replaceAll('/', '');
    // What is beside it for programs.
    if (commit.endsWith('.json')) continue;
    // A note that moves to another directory of the fan-out is deleted and added in the same bytes.
    if (/^0+$/.test(blob)) continue;
    notes.set(commit, [...(notes.get(commit) ?? []), await git('cat-file', 'blob', blob)]);
  }
  return notes;
}
