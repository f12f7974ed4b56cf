import type { Observation } from '#agent/decide/observation.ts';
import type { NodePressure } from '#agent/decide/state.ts';
import { B, judging, seen, UNSEEN, wanting } from '../../../support/agent/states.ts';

export const under = (...pressures: readonly string[]): NodePressure => ({
  pressures,
  outOfMemory: {},
  pods: null,
  bootId: 'boot-1',
});
export const killed = (count: number, bootId = 'boot-1'): NodePressure => ({
  pressures: [],
  outOfMemory: { 'kubepods.slice': count },
  pods: null,
  bootId,
});
export const counting = (pods: NodePressure['pods']): NodePressure => ({
  pressures: [],
  outOfMemory: {},
  pods,
  bootId: 'boot-1',
});
export { UNSEEN };
export const MEMORY = under('MemoryPressure');

/** Not healthy for so long that the next look ends a trial that does harm. */
export const tired = judging({ healthy: false, unhealthyMs: 10_000 });

export const looksAt = (strain: NodePressure, ...parts: readonly Partial<Observation>[]): Observation =>
  seen(wanting(B), { strain }, ...parts);
