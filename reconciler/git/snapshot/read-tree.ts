import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Finding, Severity } from '#shared/contract/finding.ts';
import { GitError, isGitError } from '../errors.ts';
import { layersElsewhere } from '../../policy/config-repo/layers-elsewhere.ts';
import { inFolder } from '../../policy/in-folder.ts';
import type { GitLimits } from '../git-limits.ts';
import { createBytesCompressor, type CompressedBytes } from '../objects/compressed-bytes.ts';
import type { ObjectStore } from '../objects/git-object-store.ts';
import { isDirectory, parseTree, type TreeEntry } from '../objects/tree.ts';
import type { RepoFile } from '../../policy/commit-snapshot.ts';
import { isConfigPath } from './config-paths.ts';
import { judgeEntry, judgeFile, tooDeep, type EntryProblem } from './judge-entry.ts';
import { judgeName, LONGEST_NAME_BYTES, withoutEscapes } from './judge-name.ts';
import { CONFIGURATION, onTheWayTo, type Selection } from './select-paths.ts';

export interface ReadTreeOptions {
  readonly store: Pick<ObjectStore, 'read'> & Partial<Pick<ObjectStore, 'has'>>;
  /** Files that the store does not have are at least this large; null or absent if it has all of them. */
  readonly leftOutFrom?: number | null;
  /** Brings what the store does not have of what lies outside of the configuration; absent where it has all. */
  readonly bring?: ((oids: readonly string[]) => Promise<void>) | undefined;
  readonly limits: GitLimits;
  /** Where the tree is in the repository, for files' own paths and findings. Default: its root. */
  readonly folder?: string;
  /** Files that were taken over before, by object name. */
  readonly known: ReadonlyMap<string, CompressedBytes>;
}

export interface ReadTree {
  /** By path from the tree. */
  readonly files: ReadonlyMap<string, RepoFile>;
  /** The same by object name, to be known the next time. */
  readonly kept: ReadonlyMap<string, CompressedBytes>;
  readonly findings: readonly Finding[];
}

/** So many files in a row, then others get a turn. */
const FILES_A_TURN = 50;
/** Mode, blank, NUL and the object's name. */
const ENTRY_BYTES = 28;

/**
 * Reads the configuration in a tree, without a working copy: `clusters/`, `base/` and `pools/`, and the layers elsewhere that pools
 * name. Nothing else is looked at, whatever it is. Directories that begin with a dot are left out. What cannot be taken over
 * becomes a finding; what goes beyond the limits ends the reading.
 *
 * @returns findings at what would have been read; at a directory that has an odd name with a slash at the end
 * @throws GitError `GIT_TOO_BIG`, `GIT_DAMAGED`
 */
export async function readTree(tree: string, options: ReadTreeOptions): Promise<ReadTree> {
  const { store, limits, folder: root = '', known, leftOutFrom = null, bring } = options;
  const files = new Map<string, RepoFile>();
  const findings: Finding[] = [];
  // One copy of a file's bytes, however often the tree names it: a small pack must not become a large snapshot.
  const keep = createBytesCompressor();
  const kept = new Map<string, CompressedBytes>();
  const refused = new Map<string, EntryProblem>();
  let entriesSeen = 0;
  // Names may be as long as an object: few entries of a tree that stands in a thousand places would keep us for minutes.
  let bytesLeft = limits.treeEntries * (LONGEST_NAME_BYTES + ENTRY_BYTES);

  const find = (severity: Severity, code: string, file: string, message: string): void => {
    findings.push({ code, severity, message, file: inFolder(root, file) });
  };

  async function visit(oid: string, folder: string, depth: number, selected: Selection): Promise<void> {
    if (depth > limits.depth) return find('error', 'directory-too-deep', folder.slice(0, -1), tooDeep(limits.depth));
    if (bring !== undefined && !isHere(oid)) await bring([oid]);
    const bytes = await store.read(oid, 'tree');
    bytesLeft -= bytes.length;
    if (bytesLeft < 0) throw tooBig('names of files and directories that are too long to be read');
    const entries = parseTree(oid, bytes);
    if (isConfigPath(folder)) entriesSeen += entries.length;
    if (entriesSeen > limits.treeEntries) throw tooBig(`more than ${limits.treeEntries} files and directories`);
    const twice = namesGivenTwice(entries);
    for (const entry of entries) {
      const judged = judgeName(entry.name);
      const path = folder + (judged.usable ? judged.name : judged.shown);
      if (!judged.usable) oddName(entry, path, judged.why, selected);
      else if (!isLookedAt(path, selected)) continue;
      else if (!twice.has(judged.name)) await visitEntry(entry, path, depth, selected);
      else if (twice.get(judged.name) === entry) {
        find('error', 'duplicate-name', path, 'the directory holds this name twice: make the commit again');
      }
    }
  }

  function oddName(entry: TreeEntry, path: string, why: string, selected: Selection): void {
    const shown = isDirectory(entry) ? `${path}/` : path;
    // It may be the reason why what is looked for is not there.
    if (isLookedAt(path, selected)) find('error', 'hostile-name', shown, `the name ${why}: rename it`);
    else if (isLookedAt(withoutEscapes(path), selected))
      find('warning', 'hostile-name', shown, `the name ${why}: rename it`);
  }

  async function visitEntry(entry: TreeEntry, path: string, depth: number, selected: Selection): Promise<void> {
    if (isDirectory(entry)) {
      const isHidden = /(?:^|\/)\.[^/]*$/.test(path);
      if (selected.folder(path) && !isHidden) await visit(entry.oid, `${path}/`, depth + 1, selected);
      return;
    }
    const wrong = judgeEntry(entry);
    if (wrong !== null) return find('error', wrong.code, path, wrong.message);
    if (selected.file(path)) await readFile(entry.oid, path);
  }

  async function readFile(oid: string, path: string): Promise<void> {
    if (leftOutFrom !== null && !known.has(oid) && !isHere(oid) && !(await isBrought(oid, path))) {
      const most = Math.min(leftOutFrom - 1, limits.fileBytes);
      return find('error', 'file-too-big', path, `more than ${most} bytes, and no more are read`);
    }
    const present = kept.get(oid) ?? known.get(oid) ?? (refused.has(oid) ? null : await takeOver(oid));
    const wrong = refused.get(oid);
    if (wrong !== undefined) return find('error', wrong.code, path, wrong.message);
    if (present === null) return;
    kept.set(oid, present);
    files.set(path, fileOf(inFolder(root, path), oid, present));
    if (files.size > limits.files) throw tooBig(`more than ${limits.files} files of configuration`);
    if (files.size % FILES_A_TURN === 0) await nextTurn();
  }

  const isHere = (oid: string): boolean => store.has?.(oid) !== false;

  /** Files of the configuration were left out for their size. */
  async function isBrought(oid: string, path: string): Promise<boolean> {
    if (bring === undefined || isConfigPath(path)) return false;
    try {
      await bring([oid]);
      return true;
    } catch (error) {
      if (isGitError(error, 'GIT_TOO_BIG')) return false;
      throw error;
    }
  }

  async function takeOver(oid: string): Promise<CompressedBytes | null> {
    const bytes = await store.read(oid, 'blob');
    const wrong = judgeFile(bytes, limits.fileBytes);
    if (wrong === null) return keep(bytes);
    refused.set(oid, wrong);
    return null;
  }

  await visit(tree, '', 1, CONFIGURATION);
  const elsewhere = new Set<string>();
  for (const layers of layersElsewhere(files, isConfigPath)) {
    for (const layer of layers) elsewhere.add(layer);
    await nextTurn();
  }
  if (elsewhere.size > 0) await visit(tree, '', 1, onTheWayTo(elsewhere));
  return { files, kept, findings };
}

const isLookedAt = (path: string, { file, folder }: Selection): boolean => file(path) || folder(path);

const fileOf = (path: string, oid: string, kept: CompressedBytes): RepoFile => ({
  path,
  oid,
  get bytes() {
    return kept.bytes;
  },
});

/** Name → the first entry that has it, for names that several entries have. */
function namesGivenTwice(entries: readonly TreeEntry[]): ReadonlyMap<string, TreeEntry> {
  const first = new Map<string, TreeEntry>();
  const twice = new Map<string, TreeEntry>();
  for (const entry of entries) {
    const name = entry.name.toString('utf8');
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, entry);
    else twice.set(name, earlier);
  }
  return twice;
}

function tooBig(what: string): GitError {
  return new GitError('GIT_TOO_BIG', `the commit is too big for a config repository: it holds ${what}`);
}
