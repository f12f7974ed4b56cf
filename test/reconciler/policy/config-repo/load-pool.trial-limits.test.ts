import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import type { TrialLimits } from '#reconciler/policy/config-repo/loaded-repo.ts';
import { formatFinding } from '#shared/contract/finding.ts';
import { CLUSTER, filesOf, KUBELET, POOL } from './support/load.ts';

/** What is said of a pool with these lines. */
function said(lines: string, clusterLines = '', before?: TrialLimits): readonly string[] {
  const files = {
    'pools/x/pool.yaml': `${POOL}${lines}`,
    'pools/x/kubelet.yaml': `${KUBELET}maxPods: 5\n`,
    'clusters/prod.yaml': `${CLUSTER}  maxUnassign: 1\n${clusterLines}`,
  };
  const boundsBefore = before && { boundsBefore: { fields: { allow: [], deny: [] }, trial: before } };
  const { pools } = loadRepo(filesOf(files), { cluster: 'prod', ...boundsBefore });
  return pools.flatMap(({ status, findings }) => [status, ...findings.map(formatFinding)]);
}
const trial = (words: string): string => `  trial: {${words}}\n`;

describe('the trials of a pool keep to the limits of the cluster', () => {
  it('of a minute and of half an hour by default', () => {
    for (const words of ['duration: 1m, startTimeout: 30m', 'durationAfterCanary: 60s'])
      assert.deepEqual(said(trial(words)), ['valid'], words);
    for (const [words, column, what] of [
      ['duration: 59s', 11, 'duration is 59s, and has to be at least 1m'],
      ['durationAfterCanary: 59999ms', 11, 'durationAfterCanary is 59999ms, and has to be at least 1m'],
      ['startTimeout: 30m1s', 11, 'startTimeout is 30m1s, and has to be at most 30m'],
    ] as const) {
      const [status, text = '', ...rest] = said(trial(words));
      assert.deepEqual([status, rest], ['invalid', []], words);
      assert.ok(text.startsWith(`pools/x/pool.yaml:5:${column}: error out-of-range`), text);
      assert.ok(text.includes(`spec.trial.${what}`), text);
      assert.match(text, /, or set trial\.m\w+ in clusters\/prod\.yaml, in a commit of its own before/);
    }
  });

  it('in what follows from the probation as well', () => {
    const probation = (word: string): readonly string[] => said(`  rollout: {probation: ${word}}\n`);
    assert.deepEqual([probation('20s'), probation('full')], [['valid'], ['valid']]);
    assert.match(
      probation('19s').join(),
      /^invalid,pools\/x\/pool\.yaml:5:13: .*probation is 19s, and has to be at least 20s: trials after the canaries take 3 times as long/,
    );
  });

  it('that its file may set', () => {
    const limits = '  trial: {minDuration: 200ms, maxStartTimeout: 2h}\n';
    const words = 'duration: 200ms, startTimeout: 2h';
    assert.deepEqual(said(`  rollout: {probation: 1s}\n${trial(words)}`, limits), ['valid']);
    assert.equal(said(trial('duration: 199ms'), limits)[0], 'invalid');
    assert.equal(said(trial('duration: 9m'), '  trial: {minDuration: 10m}\n')[0], 'invalid');
  });

  it('and that the commit before set', () => {
    const both = trial('duration: 5m, startTimeout: 20m');
    const rollout = '  rollout: {probation: 100s}\n';
    const own = '  trial: {minDuration: 1s, maxStartTimeout: 1h}\n';
    for (const [minDuration, maxStartTimeout, status] of [
      ['5m', '20m', 'valid'],
      ['301s', '20m', 'invalid'],
      ['5m', '1199s', 'invalid'],
    ] as const)
      assert.equal(said(rollout + both, own, { minDuration, maxStartTimeout })[0], status);
  });

  it('and that it set last, where it is gone or cannot be read', () => {
    const before = { minDuration: '5s', maxStartTimeout: '1h' };
    for (const text of [undefined, `${CLUSTER}  trial: {minDuration: soon}\n`]) {
      const ofPool = (seconds: number): string => {
        const files = {
          'pools/x/pool.yaml': `${POOL}${trial(`duration: ${seconds}s`)}`,
          'pools/x/kubelet.yaml': `${KUBELET}maxPods: 5\n`,
          ...(text !== undefined && { 'clusters/prod.yaml': text }),
        };
        const boundsBefore = { fields: { allow: [], deny: [] }, trial: before };
        return loadRepo(filesOf(files), { cluster: 'prod', boundsBefore })
          .pools.map(({ status }) => status)
          .join();
      };
      assert.deepEqual([ofPool(5), ofPool(4)], ['valid', 'invalid']);
    }
  });

  it('and nothing is said of them where something else is wrong', () => {
    const [status, text = '', ...rest] = said(trial('duration: soon'));
    assert.deepEqual([status, rest], ['invalid', []]);
    assert.match(text, /bad-duration/);
  });
});
