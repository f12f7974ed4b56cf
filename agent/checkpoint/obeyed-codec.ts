import type { Obeyed } from '../decide/state.ts';
import { checkStamp, damagedRecord, parseRaw, stampOf, textIn } from '../host/record-shape.ts';

/** The last order that was followed, as `meta/order` holds it; null for no file. */
export const encodeObeyed = (obeyed: Obeyed | undefined, node: string): string | null =>
  obeyed === undefined ? null : `${JSON.stringify({ ...stampOf(node), ...obeyed })}\n`;

/** @throws CHECKPOINT_DAMAGED, STATE_UNREADABLE */
export function decodeObeyed(text: string, node: string): Obeyed {
  const raw = checkStamp(parseRaw(text), node);
  const { order } = raw;
  if (typeof order !== 'number' || !Number.isSafeInteger(order) || order < 0)
    throw damagedRecord('order is not a whole number');
  return { uid: textIn(raw, 'uid'), order };
}
