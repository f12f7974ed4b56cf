import { type FileTree, type RawEntry, type RawRepository } from './repository.ts';

/** The folder of a monorepo that is followed. */
export const FOLDER = 'infra/kubelet';

/** A repository in which the configuration is a folder among many. */
export interface Monorepo {
  /**
   * Makes a commit on `main` that follows its tip.
   *
   * @param config path from the folder → content; null for no such folder
   * @param elsewhere what other people's work is now; the same number is the same work
   */
  commit(config: FileTree | null, elsewhere?: number, more?: { readonly parents?: readonly string[] }): Promise<string>;
}

/** @param files how many there are outside of the folder, fifty to a directory */
export function monorepo(repository: RawRepository, files: number): Monorepo {
  const { blob, tree, commit, setRef } = repository;
  let tip: string | undefined;
  let rest: Promise<string> | undefined;

  async function others(): Promise<string> {
    const folders: RawEntry[] = [];
    for (let at = 0; at < files; at += 50) {
      const entries: RawEntry[] = [];
      for (let index = at; index < Math.min(files, at + 50); index += 1) {
        entries.push(['100644', `f${pad(index)}.yaml`, await blob(`other: ${index}\n`)]);
      }
      folders.push(['40000', `d${pad(at)}`, await tree(entries)]);
    }
    return tree(folders);
  }

  async function folderOf(contents: readonly (readonly [string, string | Uint8Array])[]): Promise<string> {
    const entries: RawEntry[] = [];
    for (const [name, inside] of Map.groupBy(contents, ([path]) => path.split('/', 1)[0] ?? '')) {
      const [only] = inside;
      if (only !== undefined && only[0] === name) entries.push(['100644', name, await blob(only[1])]);
      else {
        const below = inside.map(([path, content]) => [path.slice(name.length + 1), content] as const);
        entries.push(['40000', name, await folderOf(below)]);
      }
    }
    return tree(entries.sort(([, a], [, b]) => (String(a) < String(b) ? -1 : 1)));
  }

  return {
    async commit(config, elsewhere = 0, { parents = tip === undefined ? [] : [tip] } = {}) {
      rest ??= others();
      const beside: RawEntry = ['100644', 'notes.txt', await blob('beside the folder\n')];
      const infra: readonly RawEntry[] =
        config === null ? [] : [['40000', 'kubelet', await folderOf(Object.entries(config))]];
      const root = await tree([
        ['100644', 'app.yaml', await blob(`elsewhere: ${elsewhere}\n`)],
        ['40000', 'infra', await tree([...infra, beside])],
        ['40000', 'services', await rest],
      ]);
      tip = await commit({ tree: root, parents, message: `Elsewhere ${elsewhere}\n` });
      await setRef('refs/heads/main', tip);
      return tip;
    },
  };
}

const pad = (index: number): string => String(index).padStart(6, '0');
