import * as fs from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import git from 'isomorphic-git';
import { parseCommit } from '#reconciler/git/objects/parse-commit.ts';
import { isDirectory, parseTree } from '#reconciler/git/objects/tree.ts';
import type { ObjectType } from '#reconciler/git/objects/git-object-store.ts';
import type { Commit } from '#reconciler/policy/commit-snapshot.ts';
import { GitopsError, reasonOf } from '#shared/runtime/errors.ts';

/** A checkout on this machine, read without its working copy. */
export interface LocalRepository {
  /** Absolute. */
  readonly directory: string;
  /** Where its objects, branches and settings are. */
  readonly gitdir: string;
  /** The full name of the branch that is checked out; undefined for none. */
  branch(): Promise<string | undefined>;
  /** Whether only some of the files are in the working copy. */
  isSparse(): Promise<boolean>;
  /** That it has only the newest commits, and what brings the others; undefined where it has all. */
  shallowness(): Promise<string | undefined>;
  /** `main`, `v1.2`, `origin/main`, a full or short commit name, each with `~2` and `^` behind it. @throws GitopsError `REVISION_UNKNOWN` */
  commit(revision: string): Promise<Commit & { readonly tree: string }>;
  read(oid: string, type: ObjectType): Promise<Buffer>;
  /**
   * Refs under a prefix by what is behind it: `refs/notes/kubelet-gitops` gives `prod` and the commit it points at.
   *
   * @throws GitopsError `REVISION_UNKNOWN` where refs are stored in a way that is not read
   */
  refs(prefix: string): Promise<ReadonlyMap<string, string>>;
}

/** Finds the repository that a directory is in. @throws GitopsError `NO_REPOSITORY` */
export async function openRepository(directory: string): Promise<LocalRepository> {
  const root = await git.findRoot({ fs, filepath: resolve(directory) }).catch(() => undefined);
  if (root === undefined) {
    throw new GitopsError('NO_REPOSITORY', `${directory} is in no git repository: name a checkout with --repo`);
  }
  const { own, shared } = await gitDirectoriesOf(root);
  const repo = { fs, dir: root, gitdir: shared, cache: {} };
  const settings = async (): Promise<string> =>
    (await textIn(shared, 'config')) + (await textIn(own, 'config.worktree'));

  const missing = (what: string, why = 'is it fetched?'): GitopsError =>
    new GitopsError('REVISION_UNKNOWN', `there is no revision ${what} in ${root}: ${why}`);
  /** The commit is there, and what it names is not: git itself would fetch that from the server at this point. */
  const lacking = (oid: string, type: ObjectType): GitopsError => {
    const advice = 'a partial clone (--filter) has not all files: git fetch --refetch --no-filter brings them';
    return new GitopsError('REVISION_UNKNOWN', `the ${type} ${oid} is not in ${root}: ${advice}`);
  };
  /** @param called the name in the caller's question */
  const read = async (oid: string, type: ObjectType, called = oid): Promise<Buffer> => {
    try {
      const found = await git.readObject({ ...repo, oid, format: 'content' });
      if (found.type === type && found.object instanceof Uint8Array) return Buffer.from(found.object);
    } catch (error) {
      if (error instanceof git.Errors.NotFoundError)
        throw type === 'commit' ? missing(called, await lackOf(shared)) : lacking(oid, type);
      throw new GitopsError('REVISION_UNKNOWN', `${oid} cannot be read in ${root}: ${reasonOf(error)}`);
    }
    throw new GitopsError('REVISION_UNKNOWN', `${oid} is no ${type}`);
  };
  const start = async (name: string): Promise<string> => {
    if (name === 'HEAD')
      return (await branchOf(own).then((ref) => ref && start(ref))) ?? (await textIn(own, 'HEAD')).trim();
    try {
      return await git.resolveRef({ ...repo, ref: name });
    } catch {
      if (/^[0-9a-f]{4,40}$/.test(name)) return git.expandOid({ ...repo, oid: name });
      return git.resolveRef({ ...repo, ref: `refs/remotes/${name}` });
    }
  };
  const peel = async (oid: string): Promise<string> => {
    const { type, object } = await git.readObject({ ...repo, oid, format: 'parsed' });
    return type === 'tag' ? peel((object as { readonly object: string }).object) : oid;
  };

  return {
    directory: root,
    gitdir: shared,
    branch: () => branchOf(own),
    isSparse: async () => /^[ \t]*sparsecheckout[ \t]*=[ \t]*(?:true|yes|on|1)[ \t]*$/im.test(await settings()),
    shallowness: () => lackOf(shared, ['shallow']),
    read: (oid, type) => read(oid, type),
    async refs(prefix) {
      const names = await git.listRefs({ ...repo, filepath: prefix });
      const why = names.length === 0 ? await lackOf(shared, ['config']) : undefined;
      if (why !== undefined) throw missing(prefix, why);
      const found = names.map(
        async (name) => [name, await git.resolveRef({ ...repo, ref: `${prefix}/${name}` })] as const,
      );
      return new Map(await Promise.all(found));
    },
    async commit(revision) {
      const [, name = '', steps = ''] = /^(.*?)((?:[~^]\d*)*)$/.exec(revision) ?? [];
      const found = await start(name === '@' ? 'HEAD' : name)
        .then(peel)
        .catch(() => undefined);
      const why = found === undefined ? await lackOf(shared) : undefined;
      if (found === undefined && why === undefined && (name === 'HEAD' || name === '@')) {
        throw new GitopsError('REVISION_UNKNOWN', `${root} has no commit yet: commit what is there, and ask again`);
      }
      if (found === undefined) throw missing(revision, why);
      let commit = parseCommit(found, await read(found, 'commit'));
      for (const parent of stepsIn(steps)) {
        const next = commit.parents[parent - 1];
        if (next === undefined)
          throw new GitopsError('REVISION_UNKNOWN', `${revision}: ${commit.oid} has no such parent`);
        commit = parseCommit(next, await read(next, 'commit', revision));
      }
      return commit;
    },
  };
}

/** What a file of `.git` says of objects that are not found in it. */
const LACKS: readonly (readonly [file: string, says: RegExp, why: string])[] = [
  [
    'config',
    /^[ \t]*objectformat[ \t]*=[ \t]*sha256/im,
    'its objects are named by SHA-256, and only those by SHA-1 are read, also by the reconciler: git init --object-format=sha1 makes a repository of those',
  ],
  [
    'config',
    /^[ \t]*refstorage[ \t]*=[ \t]*["']?reftable/im,
    'its branches and tags are a reftable, which is not read: git refs migrate --ref-format=files converts them (git 2.48), and full commit names work as they are',
  ],
  [
    'objects/info/alternates',
    /\S/,
    'this clone borrows objects of another, which are not read: git repack -a -d brings them here, then remove .git/objects/info/alternates',
  ],
  ['shallow', /\S/, 'this clone is shallow and has only the newest commits: git fetch --unshallow brings the others'],
];

/** @param files of those, which are looked at; default: all */
async function lackOf(gitdir: string, files?: readonly string[]): Promise<string | undefined> {
  for (const [file, says, why] of LACKS) {
    if (files?.includes(file) !== false && says.test(await textIn(gitdir, file))) return why;
  }
  return undefined;
}

/** A file of git's; '' where there is none. */
const textIn = (gitdir: string, file: string): Promise<string> => readFile(join(gitdir, file), 'utf8').catch(() => '');

const branchOf = async (gitdir: string): Promise<string | undefined> =>
  /^ref: (.+)/.exec(await textIn(gitdir, 'HEAD'))?.[1]?.trim();

/**
 * Where git keeps what belongs to a checkout. In a submodule and in a linked work tree `.git` is a file that says where; the latter
 * has a `HEAD` of its own and shares all else with the main checkout (gitrepository-layout, `commondir`).
 *
 * @throws GitopsError `NO_REPOSITORY`
 */
async function gitDirectoriesOf(root: string): Promise<{ readonly own: string; readonly shared: string }> {
  const dotGit = join(root, '.git');
  if ((await stat(dotGit)).isDirectory()) return { own: dotGit, shared: dotGit };
  const own = resolve(root, /^gitdir: (.+)/.exec(await textIn(root, '.git'))?.[1]?.trim() ?? '');
  const shared = resolve(own, (await textIn(own, 'commondir')).trim());
  const isThere = await stat(join(shared, 'objects')).catch(() => undefined);
  if (isThere?.isDirectory() === true) return { own, shared };
  const advice =
    'name the main checkout with --repo, or mend the link (git worktree repair, git submodule update --init)';
  throw new GitopsError('NO_REPOSITORY', `${dotGit} leads to ${own}, and no repository is there: ${advice}`);
}

/** Which parent to go to, step by step: `~2` is the first parent twice, `^2` the second once, `^0` none. */
function stepsIn(text: string): readonly number[] {
  return [...text.matchAll(/([~^])(\d*)/g)].flatMap(([, kind, count = '']) => {
    const number = count === '' ? 1 : Number(count);
    if (kind === '~') return Array.from({ length: Math.min(number, 10_000) }, () => 1);
    return number === 0 ? [] : [number];
  });
}

/** The tree of a folder below another tree; undefined if missing. */
export async function folderIn(
  repository: Pick<LocalRepository, 'read'>,
  root: string,
  folder: string,
): Promise<string | undefined> {
  let tree: string | undefined = root;
  for (const part of folder === '' ? [] : folder.split('/')) {
    if (tree === undefined) return undefined;
    const entries = parseTree(tree, await repository.read(tree, 'tree'));
    tree = entries.find((entry) => isDirectory(entry) && entry.name.toString('utf8') === part)?.oid;
  }
  return tree;
}
