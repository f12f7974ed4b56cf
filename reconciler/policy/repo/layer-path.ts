/**
 * The path from the root of the repository of a layer as a pool writes it: `kubelet.yaml` (no slash) is the file beside
 * `pool.yaml`, `./x.yaml` and `../x.yaml` start there too, and every other path starts at the root (`base/all.yaml`).
 *
 * @param folder the pool's, from the root
 * @returns undefined where it is no path, or leads out of the repository
 */
export function resolveLayer(written: string, folder: string): string | undefined {
  if (written.startsWith('/') || /(?:^|\/)\.{0,2}$/.test(written) || /[\\\p{Cc}]/u.test(written)) return undefined;
  const isBeside = !written.includes('/') || /^\.\.?\//.test(written);
  const parts: string[] = isBeside ? folder.split('/') : [];
  for (const part of written.split('/')) {
    if (part === '.') continue;
    if (part === '') return undefined;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.length === 0 ? undefined : parts.join('/');
}
