import type { FieldKind } from '../fields/field.ts';
import { FIELDS } from '../fields/fields.ts';
import type { Path } from '../position.ts';

const WHOLE: readonly FieldKind[] = ['int32', 'int64', 'uint32', 'duration-or-nanoseconds'];

/** Whether a field of a KubeletConfiguration, or an item of one, takes whole numbers only. */
export function existsAsWholeNumber(path: Path): boolean {
  const pattern = path.reduce<string>(
    (sum, step) => (typeof step === 'number' ? `${sum}[]` : sum === '' ? step : `${sum}.${step}`),
    '',
  );
  const kind = FIELDS.get(pattern)?.kind;
  if (kind !== undefined) return WHOLE.includes(kind);
  return FIELDS.get(pattern.replace(/\[\]$/, ''))?.kind === 'int32-list';
}
