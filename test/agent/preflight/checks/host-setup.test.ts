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
    [
      'a shutdown that logind does not wait for',
      { shutdownGracePeriod: '31s', shutdownGracePeriodCriticalPods: '1s' },
      { inhibitDelay: { path: '/etc/x.conf', seconds: 30 } },
      ['warning shutdown-delay shutdownGracePeriod'],
    ],
    [
      'one that it waits for',
      { shutdownGracePeriod: '30s' },
      { inhibitDelay: { path: '/etc/x.conf', seconds: 30 } },
      [],
    ],
    [
      'one in steps',
      {
        featureGates: { GracefulNodeShutdownBasedOnPodPriority: true },
        shutdownGracePeriodByPodPriority: [
          { shutdownGracePeriodSeconds: 20 },
          { priority: 9, shutdownGracePeriodSeconds: 11 },
        ],
      },
      { inhibitDelay: { path: '/etc/x.conf', seconds: 30 } },
      ['warning shutdown-delay shutdownGracePeriodByPodPriority'],
    ],
    [
      'one that the gate is off for',
      { shutdownGracePeriod: '31s', featureGates: { GracefulNodeShutdown: false } },
      { inhibitDelay: { path: '/etc/x.conf', seconds: 30 } },
      [],
    ],
    ['a kernel that may be set up', {}, { sysctls: new Map([['vm.overcommit_memory', '0']]) }, []],
  ]);
});
