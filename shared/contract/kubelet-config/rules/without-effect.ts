import { isSwitchedOff } from '../reserved-amount.ts';
import { parsePercentage } from '../syntax/percentage.ts';
import { parseQuantity } from '../syntax/quantity.ts';
import type { ConfigView } from '../config-view.ts';
import { at, type Complaint, type Rule } from './rule.ts';

/** What a config says and another part of it keeps from ever having effect: kubelets take it, and people count on it. */
export const WITHOUT_EFFECT_RULES: readonly Rule[] = [
  function* imageCollection(config) {
    const used = config.number('imageGCHighThresholdPercent') ?? 0;
    const threshold = thresholdsIn(config, 'evictionHard').get('imagefs.available');
    const free = threshold?.endsWith('%') === true ? parsePercentage(threshold) : undefined;
    // At 100 % nothing is collected, on purpose (kubelet.go, `StartGarbageCollection`).
    if (free === undefined || used >= 100 || used <= 100 - free) return;
    if (!isKnown(config, 'imageGCHighThresholdPercent', 'evictionHard')) return;
    const collection = `image garbage collection begins at ${used}% used`;
    yield {
      ...without(`${collection}, and pods are evicted before, at ${free}% free`),
      at: config.isSet('imageGCHighThresholdPercent')
        ? at('imageGCHighThresholdPercent')
        : ['evictionHard', 'imagefs.available'],
      suggestion: `set imageGCHighThresholdPercent to ${Math.floor(100 - free)} or less`,
    };
  },
  function* softBelowHard(config) {
    if (!isKnown(config, 'evictionHard')) return;
    const hard = thresholdsIn(config, 'evictionHard');
    for (const [signal, soft] of thresholdsIn(config, 'evictionSoft')) {
      const limit = hard.get(signal) ?? '0%';
      if (!isAtMost(soft, limit)) continue;
      yield {
        ...without(`pods are evicted at ${limit} already, without a grace period`),
        at: ['evictionSoft', signal],
        suggestion: `write more than ${limit}, or lower evictionHard["${signal}"]`,
      };
    }
  },
];

/** In an overlay, what is not written is the node's own. */
const isKnown = (config: ConfigView, ...fields: readonly string[]): boolean =>
  config.apply === 'replace' || fields.every((field) => config.isSet(field));

const thresholdsIn = (config: ConfigView, field: string): ReadonlyMap<string, string> =>
  new Map(config.entries(field).filter(([, amount]) => !isSwitchedOff(amount)));

/** False where the two cannot be compared without knowing the machine. */
function isAtMost(one: string, other: string): boolean {
  const parse = one.endsWith('%') ? parsePercentage : parseQuantity;
  const [less, more] = one.endsWith('%') === other.endsWith('%') ? [parse(one), parse(other)] : [];
  return less !== undefined && more !== undefined && less <= more;
}

const without = (why: string): Pick<Complaint, 'code' | 'severity' | 'message'> => ({
  code: 'no-effect',
  severity: 'warning',
  message: `it never has effect: ${why}`,
});
