import { MAX_FILE_BYTES } from './source-text.ts';

const CLAIM = /^["']?kind["']?\s*:\s*["']?(?:Computed)?KubeletConfiguration(?!\w)/;

/**
 * Whether a file says of itself that it is a KubeletConfiguration, or a layer with computed values. Schemas and definitions speak of
 * the kind as well.
 */
export const claimsConfig = (bytes: Uint8Array): boolean =>
  new TextDecoder()
    .decode(bytes.subarray(0, MAX_FILE_BYTES))
    .split(/[\n\r{,]/)
    .some((part) => CLAIM.test(part.trimStart()));
