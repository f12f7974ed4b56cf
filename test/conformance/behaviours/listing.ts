import assert from 'node:assert/strict';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { Behaviours } from '../suite.ts';
import { AT_MAPS, AT_NODES, type Bench, identityOf, NODES_PATH, refusalOf } from '../support/bench.ts';
import type { Loose, RawAnswer } from '../support/raw.ts';

const namesOf = (listed: { readonly items: readonly { readonly metadata: { readonly name: string } }[] }): string[] =>
  listed.items.map(({ metadata }) => metadata.name);

/** Nodes that nothing but their label `run` has in common with others. */
async function someNodes(
  { aNode, fresh }: Bench,
  count: number,
): Promise<{ readonly run: string; readonly nodes: readonly KubeletNode[] }> {
  const run = fresh();
  const nodes: KubeletNode[] = [];
  for (let index = 0; index < count; index += 1) {
    nodes.push(await aNode({ pool: 'a' }, { run, index: String(index), ...(index % 2 === 0 ? { even: '' } : {}) }));
  }
  return { run, nodes };
}

export const listingBehaviours: Behaviours = {
  async 'label selectors choose by equality and by sets'(bench) {
    const { run, nodes } = await someNodes(bench, 4);
    const [first, second, third, fourth] = nodes.map(({ metadata }) => metadata.name).map(String);
    const cases: readonly (readonly [string, readonly (string | undefined)[]])[] = [
      ['', [first, second, third, fourth]],
      [',index=1', [second]],
      [',index==1', [second]],
      [',index!=1', [first, third, fourth]],
      [',index in (0, 3)', [first, fourth]],
      [',index notin (0,3)', [second, third]],
      [',even', [first, third]],
      [',!even', [second, fourth]],
      [',even=', [first, third]],
      [',even!=', [second, fourth]],
      [',index in (0,1),!even', [second]],
      [',nothing notin (a)', [first, second, third, fourth]],
    ];
    for (const [labels, expected] of cases) {
      const listed = await bench.kube.list({ ...AT_NODES, labelSelector: `run=${run}${labels}` });
      assert.deepEqual(new Set(namesOf(listed)), new Set(expected), labels);
    }
  },
  async 'a selector that cannot be read is refused'({ kube }) {
    for (const labelSelector of ['a!', 'a in', 'a=b c', '=b']) {
      assert.equal((await refusalOf(kube.list({ ...AT_NODES, labelSelector }))).code, 'KUBE_INVALID', labelSelector);
    }
    for (const fieldSelector of ['spec.pool=a', 'metadata.name']) {
      assert.equal((await refusalOf(kube.list({ ...AT_NODES, fieldSelector }))).code, 'KUBE_INVALID', fieldSelector);
    }
  },
  async 'one object is chosen by its name'({ kube, aNode, aMap }) {
    const { name } = (await aNode()).metadata;
    assert.deepEqual(namesOf(await kube.list({ ...AT_NODES, fieldSelector: `metadata.name=${name}` })), [name]);
    const map = await aMap({});
    const fieldSelector = `metadata.name=${map.metadata.name},metadata.namespace=kubelet-gitops`;
    assert.deepEqual(namesOf(await kube.list({ resource: AT_MAPS.resource, fieldSelector })), [map.metadata.name]);
  },
  async 'a list goes over one namespace, or over all'({ kube, aMap, fresh }) {
    const { name } = (await aMap({})).metadata;
    const fieldSelector = `metadata.name=${name}`;
    assert.deepEqual(namesOf(await kube.list({ ...AT_MAPS, fieldSelector })), [name]);
    assert.deepEqual(namesOf(await kube.list({ ...AT_MAPS, namespace: 'default', fieldSelector })), []);
    assert.deepEqual(namesOf(await kube.list({ ...AT_MAPS, namespace: fresh('nowhere') })), []);
  },
  'pages add up to the list as it was when the first was read': pagesAreOneMoment,
  async 'a page says how many are left, where no selector narrows the list'(bench) {
    await someNodes(bench, 3);
    const first = (await bench.raw.call({ path: NODES_PATH, query: { limit: '1' } })).json();
    const { items } = (await bench.raw.call({ path: NODES_PATH })).json();
    assert.equal(first.metadata.remainingItemCount, items.length - 1);
  },
  async 'a page that is none is refused'({ raw }) {
    assert.equal((await raw.call({ path: NODES_PATH, query: { limit: '2', continue: 'nonsense' } })).status, 400);
    assert.equal((await raw.call({ path: NODES_PATH, query: { limit: 'two' } })).status, 400);
  },
  async 'a list comes in the order of the names and says of which kind it is'(bench) {
    const { run } = await someNodes(bench, 3);
    const list = (await bench.raw.call({ path: NODES_PATH, query: { labelSelector: `run=${run}` } })).json();
    assert.equal(list.kind, 'KubeletNodeList');
    assert.equal(list.apiVersion, 'kubelet-gitops.dev/v1alpha1');
    assert.deepEqual(namesOf(list), namesOf(list).sort());
  },
  async "a list's version is that of the newest write anywhere"({ kube, aNode, aMap }) {
    await aNode();
    const { resourceVersion } = identityOf(await aMap({}));
    assert.ok(Number((await kube.list(AT_NODES)).resourceVersion) >= Number(resourceVersion));
  },
  async 'a long answer is compressed for those who take it'({ raw, aMap }) {
    const map = await aMap({ kubelet: 'x'.repeat(200_000) });
    const path = `/api/v1/namespaces/kubelet-gitops/configmaps/${map.metadata.name}`;
    const plain = await raw.call({ path });
    const small = await raw.call({ path, headers: { 'accept-encoding': 'gzip' } });
    assert.equal(plain.headers['content-encoding'], undefined);
    assert.equal(small.headers['content-encoding'], 'gzip');
    assert.deepEqual(small.json(), plain.json());
  },
};

async function pagesAreOneMoment(bench: Bench): Promise<void> {
  const { kube, raw, aNode } = bench;
  const { run, nodes } = await someNodes(bench, 5);
  const expected = nodes.map(({ metadata }) => metadata.name).sort();
  const page = (more: Readonly<Record<string, string>>): Promise<RawAnswer> =>
    raw.call({ path: NODES_PATH, query: { labelSelector: `run=${run}`, limit: '2', ...more } });
  const pages: Loose[] = [(await page({})).json()];

  const late = await aNode({}, { run });
  const [, , third, , fifth] = nodes;
  assert.ok(third && fifth);
  await kube.delete(AT_NODES, third.metadata.name, { uid: identityOf(third).uid });
  await kube.mergePatch(AT_NODES, fifth.metadata.name, { metadata: { labels: { run: null } } });

  while (pages.at(-1).metadata.continue) pages.push((await page({ continue: pages.at(-1).metadata.continue })).json());
  assert.deepEqual(pages.flatMap(namesOf), expected);
  assert.deepEqual(
    pages.map(({ items }) => items.length),
    [2, 2, 1],
  );
  assert.equal(new Set(pages.map(({ metadata }) => metadata.resourceVersion)).size, 1);
  assert.equal(pages[0].metadata.remainingItemCount, undefined);

  const now = namesOf(await kube.list({ ...AT_NODES, labelSelector: `run=${run}` }));
  assert.ok(now.includes(late.metadata.name));
  assert.ok(!now.includes(third.metadata.name) && !now.includes(fifth.metadata.name));
}
