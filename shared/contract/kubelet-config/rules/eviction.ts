import { isSwitchedOff } from '../reserved-amount.ts';
import { didYouMean } from '../syntax/did-you-mean.ts';
import { parseGoDuration } from '../syntax/go-duration.ts';
import { parsePercentage } from '../syntax/percentage.ts';
import { parseQuantity } from '../syntax/quantity.ts';
import { badQuantity, unknownValue } from './formats.ts';
import type { Complaint, Rule } from './rule.ts';

const SIGNALS = [
  'memory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'pid.available',
  'allocatableMemory.available',
];

/** The kubelet reads these maps only when it starts, after its validation; a mistake stops it all the same. */
export const EVICTION_RULES: readonly Rule[] = [
  function* signals(config) {
    for (const field of ['evictionHard', 'evictionSoft', 'evictionSoftGracePeriod', 'evictionMinimumReclaim']) {
      for (const [signal] of config.entries(field)) {
        const known = signalsAt(config.minor);
        if (!known.includes(signal)) yield { ...unknownValue(signal, known, [field, signal]), code: 'unknown-signal' };
      }
    }
  },
  function* thresholds(config) {
    for (const field of ['evictionHard', 'evictionSoft']) {
      for (const [signal, amount] of config.entries(field))
        yield* judgeThreshold(amount, [field, signal], config.minor);
    }
  },
  function* minimumReclaim(config) {
    for (const [signal, amount] of config.entries('evictionMinimumReclaim')) {
      yield* judgeReclaim(amount, ['evictionMinimumReclaim', signal]);
    }
  },
  function* gracePeriods(config) {
    for (const [signal, period] of config.entries('evictionSoftGracePeriod')) {
      const at = ['evictionSoftGracePeriod', signal];
      const span = parseGoDuration(period);
      if (span === undefined) {
        const suggestion = 'write hours, minutes and seconds such as "1m30s"';
        yield { code: 'bad-duration', at, message: `"${period}" is not a valid duration`, suggestion };
      } else if (span < 0) {
        yield { code: 'out-of-range', at, message: 'a grace period cannot be negative' };
      }
    }
  },
  function* softNeedsGracePeriod(config) {
    const periods = new Set(config.entries('evictionSoftGracePeriod').map(([signal]) => signal));
    const known = signalsAt(config.minor);
    const misspelt = [...periods]
      .filter((signal) => !known.includes(signal))
      .map((signal) => didYouMean(signal, known));
    for (const [signal, amount] of config.entries('evictionSoft')) {
      const isJudged = !known.includes(signal) || misspelt.includes(signal);
      if (periods.has(signal) || isJudged || isSwitchedOff(amount)) continue;
      const message = `the soft threshold for ${signal} has no grace period, and the kubelet does not start without`;
      const suggestion = `set evictionSoftGracePeriod["${signal}"], such as "1m30s"`;
      const restsOn = [`evictionSoftGracePeriod.${signal}`];
      yield { code: 'missing-partner', at: ['evictionSoft', signal], message, suggestion, restsOn };
    }
  },
];

/** The eviction signals that kubelets of this minor know. */
export const signalsAt = (minor: number): readonly string[] =>
  minor < 29 ? SIGNALS : [...SIGNALS, 'containerfs.available', 'containerfs.inodesFree'];

function* judgeThreshold(amount: string, at: readonly string[], minor: number): Generator<Complaint> {
  if (isSwitchedOff(amount)) return;
  if (!amount.endsWith('%')) {
    const size = parseQuantity(amount);
    if (size === undefined) yield badQuantity(amount, at);
    else if (size <= 0)
      yield {
        code: 'out-of-range',
        at,
        message: 'a threshold has to be more than 0',
        suggestion: 'write 0% to switch the signal off',
      };
    return;
  }
  const share = parsePercentage(amount);
  if (share === undefined) yield badPercentage(amount, at);
  // 1.20 compares the hundredth part with 100.
  else if (share < 0 || share > (minor > 20 ? 100 : 10_000))
    yield { code: 'out-of-range', at, message: `${amount} is not between 0% and 100%` };
}

function* judgeReclaim(amount: string, at: readonly string[]): Generator<Complaint> {
  const share = amount.endsWith('%') ? parsePercentage(amount) : undefined;
  const size = amount.endsWith('%') ? share : parseQuantity(amount);
  if (size === undefined) {
    yield amount.endsWith('%') ? badPercentage(amount, at) : badQuantity(amount, at);
  } else if (share !== undefined && share <= 0) {
    yield { code: 'out-of-range', at, message: 'a minimum reclaim in percent has to be more than 0%' };
  } else if (size < 0) {
    yield { code: 'out-of-range', at, message: 'a minimum reclaim cannot be negative' };
  }
}

function badPercentage(amount: string, at: readonly string[]): Complaint {
  const bare = amount.replaceAll(/\s/g, '');
  const suggestion = parsePercentage(bare) === undefined ? 'write it as "10%"' : `write "${bare}"`;
  return { code: 'bad-quantity', at, message: `"${amount}" is not a valid percentage`, suggestion };
}
