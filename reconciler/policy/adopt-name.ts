import equal from 'fast-deep-equal';
import { CANONICAL_FORM } from '#shared/contract/kubelet-config/canonical.ts';
import { configMapName } from '#shared/contract/config-map.ts';
import type { ConfigSourceView } from './fleet.ts';
import type { ValidPool } from './repo/loaded.ts';

/** A config that a pool's nodes are to run. */
export interface DesiredConfig {
  readonly name: string;
  readonly sha256: string;
  /** Absent where the bytes are only in the cluster (a kept pool after a restart). */
  readonly payload?: string;
}

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
    if (genuine && equal(parsed(payload), pool.value)) {
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
