import { isDeepStrictEqual } from 'node:util';
import { CANONICAL_FORM } from '#shared/contract/kubelet-config/canonical.ts';
import { configMapName } from '#shared/contract/config-map.ts';
import type { ConfigSourceView } from '../fleet.ts';
import type { ValidPool } from '../repo/loaded.ts';
import type { DesiredConfig } from './config.ts';

/**
 * The config to use for a rendered pool. Where another release of ours wrote the same meaning in other bytes, the config
 * source that is there already is kept, so that upgrading this software restarts no kubelet.
 */
export function adoptName(pool: ValidPool, sources: ReadonlyMap<string, ConfigSourceView>): DesiredConfig {
  const rendered = { name: pool.configName, sha256: pool.sha256, payload: pool.payload };
  if (sources.has(pool.configName)) return rendered;
  for (const source of sources.values()) {
    const { payload } = source;
    if (source.pool !== pool.name || source.canonicalForm === CANONICAL_FORM || payload === undefined) continue;
    const genuine = configMapName(pool.name, payload) === source.name;
    if (genuine && isDeepStrictEqual(parsed(payload), pool.value)) {
      return { name: source.name, sha256: source.sha256, payload };
    }
  }
  return rendered;
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload);
  } catch {
    return undefined;
  }
}
