import assert from 'node:assert/strict';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';
import { see } from './scenario.ts';

type Fields = Readonly<Record<string, unknown>>;

const said = (fields: Fields, minor = '1.34') =>
  validateKubeletConfig(
    { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration', ...fields },
    { minor },
  );

const GOOD: Fields = {
  enforceNodeAllocatable: ['pods', 'system-reserved', 'kube-reserved'],
  systemReserved: { cpu: '1' },
  kubeReserved: { cpu: '1' },
  systemReservedCgroup: '/system.slice',
  kubeReservedCgroup: '/kubelet.service',
  systemCgroups: '',
  cgroupRoot: '',
  eventBurst: 10,
  eventRecordQPS: 5,
  healthzPort: 10248,
  imageGCHighThresholdPercent: 85,
  imageGCLowThresholdPercent: 80,
  iptablesDropBit: 15,
  iptablesMasqueradeBit: 14,
  kubeAPIBurst: 10,
  kubeAPIQPS: 5,
  maxOpenFiles: 1_000_000,
  maxPods: 110,
  oomScoreAdj: -999,
  podsPerCore: 100,
  port: 65_535,
  readOnlyPort: 0,
  registryBurst: 10,
  registryPullQPS: 5,
  hairpinMode: 'promiscuous-bridge',
  nodeLeaseDurationSeconds: 1,
  cpuCFSQuotaPeriod: '25ms',
  featureGates: { CustomCPUCFSQuotaPeriod: true },
  topologyManagerScope: 'container',
  topologyManagerPolicy: 'none',
  shutdownGracePeriod: '0s',
};

const ALSO_GOOD: Fields = {
  ...GOOD,
  enforceNodeAllocatable: ['none'],
  systemReservedCgroup: '',
  kubeReservedCgroup: '',
  reservedSystemCPUs: '0-3',
  topologyManagerScope: 'pod',
  topologyManagerPolicy: 'single-numa-node',
  shutdownGracePeriod: '10m',
  shutdownGracePeriodCriticalPods: '2m',
  featureGates: { CustomCPUCFSQuotaPeriod: true, GracefulNodeShutdown: true },
};

/** Each of these is wrong by itself. */
const BAD: Fields = {
  cgroupsPerQOS: 'yes',
  containerLogMaxFiles: 1,
  containerLogMaxSize: 'ten',
  cpuCFSQuotaPeriod: '2s',
  cpuManagerPolicy: 'dynamic',
  eventBurst: -1,
  eventRecordQPS: -1,
  evictionHard: { 'memory.available': 'all of it' },
  featureGates: { NoSuchGate: true },
  hairpinMode: 'foo',
  healthzPort: 65_536,
  imageGCHighThresholdPercent: 101,
  imageGCLowThresholdPercent: 102,
  iptablesMasqueradeBit: 33,
  kubeAPIBurst: -1,
  kubeAPIQPS: -1,
  maxOpenFiles: -1,
  maxPods: -1,
  memorySwap: { swapBehavior: 'Everything' },
  nodeLeaseDurationSeconds: -1,
  oomScoreAdj: -1001,
  podsPerCore: -1,
  port: -1,
  readOnlyPort: 70_000,
  registryBurst: -1,
  registryPullQPS: -1,
  syncFrequency: 'often',
  tlsMinVersion: 'VersionTLS99',
};

export const scenarios = see('judging a config', [
  {
    dkc: 110,
    title: 'two configs with much in them, and nothing wrong, are fine',
    see() {
      assert.deepEqual(said(GOOD, '1.20'), []);
      assert.deepEqual(said(ALSO_GOOD, '1.20'), []);
    },
  },
  {
    dkc: 111,
    title: 'of 28 things that are wrong all are said, each with its field',
    see() {
      const errors = said(BAD).filter(({ severity }) => severity === 'error');
      const blamed = new Set(errors.map(({ field = '' }) => /^[^.[]+/.exec(field)?.[0] ?? ''));
      assert.deepEqual([...blamed].toSorted(byText), Object.keys(BAD).toSorted(byText));
      assert.equal(Object.keys(BAD).length, 28);
    },
  },
  {
    dkc: 112,
    title: 'two bad words and a conflict between reservations are three errors',
    see() {
      const found = said({
        topologyManagerScope: 'node',
        topologyManagerPolicy: 'strict',
        reservedSystemCPUs: '0-3',
        systemReservedCgroup: '/system.slice',
      });
      assert.deepEqual(found.map(({ field }) => field).toSorted(byText), [
        'reservedSystemCPUs',
        'topologyManagerPolicy',
        'topologyManagerScope',
      ]);
    },
  },
]);

function byText(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
