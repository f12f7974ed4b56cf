import { type Check, refuse } from '../preflight-check.ts';

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
