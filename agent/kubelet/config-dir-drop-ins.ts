import { join } from 'node:path';
import { formatFinding } from '#shared/contract/finding.ts';
import { touches } from '#shared/contract/kubelet-config/effective.ts';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';
import type { HostFiles } from '../host/host-files.ts';
import { DROP_IN_NAME } from './install-drop-ins.ts';

/** A file of the kubelet's `--config-dir` that is not ours. */
export interface ConfigDirDropIn {
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Why no kubelet from 1.29 on starts with it. */
  readonly fault?: string;
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
    if (text !== undefined) found.push(dropInOf(path, text));
  }
  return found;
}

/** Of drop-ins the kubelet refuses doubled keys, too, which it lets pass in its config file. */
function dropInOf(path: string, text: string): ConfigDirDropIn {
  const { value, findings } = decodeKubeletConfig(Buffer.from(text, 'utf8'), path);
  const fatal = findings.find(({ code }) => value === undefined || code === 'duplicate-key');
  return { path, fields: value ?? {}, ...(fatal && { fault: formatFinding(fatal) }) };
}

/** The file that sets a field last, by a phrase that begins with the field: `maxPods=33 instead of 90`. */
export const fileThatSets = (phrase: string, dropIns: readonly ConfigDirDropIn[]): string | undefined =>
  dropIns.findLast(({ fields }) => touches(fields, topLevelFieldOf(phrase)))?.path;

/** Of a path such as `evictionHard[memory.available]`. */
export const topLevelFieldOf = (phrase: string): string => /^[^.=[]+/.exec(phrase)?.[0] ?? 'kind';
