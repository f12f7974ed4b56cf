import type { Obeyed } from '../decide/state.ts';
import { checkVersion, damagedRecord, parseRaw, RECORD_VERSION, textIn } from '../host/record-shape.ts';

/** The last order that was followed, as `meta/order` holds it; null for no file. */
export const encodeObeyed = (obeyed: Obeyed | undefined): string | null =>
  obeyed === undefined ? null : `${JSON.stringify({ version: RECORD_VERSION, ...obeyed })}\n`;

/** @throws CHECKPOINT_DAMAGED, STATE_UNREADABLE */
export function decodeObeyed(text: string): Obeyed {
  const raw = checkVersion(parseRaw(text));
  const { order } = raw;
  if (typeof order !== 'number' || !Number.isSafeInteger(order) || order < 0)
    throw damagedRecord('order is not a whole number');
  return { uid: textIn(raw, 'uid'), order };
}
