import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';

/** Writes objects and refs straight into a bare repository, so that there can be ones that git refuses to make. */
export interface RawRepository {
  blob(content: string | Uint8Array): Promise<string>;
  /** Entries in the order given, whatever git thinks of it. */
  tree(entries: readonly RawEntry[]): Promise<string>;
  commit(commit: RawCommit): Promise<string>;
  /** Path → content, as a commit on a branch that follows its present tip. */
  commitFiles(files: FileTree, options?: Partial<RawCommit> & { readonly branch?: string }): Promise<string>;
  setRef(ref: string, oid: string): Promise<void>;
  /** Many refs at once. */
  packRefs(refs: ReadonlyMap<string, string>): Promise<void>;
}

export type RawEntry = readonly [mode: string, name: string | Buffer, oid: string];

export interface RawCommit {
  readonly tree: string;
  readonly parents?: readonly string[];
  readonly message?: string;
  /** Lines between the committer and the message. */
  readonly extra?: string;
}

export type FileTree = Readonly<Record<string, string | Uint8Array>>;

export function rawRepository(directory: string): RawRepository {
  let clock = 1_767_225_600;
  const tips = new Map<string, string>();

  // Not by promises: for thousands of small files they take longer than the files.
  function write(type: string, content: Uint8Array): Promise<string> {
    const whole = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
    const oid = createHash('sha1').update(whole).digest('hex');
    const path = join(directory, 'objects', oid.slice(0, 2), oid.slice(2));
    if (!existsSync(path)) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, deflateSync(whole, { level: 1 }));
    }
    return Promise.resolve(oid);
  }

  const repository: RawRepository = {
    blob: (content) => write('blob', Buffer.from(content as Uint8Array)),
    tree: (entries) =>
      write(
        'tree',
        Buffer.concat(
          entries.flatMap(([mode, name, oid]) => [
            Buffer.from(`${mode} `),
            Buffer.from(name as Uint8Array),
            Buffer.from([0]),
            Buffer.from(oid, 'hex'),
          ]),
        ),
      ),
    commit({ tree, parents = [], message = 'Change\n', extra = '' }) {
      clock += 60;
      const by = `Ada Lovelace <ada@example.com> ${clock} +0100`;
      const above = parents.map((parent) => `parent ${parent}\n`).join('');
      return write('commit', Buffer.from(`tree ${tree}\n${above}author ${by}\ncommitter ${by}\n${extra}\n${message}`));
    },
    async commitFiles(files, { branch = 'main', ...rest } = {}) {
      const tip = tips.get(branch);
      const tree = await folder(repository, Object.entries(files));
      const oid = await repository.commit({ tree, parents: tip === undefined ? [] : [tip], ...rest });
      await repository.setRef(`refs/heads/${branch}`, oid);
      return oid;
    },
    async setRef(ref, oid) {
      if (ref.startsWith('refs/heads/')) tips.set(ref.slice('refs/heads/'.length), oid);
      await mkdir(dirname(join(directory, ref)), { recursive: true });
      await writeFile(join(directory, ref), `${oid}\n`);
    },
    packRefs: (refs) =>
      writeFile(
        join(directory, 'packed-refs'),
        `# pack-refs with: peeled fully-peeled sorted \n${[...refs].map(([ref, oid]) => `${oid} ${ref}\n`).join('')}`,
      ),
  };
  return repository;
}

async function folder(
  repository: RawRepository,
  files: readonly (readonly [string, string | Uint8Array])[],
): Promise<string> {
  const inside = Map.groupBy(files, ([path]) => path.split('/', 1)[0] ?? '');
  const entries: RawEntry[] = [];
  for (const [name, group] of inside) {
    const [first] = group;
    if (first !== undefined && first[0] === name) entries.push(['100644', name, await repository.blob(first[1])]);
    else {
      const below = group.map(([path, content]) => [path.slice(name.length + 1), content] as const);
      entries.push(['40000', name, await folder(repository, below)]);
    }
  }
  const key = ([mode, name]: RawEntry): string => (mode === '40000' ? `${String(name)}/` : String(name));
  return repository.tree(entries.sort((a, b) => (key(a) < key(b) ? -1 : 1)));
}
