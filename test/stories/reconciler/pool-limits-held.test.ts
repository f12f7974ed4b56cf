import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import { GPU, startScenario, WORKER } from '../support.ts';

const PATH = 'pools/general/pool.yaml';
const LAYER = 'pools/general/kubelet.yaml';
/** What a hasty person or a thief of a push right would write. */
const LOOSE = [
  '  rollout: {maxUnavailable: 100%, maxOnTrial: 100%, probation: 1s, onFailure: {threshold: 1000}}',
  '  trial: {duration: 200ms, startTimeout: 30s, maxRestarts: 1}',
  '',
].join('\n');

describe('a commit that loosens all limits of a pool and changes its config', () => {
  it('is held to those before it, and has its own once the nodes have proven the config', async () => {
    // The last is there so that the change is none of nearly all nodes.
    const machines = [WORKER, WORKER, WORKER, WORKER, GPU].map((labels, index) => ({ name: `node-${index}`, labels }));
    await using scenario = await startScenario(machines);
    const { world, files } = scenario;
    const text = (files[PATH] ?? '').replace(/^ {2}(?:rollout|trial):\n(?: {4}.*\n| *#.*\n)*/gm, '');
    const commit = await world.git.commit({
      files: {
        [PATH]: `${text.trimEnd()}\n${LOOSE}`,
        [LAYER]: withFields(files[LAYER] ?? '', { maxPods: 155 }),
      },
      message: 'Change and loosen',
    });
    const limits = new Set<unknown>();
    let isSaid = false;
    const waves = new Set<string>();
    await world.until('its own limits', ({ pools, source }) => {
      const { spec, status } = pools.find(({ metadata }) => metadata.name === 'general') ?? {};
      if (source.commit !== commit || status?.commit !== commit) return false;
      for (const { name } of status.rollout?.waves ?? []) waves.add(name);
      if (status.phase !== 'Settled') limits.add(spec?.rollout.maxUnavailable);
      isSaid ||= status.conditions?.some(({ message }) => message.includes('limit-not-yet')) === true;
      return status.phase === 'Settled' && spec?.rollout.maxUnavailable === '100%';
    });
    assert.deepEqual([[...limits], [...waves], isSaid], [['10%'], ['canary', 'step 1', 'rest'], true]);
  });
});
