import { reasonOf } from '#shared/runtime/errors.ts';
import type { Io } from '../io.ts';
import { progressFor } from '../progress-line.ts';
import { askEach } from './ask-each.ts';
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
  const asked = await askEach(names, MOST_AT_ONCE, configz, (_, count) => {
    progress.say(`asked ${count} of ${names.length} kubelets`);
    return false;
  });
  progress.end();
  return new Map(
    names.flatMap((name): readonly (readonly [string, Config])[] => {
      const said = asked.get(name);
      if (said !== undefined && 'answer' in said) return [[name, said.answer]];
      err.write(`what ${name} runs is not known: ${reasonOf(said?.error)}\n`);
      return [];
    }),
  );
}
