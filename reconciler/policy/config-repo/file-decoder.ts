import {
  type Decoded,
  type DecodedKubeletConfig,
  decodeKubeletConfig,
  decodeYaml,
} from '#shared/contract/kubelet-config/decode/decode.ts';
import { claimsConfig } from '#shared/contract/kubelet-config/decode/claims-config.ts';
import type { RepoFile } from '../commit-snapshot.ts';
import type { ReadingBudget, ReadingLimits } from './reading-limits.ts';

/** Decodes the files of one commit. Throws `CommitTooLargeError` beyond its budget. */
export interface FileDecoder {
  /** The cluster's file, or a pool's own. */
  own(file: RepoFile): Decoded;
  layer(file: RepoFile): DecodedKubeletConfig;
  /** A layer, as a file of our own kinds. */
  computed(file: RepoFile): Decoded;
  /** Whether a file that nobody names says that it is a config; false where too many bytes were looked at for that already. */
  claims(file: RepoFile): boolean;
}

/** So many bytes of files are kept decoded, with the place of everything in them: the common layers of pools are among them. */
const MOST_BYTES = 512 * 1024;

/** What nobody names keeps nobody from reading the rest. */
const MOST_UNNAMED_BYTES = 2 * 1024 * 1024;

export function fileDecoder(budget: ReadingBudget): FileDecoder {
  const kept = new Map<string, { readonly decoded: Decoded; readonly bytes: number }>();
  let keptBytes = 0;
  let unnamed = MOST_UNNAMED_BYTES;

  function through<D extends Decoded>(
    of: keyof ReadingLimits,
    as: 'ours' | 'config',
    file: RepoFile,
    decode: (bytes: Uint8Array, path: string) => D,
  ): D {
    const key = `${of} ${as} ${file.path}`;
    const known = kept.get(key);
    if (known !== undefined) {
      // The newest are at the end.
      kept.delete(key);
      kept.set(key, known);
      return known.decoded as D;
    }
    const { bytes } = file;
    budget.spend(of, file.path, bytes.length);
    const decoded = decode(bytes, file.path);
    kept.set(key, { decoded, bytes: bytes.length });
    keptBytes += bytes.length;
    for (const [oldest, { bytes: less }] of kept) {
      if (keptBytes <= MOST_BYTES) break;
      kept.delete(oldest);
      keptBytes -= less;
    }
    return decoded;
  }

  return {
    own: (file) => through('poolFiles', 'ours', file, decodeYaml),
    layer: (file) => through('layers', 'config', file, decodeKubeletConfig),
    computed: (file) => through('layers', 'ours', file, decodeYaml),
    claims(file) {
      if (unnamed <= 0) return false;
      const { bytes } = file;
      unnamed -= bytes.length;
      return claimsConfig(bytes);
    },
  };
}
