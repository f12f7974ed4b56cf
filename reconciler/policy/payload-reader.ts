import type { DesiredPool } from './desired.ts';
import type { ConfigSourceView } from './fleet.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

export type Payload = Readonly<Record<string, unknown>>;

/** What a config says, by its SHA-256; null where its bytes are nowhere to be seen, or make no sense. */
export type PayloadOf = (sha256: string | undefined) => Payload | null;

/**
 * The payloads of one pool's nodes, each read once.
 *
 * @param bySha the config sources of the cluster, by the SHA-256 of what they carry
 */
export function createPayloadReader(pool: DesiredPool | null, bySha: ReadonlyMap<string, ConfigSourceView>): PayloadOf {
  const known = new Map<string, Payload | null>();
  return (sha256 = '') => {
    const present = known.get(sha256);
    if (present !== undefined) return present;
    const value = pool?.classes?.values.get(sha256);
    if (value !== undefined) return value;
    const own = pool?.classes?.configs.get(sha256) ?? (pool?.config?.sha256 === sha256 ? pool.config : undefined);
    const found = parsed(own?.payload ?? bySha.get(sha256)?.payload);
    known.set(sha256, found);
    return found;
  };
}

function parsed(payload: ConfigSourceView['payload']): Payload | null {
  const value = jsonIn(payload ?? '');
  return typeof value === 'object' ? (value as Payload | null) : null;
}
