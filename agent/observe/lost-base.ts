import { provesRunning } from '#shared/contract/kubelet-config/proves-running.ts';
import type { Observation, SeenBase } from '../decide/observation.ts';
import type { RunningConfig } from '../ports/kubelet-probe.ts';
import type { SeenFiles } from './managed-files.ts';

/**
 * If the record of the base under a proven config is lost, the files in place may be the very ones that it was proven with:
 * the kubelet came up well with them while the agent looked, or was started with them and shows each of their values.
 */
export async function recoverLostBase(
  { base, files, effective }: SeenFiles,
  run: Pick<Observation, 'startedAsInstalled' | 'startWasSeen' | 'health' | 'kubeletVersion'>,
  configz: () => Promise<RunningConfig>,
): Promise<SeenBase> {
  const { newer } = base;
  const isInPlace = files.files === 'installed' && run.startedAsInstalled;
  if (newer?.lost === undefined || !newer.changes || !isInPlace) return base;
  const isProved = (run.startWasSeen && run.health.health === 'ok') || runs(effective, await configz(), run);
  return isProved ? { ...base, newer: { ...newer, changes: false } } : base;
}

const runs = (
  config: SeenFiles['effective'],
  running: RunningConfig,
  { kubeletVersion }: Pick<Observation, 'kubeletVersion'>,
): boolean =>
  running.seen && provesRunning({ wanted: config, present: config, running: running.config }, kubeletVersion);
