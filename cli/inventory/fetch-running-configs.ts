import { reasonOf } from '#shared/runtime/errors.ts';
import type { Io } from '../io.ts';
import { progressFor } from '../progress-line.ts';
import type { LiveNodes } from './live-nodes.ts';

type Config = Readonly<Record<string, unknown>>;

/** At a time: the API server passes each question on to a kubelet. */
const MOST_AT_ONCE = 16;

/** What the kubelets of these nodes say that they run, by node and in their order; those that do not say it are named on `err`. */
export async function fetchRunningConfigs(
  { configz }: LiveNodes,
  names: readonly string[],
  err: Io['err'],
): Promise<ReadonlyMap<string, Config>> {
  const progress = progressFor(err, () => performance.now());
  const configs = new Map<string, Config>();
  const silent = new Map<string, string>();
  const left = [...names];
  const ask = async (): Promise<void> => {
    for (let name = left.shift(); name !== undefined; name = left.shift()) {
      progress.say(`asked ${configs.size + silent.size} of ${names.length} kubelets`);
      await configz(name).then(
        (config) => configs.set(name, config),
        (error: unknown) => silent.set(name, reasonOf(error)),
      );
    }
  };
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, ask));
  progress.end();
  for (const name of names) {
    const why = silent.get(name);
    if (why !== undefined) err.write(`what ${name} runs is not known: ${why}\n`);
  }
  return new Map(names.flatMap((name) => (configs.has(name) ? [[name, configs.get(name) ?? {}] as const] : [])));
}
