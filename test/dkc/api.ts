import assert from 'node:assert/strict';
import type { ConfigSource, KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import {
  AT_MAPS,
  AT_NODES,
  type Bench,
  fieldsOf,
  identityOf,
  MAPS_PATH,
  nodeBody,
  NODES_PATH,
} from '../conformance/support/bench.ts';

/** What is asked of an API server. These run with the conformance tests, on the sandbox's and on a real one. */
export interface ApiScenario {
  readonly dkc: number;
  readonly title: string;
  readonly see: (bench: Bench) => Promise<void>;
}

const STATUS = { subresource: 'status' } as const;

const SOURCE: ConfigSource = {
  namespace: 'kubelet-gitops',
  name: 'general-4h4b22dddb',
  uid: 'uid-a',
  resourceVersion: '41',
  key: 'kubelet',
  sha256: 'a'.repeat(64),
};
const OTHER: ConfigSource = { ...SOURCE, name: 'general-95dg2tfb98', uid: 'uid-b', sha256: 'b'.repeat(64) };

/** The agent tries to give a node another assignment. @returns what the server answers, and what the spec is then */
async function agentWrites({ raw, connection, kube }: Bench, name: string, spec: unknown) {
  const call = { method: 'PATCH', path: `${NODES_PATH}/${name}`, body: { spec }, token: connection.agentToken };
  const { status } = await raw.call(call);
  return { status, spec: (await kube.get<KubeletNode>(AT_NODES, name))?.spec };
}

const specs: readonly (readonly [dkc: number, title: string, before: ConfigSource | undefined, after: unknown])[] = [
  [121, 'an agent cannot assign its node anything', undefined, { configSource: SOURCE }],
  [122, 'nor something else', SOURCE, { configSource: OTHER }],
  [124, 'nor take its assignment away, as a kubelet could', SOURCE, { configSource: null }],
];

/** Sources that are no assignment, and the field that is to blame. */
const BAD_SOURCES: readonly (readonly [what: string, source: unknown, fields: readonly string[]])[] = [
  ['that is empty', {}, ['namespace', 'name', 'uid', 'resourceVersion', 'key', 'sha256']],
  ['without a namespace', { ...SOURCE, namespace: undefined }, ['namespace']],
  ['without a name', { ...SOURCE, name: undefined }, ['name']],
  ['without a key', { ...SOURCE, key: undefined }, ['key']],
  // The original resolved these on the node, and so forbade them in a spec.
  ['without a uid', { ...SOURCE, uid: undefined }, ['uid']],
  ['without a resourceVersion', { ...SOURCE, resourceVersion: undefined }, ['resourceVersion']],
  ['with a path for a namespace', { ...SOURCE, namespace: '../baz' }, ['namespace']],
  ['with a path for a name', { ...SOURCE, name: '../bar' }, ['name']],
  ['with a path for a key', { ...SOURCE, key: '../qux' }, ['key']],
];

const CONTENTS = { correct: '{"maxPods":100}', unreadable: '{0xdeadbeef}', invalid: '{"kubeAPIQPS":-1}' } as const;

export const API_SCENARIOS: readonly ApiScenario[] = [
  {
    dkc: 113,
    title: 'a KubeletNode that is made with nothing has nothing',
    async see({ kube, fresh }) {
      const made = await kube.create<KubeletNode>(AT_NODES, nodeBody(fresh('node')));
      assert.deepEqual([made.spec, made.status], [undefined, undefined]);
    },
  },
  {
    dkc: 115,
    title: 'a status that comes with a new KubeletNode is dropped, and its assignment is not',
    async see({ kube, fresh }) {
      const body = { ...nodeBody(fresh('node'), { configSource: SOURCE }), status: { phase: 'Idle' } as const };
      const made = await kube.create<KubeletNode>(AT_NODES, body);
      assert.deepEqual([made.spec, made.status], [{ configSource: SOURCE }, undefined]);
    },
  },
  {
    dkc: 117,
    title: 'neither an assignment nor a status is lost when the other is written',
    async see({ kube, aNode }) {
      const { name } = (await aNode({ configSource: SOURCE })).metadata;
      const told = await kube.mergePatch<KubeletNode>(
        AT_NODES,
        name,
        { status: { phase: 'Idle' }, spec: null },
        STATUS,
      );
      assert.deepEqual([told.spec, told.status], [{ configSource: SOURCE }, { phase: 'Idle' }]);
      const moved = await kube.mergePatch<KubeletNode>(AT_NODES, name, { spec: { configSource: OTHER }, status: null });
      assert.deepEqual([moved.spec, moved.status], [{ configSource: OTHER }, { phase: 'Idle' }]);
    },
  },
  {
    dkc: 119,
    title: 'a KubeletNode that is made with an assignment keeps it as it was written',
    see: async ({ aNode }) => assert.deepEqual((await aNode({ configSource: SOURCE })).spec, { configSource: SOURCE }),
  },
  {
    dkc: 120,
    title: 'an agent cannot make its own KubeletNode, with or without an assignment',
    async see({ raw, connection, fresh }) {
      for (const spec of [undefined, { configSource: SOURCE }]) {
        const body = nodeBody(fresh('node'), spec);
        const call = { method: 'POST', path: NODES_PATH, body, token: connection.agentToken };
        assert.equal((await raw.call(call)).status, 403);
      }
    },
  },
  ...specs.map(([dkc, title, before, after]): ApiScenario => ({
    dkc,
    title,
    async see(bench) {
      const spec = before === undefined ? { pool: 'a' } : { configSource: before };
      const { name } = (await bench.aNode(spec)).metadata;
      assert.deepEqual(await agentWrites(bench, name, after), { status: 403, spec });
    },
  })),
  {
    dkc: 123,
    title: 'what an agent writes beside its status is not refused, and not heeded',
    async see({ raw, connection, kube, aNode }) {
      const { name } = (await aNode({ configSource: SOURCE })).metadata;
      for (const configSource of [SOURCE, OTHER, null]) {
        const body = { spec: { configSource }, status: { phase: 'Idle' } };
        const path = `${NODES_PATH}/${name}/status`;
        assert.equal((await raw.call({ method: 'PATCH', path, body, token: connection.agentToken })).status, 200);
        const { spec, metadata } = (await kube.get<KubeletNode>(AT_NODES, name)) ?? { metadata: { name } };
        assert.deepEqual([spec, metadata.generation], [{ configSource: SOURCE }, 1]);
      }
    },
  },
  {
    dkc: 125,
    title: 'an agent reads the config source that its node is assigned',
    see: async (bench) => assert.equal(await agentReads(bench, await configMapOf(bench)), 200),
  },
  {
    dkc: 126,
    title: 'it may read any config source by its name; but it learns no names, and reads nothing else',
    async see({ raw, connection, fresh }) {
      const elsewhere = [MAPS_PATH, `/api/v1/namespaces/kube-system/configmaps/${fresh()}`, '/api/v1/configmaps'];
      for (const path of elsewhere) {
        assert.equal((await raw.call({ path, token: connection.agentToken })).status, 403, path);
      }
      const watch = { path: MAPS_PATH, query: { watch: 'true' }, token: connection.agentToken };
      assert.equal((await raw.call(watch)).status, 403);
    },
  },
  {
    dkc: 133,
    title: 'a node that was never assigned anything cannot begin with it itself',
    async see(bench) {
      const { name } = (await bench.kube.create<KubeletNode>(AT_NODES, nodeBody(bench.fresh('node')))).metadata;
      assert.deepEqual(await agentWrites(bench, name, { configSource: SOURCE }), { status: 403, spec: undefined });
    },
  },
  {
    dkc: 135,
    title: 'an administrator reads every config source',
    async see(bench) {
      const { metadata } = await configMapOf(bench);
      assert.equal((await bench.kube.get(AT_MAPS, metadata.name))?.metadata.uid, metadata.uid);
    },
  },
  {
    dkc: 136,
    title: 'whoever may write the spec assigns, and each assignment counts',
    async see({ kube, aNode }) {
      const { name } = (await aNode({ pool: 'a' })).metadata;
      for (const [configSource, generation] of [[SOURCE, 2] as const, [OTHER, 3] as const]) {
        const written = await kube.mergePatch<KubeletNode>(AT_NODES, name, { spec: { configSource } });
        assert.deepEqual([written.spec?.configSource, written.metadata.generation], [configSource, generation]);
      }
    },
  },
  {
    dkc: 137,
    title: 'the agent sees what was assigned, and can read it',
    async see(bench) {
      const { raw, connection, kube, aNode } = bench;
      const map = await configMapOf(bench);
      const { name } = (await aNode({ pool: 'a' })).metadata;
      const configSource = { ...SOURCE, name: map.metadata.name, ...identityOf(map) };
      await kube.mergePatch(AT_NODES, name, { spec: { configSource } });
      const query = { fieldSelector: `metadata.name=${name}` };
      const seen = (await raw.call({ path: NODES_PATH, query, token: connection.agentToken })).json();
      assert.deepEqual(seen.items[0].spec.configSource, configSource);
      assert.equal(await agentReads(bench, map), 200);
    },
  },
  {
    dkc: 138,
    title: 'whoever may write the spec takes the assignment away',
    async see({ kube, aNode }) {
      const { name } = (await aNode({ pool: 'a', configSource: SOURCE })).metadata;
      const written = await kube.mergePatch<KubeletNode>(AT_NODES, name, { spec: { configSource: null } });
      assert.deepEqual([written.spec, written.metadata.generation], [{ pool: 'a' }, 2]);
    },
  },
  {
    dkc: 140,
    title: 'a config source that was deleted is gone for everybody',
    async see(bench) {
      const map = await configMapOf(bench);
      await bench.kube.delete(AT_MAPS, map.metadata.name, identityOf(map));
      assert.equal(await agentReads(bench, map), 404);
      assert.equal(await bench.kube.get(AT_MAPS, map.metadata.name), null);
    },
  },
  ...BAD_SOURCES.map(([what, source, fields], index): ApiScenario => ({
    dkc: 158 + index,
    title: `a source ${what} is refused by the API server, with its field, and nothing changes`,
    async see({ raw, kube, aNode, fresh }) {
      const blamed = fields.map((field) => `spec.configSource.${field}`).toSorted(byText);
      const assigned = await aNode({ pool: 'a' });
      const path = `${NODES_PATH}/${assigned.metadata.name}`;
      const spec = { configSource: source };
      const patched = await raw.call({ method: 'PATCH', path, body: { spec } });
      const body = { ...nodeBody(fresh('node')), spec };
      const made = await raw.call({ method: 'POST', path: NODES_PATH, body });
      for (const answer of [patched, made]) {
        assert.equal(answer.status, 422, answer.text);
        assert.deepEqual(fieldsOf(answer.json()).toSorted(byText), blamed);
      }
      assert.deepEqual(await kube.get(AT_NODES, assigned.metadata.name), assigned);
      assert.equal(await kube.get(AT_NODES, body.metadata.name), null);
    },
  })),
  {
    dkc: 175,
    title: 'a config source cannot be changed in place, whatever is in it and whatever is to be',
    async see({ raw, kube, aMap }) {
      for (const [from, kubelet] of Object.entries(CONTENTS)) {
        const made = await aMap({ kubelet }, true);
        for (const [to, content] of Object.entries(CONTENTS).filter(([name]) => name !== from)) {
          const path = `${MAPS_PATH}/${made.metadata.name}`;
          const answer = await raw.call({ method: 'PATCH', path, body: { data: { kubelet: content } } });
          assert.equal(answer.status, 422, `${from} to ${to}`);
          assert.match(answer.json().message, /field is immutable when `immutable` is set/);
        }
        assert.deepEqual(await kube.get(AT_MAPS, made.metadata.name), made);
      }
    },
  },
];

const configMapOf = ({ aMap }: Bench): Promise<KubeObject> => aMap({ kubelet: CONTENTS.correct }, true);

async function agentReads({ raw, connection }: Bench, { metadata }: KubeObject): Promise<number> {
  return (await raw.call({ path: `${MAPS_PATH}/${metadata.name}`, token: connection.agentToken })).status;
}

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
