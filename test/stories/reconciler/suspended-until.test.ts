import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { suspendedUntil } from '#reconciler/policy/suspension.ts';
import { KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import {
  AFTER,
  BEFORE,
  beginStory,
  NODES,
  settledOnce,
  type Story,
  wantedConfigs,
} from '../../support/takeover/story.ts';

const MINUTE = 60_000;
const POOL = 'workers';

const poolIn = ({ cluster }: Story, name: string): KubeletPool | undefined =>
  (cluster.objects.list(KUBELET_POOLS) as unknown as readonly KubeletPool[]).find(
    ({ metadata }) => metadata.name === name,
  );

/** Whether each node of the pool is to run what the commit says. */
function assigned({ cluster }: Story, pools: typeof AFTER): readonly boolean[] {
  const wanted = wantedConfigs(pools);
  const nodes = cluster.objects.list(KUBELET_NODES) as unknown as readonly KubeletNode[];
  return nodes.flatMap(({ metadata: { name }, spec }) =>
    spec?.pool === POOL ? [spec.configSource?.name === wanted.get(name)] : [],
  );
}

it('a suspension ends by itself at its time, and by nobody’s restart', async () => {
  const story = await beginStory(NODES, await settledOnce());
  const { clock, cluster, repository } = story;
  const until = Math.ceil((clock.now() + 2 * MINUTE) / 1_000) * 1_000;
  const annotations = { [SUSPEND_ANNOTATION]: suspendedUntil(until, 'storage is moved') };
  cluster.objects.patch(KUBELET_POOLS, POOL, { metadata: { annotations } });
  repository.commit(...AFTER);
  const one = story.start('one');
  await story.until('the other pools go on', () => {
    const { phase, configName } = poolIn(story, 'gpu')?.status ?? {};
    return phase === 'Settled' && configName === AFTER[1]?.configName;
  });
  one.mortality.die();
  story.start('two');
  while (clock.now() < until - 1_000) {
    await story.tick();
    assert.deepEqual(assigned(story, BEFORE), [true, true, true], 'nobody is told of anything new');
  }
  assert.match(
    poolIn(story, POOL)?.status?.message ?? '',
    /suspended \(until \S+Z: storage is moved\); .* ends it earlier/,
  );

  await story.until('all of its nodes go on', () => assigned(story, AFTER).every(Boolean));
  await story.until('settled', () => poolIn(story, POOL)?.status?.phase === 'Settled');
});
