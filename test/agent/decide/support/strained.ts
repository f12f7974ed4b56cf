import type { Observation } from '#agent/decide/observation.ts';
import type { Strain } from '#agent/decide/state.ts';
import { B, judging, seen, wanting } from '../../../support/agent/states.ts';

export const under = (...pressures: readonly string[]): Strain => ({ pressures, outOfMemory: {}, bootId: 'boot-1' });
export const killed = (count: number, bootId = 'boot-1'): Strain => ({
  pressures: [],
  outOfMemory: { 'kubepods.slice': count },
  bootId,
});
export const counting = (pods: Strain['pods']): Strain => ({
  pressures: [],
  outOfMemory: {},
  pods: pods ?? null,
  bootId: 'boot-1',
});
export const MEMORY = under('MemoryPressure');
export const UNSEEN: Strain = { pressures: null, outOfMemory: null, bootId: 'boot-1' };

/** Not healthy for so long that the next look ends a trial that does harm. */
export const tired = judging({ healthy: false, unhealthyMs: 10_000 });

export const looksAt = (strain: Strain, ...parts: readonly Partial<Observation>[]): Observation =>
  seen(wanting(B), { strain }, ...parts);
