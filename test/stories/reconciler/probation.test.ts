import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StatusView } from '#cli/status/render.ts';
import { withFields } from '#sandbox/demo/template-repository.ts';
import { GPU, phaseOf, quickFiles, settled, startWorld, WORKER } from '../support.ts';

const PATH = 'pools/general/pool.yaml';
/** The last is there so that the change is none of nearly all nodes. */
const NODES = [WORKER, WORKER, WORKER, WORKER, GPU].map((labels, index) => ({ name: `node-${index}`, labels }));
const TRIAL_SECONDS = 8;
/** As long as trials are in this pool, whoever has them. */
const ROLLOUT = [
  '  rollout:',
  '    maxUnavailable: 1',
  '    maxOnTrial: 4',
  '    probation: 1s',
  '  trial:',
  `    duration: ${TRIAL_SECONDS}s`,
  `    durationAfterCanary: ${TRIAL_SECONDS}s`,
  '    startTimeout: 30s',
  '',
].join('\n');

/** What every look at the nodes has to hold to. @returns how many were on trial */
function look({ nodes }: StatusView, config: string): { readonly onTrial: number; readonly promoted: number } {
  const told = nodes.filter(({ spec }) => spec?.configSource?.name === config);
  const promoted = told.filter(({ status }) => status?.lastKnownGood?.name === config);
  const onTrial = told.filter((node) => !promoted.includes(node));
  const young = onTrial.filter(({ status }) => status?.trial?.config !== config || status.trial.healthySeconds < 1);
  assert.ok(young.length <= 1, `${young.length} hold places, where maxUnavailable is 1`);
  assert.ok(promoted.length > 0 || onTrial.length <= 1, 'nobody begins before the canary has promoted it');
  assert.ok(onTrial.length <= 4, `${onTrial.length} on trial, where maxOnTrial is 4`);
  return { onTrial: onTrial.length, promoted: promoted.length };
}

describe('a rollout of real agents in which places are given back', () => {
  it('goes on while trials do, within both bounds, and says how far it is', async () => {
    await using world = await startWorld({ nodes: NODES }).then((started) =>
      Object.assign(started, { [Symbol.asyncDispose]: () => started.stop() }),
    );
    const template = await quickFiles();
    const text = (template[PATH] ?? '').replace(/^ {2}(?:rollout|trial):\n(?: {4}.*\n| *#.*\n)*/gm, '');
    const layer = 'pools/general/kubelet.yaml';
    const first = { ...template, [PATH]: `${text.trimEnd()}\n${ROLLOUT}` };
    const start = await world.git.commit({ files: first, message: 'Start' });
    await world.until('a start', (view) => view.source.commit === start && settled(view));
    const files = { [layer]: withFields(template[layer] ?? '', { maxPods: 155 }) };
    const commit = await world.git.commit({ files, message: 'Change' });
    let [most, generation] = [0, 0];
    await world.until('everybody to have it', (view) => {
      const status = view.pools.find(({ metadata }) => metadata.name === 'general')?.status;
      if (view.source.commit !== commit || status?.commit !== commit) return false;
      most = Math.max(most, look(view, status.configName ?? '').onTrial);
      const { rollout } = status;
      generation = Math.max(generation, rollout?.generation ?? 0);
      assert.ok((rollout?.onTrial ?? 0) <= 4 && (rollout?.maxOnTrial ?? 0) <= 4);
      return phaseOf(view, 'general') === 'Settled';
    });
    assert.ok(most >= 2, `${most} on trial at once, though one at a time may be unavailable`);
    assert.ok(generation >= 2, `generation ${generation}`);
  });
});
