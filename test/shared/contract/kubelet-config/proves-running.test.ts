import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { provesRunning, type RunningQuestion } from '#shared/contract/kubelet-config/proves-running.ts';

const LOCAL = { maxPods: 110, clusterDomain: 'cluster.local', authentication: { anonymous: { enabled: false } } };
const CONFIGZ = {
  ...LOCAL,
  podPidsLimit: -1,
  syncFrequency: '1m0s',
  serializeImagePulls: true,
  evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
};

/** What the files are to say; what they say now; whether a restart would change nothing. */
const ROWS: readonly (readonly [string, RunningQuestion['wanted'], RunningQuestion['present'], boolean])[] = [
  ['what the files say already', LOCAL, LOCAL, true],
  ['a value that runs, written otherwise', { ...LOCAL, syncFrequency: '60s' }, LOCAL, true],
  ['a value that does not run', { ...LOCAL, maxPods: 250 }, LOCAL, false],
  ['a value that is taken back', { clusterDomain: 'cluster.local' }, LOCAL, false],
  ['a value below a struct that is taken back', { ...LOCAL, authentication: {} }, LOCAL, false],
  ['a value that is set to zero', { ...LOCAL, maxPods: 0 }, LOCAL, false],
  ['a time that is set to zero', { ...LOCAL, syncFrequency: '0s' }, { ...LOCAL, syncFrequency: '1m' }, false],
  ['a value that is set to null', { ...LOCAL, maxPods: null }, LOCAL, false],
  ['a zero that stays zero', { ...LOCAL, registryBurst: 0 }, { ...LOCAL, registryBurst: 0 }, true],
  ['a zero that means the default, and goes', LOCAL, { ...LOCAL, readOnlyPort: 0, syncFrequency: '0s' }, true],
  ['a zero that means zero, and goes', LOCAL, { ...LOCAL, registryPullQPS: 0 }, false],
  ['a null that goes', LOCAL, { ...LOCAL, registryBurst: null }, true],
  ['a map that runs whole', { ...LOCAL, evictionHard: { ...CONFIGZ.evictionHard } }, LOCAL, true],
  ['a map of which more runs', { ...LOCAL, evictionHard: { 'memory.available': '100Mi' } }, LOCAL, false],
  ['a map that does not run', { ...LOCAL, kubeReserved: { cpu: '1' } }, LOCAL, false],
];

describe('a kubelet proves that it runs', () => {
  for (const [what, wanted, present, isProved] of ROWS) {
    it(`${what}: ${isProved}`, () => {
      assert.equal(provesRunning({ wanted, present, running: CONFIGZ }, 'v1.34.2'), isProved);
    });
  }
});
