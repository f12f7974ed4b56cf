import type { Path } from '../position.ts';
import { weakeningGate } from './gates.ts';
import { WEAKENING } from './weakening.ts';
import { mapOf, valueIn } from '../../../runtime/maps.ts';

/** A value that takes a protection away. */
interface Weakened {
  readonly path: Path;
  /** What the author of the value gains, a clause. */
  readonly gives: string;
}

/** Every protection that a config takes away. What it leaves out is the node's own affair. */
export function weakenedBy(config: Readonly<Record<string, unknown>>): readonly Weakened[] {
  return Object.entries(WEAKENING).flatMap(([field, { gives, isHarmless }]): readonly Weakened[] => {
    const path = field.split('.');
    const value = valueIn(config, path);
    if (value === undefined || isHarmless(value)) return [];
    return field === 'featureGates' ? weakenedGates(value) : [{ path, gives }];
  });
}

function weakenedGates(gates: unknown): readonly Weakened[] {
  return Object.entries(mapOf(gates)).flatMap(([gate, on]) => {
    const gives = weakeningGate(gate, on);
    return gives === undefined ? [] : [{ path: ['featureGates', gate], gives }];
  });
}
