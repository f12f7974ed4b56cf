import { minorNumber } from '#shared/contract/kubelet-config/minor.ts';
import type { Observation } from './observation.ts';
import type { Trial } from './state.ts';

/** The kubelet's minor version as a trial remembers it; nothing if the version is unknown. */
export const minorIn = ({ kubeletVersion = '' }: Observation): Pick<Trial, 'minor'> => {
  const minor = minorNumber(kubeletVersion);
  return minor === undefined ? {} : { minor };
};

/** Another minor version may need other files, and proves nothing of what the one before it proved. */
export function isUpgraded({ minor, change }: Trial, seen: Observation): boolean {
  const now = minorIn(seen).minor;
  const hasBegun = change.step === 'restart' || change.step === 'judge';
  return hasBegun && minor !== undefined && now !== undefined && minor !== now;
}

/** With the version that runs now. Where the kubelet has read the very files that this one needs, it is not restarted for that. */
export function restartTrialAfterUpgrade(before: Trial, seen: Observation): Trial {
  const { service, bootId, startedAsInstalled, files } = seen;
  const hasRead = before.change.step === 'judge' && files.files === 'installed' && startedAsInstalled;
  const running = hasRead && service.run !== null ? { running: { run: service.run, bootId } } : {};
  return { ...before, ...minorIn(seen), since: seen.at, before: null, change: { step: 'install', ...running } };
}
