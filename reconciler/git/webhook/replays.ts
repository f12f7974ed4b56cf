import { createHash } from 'node:crypto';
import { type Delivery, headerOf } from './delivery.ts';

/** Remembers what was delivered, so that a replay of the same delivery does nothing. */
export interface Replays {
  /** Whether this came before. Remembers it. Only for deliveries that are genuine: strangers must not fill the memory. */
  isReplay(delivery: Delivery): boolean;
  readonly size: () => number;
}

const MOST_REMEMBERED = 2_000;
/** GitLab repeats an `Idempotency-Key` when it tries a delivery again. */
const ID_HEADERS = ['webhook-id', 'x-github-delivery', 'x-forgejo-delivery', 'x-gitea-delivery', 'idempotency-key'];

/**
 * The forges' ids of deliveries are not signed, so that an attacker who replays one can give it another id. What is
 * signed is the body: it is remembered as well, with the time where that is signed along. Bodies hold times and object
 * names, so that two pushes never have the same.
 */
export function createReplays(most = MOST_REMEMBERED): Replays {
  const seen = new Set<string>();

  return {
    isReplay(delivery) {
      const marks = marksOf(delivery);
      const known = marks.some((mark) => seen.has(mark));
      for (const mark of marks) {
        // Moved to the young end: what is sent again and again is never forgotten.
        seen.delete(mark);
        seen.add(mark);
      }
      for (const oldest of seen) {
        if (seen.size <= most) break;
        seen.delete(oldest);
      }
      return known;
    },
    size: () => seen.size,
  };
}

function marksOf(delivery: Delivery): readonly string[] {
  const times = ['x-kubelet-gitops-timestamp', 'webhook-timestamp'].map((name) => headerOf(delivery, name) ?? '');
  const content = createHash('sha256')
    .update(`${times.join('.')}.`)
    .update(delivery.body)
    .digest('hex');
  const ids = ID_HEADERS.flatMap((name) => {
    const id = headerOf(delivery, name);
    return id === undefined ? [] : [`${name} ${id.slice(0, 200)}`];
  });
  return [`content ${content}`, ...ids];
}
