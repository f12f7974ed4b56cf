import type { Observation } from '#agent/decide/observation.ts';
import type { NodePressure } from '#agent/decide/state.ts';
import { B, judging, seen, wanting } from '../../../support/agent/states.ts';

export const under = (...pressures: readonly string[]): NodePressure => ({
  pressures,
  outOfMemory: {},
  bootId: 'boot-1',
});
export const killed = (count: number, bootId = 'boot-1'): NodePressure => ({
  pressures: [],
  outOfMemory: { 'kubepods.slice': count },
  bootId,
});
export const counting = (pods: NodePressure['pods']): NodePressure => ({
  pressures: [],
  outOfMemory: {},
  pods: pods ?? null,
  bootId: 'boot-1',
});
export const MEMORY = under('MemoryPressure');
export const UNSEEN: NodePressure = { pressures: null, outOfMemory: null, bootId: 'boot-1' };

/** Not healthy for so long that the next look ends a trial that does harm. */
export const tired = judging({ healthy: false, unhealthyMs: 10_000 });

export const looksAt = (strain: NodePressure, ...parts: readonly Partial<Observation>[]): Observation =>
  seen(wanting(B), { strain }, ...parts);
