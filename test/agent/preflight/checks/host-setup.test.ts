import { describe } from 'node:test';
import { checkRows } from '../support/on-host.ts';

describe('preflight of the set-up of the machine', () => {
  checkRows([
    ['swap', {}, { swaps: ['/dev/sda2'] }, ['error swap-on failSwapOn']],
    ['swap that is allowed', { failSwapOn: false }, { swaps: ['/dev/sda2'] }, []],
    ['no swap', {}, { swaps: [] }, []],
    [
      'a kernel that is set up otherwise',
      { protectKernelDefaults: true },
      { sysctls: new Map([['vm.overcommit_memory', '0']]) },
      ['error kernel-defaults protectKernelDefaults'],
    ],
    ['a kernel that may be set up', {}, { sysctls: new Map([['vm.overcommit_memory', '0']]) }, []],
  ]);
});
