import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** One `import` or `export … from`, static or lazy. */
export interface Import {
  /** The file that imports, from the root. */
  readonly file: string;
  /** A file of ours, from the root, or the name of a module as written: `node:fs`, `pino`. */
  readonly to: string;
  /** What is imported by name; empty for a lazy import and one without names. */
  readonly names: readonly string[];
  /** It is gone at run time. */
  readonly typeOnly: boolean;
}

const IMPORT = /(?:^|\n)\s*(?:import|export)\b([^'";]*?)from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import '([^']+)'/g;

/** Every import of these files. Throws where a file of ours that is imported does not exist. */
export function importsOf(files: readonly string[]): readonly Import[] {
  return files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(([, what = '', from, lazily, bare]) => {
      const to = resolve(file, from ?? lazily ?? bare ?? '');
      const names = what.replace(/^\s*type\b|[{}]/g, '').split(',');
      return {
        file,
        to,
        names: names.map((name) => name.replace(/\btype\b/, '').trim()).filter((name) => name !== ''),
        typeOnly: /^\s*type\b/.test(what),
      };
    }),
  );
}

function resolve(file: string, written: string): string {
  if (!written.startsWith('#') && !written.startsWith('.')) return written;
  const path = written.startsWith('#') ? written.slice(1) : normalize(join(dirname(file), written));
  if (!existsSync(path)) throw new Error(`${file} imports ${written}, which does not exist`);
  return path;
}

export const sourceFiles = (folder: string): readonly string[] => globSync(`${folder}/**/*.ts`).sort();

/** Circles among the children of each folder. `X.ts` and the folder `X` beside it are one child. */
export function circles(imports: readonly Pick<Import, 'file' | 'to'>[]): readonly string[] {
  const arrowsByFolder = new Map<string, Map<string, Set<string>>>();
  for (const { file, to } of imports) {
    const from = file.split('/');
    const target = to.split('/');
    // The one folder in which this import is an arrow between two different children.
    const depth = from.findIndex((part, at) => childName(part) !== childName(target[at] ?? ''));
    if (depth < 1 || target[0] !== from[0]) continue;
    const folder = from.slice(0, depth).join('/');
    const arrows = arrowsByFolder.get(folder) ?? new Map<string, Set<string>>();
    const child = childName(from[depth] ?? '');
    arrowsByFolder.set(folder, arrows.set(child, (arrows.get(child) ?? new Set()).add(childName(target[depth] ?? ''))));
  }
  return [...arrowsByFolder].flatMap(([folder, arrows]) =>
    [...arrows.keys()].filter((child) => reaches(arrows, child, child)).map((child) => `${folder}/${child}`),
  );
}

const childName = (part: string): string => part.replace(/\.ts$/, '');

function reaches(arrows: ReadonlyMap<string, ReadonlySet<string>>, from: string, goal: string): boolean {
  const seen = new Set<string>();
  const open = [from];
  for (let child = open.pop(); child !== undefined; child = open.pop()) {
    for (const next of arrows.get(child) ?? []) {
      if (next === goal) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return false;
}

/** Every module that is loaded together with a file, by the file that asks for it first; types are not loaded. */
export function loadedWith(file: string, imports: readonly Import[]): ReadonlyMap<string, string> {
  const byFile = Map.groupBy(imports, (each) => each.file);
  const loaded = new Map<string, string>();
  const open = [file];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const { to, typeOnly } of byFile.get(at) ?? []) {
      if (typeOnly || loaded.has(to)) continue;
      loaded.set(to, at);
      open.push(to);
    }
  }
  return loaded;
}
