import {
  type Decoded,
  type DecodedKubeletConfig,
  decodeKubeletConfig,
  decodeYaml,
} from '#shared/contract/kubelet-config/decode/decode.ts';
import type { RepoFile } from '../commit-snapshot.ts';

/** Reads files and remembers them by path and blob, so that a poll that brings nothing new parses nothing. */
export interface FileDecoder {
  /** A file of our own kinds. */
  own(file: RepoFile): Decoded;
  layer(file: RepoFile): DecodedKubeletConfig;
}

export interface DecodeCache {
  /** The decoder for one load. What a load does not ask for is forgotten when it ends. */
  load<T>(read: (decoder: FileDecoder) => T): T;
}

export function decodeCache(): DecodeCache {
  let kept = new Map<string, Decoded>();
  return {
    load(read) {
      const used = new Map<string, Decoded>();
      const through = <D extends Decoded>(kind: string, file: RepoFile, decode: () => D): D => {
        const key = `${kind} ${file.oid} ${file.path}`;
        const decoded = ((used.get(key) ?? kept.get(key)) as D | undefined) ?? decode();
        used.set(key, decoded);
        return decoded;
      };
      const result = read({
        own: (file) => through('own', file, () => decodeYaml(file.bytes, file.path)),
        layer: (file) => through('layer', file, () => decodeKubeletConfig(file.bytes, file.path)),
      });
      kept = used;
      return result;
    },
  };
}
