import type { Clock } from '#shared/runtime/clock.ts';
import { codeOf } from '#shared/runtime/errors.ts';
import type { GitSource } from '../../git/source-port.ts';
import type { Instruments } from './instruments.ts';

type Counted = Pick<Instruments, 'gitErrors' | 'gitGoodAt' | 'gitSeconds'>;

/** The same repository, with every reading timed, and failures counted by code. */
export function meterSource(source: GitSource, { gitErrors, gitGoodAt, gitSeconds }: Counted, clock: Clock): GitSource {
  async function metered<T>(operation: string, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    const since = clock.monotonic();
    try {
      const answer = await read();
      gitGoodAt.set(clock.now() / 1000);
      return answer;
    } catch (error) {
      if (!signal.aborted) gitErrors.inc({ code: codeOf(error) ?? 'GIT_ERROR' });
      throw error;
    } finally {
      gitSeconds.observe({ operation }, (clock.monotonic() - since) / 1000);
    }
  }
  return {
    url: source.url,
    branch: source.branch,
    resolve: (signal) => metered('resolve', signal, () => source.resolve(signal)),
    snapshot: (since, signal) => metered('snapshot', signal, () => source.snapshot(since, signal)),
    earlier: (oid, of, signal) => metered('earlier', signal, () => source.earlier(oid, of, signal)),
  };
}
