import { createHash } from 'node:crypto';
import { PAYLOAD_KEY } from './api/group.ts';
import { MAX_FILE_BYTES } from './kubelet-config/decode/source-text.ts';

/** Longest pool name: the name, a dash and ten hash characters still make a DNS label (63). */
export const MAX_POOL_NAME_LENGTH = 52;

/** Biggest payload in bytes: agents read it as they read any config file, and refuse one that is bigger. */
export const MAX_PAYLOAD_BYTES = MAX_FILE_BYTES;

/** What a ConfigMap can carry, in bytes: the API server takes objects up to 1 MiB, metadata included. */
export const MOST_CONFIG_MAP_BYTES = 1_000_000;

/** Hex SHA-256 of a payload's UTF-8 bytes: what identifies a config from the commit to the node's disk. */
export function payloadSha256(payload: string): string {
  return createHash('sha256').update(payload, 'utf8').digest('hex');
}

/**
 * Name of the immutable ConfigMap that carries one pool's payload. Equal payloads give equal names whatever the commit,
 * the clock or the order of keys was, because a new name restarts kubelets.
 *
 * @param pool    a DNS label of at most `MAX_POOL_NAME_LENGTH` characters
 * @param payload canonical JSON
 * @returns `<pool>-<hash>` as `kubectl create configmap <pool> --from-file=kubelet=FILE --append-hash` names it
 */
export function configMapName(pool: string, payload: string): string {
  return `${pool}-${appendHash({ name: pool, data: { [PAYLOAD_KEY]: payload } })}`;
}

/**
 * Another name for the same payload, if another object has the usual one: hashed as for a pool `<pool>.<mark>`, which cannot exist.
 * Agents of any release take it, because the hash fits.
 *
 * @param mark unpredictable lower-case letters and digits
 */
export const otherConfigMapName = (pool: string, mark: string, payload: string): string =>
  configMapName(`${pool}.${mark}`, payload);

/** Whether a name is such another name of this pool's payload. */
export function isOtherNameOf(name: string, pool: string, payload: string): boolean {
  const mark = name.startsWith(`${pool}.`)
    ? /^[a-z0-9]{1,16}(?=-[^-]+$)/.exec(name.slice(pool.length + 1))?.[0]
    : undefined;
  return mark !== undefined && otherConfigMapName(pool, mark, payload) === name;
}

export interface HashedConfigMap {
  readonly name: string;
  /** null and {} hash differently, as in kubectl. */
  readonly data: Readonly<Record<string, string>> | null;
  /** Values in base64; left out of the hash where empty. */
  readonly binaryData?: Readonly<Record<string, string>>;
}

/**
 * The suffix that kubectl's `--append-hash` computes: SHA-256 over Go's JSON of data, kind and name, of which the
 * first ten hex characters are mapped to an alphabet without vowels (k8s.io/kubectl/pkg/util/hash). `immutable` is left
 * out, as kubectl has no flag for it.
 */
export function appendHash({ name, data, binaryData }: HashedConfigMap): string {
  const binary = binaryData === undefined || Object.keys(binaryData).length === 0 ? {} : { binaryData };
  const hex = createHash('sha256')
    .update(goJson({ ...binary, data, kind: 'ConfigMap', name }), 'utf8')
    .digest('hex');
  return hex.slice(0, 10).replace(/[013ae]/g, (digit) => ALPHABET[digit] ?? digit);
}

const ALPHABET: Readonly<Record<string, string>> = { 0: 'g', 1: 'h', 3: 'k', a: 'm', e: 't' };

/** JSON as Go's encoder writes it: keys sorted by byte, no spaces, `<`, `>`, `&`, U+2028 and U+2029 escaped. */
function goJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return goEscape(JSON.stringify(value));
  const entries = Object.entries(value)
    .sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
    .map(([key, item]) => `${goEscape(JSON.stringify(key))}:${goJson(item)}`);
  return `{${entries.join(',')}}`;
}

const goEscape = (json: string): string =>
  json.replace(/[<>&\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
