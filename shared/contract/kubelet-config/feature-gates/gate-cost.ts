import type { ChangeCost } from '../fields/field.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../minor.ts';
import { gateSpec } from './feature-gates.ts';
import type { GateStage } from './gate-history.ts';

/**
 * Gates of features that running pods need and nodes declare (KEP-5328, component-helpers/nodedeclaredfeatures 1.37: those that
 * infer something for scheduling). A kubelet that comes up without one admits such pods no more: they end as Failed.
 */
export const NEEDED_BY_PODS = [
  'RestartAllContainersOnContainerExits',
  'UserNamespacesHostNetworkSupport',
  'VolumeBindMountOptions',
] as const;

/** A feature has the name of its gate. */
export type PodFeature = (typeof NEEDED_BY_PODS)[number];

/** Gates that change the form of the managers' state files, which are put aside then, whichever way they go. */
const CHANGE_STATE_FILES = ['PodLevelResourceManagers'];

/** What speaks for every gate of a stage that is not named. */
const STAGES: Readonly<Record<string, GateStage>> = { AllAlpha: 'alpha', AllBeta: 'beta' };

type Gates = Readonly<Record<string, unknown>>;

/** The maps that a change lies between. */
export interface GateMaps {
  readonly before: Gates;
  readonly after: Gates;
  /** Of the kubelet; if unknown, the greatest cost in the tables counts. */
  readonly minor?: number | undefined;
}

interface GateCost {
  readonly cost: ChangeCost;
  /** The features that go off with it, where nothing but the pods that need them asks for the drain. */
  readonly features?: readonly PodFeature[];
}

/**
 * What it costs to change a gate on a live node: of `AllAlpha` and `AllBeta`, what the dearest gate costs that they switch.
 *
 * @param after as it would be written, `true`; undefined for its default
 */
export function gateCost(gate: string, after: string | undefined, maps: GateMaps): GateCost {
  const stage = Object.hasOwn(STAGES, gate) ? STAGES[gate] : undefined;
  const goesWith = (one: string, isOffOnly: boolean): boolean =>
    stage === undefined
      ? one === gate && !(isOffOnly && after === 'true')
      : minorsOf(maps).some((minor) => isSwitched(one, isOffOnly, gate, stage, maps, minor));
  if (CHANGE_STATE_FILES.some((one) => goesWith(one, false))) return { cost: 'drain' };
  const features = NEEDED_BY_PODS.filter((one) => goesWith(one, true));
  return features.length === 0 ? { cost: 'restart' } : { cost: 'drain', features };
}

function minorsOf({ minor }: GateMaps): readonly number[] {
  if (minor !== undefined) return [minor];
  return Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => OLDEST_MINOR + index);
}

/** Whether `all` switches a gate; one that either map names is a change of its own. */
function isSwitched(
  gate: string,
  isOffOnly: boolean,
  all: string,
  stage: GateStage,
  { before, after }: GateMaps,
  minor: number,
): boolean {
  const spec = gateSpec(gate, minor);
  if (spec?.stage !== stage || Object.hasOwn(before, gate) || Object.hasOwn(after, gate)) return false;
  const isOn = (map: Gates): boolean => (Object.hasOwn(map, all) ? map[all] === true : spec.default);
  return isOn(before) !== isOn(after) && !(isOffOnly && isOn(after));
}
