import type { ConfigView } from '#shared/contract/kubelet-config/config-view.ts';
import { type Check, refuse, warn } from '../preflight-check.ts';

/** A kubelet with `failSwapOn`, the default, ends where `/proc/swaps` names anything (container_manager_linux.go). */
export const swap: Check = ({ view }, { swaps }) => {
  const [first] = swaps ?? [];
  if (first === undefined || view.flag('failSwapOn') === false) return [];
  const message = `this node swaps (to ${first}), and the kubelet does not start on it`;
  return [refuse('swap-on', 'failSwapOn', message, 'switch swap off, or set failSwapOn: false')];
};

/** What `protectKernelDefaults` demands instead of setting it (component-helpers/node/util/sysctl). */
export const KERNEL_DEFAULTS: Readonly<Record<string, string>> = {
  'vm.overcommit_memory': '1',
  'vm.panic_on_oom': '0',
  'kernel.panic': '10',
  'kernel.panic_on_oops': '1',
  'kernel.keys.root_maxkeys': '1000000',
  'kernel.keys.root_maxbytes': '25000000',
};

export const kernelDefaults: Check = ({ view }, { sysctls }) => {
  if (view.flag('protectKernelDefaults') !== true) return [];
  const wrong = Object.entries(KERNEL_DEFAULTS).filter(([name, value]) => (sysctls.get(name) ?? value) !== value);
  if (wrong.length === 0) return [];
  const what = wrong.map(([name, value]) => `${name} is ${sysctls.get(name)} and has to be ${value}`).join(', ');
  const message = `the kernel of this node is set up otherwise, and the kubelet does not start: ${what}`;
  return [refuse('kernel-defaults', 'protectKernelDefaults', message, 'set them by sysctl.d first')];
};

/** How long the kubelet asks logind to hold a shutdown up, in seconds; 0 for not at all. */
export function shutdownSeconds(view: ConfigView): number {
  if (!view.gate('GracefulNodeShutdown')) return 0;
  const byPriority = view
    .structs('shutdownGracePeriodByPodPriority')
    .map((entry) => Number(entry['shutdownGracePeriodSeconds'] ?? 0));
  return byPriority.length > 0
    ? byPriority.reduce((sum, seconds) => sum + seconds, 0)
    : (view.duration('shutdownGracePeriod') ?? 0) / 1e9;
}

/** The kubelet raises the delay itself; where it does not come to that, it logs so and shuts no pod down (nodeshutdown, `start`). */
export const shutdownDelay: Check = ({ view }, { inhibitDelay }) => {
  const wanted = shutdownSeconds(view);
  if (inhibitDelay === undefined || wanted <= inhibitDelay.seconds) return [];
  const field =
    view.structs('shutdownGracePeriodByPodPriority').length > 0
      ? 'shutdownGracePeriodByPodPriority'
      : 'shutdownGracePeriod';
  const message = `${inhibitDelay.path} limits InhibitDelayMaxSec to ${inhibitDelay.seconds} s, and the kubelet asks for ${wanted} s: it would end no pods at a shutdown`;
  return [warn('shutdown-delay', field, message, `ask for ${inhibitDelay.seconds} s at most, or remove the file`)];
};
