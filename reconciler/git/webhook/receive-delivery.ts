import type { Clock } from '#shared/runtime/clock.ts';
import type { Delivery } from './delivery.ts';
import { readPushEvent } from './push-event.ts';
import type { Replays } from './replays.ts';
import { verifyWebhookSignature, type SignatureScheme } from './webhook-signature.ts';

/** What becomes of a delivery, and the answer to its sender. */
export type DeliveryVerdict =
  | { readonly status: 202; readonly said: 'looking'; readonly proof: SignatureScheme }
  | { readonly status: 200; readonly said: 'nothing to do' | 'seen before'; readonly proof: SignatureScheme }
  | { readonly status: 400; readonly said: 'unreadable'; readonly proof: SignatureScheme }
  | { readonly status: 401; readonly said: 'not signed' | 'wrong signature' | 'out of time' };

interface ReceivePorts {
  readonly branch: string;
  readonly replays: Replays;
  readonly clock: Pick<Clock, 'now'>;
}

const REFUSALS = {
  'no-signature': 'not signed',
  'wrong-signature': 'wrong signature',
  'out-of-time': 'out of time',
} as const;

/** Judges a delivery. Nothing of its body is looked at before its signature held. */
export function receiveDelivery(delivery: Delivery, secrets: readonly string[], ports: ReceivePorts): DeliveryVerdict {
  const judged = verifyWebhookSignature(delivery, secrets, ports.clock.now());
  if (!judged.genuine) return { status: 401, said: REFUSALS[judged.because] };
  const { proof } = judged;
  const event = readPushEvent(delivery, ports.branch);
  if (event.told === 'unreadable') return { status: 400, said: 'unreadable', proof };
  if (event.told === 'other') return { status: 200, said: 'nothing to do', proof };
  if (ports.replays.isReplay(delivery)) return { status: 200, said: 'seen before', proof };
  return { status: 202, said: 'looking', proof };
}
