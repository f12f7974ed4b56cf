import type { KubeObject } from '#shared/contract/api/object.ts';
import { KubeError, type KubeErrorCode } from '#shared/kube/kube-error.ts';
import type { Kube, Listed, WatchStart, WatchEvent } from '#shared/kube/kube.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** One thing that a list or a watch does: events, milliseconds of quiet, a fault; `hold` stays for as long as it was asked to. */
export type WatchStep = WatchEvent<KubeObject> | number | Error | 'hold';

export interface ScriptedSource {
  readonly kube: Kube;
  /** `list`, `watch from 5`, with the milliseconds on the clock. */
  readonly calls: readonly string[];
  lists(...answers: readonly (Listed<KubeObject> | Error)[]): void;
  watches(...scripts: readonly (readonly WatchStep[])[]): void;
}

/** The reading half of an API server that plays a script; a watch without one holds. Behaves as the port says. */
export function scriptedSource(clock: Clock): ScriptedSource {
  const answers: (Listed<KubeObject> | Error)[] = [];
  const scripts: (readonly WatchStep[])[] = [];
  const calls: string[] = [];
  let last: Listed<KubeObject> | Error = { resourceVersion: '1', items: [] };
  const note = (what: string): void => void calls.push(`${what} @${Math.round(clock.monotonic())}`);

  async function* watch({ version, lastsMs }: WatchStart, signal: AbortSignal): AsyncGenerator<WatchEvent<KubeObject>> {
    const endsMs = clock.monotonic() + lastsMs;
    note(`watch from ${version}`);
    for (const step of scripts.shift() ?? (['hold'] as const)) {
      if (step instanceof Error) throw step;
      if (typeof step === 'object') yield step;
      else await clock.sleep(step === 'hold' ? endsMs - clock.monotonic() : step, signal);
      if (signal.aborted) throw fault('KUBE_ABORTED');
    }
  }

  const kube = {
    list: () => {
      note('list');
      last = answers.shift() ?? last;
      return last instanceof Error ? Promise.reject(last) : Promise.resolve(last);
    },
    watch: (_selection: unknown, since: WatchStart, signal: AbortSignal) => watch(since, signal),
  } as unknown as Kube;
  return {
    kube,
    calls,
    lists: (...more) => void answers.push(...more),
    watches: (...more) => void scripts.push(...more),
  };
}

export const fault = (code: KubeErrorCode, waitMs?: number): KubeError =>
  new KubeError(code, code, waitMs === undefined ? {} : { disposition: { kind: 'wait', ms: waitMs } });

export const item = (name: string, resourceVersion: string, labels: Readonly<Record<string, string>> = {}) => ({
  metadata: { name, resourceVersion, labels },
});

export const listed = (resourceVersion: string, ...names: readonly string[]): Listed<KubeObject> => ({
  resourceVersion,
  items: names.map((name) => item(name, resourceVersion)),
});

export const changed = (
  type: 'ADDED' | 'MODIFIED' | 'DELETED',
  name: string,
  resourceVersion: string,
  labels: Readonly<Record<string, string>> = {},
): WatchEvent<KubeObject> => ({ type, object: item(name, resourceVersion, labels) });
