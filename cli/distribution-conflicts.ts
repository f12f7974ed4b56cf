import { FLAGS_SET_IN, type PassedFlag, passedFlags } from '#shared/contract/distribution-flags.ts';
import { type Distribution, type DistributionName, DISTRIBUTIONS } from '#shared/contract/distributions.ts';
import type { ApplyMode } from '#shared/contract/api/kubelet-node.ts';
import { contradictions } from '#shared/contract/kubelet-config/configz-compare.ts';
import { valueAt } from '#shared/contract/kubelet-config/config-view.ts';
import { FIRST_MINOR_THAT_PATCHES } from '#shared/contract/kubelet-config/drop-ins.ts';
import { flagSays } from '#shared/contract/kubelet-config/fields/flags.ts';
import { minorName, minorNumber } from '#shared/contract/kubelet-config/minor.ts';

type Config = Readonly<Record<string, unknown>>;

export const DISTRIBUTION_NAMES = Object.keys(DISTRIBUTIONS) as readonly DistributionName[];

/** Something of a config that has no effect on a distribution's nodes. */
export interface DistributionConflict {
  /** Dotted path. */
  readonly field: string;
  readonly message: string;
  readonly suggestion: string;
  /** Whether the node's agent refuses the config for it. Otherwise that depends on what the node's kubelet was started with. */
  readonly isCertain: boolean;
}

/**
 * Fields that a flag wins over which the distribution passes. A field with the flag's own value is none. Pure.
 *
 * @param version of the kubelet: `1.34`, `v1.34.2+k3s1`
 * @param running `kubeletconfig` of its /configz, which shows what the flag says there
 */
export function flagConflicts(
  name: DistributionName,
  version: string,
  config: Config,
  running?: Config,
): readonly DistributionConflict[] {
  return passedFlags(name, version).flatMap((passed): readonly DistributionConflict[] => {
    const { field, flag, value, sometimes } = passed;
    const wanted = valueAt(config, field) ?? undefined;
    if (wanted === undefined || isAsPassed(passed, wanted, version, running)) return [];
    const isKnown = value !== undefined || running !== undefined;
    const wins = isKnown ? ' wins' : ', if it says otherwise, wins';
    const why = sometimes ?? `${titleOf(name)} always passes it`;
    const settable = FLAGS_SET_IN[name];
    const rest = settable === undefined ? ': nobody can change it there' : `; ${settable} can set it`;
    return [
      {
        field,
        message: `${flag}${wins} over ${field}: ${JSON.stringify(wanted)}, and ${why}`,
        suggestion: `take the field out of the config${rest}`,
        isCertain: isKnown && sometimes === undefined,
      },
    ];
  });
}

function isAsPassed({ field, value }: PassedFlag, wanted: unknown, version: string, running?: Config): boolean {
  if (running !== undefined) {
    const alone = field.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), wanted) as Config;
    return contradictions(alone, running, version).length === 0;
  }
  return value !== undefined && flagSays(field, value, wanted);
}

/**
 * Why no kubelet of a distribution reads what an agent would write, and what to do; undefined where it reads it. Without a config
 * file, only a drop-in is left, which is a merge patch from 1.32 on. Pure.
 */
export function whyUnread(name: DistributionName, version: string, apply: ApplyMode): WhyUnread | undefined {
  const { configFile }: Distribution = DISTRIBUTIONS[name];
  const minor = minorNumber(version);
  if (configFile !== undefined || minor === undefined) return undefined;
  const without = `${titleOf(name)} has no kubelet config file`;
  const first = minorName(FIRST_MINOR_THAT_PATCHES);
  if (minor < FIRST_MINOR_THAT_PATCHES)
    return {
      message: `${without}, and before ${first} no drop-in directory that an overlay can go to`,
      suggestion: `upgrade these nodes to ${first}`,
    };
  if (apply === 'overlay') return undefined;
  return { message: `${without}, whose place apply: replace would take`, suggestion: 'use apply: overlay' };
}

interface WhyUnread {
  readonly message: string;
  readonly suggestion: string;
}

/** Without what it says of the system. */
const titleOf = (name: DistributionName): string => DISTRIBUTIONS[name].title.replace(/,.*/, '');
