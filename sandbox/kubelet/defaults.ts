import { setOwn } from '#shared/contract/kubelet-config/decode/json.ts';
import { defaultOf, existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { parseGoDuration } from '#shared/contract/kubelet-config/syntax/go-duration.ts';
import { valueAt, viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import { mergePatch } from '#shared/contract/kubelet-config/merge.ts';

type Config = Readonly<Record<string, unknown>>;

/**
 * A config with the defaults of a kubelet of this minor, but for the eviction thresholds. Simplified: defaults inside lists and
 * a few that follow from the machine are left out.
 */
export function withDefaults(config: Config, minor: number): Config {
  const filled: Record<string, unknown> = { ...config };
  followers(filled, minor);
  const { gate } = viewOf(config, minor, 'replace');
  for (const [path, field] of FIELDS) {
    const value = asWritten(defaultOf(field, minor), field.kind, minor);
    if (value === undefined || path.includes('[]') || path === 'evictionHard' || !existsIn(field, minor)) continue;
    if (field.gate !== undefined && !gate(field.gate)) continue;
    const own = valueAt(filled, path);
    const isUnset = own === undefined || own === null || (field.pointer !== true && isZero(own, field.kind));
    if (isUnset) fill(filled, path, value);
  }
  return filled;
}

/**
 * The thresholds are filled in once, after the config file was read and before any drop-in: all of them if it has none,
 * and from 1.33 on those that it lacks if it asks for that.
 */
export function withEvictionDefaults(config: Config, minor: number): Config {
  const field = FIELDS.get('evictionHard');
  const defaults = field === undefined ? {} : (defaultOf(field, minor) as Config);
  const own = config['evictionHard'] as Config | null | undefined;
  const isFilledUp = minor >= 33 && config['mergeDefaultEvictionSettings'] === true;
  if (own === undefined || own === null) return { ...config, evictionHard: defaults };
  return isFilledUp ? { ...config, evictionHard: { ...defaults, ...own } } : config;
}

/** Kubelets up to 1.27 take one of the durations as a number only. */
function asWritten(value: unknown, kind: string, minor: number): unknown {
  const isNumber = kind === 'duration-or-nanoseconds' && minor < 28 && typeof value === 'string';
  return isNumber ? parseGoDuration(value) : value;
}

/** Defaults that depend on what else the file says. */
function followers(filled: Record<string, unknown>, minor: number): void {
  if (minor >= 27 && Number(filled['maxParallelImagePulls'] ?? 0) >= 2) filled['serializeImagePulls'] ??= false;
  if (typeof filled['nodeStatusUpdateFrequency'] === 'string') {
    filled['nodeStatusReportFrequency'] ??= filled['nodeStatusUpdateFrequency'];
  }
}

function fill(filled: Record<string, unknown>, path: string, value: unknown): void {
  const patch = path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
  for (const [key, merged] of Object.entries(mergePatch(filled, patch) as Config)) setOwn(filled, key, merged);
}

function isZero(value: unknown, kind: string): boolean {
  if (typeof value === 'string') return value === '' || (kind === 'duration' && parseGoDuration(value) === 0);
  return value === 0 || value === false;
}
