import type { Finding } from '../finding.ts';
import { setOwn } from './decode/json.ts';
import { childrenOf, FIELDS } from './fields/fields.ts';
import { NEWEST_MINOR } from './minor.ts';
import { isMap } from '../../runtime/maps.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * What a kubelet drops with no more than a line in its log, and what people may therefore decide to live with: while a
 * pool moves to nodes that know a field, or while a file cannot be changed now. A feature gate that is
 * not known keeps kubelets from starting, so that it is only tolerable on versions newer than the tables.
 */
export const TOLERABLE_CODES = ['unknown-field', 'wrong-case', 'duplicate-key', 'unknown-feature-gate'] as const;

const TOLERABLE: ReadonlySet<string> = new Set(TOLERABLE_CODES);

export type TolerableCode = (typeof TOLERABLE_CODES)[number];

/**
 * The finding as a warning where its code is tolerated. Words that are no tolerable code tolerate nothing.
 *
 * @param minor of the kubelet, for a finding about one version
 */
export function tolerated<F extends Pick<Finding, 'code' | 'severity'>>(
  finding: F,
  codes: readonly string[],
  minor = 0,
): F {
  const isTolerable = finding.code === 'unknown-feature-gate' ? minor > NEWEST_MINOR : TOLERABLE.has(finding.code);
  const isLowered = codes.includes(finding.code) && isTolerable;
  return isLowered && finding.severity === 'error' ? { ...finding, severity: 'warning' } : finding;
}

/**
 * A config without the fields that no version of the table knows, as every kubelet would drop them. What some versions
 * know stays, although others drop it: the payload is one for all of a pool's nodes. Keys of maps that people choose
 * (labels, feature gates, eviction signals) are no fields, and stay.
 */
export function withoutUnknownFields(config: Config): Config {
  return knownIn(config, '');
}

function knownIn(struct: Config, pattern: string): Config {
  const names = new Set(childrenOf(pattern));
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(struct)) {
    if (names.has(name)) setOwn(known, name, knownValue(value, pattern === '' ? name : `${pattern}.${name}`));
    else if (pattern === '' && (name === 'apiVersion' || name === 'kind')) known[name] = value;
  }
  return known;
}

function knownValue(value: unknown, path: string): unknown {
  const kind = FIELDS.get(path)?.kind;
  if (kind === 'struct' && isMap(value)) return knownIn(value, path);
  if (kind !== 'struct-list' || !Array.isArray(value)) return value;
  return value.map((item) => (isMap(item) ? knownIn(item, `${path}[]`) : item));
}
