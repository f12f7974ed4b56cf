import { DISRUPTING } from './disrupting.ts';
import { OWNING } from './owning.ts';
import type { PowerRow } from './power.ts';
import { WEAKENING } from './weakening.ts';

/** What each field gives to a person who may choose its value; together they cover every field of the table. */
export const POWERS: readonly PowerRow[] = [
  ...OWNING,
  ...Object.entries(WEAKENING).map(([field, { gives }]) => ({ fields: [field], gives })),
  ...DISRUPTING,
];

const BY_FIELD: ReadonlyMap<string, PowerRow> = new Map(
  POWERS.flatMap((row) => row.fields.map((field) => [field, row] as const)),
);

/**
 * What a field gives: that of its own row, or of the nearest one above it.
 *
 * @param field a path of the table, or a key below one (`featureGates.AppArmor`)
 * @returns undefined where the table does not have it
 */
export function powerOf(field: string): PowerRow | undefined {
  const row = BY_FIELD.get(field);
  if (row !== undefined) return row;
  const dot = field.lastIndexOf('.');
  return dot < 0 ? undefined : powerOf(field.slice(0, dot));
}

/** Whether the choice of the value gives ownership of the node, or cuts it off. */
export const ownsNode = (row: PowerRow): boolean => OWNING.includes(row);
