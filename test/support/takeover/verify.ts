import assert from 'node:assert/strict';
import { type KubeletNode, LOCAL } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES, LEASES } from '#shared/kube/kube.ts';
import type { ValidPool } from '#reconciler/policy/config-repo/loaded-repo.ts';
import type { Written } from './cluster.ts';
import { BUDGETS, type Story, wantedConfigs } from './story.ts';

/** Every node was told, and every kubelet restarted, once a payload at most, and it was the right one at last. */
export function verifyOnce({ cluster, repository }: Story, pools: readonly ValidPool[], at = ''): void {
  const told = assignments(cluster.written);
  for (const [what, all] of [['told', told] as const, ['restarted', cluster.restarts] as const]) {
    for (const [node, config] of wantedConfigs(pools)) {
      const configs = all.get(node) ?? [];
      if ((cluster.began.get(node) ?? LOCAL) !== config)
        assert.equal(configs.at(-1), config, `${node} is ${what}${at}`);
      assert.equal(new Set(configs).size, configs.length, `${node} is ${what} once: ${configs.join(', ')}${at}`);
    }
  }
  const made = cluster.written
    .filter(({ verb }) => verb !== 'patch')
    .map(({ verb, name, resource }) => `${verb} ${resource.plural} ${name}`);
  assert.equal(new Set(made).size, made.length, `nothing is made or deleted twice: ${made.join(', ')}${at}`);
  const texts = repository.pushes.map(({ commit, text }) => `${commit} ${text}`);
  assert.equal(new Set(texts).size, texts.length, `no note is written twice${at}`);
  for (const [commit, text] of repository.notes) {
    assert.match(text, /^demo: (settled|superseded)/, `the note on ${commit} tells how it ended${at}`);
  }
}

/** No pool has more nodes in a change than it allows. */
export function verifyBudgets(story: Story, at = ''): void {
  for (const [pool, count] of unfinished(story)) {
    assert.ok(count <= (BUDGETS[pool] ?? 0), `${count} nodes of ${pool} are being changed at once${at}`);
  }
}

/** No identity writes anything but the lease once another one has begun to. */
export function verifyTurns({ cluster }: Story): void {
  const turns: string[] = [];
  for (const { by, resource, name, atMs } of cluster.written) {
    if (resource.plural === LEASES.plural || turns.at(-1) === by) continue;
    const last = turns.at(-1) ?? '';
    assert.ok(!turns.includes(by), `${by} wrote ${resource.plural} ${name} at ${atMs} ms, after ${last} had begun`);
    turns.push(by);
  }
}

/** Nodes that were told something and have not proven it yet, by the pool whose budget they use. */
function unfinished({ cluster }: Story): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const object of cluster.objects.list(KUBELET_NODES)) {
    const { spec, status, metadata } = object as unknown as KubeletNode;
    const busy = status?.phase === 'Trial' || (status?.observedGeneration ?? 0) < (metadata.generation ?? 0);
    const changes = (spec?.configSource?.name ?? LOCAL) !== (status?.lastKnownGood?.name ?? LOCAL);
    if (busy && changes && spec?.pool !== undefined) counts.set(spec.pool, (counts.get(spec.pool) ?? 0) + 1);
  }
  return counts;
}

/** Writes of `KubeletNode.spec` that gave a node another payload, in order. */
function assignments(written: readonly Written[]): ReadonlyMap<string, readonly string[]> {
  const all = new Map<string, string[]>();
  for (const { resource, subresource, name, before, after } of written) {
    if (resource.plural !== KUBELET_NODES.plural || subresource !== undefined || after === null) continue;
    const [from, to] = [before, after].map(
      (object) => (object as KubeletNode | null)?.spec?.configSource?.name ?? LOCAL,
    );
    if (from !== to) all.set(name, [...(all.get(name) ?? []), to ?? LOCAL]);
  }
  return all;
}
