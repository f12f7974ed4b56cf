import { isDeepStrictEqual as equal } from 'node:util';
import { CANONICAL_FORM } from '#shared/contract/kubelet-config/canonical.ts';
import { configMapName, isOtherNameOf } from '#shared/contract/config-map-hash.ts';
import type { ConfigSourceView } from './fleet.ts';
import type { ValidPool } from './config-repo/loaded-repo.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

/** A config that a pool's nodes are to run. */
export interface DesiredConfig {
  readonly name: string;
  readonly sha256: string;
  /** Absent where the bytes are only in the cluster (a kept pool after a restart). */
  readonly payload?: string;
  /** The name that it should have, where a ConfigMap that is not ours has that. */
  readonly insteadOf?: string;
}

/**
 * The config to use for a rendered pool. Where another release of ours wrote the same meaning in other bytes, the config
 * source that is there already is kept, so that upgrading this software restarts no kubelet. Where the usual name was taken, it is
 * the one that was made under another.
 */
export function desiredConfigOf(pool: ValidPool, sources: ReadonlyMap<string, ConfigSourceView>): DesiredConfig {
  const rendered = { name: pool.configName, sha256: pool.sha256, payload: pool.payload };
  const usual = sources.get(pool.configName);
  if (usual !== undefined && isIntact(usual, pool.sha256)) return rendered;
  for (const source of sources.values()) {
    const isOther = source.pool === pool.name && isOtherNameOf(source.name, pool.name, pool.payload);
    if (isOther && isIntact(source, pool.sha256)) return { ...rendered, name: source.name, insteadOf: pool.configName };
  }
  if (usual !== undefined) return rendered;
  for (const source of sources.values()) {
    const { payload } = source;
    if (source.pool !== pool.name || source.canonicalForm === CANONICAL_FORM || payload === undefined) continue;
    const genuine = configMapName(pool.name, payload) === source.name;
    if (genuine && equal(jsonIn(payload), pool.value)) {
      return { name: source.name, sha256: source.sha256, payload };
    }
  }
  return rendered;
}

/** Whether it carries these bytes, and goes on doing so. */
export const isIntact = ({ sha256, defect }: ConfigSourceView, wanted: string): boolean =>
  sha256 === wanted && defect === undefined;
