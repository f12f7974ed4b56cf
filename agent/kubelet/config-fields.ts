import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode/decode.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Read {
  readonly bytes: Uint8Array;
  readonly fields: Fields | undefined;
}

/** The node's own config, the payloads before and after a change, and what they are laid over. */
const MOST_KEPT = 6;

let lately: readonly Read[] = [];

/**
 * The fields of a KubeletConfiguration; undefined for an unreadable one. The same few files are read at every look, so
 * what came of them last is kept: decoding them was most of what a look cost.
 */
export function fieldsOfConfig(bytes: Uint8Array): Fields | undefined {
  const known = lately.find((read) => Buffer.compare(read.bytes, bytes) === 0);
  if (known !== undefined) return known.fields;
  const read: Read = { bytes: Uint8Array.from(bytes), fields: decodeKubeletConfig(bytes).value };
  lately = [read, ...lately].slice(0, MOST_KEPT);
  return read.fields;
}
