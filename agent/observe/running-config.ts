import { contradictions, resets } from '#shared/contract/kubelet-config/configz-compare.ts';
import { touches } from '#shared/contract/kubelet-config/effective.ts';
import { fieldOfFlag } from '#shared/contract/kubelet-config/fields/flags.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { Running } from '../decide/observation.ts';
import type { State } from '../decide/state.ts';
import { type ConfigzReading, planConfigz } from '../decide/read-schedule.ts';
import { fileThatSets, topLevelFieldOf, type ConfigDirDropIn } from '../kubelet/config-dir-drop-ins.ts';
import type { OwnNode } from '../ports/own-node.ts';
import type { KubeletAddress, KubeletProbe, RunningConfig } from '../ports/kubelet-probe.ts';
import type { SeenFiles } from './managed-files.ts';
import { parseFlags } from '../kubelet/flags.ts';
import { createVisibilityTracker } from './config-visibility.ts';

const unread = (reason: string): RunningConfig => ({ seen: false, why: 'error', reason });

export type ReadConfigz = () => Promise<RunningConfig>;

/** Reads what the kubelet runs, as often as `planConfigz` says. */
export function createConfigzReader(probe: KubeletProbe, clock: Clock) {
  let last: (ConfigzReading & { readonly config: RunningConfig }) | undefined;
  const sights = createVisibilityTracker();
  const read = async (
    state: State,
    address: KubeletAddress,
    run: string | null,
    signal: AbortSignal,
  ): Promise<RunningConfig> => {
    const plan = planConfigz(state, run, last, clock.monotonic());
    if (plan.configz === 'pass') return unread(plan.why);
    if (plan.configz === 'read' || last === undefined) {
      const config = await probe.runningConfig(address, signal).catch((error: unknown) => unread(reasonOf(error)));
      const isPassing = !config.seen && (config.why === 'down' || config.why === 'error');
      last = { config, run, at: clock.monotonic(), isPassing };
      sights.update(config, run, last.at);
    }
    return last.config;
  };
  return { read, sights };
}

/**
 * Compares what the kubelet runs with what it is meant to run.
 *
 * @param payload null where nothing is assigned
 * @param whole   what the files come to that it was started with; undefined where it may have been started with others
 * @param dropIns the files of the kubelet's `--config-dir`, which may set a field otherwise; read where one differs
 */
export async function compareRunningConfig(
  payload: SeenFiles['payload'],
  whole: SeenFiles['effective'] | undefined,
  configz: ReadConfigz,
  kubeletVersion: OwnNode['kubeletVersion'],
  args: readonly string[],
  dropIns: () => Promise<readonly ConfigDirDropIn[]>,
): Promise<Running> {
  // Also where nothing is assigned: whether it can be seen has to be known before the first config is.
  const read = await configz();
  if (payload === null) return { running: 'unseen', why: 'there is no payload to compare it with' };
  if (!read.seen) return { running: 'unseen', why: read.reason };
  const version = await kubeletVersion();
  const own = contradictions(payload, read.config, version);
  const reset = whole === undefined || version === undefined ? [] : resets(whole, payload, read.config, version);
  if (own.length + reset.length === 0) return { running: 'as-meant' };
  const files = await dropIns().catch(() => []);
  const differences = [...own, ...reset.filter((phrase) => !isOfOthers(topLevelFieldOf(phrase), args, files))];
  if (differences.length === 0) return { running: 'as-meant' };
  return { running: 'contradicts', differences: differences.map((phrase) => withPlace(phrase, files)) };
}

/** Flags and the drop-ins of others may say what they like of what the config does not name. */
const isOfOthers = (field: string, args: readonly string[], files: readonly ConfigDirDropIn[]): boolean =>
  parseFlags(args).some(([flag]) => fieldOfFlag(flag)?.split('.')[0] === field) ||
  files.some(({ fields }) => touches(fields, field));

function withPlace(difference: string, files: readonly ConfigDirDropIn[]): string {
  const file = fileThatSets(difference, files);
  return file === undefined ? difference : `${difference} (${file} sets it)`;
}
