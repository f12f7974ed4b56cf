import type { RepoFile } from '../commit-snapshot.ts';
import { resolveLayer } from './read-pool.ts';
import { READING_LIMITS } from './reading-limits.ts';

/** The end of a name that a layer may have outside of the folders of configuration. */
const END = /\.(?:ya?ml|json)(?=["'[\],{}\s]|$)/gi;
/** What no such name has before it in a list; names may have blanks in them. */
const BOUNDS = new Set('"\'[],{}\r\n');
/** As of the path of a layer. */
const LONGEST = 1024;

/**
 * Paths outside of the folders of configuration that a `pool.yaml` may name as layers, one file after the other: others may have a turn
 * in between. Found in the text, because pool files are decoded in a thread of their own, later: there may be more of them than layers,
 * and none is missed but a name with escapes other than `\/` or over several lines.
 *
 * @param files    of the configuration, by path
 * @param isConfig whether a path is read anyway
 */
export function* layersElsewhere(
  files: ReadonlyMap<string, Pick<RepoFile, 'bytes'>>,
  isConfig: (path: string) => boolean,
): Generator<readonly string[]> {
  let left = READING_LIMITS.poolFiles;
  for (const [path, file] of files) {
    const folder = /^(pools\/[^/]+)\/pool\.yaml$/.exec(path)?.[1];
    if (folder === undefined) continue;
    const { bytes } = file;
    left -= bytes.length;
    // Such a commit is refused as a whole.
    if (left < 0) return;
    const layers = [...namesIn(new TextDecoder().decode(bytes))].flatMap((name) => resolveLayer(name, folder) ?? []);
    yield layers.filter((layer) => !isConfig(layer));
  }
}

/** In one go over the text, whatever is in it. */
function namesIn(written: string): ReadonlySet<string> {
  const text = written.replaceAll('\\/', '/');
  const names = new Set<string>();
  let [at, item, word] = [0, 0, 0];
  for (const { index, 0: ending } of text.matchAll(END)) {
    for (; at < index; at += 1) {
      const char = text[at] ?? '';
      if (BOUNDS.has(char)) item = word = at + 1;
      else if (char === ' ' || char === '\t') word = at + 1;
    }
    const end = index + ending.length;
    if (end - word <= LONGEST) names.add(text.slice(word, end));
    if (item < word && end - item <= LONGEST) names.add(text.slice(item, end).trim().replace(/^-\s/, '').trimStart());
  }
  return names;
}
