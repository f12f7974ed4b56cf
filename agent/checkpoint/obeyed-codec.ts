import type { Obeyed } from '../decide/state.ts';
import { damagedRecord, migrateRecord, parseRaw, textIn } from '../host/record-shape.ts';

const VERSION = 1;

/** The last order that was followed, as `meta/order` holds it; null for no file. */
export const encodeObeyed = (obeyed: Obeyed | undefined): string | null =>
  obeyed === undefined ? null : `${JSON.stringify({ version: VERSION, ...obeyed })}\n`;

/** @throws CHECKPOINT_DAMAGED, CHECKPOINT_TOO_NEW */
export function decodeObeyed(text: string): Obeyed {
  const raw = migrateRecord(parseRaw(text));
  const { order } = raw;
  if (typeof order !== 'number' || !Number.isSafeInteger(order) || order < 0)
    throw damagedRecord('order is not a whole number');
  return { uid: textIn(raw, 'uid'), order };
}
