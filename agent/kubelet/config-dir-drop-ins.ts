import { join } from 'node:path';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import type { HostFiles } from '../host/host-files.ts';
import { DROP_IN_NAME } from './install-drop-ins.ts';

/** A file of the kubelet's `--config-dir` that is not ours. */
export interface ConfigDirDropIn {
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

const MOST_DEPTH = 8;

/** The files that a kubelet reads from the directory of its flag, in its order: the last one wins. */
export async function readConfigDirDropIns(
  directory: string,
  files: Pick<HostFiles, 'names' | 'text' | 'kind'>,
  depth = 0,
): Promise<readonly ConfigDirDropIn[]> {
  const names = ((await files.names(directory)) ?? []).toSorted((one, other) => (one < other ? -1 : 1));
  const found: ConfigDirDropIn[] = [];
  for (const name of names) {
    const path = join(directory, name);
    if (!name.endsWith('.conf')) {
      const goesDeeper = depth < MOST_DEPTH && (await files.kind(path)) === 'directory';
      if (goesDeeper) found.push(...(await readConfigDirDropIns(path, files, depth + 1)));
      continue;
    }
    const text = name === DROP_IN_NAME ? undefined : await files.text(path);
    const fields = text === undefined ? undefined : decodeKubeletConfig(Buffer.from(text, 'utf8')).value;
    if (fields !== undefined) found.push({ path, fields });
  }
  return found;
}

/** The file that sets a field last, by a phrase that begins with the field: `maxPods=33 instead of 90`. */
export const fileThatSets = (phrase: string, dropIns: readonly ConfigDirDropIn[]): string | undefined =>
  dropIns.findLast(({ fields }) => fields[topLevelFieldOf(phrase)] !== undefined)?.path;

/** Of a path such as `evictionHard[memory.available]`. */
export const topLevelFieldOf = (phrase: string): string => /^[^.=[]+/.exec(phrase)?.[0] ?? 'kind';
