import { isKubeError, type KubeError } from '#shared/kube/kube-error.ts';
import type { Verb } from '#shared/kube/kube-call.ts';
import type { Kube, Place, Resource } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { Instruments } from './instruments.ts';

type Counted = Pick<Instruments, 'apiRequests' | 'apiSeconds'>;

/** The same API server, with every call counted. A list that is read by pages counts as one. */
export function meterKube(kube: Kube, { apiRequests, apiSeconds }: Counted, clock: Clock): Kube {
  const count = (verb: Verb, { resource, subresource }: Counting, code: string): void => {
    apiRequests.inc({ verb, resource: titleOf(resource, subresource), code });
  };
  async function metered<T>(verb: Verb, what: Counting, done: string, call: () => Promise<T>): Promise<T> {
    const since = clock.monotonic();
    try {
      const answer = await call();
      count(verb, what, answer === null ? '404' : done);
      return answer;
    } catch (error) {
      if (!isKubeError(error, 'KUBE_ABORTED')) count(verb, what, codeOf(error));
      throw error;
    } finally {
      apiSeconds.observe({ verb }, (clock.monotonic() - since) / 1000);
    }
  }
  return {
    get: (place, name, signal) => metered('get', place, '200', () => kube.get(place, name, signal)),
    list: (selection, signal, trim) => metered('list', selection, '200', () => kube.list(selection, signal, trim)),
    create: (place, object, signal) => metered('create', place, '201', () => kube.create(place, object, signal)),
    delete: (place, name, only, signal) =>
      metered('delete', place, '200', () => kube.delete(place, name, only, signal)),
    mergePatch: (place, name, patch, options, signal) => {
      const subresource = options?.subresource;
      const what = subresource === undefined ? place : { ...place, subresource };
      return metered('patch', what, '200', () => kube.mergePatch(place, name, patch, options, signal));
    },
    async *watch(selection, since, signal) {
      try {
        yield* kube.watch(selection, since, signal);
        count('watch', selection, '200');
      } catch (error) {
        if (!isKubeError(error, 'KUBE_ABORTED')) count('watch', selection, codeOf(error));
        throw error;
      }
    },
  };
}

type Counting = Omit<Place, 'subresource'> & { readonly subresource?: string };

const titleOf = ({ plural }: Resource, subresource: string | undefined): string =>
  subresource === undefined ? plural : `${plural}/${subresource}`;

/** The HTTP status; where there was no answer, the last part of our own code: `unreachable`, `timeout`. */
function codeOf(error: unknown): string {
  if (!isKubeError(error)) return 'error';
  return error.status > 0 ? String(error.status) : wordOf(error);
}

const wordOf = ({ code }: KubeError): string => code.replace(/^KUBE_/, '').toLowerCase();
