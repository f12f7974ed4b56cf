import * as fs from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import git from 'isomorphic-git';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { runGit } from './git-program.ts';

type Oid = string;

/** A commit as a person would make it on a branch. */
export interface FileChange {
  /** Path from the root → content, or null to delete the file or folder. */
  readonly files: Readonly<Record<string, string | null>>;
  readonly message: string;
  readonly author?: Author;
}

interface Author {
  readonly name: string;
  readonly email: string;
}

/** Partial clones are as all forges have them; git by itself does not. Nothing here lives until there is garbage. */
const CONFIG = `[http]
	receivepack = true
[uploadpack]
	allowFilter = true
[receive]
	autogc = false
`;
const SANDBOX: Author = { name: 'Sandbox', email: 'sandbox@example.invalid' };

/** The bare repository in a directory, for stories and tests that commit to it. */
export interface BareRepository {
  /** Commits files to a branch (default `main`) and returns the commit's oid. */
  commit(change: FileChange, branch?: string): Promise<Oid>;
  /** Points a ref at another commit, as a force push would. */
  setRef(ref: string, oid: Oid): Promise<void>;
  /** Path → content of a branch's files; empty where it is not there. */
  files(branch?: string): Promise<ReadonlyMap<string, string>>;
  /** Annotated commit → note; empty where the ref is not there. */
  readNotes(ref: string): Promise<ReadonlyMap<Oid, string>>;
  /** Annotated commit → what is beside its note for programs. */
  readNoteData(ref: string): Promise<ReadonlyMap<Oid, string>>;
  /** The newest commits of a branch, newest first. */
  log(count: number, branch?: string): Promise<readonly { readonly oid: Oid; readonly message: string }[]>;
}

export function openBareRepository(directory: string, clock: Pick<Clock, 'now'> = systemClock): BareRepository {
  const at = { fs, gitdir: directory };
  let last: Promise<unknown> = Promise.resolve();

  const tipOf = (ref: string): Promise<Oid | null> => git.resolveRef({ ...at, ref }).catch(() => null);

  async function filesOf(ref: string): Promise<ReadonlyMap<string, string>> {
    const files = new Map<string, string>();
    const tip = await tipOf(ref);
    if (tip === null) return files;
    await git.walk({
      ...at,
      cache: {},
      trees: [git.TREE({ ref: tip })],
      map: async (path, [entry]) => {
        const content = (await entry?.type()) === 'blob' ? await entry?.content() : undefined;
        if (content !== undefined) files.set(path, Buffer.from(content).toString());
        return path;
      },
    });
    return files;
  }

  async function commitNow(change: FileChange, branch: string): Promise<Oid> {
    const ref = `refs/heads/${branch}`;
    const seconds = Math.floor(clock.now() / 1000);
    const person = ({ name, email }: Author): string => `${name} <${email}> ${seconds} +0000`;
    const asked = [
      `commit ${ref}`,
      'mark :1',
      `author ${person(change.author ?? SANDBOX)}`,
      `committer ${person(change.author ?? SANDBOX)}`,
      data(change.message.replace(/\n?$/, '\n')),
      ...((await tipOf(ref)) === null ? [] : [`from ${ref}^0`]),
      ...Object.entries(change.files).map(([path, content]) =>
        content === null ? `D ${quoted(path)}` : `M 100644 inline ${quoted(path)}\n${data(content)}`,
      ),
      'get-mark :1',
      'done',
      '',
    ].join('\n');
    return (await runGit(directory, ['fast-import', '--quiet', '--done'], asked)).trim();
  }

  /** Annotated object → file; git spreads notes over folders (`ab/cd…`). */
  async function byOid(ref: string, named: RegExp): Promise<ReadonlyMap<Oid, string>> {
    const found = [...(await filesOf(ref))].map(
      ([path, text]) => [named.exec(path.replaceAll('/', ''))?.[1], text] as const,
    );
    return new Map(found.flatMap(([oid, text]) => (oid === undefined ? [] : [[oid, text] as const])));
  }

  return {
    commit(change, branch = 'main') {
      const made = last.then(() => commitNow(change, branch));
      // A change that failed must not fail those that wait behind it.
      last = made.catch(() => undefined);
      return made;
    },
    setRef: async (ref, oid) => void (await runGit(directory, ['update-ref', ref, oid])),
    files: (branch = 'main') => filesOf(`refs/heads/${branch}`),
    readNotes: (ref) => byOid(ref, /^([0-9a-f]{40})$/),
    readNoteData: (ref) => byOid(ref, /^([0-9a-f]{40})\.json$/),
    async log(count, branch = 'main') {
      const ref = `refs/heads/${branch}`;
      if ((await tipOf(ref)) === null) return [];
      const commits = await git.log({ ...at, ref, depth: count });
      return commits.map(({ oid, commit }) => ({ oid, message: commit.message }));
    },
  };
}

const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}`;
const quoted = (path: string): string =>
  `"${path.replace(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"`;

/** Asked of git once for each kind: tests need hundreds of empty repositories, and each would take a process. */
const empty = new Map<string, Promise<readonly (readonly [name: string, content: string])[]>>();

async function initialised(init: readonly string[]): Promise<readonly (readonly [name: string, content: string])[]> {
  const directory = await mkdtemp(join(tmpdir(), 'git-empty-'));
  try {
    // Without the samples of hooks.
    await runGit(directory, ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', ...init]);
    const read = async (name: string, more = '') =>
      [name, `${await readFile(join(directory, name), 'utf8')}${more}`] as const;
    return [await read('HEAD'), await read('config', CONFIG)];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Makes an empty bare repository. @param init options of `git init` @param config more lines of its configuration */
export async function createBareRepository(
  directory: string,
  { init = [], config = '' }: { readonly init?: readonly string[]; readonly config?: string } = {},
): Promise<void> {
  const key = init.join(' ');
  const files = empty.get(key) ?? initialised(init);
  empty.set(key, files);
  for (const folder of ['hooks', 'objects/info', 'objects/pack', 'refs/heads', 'refs/tags']) {
    await mkdir(join(directory, folder), { recursive: true });
  }
  for (const [name, content] of await files) {
    await writeFile(join(directory, name), name === 'config' ? `${content}${config}` : content);
  }
}
