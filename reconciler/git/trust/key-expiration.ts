import type { Key } from 'openpgp';
import type { Millis } from '#shared/runtime/clock.ts';
import type { TrustedKeys } from './trusted-keys.ts';

/**
 * When the first of the trusted keys ends: what it signs from then on is not let in. undefined where none does, 0 where one can
 * sign nothing any more and no end of it is known (it was revoked, say).
 */
export async function firstExpirationOf({ ssh, openPgp }: TrustedKeys, now: Date): Promise<Millis | undefined> {
  const ends = [
    ...ssh.flatMap(({ validBefore }) => (validBefore === undefined ? [] : [validBefore * 1000])),
    ...(await Promise.all(openPgp.map((key) => endOf(key, now)))),
  ].filter(Number.isFinite);
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** A key is good for as long as one of its parts may sign; no part outlives the primary one. */
async function endOf(key: Key, now: Date): Promise<Millis> {
  const whole = await millis(key);
  const parts = await Promise.all(
    [key, ...key.getSubkeys()].map(async (part) => ({
      end: Math.min(whole, await millis(part)),
      signs: await key.getSigningKey(part.getKeyID(), now).then(
        () => true,
        () => false,
      ),
    })),
  );
  const signing = parts.filter(({ signs }) => signs);
  if (signing.length > 0) return Math.max(...signing.map(({ end }) => end));
  const over = parts.map(({ end }) => end).filter((end) => end < now.getTime());
  return over.length === 0 ? 0 : Math.max(...over);
}

/** Infinity: never. 0: it is revoked, or not valid at all. */
async function millis(part: { getExpirationTime(): Promise<Date | number | null> }): Promise<Millis> {
  const end = await part.getExpirationTime().catch(() => null);
  return end === null ? 0 : Number(end);
}
