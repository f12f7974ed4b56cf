import { abbreviateJson } from '../decode/abbreviate-json.ts';
import type { Field } from '../fields/field.ts';
import { gateHistory } from '../feature-gates/feature-gates.ts';
import { fieldOfFlag } from '../fields/flags.ts';
import { childrenOf, FIELDS } from '../fields/fields.ts';
import { minorName, NEWEST_MINOR } from '../minor.ts';
import { didYouMean } from '../syntax/did-you-mean.ts';
import { signalsAt } from './eviction.ts';

/** What was meant is searched for so many unknown names of a config: each is compared with all that are known. */
export const MOST_ADVICE = 100;

/** What to write in the place of a name that no version knows, among those that are known there. */
export function nameAdvice(name: string, known: readonly string[]): string | undefined {
  if (ANNOUNCED.includes(name))
    return `kubelet ${minorName(NEWEST_MINOR + 1)} is to have it: wait for a release of ours that knows it`;
  const flag = dashed(name);
  const field = fieldOfFlag(flag);
  if (field !== undefined && name.includes('-')) return `the flag --${flag} is the field ${field}`;
  if (FLAGS_ONLY.includes(flag)) return `it is a flag, --${flag}, that no field stands for`;
  const home = homeOf(name);
  if (home !== undefined) return `it belongs in ${home}: indent it below`;
  const meant = didYouMean(name, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  const parent = parentOf(name);
  if (parent !== undefined) return `it belongs to ${parent}`;
  return field === undefined ? undefined : `the flag --${flag} is the field ${field}`;
}

/** Fields that the pre-releases of the next minor have (1.38.0-beta.0). */
const ANNOUNCED = ['clientCertificateKeyAlgorithm', 'serverCertificateKeyAlgorithm'];

/** Flags that people look for in the file, and that have no field (kubelet 1.20 to 1.37, `KubeletFlags`). */
const FLAGS_ONLY = [
  'bootstrap-kubeconfig',
  'cert-dir',
  'cloud-config',
  'cloud-provider',
  'config',
  'config-dir',
  'exit-on-lock-contention',
  'hostname-override',
  'image-credential-provider-bin-dir',
  'image-credential-provider-config',
  'kubeconfig',
  'lock-file',
  'node-ip',
  'node-labels',
  'pod-infra-container-image',
  'root-dir',
  'runtime-cgroups',
];

/** `hostnameOverride` and `--hostname-override` as `hostname-override`. */
const dashed = (name: string): string =>
  name
    .replace(/^--?/, '')
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase();

/** The map that such keys are in. */
function homeOf(name: string): string | undefined {
  if (signalsAt(NEWEST_MINOR).includes(name)) return 'evictionHard or evictionSoft';
  if (/^(?:cpu|memory|ephemeral-storage|pid|hugepages-\w+)$/.test(name)) return 'kubeReserved or systemReserved';
  return gateHistory(name) === undefined ? undefined : 'featureGates';
}

/** The parent of a field that has this name somewhere else in the table. */
function parentOf(name: string): string | undefined {
  for (const path of FIELDS.keys()) if (path.endsWith(`.${name}`)) return path.slice(0, -name.length - 1);
  return undefined;
}

/**
 * What to write in the place of a value of a wrong type.
 *
 * @param wanted types as JSON schema names them
 * @param pattern the field's path in the table, or that of the map that the value is in
 */
export function typeAdvice(
  value: unknown,
  wanted: readonly string[],
  field: Field | undefined,
  pattern: string,
): string | undefined {
  if (typeof value === 'string' && /^\$\{?\w+\}?$/.test(value)) return 'the kubelet fills nothing in: write the value';
  if (field?.kind === 'duration') return `write it as "${typeof value === 'number' && value > 0 ? value : 10}s"`;
  if (wanted.includes('string') && isScalar(value)) return textAdvice(value, pattern);
  if (wanted.includes('array')) return isScalar(value) && field?.kind !== 'struct-list' ? listAdvice(value) : undefined;
  if (wanted.includes('object')) return mapAdvice(value, field, pattern);
  if (wanted.includes('boolean') && (value === 0 || value === 1)) return `write ${value === 1}`;
  if (typeof value !== 'string') return undefined;
  const isNumber = wanted.includes('integer') && /^-?\d+$/.test(value);
  const isFlag = wanted.includes('boolean') && /^(?:true|false)$/.test(value);
  if (isNumber || isFlag) return `write ${value} without quotes`;
  return wanted.includes('boolean') && SWITCH.test(value) ? `write ${/^(?:y|on)/i.test(value)}` : undefined;
}

const SWITCH = /^(?:y|yes|on|n|no|off)$/i;

const isScalar = (value: unknown): value is string | number | bigint | boolean =>
  ['string', 'number', 'boolean', 'bigint'].includes(typeof value);

function textAdvice(value: unknown, pattern: string): string | undefined {
  if (typeof value === 'string') return undefined;
  if (/^eviction(?:Hard|Soft|MinimumReclaim)\./.test(pattern))
    return `write "${abbreviateJson(value)}%", or "100Mi" for an amount`;
  if (pattern.startsWith('evictionSoftGracePeriod.')) return `write "${abbreviateJson(value)}s"`;
  if (pattern.startsWith('qosReserved.')) return `write "${abbreviateJson(value)}%"`;
  const isExact = typeof value === 'bigint' || Number.isInteger(value);
  // 1.30 is 1.3 by now, and yes is true.
  return isExact ? `write "${abbreviateJson(value)}" in quotes` : 'put it in quotes as it stands';
}

function listAdvice(value: unknown): string {
  const parts = typeof value === 'string' ? value.split(',').map((part) => part.trim()) : [value];
  return `write [${parts.map(abbreviateJson).join(', ')}]`;
}

/** Maps as flags have them: `a=b,c=d`, and `a<b` for thresholds. */
function mapAdvice(value: unknown, field: Field | undefined, pattern: string): string | undefined {
  if (typeof value === 'boolean' && field?.kind === 'struct' && childrenOf(pattern).includes('enabled'))
    return `write {enabled: ${value}}`;
  if (field?.kind !== 'string-map' && field?.kind !== 'bool-map') return undefined;
  const items: unknown[] = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  const pairs = items.map((item) => (typeof item === 'string' ? /^([\w./-]+)\s*[=<](.+)$/.exec(item.trim()) : null));
  if (pairs.length === 0) return undefined;
  const written = pairs.map((pair) => {
    const said = pair?.[2]?.trim() ?? '';
    return pair === null || said === ''
      ? null
      : `${pair[1]}: ${field.kind === 'bool-map' ? said : abbreviateJson(said)}`;
  });
  return written.includes(null) ? undefined : `write {${written.join(', ')}}`;
}
