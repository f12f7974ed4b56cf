import type { Finding } from '#shared/contract/finding.ts';
import { FIRST_MINOR_THAT_PATCHES } from '#shared/contract/kubelet-config/drop-ins.ts';
import { minorNumber, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { viewOf } from '#shared/contract/kubelet-config/config-view.ts';
import type { Preflight } from '../ports/preflight.ts';
import { type Check, warn } from './preflight-check.ts';
import { pods, reservations, reservedCpus, reservedMemory } from './checks/capacity.ts';
import { cgroupDriver, cgroupLimits, cgroupsExist, cgroupVersion, cgroupLimitsPersist } from './checks/cgroups.ts';
import { dropInsOverride } from './checks/drop-ins.ts';
import { filesExist, imagesAnswer, runtimeAnswers } from './checks/files-exist.ts';
import { numaNodesForTopology, socketsForAlignment } from './checks/numa-nodes.ts';
import { podsKeepUserIds, userIdsSuffice } from './checks/user-ids.ts';
import { halfCores, staticCpus, staticMemory } from './checks/static-managers.ts';
import { pressure } from './checks/pressure.ts';
import { withFlags } from '../kubelet/flags.ts';
import { configIsRead, flagsOverride } from './checks/kubelet-flags.ts';
import { kernelDefaults, shutdownDelay, swap } from './checks/host-setup.ts';
import { addresses, kubeletApiEnabled, healthEndpointEnabled, ports } from './checks/kubelet-endpoints.ts';
import type { ConfigForHost, HostFacts } from './host-facts.ts';
import type { HostFactsReader } from './gather-host-facts.ts';

/** Each looks at one thing; a refusal reports all findings at once. */
const CHECKS: readonly Check[] = [
  configIsRead,
  flagsOverride,
  dropInsOverride,
  swap,
  kernelDefaults,
  shutdownDelay,
  cgroupVersion,
  cgroupsExist,
  cgroupLimits,
  cgroupLimitsPersist,
  cgroupDriver,
  runtimeAnswers,
  imagesAnswer,
  filesExist,
  reservedCpus,
  reservedMemory,
  staticCpus,
  halfCores,
  staticMemory,
  numaNodesForTopology,
  socketsForAlignment,
  userIdsSuffice,
  podsKeepUserIds,
  reservations,
  pressure,
  pods,
  healthEndpointEnabled,
  kubeletApiEnabled,
  addresses,
  ports,
];

/** What speaks against a config on a machine: errors keep the kubelet from hearing of it, warnings are said. Pure. */
export function checkOnHost(candidate: ConfigForHost, facts: HostFacts): readonly Finding[] {
  return CHECKS.flatMap((check) => check(candidate, facts));
}

interface PreflightOptions {
  /** The kubelet's `--config`, and its `--config-dir` if it has one. */
  readonly configFile: string | undefined;
  readonly configDirectory: string | undefined;
  readonly host: HostFactsReader;
}

/** Flags that nobody sees may win over the config, or name other files. */
const UNSEEN = warn(
  'command-line-unseen',
  'kind',
  "the kubelet's command line cannot be seen, so that flag-shadows, config-not-read, no-reserved-cpu and memory-not-equal are not checked",
);

/** The look at the machine before the kubelet hears of a config. */
export function createPreflight({ configFile, configDirectory, host }: PreflightOptions): Preflight {
  return async (effective, minor, { payload, apply }) => {
    const number = Math.min(minorNumber(minor) ?? NEWEST_MINOR, NEWEST_MINOR);
    const kubeletArgs = (await host.commandLine())?.args;
    const candidate: ConfigForHost = {
      version: minor,
      view: viewOf(withFlags(effective, kubeletArgs), number, 'replace'),
      fromFiles: effective,
      assigned: payload,
      configFile,
      configDirectory,
      asDropIn: apply === 'overlay' && configDirectory !== undefined && number >= FIRST_MINOR_THAT_PATCHES,
    };
    const found = checkOnHost(candidate, await host.look(candidate, kubeletArgs));
    return kubeletArgs === undefined ? [UNSEEN, ...found] : found;
  };
}
