import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';

/** An amount in a resource's base unit: cores or bytes. A class, because CEL tells its types apart by their constructor. */
export class MachineAmount {
  readonly size: number;

  constructor(size: number) {
    this.size = size;
  }
}

const MEBIBYTE = 2 ** 20;

/** Thousandths of a core are what Kubernetes counts CPUs in. */
const MILLI = 1000;

/** Whether amounts are counted in cores, and otherwise in bytes. */
export type Unit = 'cores' | 'bytes';

/**
 * An amount as a config may write it: whole thousandths of a core; whole mebibytes, and below one whole bytes. Rounded down, so that no
 * bound is passed by it. What is off by less than a thousandth of a unit is the arithmetic of fractions.
 */
export function wholeUnits(size: number, unit: Unit): number {
  if (unit === 'cores') return downTo(size * MILLI) / MILLI;
  return size < MEBIBYTE ? downTo(size) : downTo(size / MEBIBYTE) * MEBIBYTE;
}

const downTo = (value: number): number => Math.floor(Math.round(value * 1e6) / 1e6);

/** `90m`, `2662Mi`, `1536Ki`, `17`: the same amount in the same words always. */
export function writeAmount(size: number, unit: Unit): string {
  if (unit === 'cores') return `${Math.round(size * MILLI)}m`;
  if (size !== 0 && size % MEBIBYTE === 0) return `${size / MEBIBYTE}Mi`;
  return size !== 0 && size % 1024 === 0 ? `${size / 1024}Ki` : String(Math.round(size));
}

/** A quantity as Kubernetes writes it; undefined for an invalid one. */
export function readMachineAmount(text: string): MachineAmount | undefined {
  const size = parseQuantity(text);
  return size === undefined || !Number.isFinite(size) ? undefined : new MachineAmount(size);
}
