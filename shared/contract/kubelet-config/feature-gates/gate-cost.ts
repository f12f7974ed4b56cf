import type { ChangeCost } from '../fields/field.ts';
import { NEWEST_MINOR, OLDEST_MINOR } from '../minor.ts';
import { gateSpec } from './feature-gates.ts';
import type { GateStage } from './history.ts';

/**
 * Gates of features that running pods need and nodes declare (KEP-5328, component-helpers/nodedeclaredfeatures 1.37: those that
 * infer something for scheduling). A kubelet that comes up without one admits such pods no more: they end as Failed.
 */
const NEEDED_BY_PODS: ReadonlySet<string> = new Set([
  'RestartAllContainersOnContainerExits',
  'UserNamespacesHostNetworkSupport',
  'VolumeBindMountOptions',
]);

/** Gates that change the form of the managers' state files, which are put aside then, whichever way they go. */
const CHANGE_STATE_FILES: ReadonlySet<string> = new Set(['PodLevelResourceManagers']);

/** What speaks for every gate of a stage that is not named. */
const STAGES: Readonly<Record<string, GateStage>> = { AllAlpha: 'alpha', AllBeta: 'beta' };

type Gates = Readonly<Record<string, unknown>>;

/** The maps that a change lies between. */
export interface GateMaps {
  readonly before: Gates;
  readonly after: Gates;
  /** Of the kubelet; where it is not known, the dearest of all that the tables know counts. */
  readonly minor?: number | undefined;
}

/**
 * What it costs to change a gate on a live node: of `AllAlpha` and `AllBeta`, what the dearest gate costs that they switch.
 *
 * @param after as it would be written, `true`; undefined where it is left to its default
 */
export function gateCost(gate: string, after: string | undefined, maps: GateMaps): ChangeCost {
  const stage = Object.hasOwn(STAGES, gate) ? STAGES[gate] : undefined;
  const isDrain =
    stage === undefined
      ? CHANGE_STATE_FILES.has(gate) || (NEEDED_BY_PODS.has(gate) && after !== 'true')
      : minorsOf(maps).some((minor) => switchesDear(gate, stage, maps, minor));
  return isDrain ? 'drain' : 'restart';
}

function minorsOf({ minor }: GateMaps): readonly number[] {
  if (minor !== undefined) return [minor];
  return Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => OLDEST_MINOR + index);
}

/** Gates that either map names are changes of their own. */
function switchesDear(all: string, stage: GateStage, { before, after }: GateMaps, minor: number): boolean {
  return [...CHANGE_STATE_FILES, ...NEEDED_BY_PODS].some((gate) => {
    const spec = gateSpec(gate, minor);
    if (spec?.stage !== stage || Object.hasOwn(before, gate) || Object.hasOwn(after, gate)) return false;
    const isOn = (map: Gates): boolean => (Object.hasOwn(map, all) ? map[all] === true : spec.default);
    return isOn(before) !== isOn(after) && (CHANGE_STATE_FILES.has(gate) || !isOn(after));
  });
}
