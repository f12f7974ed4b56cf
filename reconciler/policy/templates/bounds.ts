import { parseWholePercentage } from '#shared/contract/kubelet-config/syntax/percentage.ts';
import { type MachineAmount, readMachineAmount, type Unit, wholeUnits } from './machine-amount.ts';
import { smallestIn } from './machine-class.ts';
import type { Machine } from './machine.ts';

/** What a computed amount or number may come to, whatever its expression says. */
export interface LeafBounds {
  /** Amounts as they were written: `255Mi`, `8Gi`; a number for a field that is one. */
  readonly min?: string | number;
  readonly max?: string | number;
  /** Of the machine's capacity of the same resource: `25%`. Wins over `min`. */
  readonly maxShare?: string;
}

/** The resource of a machine that a field takes its amount of. */
type MachineResource = 'cpu' | 'memory' | 'ephemeralStorage';

const RESOURCES: Readonly<Record<string, MachineResource>> = {
  cpu: 'cpu',
  memory: 'memory',
  'memory.available': 'memory',
  'allocatableMemory.available': 'memory',
  'ephemeral-storage': 'ephemeralStorage',
  'nodefs.available': 'ephemeralStorage',
};

/** @param key last part of the field's path */
export const resourceOf = (key: string): MachineResource | undefined =>
  Object.hasOwn(RESOURCES, key) ? RESOURCES[key] : undefined;

export const unitOfKey = (key: string): Unit => (resourceOf(key) === 'cpu' ? 'cores' : 'bytes');

/** A share of a machine, of 1; undefined for an invalid one. */
export function readShare(text: unknown): number | undefined {
  const share = typeof text === 'string' ? parseWholePercentage(text) : undefined;
  return share === undefined || share < 0 || share > 100 ? undefined : share / 100;
}

/**
 * An amount in whole units and within its bounds. The share is that of the smallest machine of the class, so that no machine gives more.
 *
 * @param machine one that stands for its class
 */
export function boundAmount({ size }: MachineAmount, bounds: LeafBounds, key: string, machine: Machine): number {
  const unit = unitOfKey(key);
  const [min, max] = [sizeIn(bounds.min) ?? 0, sizeIn(bounds.max) ?? Number.POSITIVE_INFINITY];
  const resource = resourceOf(key);
  const whole = resource === undefined ? undefined : machine[resource];
  const least = whole === undefined || unit === 'cores' ? whole : smallestIn(whole);
  const share = readShare(bounds.maxShare);
  const most = share === undefined || least === undefined ? max : Math.min(max, wholeUnits(least * share, unit));
  return Math.min(Math.max(wholeUnits(size, unit), min), most);
}

export const boundNumber = (value: number, { min, max }: LeafBounds): number =>
  Math.min(Math.max(value, numberIn(min) ?? value), numberIn(max) ?? Number.POSITIVE_INFINITY);

const sizeIn = (bound: LeafBounds['min']): number | undefined =>
  bound === undefined ? undefined : readMachineAmount(String(bound))?.size;

const numberIn = (bound: LeafBounds['min']): number | undefined => sizeIn(bound);
