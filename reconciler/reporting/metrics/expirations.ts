import type { Millis } from '#shared/runtime/clock.ts';
import { codeOf, reasonOf } from '#shared/runtime/errors.ts';
import type { Log } from '#shared/runtime/log.ts';

/** What the reconciler was given for a time only. */
export type Purpose =
  | 'git-authority'
  | 'prometheus-authority'
  | 'git-credential'
  | 'notes-credential'
  | 'forge-token'
  | 'prometheus-token'
  | 'trusted-key';

export interface Expiring {
  readonly purpose: Purpose;
  /** undefined: it has no end that is known. Rejects with the reason if the end is unreadable, and with ENOENT for a missing file. */
  end(): Promise<Millis | undefined>;
}

export interface Expiration {
  readonly purpose: Purpose;
  /** 0 for a file that is there and unreadable: an alert too early is better than one too late. */
  readonly at: Millis;
}

/**
 * Reads them as they are now, because Secrets and ConfigMaps are replaced while we run. What is not there says nothing.
 *
 * @param onUnreadable receives why an end is unreadable
 */
export async function readExpirations(
  things: readonly Expiring[],
  onUnreadable: (purpose: Purpose, error: unknown) => void = () => undefined,
): Promise<readonly Expiration[]> {
  const read = things.map(async (thing): Promise<Expiration | undefined> => {
    const { purpose } = thing;
    try {
      const at = await expirationOf(thing);
      return at === undefined ? undefined : { purpose, at };
    } catch (error) {
      onUnreadable(purpose, error);
      return { purpose, at: 0 };
    }
  });
  return (await Promise.all(read)).filter((each) => each !== undefined);
}

/** The same at every call. The log says once why an end is 0, because it is read all the time. */
export function followExpirations(things: readonly Expiring[], log: Log): () => Promise<readonly Expiration[]> {
  const logged = new Map<Purpose, string>();
  return () =>
    readExpirations(things, (purpose, error) => {
      const reason = reasonOf(error);
      if (logged.get(purpose) === reason) return;
      logged.set(purpose, reason);
      log.warn({ purpose, reason }, 'cannot tell when this ends, so it counts as over');
    });
}

/** undefined also where the thing is not there. */
export async function expirationOf({ end }: Expiring): Promise<Millis | undefined> {
  try {
    return await end();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}
