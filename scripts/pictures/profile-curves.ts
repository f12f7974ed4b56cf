import { MachineAmount } from '#reconciler/policy/templates/machine-amount.ts';
import { compile } from '#reconciler/policy/templates/expression.ts';
import {
  type ExpressionTree,
  PROFILE_NAMES,
  type ProfileName,
  PROFILES,
} from '#reconciler/policy/templates/profiles.ts';

const GIBIBYTE = 2 ** 30;
/** The kubelet's default of `maxPods`. */
const PODS = 110;
/** Points between a size and twice that. */
const POINTS = 16;

export interface Point {
  /** Cores, or GiB of memory. */
  readonly size: number;
  /** In the same unit. */
  readonly reserved: number;
}

export interface Curve {
  readonly profile: ProfileName;
  readonly points: readonly Point[];
}

/** What each profile reserves of machines from one size to another, by its own expressions. */
export function curvesOf(resource: 'cpu' | 'memory', from: number, to: number): readonly Curve[] {
  const unit = resource === 'memory' ? GIBIBYTE : 1;
  const count = Math.round(Math.log2(to / from) * POINTS);
  const sizes = Array.from({ length: count + 1 }, (_, index) => from * 2 ** (index / POINTS));
  return PROFILE_NAMES.map((profile) => {
    const { of } = expressionFor(profile, resource);
    const points = sizes.map((size) => {
      const result = of({ [resource]: size * unit, maxPods: PODS, labels: {} });
      if (!('value' in result) || !(result.value instanceof MachineAmount))
        throw new Error(`${profile} has no ${size}`);
      return { size, reserved: result.value.size / unit };
    });
    return { profile, points };
  });
}

/** Of the one field in which the profile reserves it. */
function expressionFor(profile: ProfileName, resource: 'cpu' | 'memory') {
  const trees: readonly ExpressionTree[] = Object.values(PROFILES[profile].computed);
  const text = trees.map((tree) => tree[resource]).find((found) => typeof found === 'string');
  const expression = compile(typeof text === 'string' ? text : '');
  if ('message' in expression) throw new Error(`${profile}: ${expression.message}`);
  return expression;
}
