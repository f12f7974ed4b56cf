import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { writeAmount } from './machine-amount.ts';
import type { Machine } from './machine.ts';
import type { Inputs } from './expression-inputs.ts';

/** Machines that a template makes the same config for. */
export interface MachineClass {
  /** Tells it from the others of a template, in words: `cpu=4,memory=15872Mi`; `any` where nothing is asked of machines. */
  readonly name: string;
  /** Stands for all machines of the class: what the expressions are given. */
  readonly machine: Machine;
}

/** A class's share of the steps between two powers of two; the rest is what a machine may move before it changes its class. */
const STEPS = 32;
const SLACK = 4;

const stepBelow = (size: number): number => 2 ** Math.ceil(Math.log2(size)) / STEPS;
/** Of the class that begins at this size. */
const stepAbove = (size: number): number => 2 ** (Math.floor(Math.log2(size)) + 1) / STEPS;

/**
 * The lower end of the class that a size is in: whole steps of a 32nd of the next power of two, so that machines of one type, whose
 * kernels and firmware keep some mebibytes for themselves, are one class.
 *
 * @param had lower end of the class that the machine was in: it stays there until its size is a quarter of a step beyond its ends
 */
export function classSize(size: number, had?: number): number {
  if (!(size > 0)) return 0;
  if (had !== undefined && had > 0 && isLowerEnd(had) && size >= smallestIn(had)) {
    if (size < had + stepAbove(had) * (1 + 1 / SLACK)) return had;
  }
  const step = stepBelow(size);
  return Math.floor(size / step) * step;
}

const isLowerEnd = (size: number): boolean => classSize(size) === size;

/** The smallest size that a machine of the class with this lower end may have. */
export const smallestIn = (size: number): number => size - stepAbove(size) / SLACK;

/** Sizes that a machine was sorted by, in bytes: kept from pass to pass, so that a machine stays in its class. */
export type Sizes = Readonly<Partial<Record<'memory' | 'ephemeralStorage', number>>>;

const SIZES = ['memory', 'ephemeralStorage'] as const;

/** A machine with the sizes of its class in place of its own. */
export function sortedMachine(machine: Machine, had: Sizes = {}): Machine {
  const sizes = SIZES.flatMap((name) => {
    const own = machine[name];
    return own === undefined ? [] : [[name, classSize(own, had[name])] as const];
  });
  return { ...machine, ...Object.fromEntries(sizes) };
}

/** `memory=15872Mi,ephemeralStorage=98304Mi`. */
export const writeSizes = (machine: Machine): string =>
  SIZES.flatMap((name) => {
    const size = machine[name];
    return size === undefined ? [] : [`${name}=${writeAmount(size, 'bytes')}`];
  }).join(',');

/** What cannot be read is left out: then the machine is sorted by its size alone. */
export function readSizes(text: string | undefined): Sizes {
  const entries = (text ?? '').split(',').flatMap((part) => {
    const [name = '', amount = ''] = part.split('=');
    const size = parseQuantity(amount);
    return SIZES.some((known) => known === name) && size !== undefined && size > 0 ? [[name, size] as const] : [];
  });
  return Object.fromEntries(entries) as Sizes;
}

/**
 * The class of a machine under a template: no more of the machine than the template asks for tells classes apart.
 *
 * @param sorted as `sortedMachine` gives it
 */
export function classOf(sorted: Machine, { variables, labels }: Inputs): MachineClass {
  const { cpu, memory, ephemeralStorage, maxPods, numaNodes, arch } = sorted;
  const asksCpu = variables.has('cpu') || variables.has('milliCpu');
  const machine: Machine = {
    ...(asksCpu && cpu !== undefined ? { cpu } : {}),
    ...(variables.has('memory') && memory !== undefined ? { memory } : {}),
    ...(variables.has('ephemeralStorage') && ephemeralStorage !== undefined ? { ephemeralStorage } : {}),
    ...(variables.has('maxPods') && maxPods !== undefined ? { maxPods } : {}),
    ...(variables.has('numaNodes') && numaNodes !== undefined ? { numaNodes } : {}),
    ...(variables.has('arch') && arch !== undefined ? { arch } : {}),
    labels: Object.fromEntries(
      labels.flatMap((name) => (Object.hasOwn(sorted.labels, name) ? [[name, sorted.labels[name] ?? '']] : [])),
    ),
  };
  return { name: nameOf(machine), machine };
}

function nameOf({ cpu, memory, ephemeralStorage, maxPods, numaNodes, arch, labels }: Machine): string {
  const parts = [
    ...(cpu === undefined ? [] : [`cpu=${cpu}`]),
    ...(memory === undefined ? [] : [`memory=${writeAmount(memory, 'bytes')}`]),
    ...(ephemeralStorage === undefined ? [] : [`ephemeralStorage=${writeAmount(ephemeralStorage, 'bytes')}`]),
    ...(maxPods === undefined ? [] : [`maxPods=${maxPods}`]),
    ...(numaNodes === undefined ? [] : [`numaNodes=${numaNodes}`]),
    ...(arch === undefined ? [] : [`arch=${arch}`]),
    ...Object.entries(labels).map(([name, value]) => `${name}=${value}`),
  ];
  return parts.length === 0 ? 'any' : parts.join(',');
}
