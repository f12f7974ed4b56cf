import type { Complaint } from './rules/rule.ts';
import { parseCpus } from './syntax/cpu-set.ts';
import type { ConfigView } from './config-view.ts';

/** A config that a kubelet accepts and starts with, and that makes it panic or hang later: a fault of that kubelet. */
export interface KnownBad {
  /** The pull request of kubernetes/kubernetes that took the fault out. */
  readonly source: number;
  /** First minor with the fault. */
  readonly from: number;
  /** First releases without it (`1.37.0`); later minors than the newest of these do not have it either. */
  readonly fixed: readonly string[];
  readonly field: string;
  /** Whether the config alone brings it about. `warning`: it takes something on the node as well. */
  readonly severity: 'error' | 'warning';
  /** What the kubelet does, to follow "a kubelet of this version". */
  readonly effect: string;
  readonly suggestion: string;
  /** Fields that it rests on besides `field`. */
  readonly restsOn: readonly string[];
  isIn(config: ConfigView): boolean;
}

const isOn = (config: ConfigView, option: string): boolean =>
  config.entries('cpuManagerPolicyOptions').some(([name, value]) => name === option && /^(?:1|t|true)$/i.test(value));

/**
 * The allocator never ends where two NUMA nodes have half a core free and a third is there to choose from. Allocations are of
 * whole cores under these options, so only CPUs that are reserved by number leave half of one.
 */
export const HALF_CORE_HANG: KnownBad = {
  source: 140_730,
  from: 23,
  fixed: ['1.38.0'],
  field: 'cpuManagerPolicyOptions',
  severity: 'warning',
  effect: 'may hang when it gives CPUs to a pod, where reservedSystemCPUs takes halves of cores on several NUMA nodes',
  suggestion: 'reserve whole cores, or leave distribute-cpus-across-numa out',
  restsOn: ['cpuManagerPolicy', 'reservedSystemCPUs'],
  isIn: (config) =>
    config.text('cpuManagerPolicy') === 'static' &&
    isOn(config, 'distribute-cpus-across-numa') &&
    isOn(config, 'full-pcpus-only') &&
    (parseCpus(config.text('reservedSystemCPUs') ?? '')?.size ?? 0) > 1,
};

/** Read in the sources of 1.30.14, 1.34.4, 1.36.3 and 1.37.2, and in the changelogs and pull requests of the others. */
export const KNOWN_BAD: readonly KnownBad[] = [
  {
    source: 138_937,
    from: 33,
    fixed: ['1.37.0'],
    field: 'maxParallelImagePulls',
    severity: 'error',
    effect:
      'panics when it pulls images, if more than 31 pulls are allowed and credentials of pulled images are verified',
    suggestion: 'allow 31 at most, or set featureGates.KubeletEnsureSecretPulledImages: false',
    restsOn: ['featureGates.KubeletEnsureSecretPulledImages'],
    isIn: (config) =>
      (config.number('maxParallelImagePulls') ?? 0) > 31 && config.gate('KubeletEnsureSecretPulledImages'),
  },
  HALF_CORE_HANG,
  {
    source: 136_037,
    from: 35,
    fixed: ['1.36.0'],
    field: 'featureGates.NodeDeclaredFeatures',
    severity: 'warning',
    effect: 'panics when a mirror pod changes, on nodes that have static pods',
    suggestion: 'leave the gate off on nodes with static pods',
    restsOn: [],
    isIn: (config) => config.gate('NodeDeclaredFeatures'),
  },
  {
    source: 122_475,
    from: 26,
    fixed: ['1.30.0'],
    field: 'featureGates.EventedPLEG',
    severity: 'warning',
    effect: 'may panic at its start, when the status of a pod cannot be read',
    suggestion: 'leave the gate off',
    restsOn: [],
    isIn: (config) => config.gate('EventedPLEG'),
  },
];

/**
 * Whether a kubelet has the fault: `some` where only its minor is known, and some of its releases have it.
 *
 * @param version `1.36`, `v1.36.3`, or one with a suffix of its vendor
 */
export function hasFault({ from, fixed }: Pick<KnownBad, 'from' | 'fixed'>, version: string): 'yes' | 'some' | 'no' {
  const [, minorText, patchText] = /^v?1\.(\d+)(?:\.(\d+))?/.exec(version) ?? [];
  if (minorText === undefined) return 'no';
  const minor = Number(minorText);
  const fixes = fixed.map((release) => release.split('.').map(Number));
  if (minor < from || minor > Math.max(...fixes.map(([, fixedMinor = 0]) => fixedMinor))) return 'no';
  const since = fixes.find(([, fixedMinor]) => fixedMinor === minor)?.[2];
  if (since === undefined) return 'yes';
  if (since === 0) return 'no';
  if (patchText === undefined) return 'some';
  return Number(patchText) < since ? 'yes' : 'no';
}

/** What is known to be bad about a config on kubelets of a version. @param version as exact as it is known */
export function* checkKnownBad(
  config: ConfigView,
  version: string,
  table: readonly KnownBad[] = KNOWN_BAD,
): Generator<Complaint> {
  for (const row of table) {
    const fault = hasFault(row, version);
    if (fault === 'no' || !row.isIn(config)) continue;
    const whose = fault === 'some' ? 'some kubelets of this minor version' : 'a kubelet of this version';
    yield {
      code: 'known-bad',
      severity: fault === 'some' ? 'warning' : row.severity,
      at: row.field.split('.'),
      message: `${row.field}: ${describeFault(row, whose)}`,
      suggestion: row.suggestion,
      restsOn: row.restsOn,
    };
  }
}

/** The fault and its source in a sentence. @param whose kubelets that have it */
export const describeFault = ({ source, effect, fixed }: KnownBad, whose: string): string =>
  `${whose} ${effect} (kubernetes#${source}, fixed in ${fixed.join(', ')})`;
