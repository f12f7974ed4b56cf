import * as fs from 'node:fs';
import git from 'isomorphic-git';
import type { RawEntry, RawRepository } from '../reconciler/git/support/repository.ts';

const text = (bytes: number): string => 'x'.repeat(bytes);
const LFS = 'version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n';
const LATIN1 = Buffer.from('caf\xe9.yaml', 'latin1');

/**
 * What lies in repositories beside what is ours, by the folder that it is in: as entries of git's trees, because not all of it can be
 * made with files. No pool refers to any of it.
 *
 * @param count of files in one more folder, and of as many spread over folders
 */
export async function foreignEntries(
  { blob, tree }: RawRepository,
  count: number,
): Promise<Readonly<Record<string, readonly RawEntry[]>>> {
  const file = async (name: string | Buffer, content: string | Uint8Array): Promise<RawEntry> => [
    '100644',
    name,
    await blob(content),
  ];
  const link = async (name: string, to: string): Promise<RawEntry> => ['120000', name, await blob(to)];
  const folder = async (name: string | Buffer, entries: readonly RawEntry[]): Promise<RawEntry> => [
    '40000',
    name,
    await tree(entries),
  ];
  const submodule = (name: string): RawEntry => ['160000', name, '1'.repeat(40)];
  const many = (from: number, most: number, stem = ''): Promise<RawEntry[]> =>
    Promise.all(
      Array.from({ length: most }, (_, index) =>
        file(`${stem}${String(from + index).padStart(8, '0')}.yaml`, `a: ${from + index}\n`),
      ),
    );
  let deep = await folder('d', [await file('kubelet.yaml', 'a: [')]);
  for (let depth = 0; depth < 60; depth += 1) deep = await folder('d', [deep]);
  const spread: RawEntry[] = [];
  for (let from = 0; from < count; from += 100) spread.push(await folder(`s${from}`, await many(from, 100)));
  return {
    '': [
      await folder('docs', [
        await file('a\\b:c.md', 'odd\n'),
        await file(LATIN1, 'odd\n'),
        await file('dashboard.json', JSON.stringify({ panels: text(400_000) })),
        await file('half.json', '{'),
        await link('index.yaml', '../README.md'),
        await file('utf16.yaml', Buffer.from('\uFEFFa: 1\n', 'utf16le')),
        await file('weights.json', LFS),
      ]),
      await folder(Buffer.from('d\xfcnn', 'latin1'), [await file('a.yaml', 'a: 1\n')]),
      deep,
      // With 12,000 files, this one directory is larger than any object that is read.
      await folder('flat', await many(1_000_000, count, 'a-name-that-is-long-'.repeat(3))),
      await link('latest', 'docs'),
      await folder('spread', spread),
      await folder('vendor', [submodule('library')]),
    ],
    base: [
      await file(LATIN1, 'a: 1\n'),
      await file('dashboard.json', JSON.stringify({ panels: text(400_000) })),
      await link('link.yaml', 'common.yaml'),
      await file('pointer.yaml', LFS),
      submodule('submodule'),
    ],
    clusters: [await file('README', '\0\0\0'), await link('map.png', '../docs/map.png')],
    pools: [
      await link('README.md', '../README.md'),
      await file('map.png', Buffer.alloc(300_000, 7)),
      await file('a:b', ''),
    ],
    'pools/general': [
      await file(Buffer.from('caf\xe9.png', 'latin1'), Buffer.alloc(10)),
      deep,
      await file('diagram.png', Buffer.alloc(300_000, 1)),
      await file('values.json', JSON.stringify({ notes: text(1_000) })),
      await file('values.large.json', JSON.stringify({ notes: text(400_000) })),
      await link('latest.yaml', 'kubelet.yaml'),
      await file('model.json', LFS),
      submodule('scripts'),
    ],
  };
}

/** The tree of a commit with entries added to its folders, which are there. */
export async function treeWith(
  repository: RawRepository,
  gitdir: string,
  commit: string,
  added: Readonly<Record<string, readonly RawEntry[]>>,
): Promise<string> {
  async function visit(oid: string, path: string): Promise<string> {
    const { tree } = await git.readTree({ fs, gitdir, oid });
    const present = tree.map(async (entry): Promise<RawEntry> => {
      const below = path === '' ? entry.path : `${path}/${entry.path}`;
      const isTouched = Object.keys(added).some((each) => `${each}/`.startsWith(`${below}/`));
      return [entry.mode.replace(/^0/, ''), entry.path, isTouched ? await visit(entry.oid, below) : entry.oid];
    });
    const entries = [...(await Promise.all(present)), ...(added[path] ?? [])];
    return repository.tree(entries.sort((a, b) => Buffer.compare(orderOf(a), orderOf(b))));
  }
  return visit(commit, '');
}

const orderOf = ([mode, name]: RawEntry): Buffer =>
  Buffer.concat([Buffer.from(name as Uint8Array), Buffer.from(mode === '40000' ? '/' : '')]);
