import assert from 'node:assert/strict';
import { until } from '../../support/until.ts';
import type { Behaviours } from '../suite.ts';
import type { Loose, Raw } from '../support/raw.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const GROUP = 'conformance.example.com';
/** The real server takes a moment. */
const SOON = { withinMs: 120_000, everyMs: 50 };

export const definitionBehaviours: Behaviours = {
  async 'all kinds are served with their short names and their status'({ raw }) {
    const listed = async (): Promise<Loose[]> =>
      (await raw.call({ path: '/apis/kubelet-gitops.dev/v1alpha1' })).json().resources;
    // Discovery follows a moment after the definitions, in no order.
    await until('discovery', async () => (await listed()).length >= 6, SOON);
    const found = (await listed())
      .map(({ name, kind, namespaced, shortNames, categories }) => ({
        name,
        kind,
        namespaced,
        shortNames,
        categories,
      }))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const categories = ['kubelet-gitops'];
    const node = { kind: 'KubeletNode', namespaced: false };
    const pool = { kind: 'KubeletPool', namespaced: false };
    const source = { kind: 'KubeletSource', namespaced: false };
    const none = { shortNames: undefined, categories: undefined };
    assert.deepEqual(found, [
      { name: 'kubeletnodes', ...node, shortNames: ['knode'], categories },
      { name: 'kubeletnodes/status', ...node, ...none },
      { name: 'kubeletpools', ...pool, shortNames: ['kpool'], categories },
      { name: 'kubeletpools/status', ...pool, ...none },
      { name: 'kubeletsources', ...source, shortNames: ['ksource'], categories },
      { name: 'kubeletsources/status', ...source, ...none },
    ]);
  },
  async 'a new definition is served once it is established, and takes its objects with it when it goes'({
    raw,
    fresh,
  }) {
    const plural = fresh('gadgets').replace('-', '');
    const name = `${plural}.${GROUP}`;
    const path = `/apis/${GROUP}/v1/namespaces/default/${plural}`;
    assert.equal((await raw.call({ method: 'POST', path: CRDS, body: definition(plural) })).status, 201);
    await established(raw, name);
    await served(raw, path);
    const made = await raw.call({ method: 'POST', path, body: gadget('a', { depth: { b: 2 }, size: null }) });
    assert.equal(made.status, 201, made.text);
    assert.deepEqual(made.json().spec, { size: 3, depth: { a: 'deep', b: 2 } });
    assert.equal((await raw.call({ method: 'DELETE', path: `${CRDS}/${name}` })).status, 200);
    await gone(raw, path);
  },
  async 'where there is no status door, the status is a field like any other and counts as a change'({ raw, fresh }) {
    const plural = fresh('gadgets').replace('-', '');
    const path = `/apis/${GROUP}/v1/namespaces/default/${plural}`;
    await raw.call({ method: 'POST', path: CRDS, body: definition(plural) });
    await established(raw, `${plural}.${GROUP}`);
    await served(raw, path);
    const made = await raw.call({ method: 'POST', path, body: { ...gadget('a', {}), status: { fine: true } } });
    assert.deepEqual(made.json().status, { fine: true });
    const patched = await raw.call({ method: 'PATCH', path: `${path}/a`, body: { status: { fine: false } } });
    assert.equal(patched.json().metadata.generation, 2);
    assert.equal((await raw.call({ method: 'PATCH', path: `${path}/a/status`, body: {} })).status, 404);
    await raw.call({ method: 'DELETE', path: `${CRDS}/${plural}.${GROUP}` });
  },
};

function definition(plural: string): object {
  const text = { type: 'string' };
  const spec = {
    type: 'object',
    default: {},
    properties: {
      size: { type: 'integer', default: 3 },
      depth: { type: 'object', properties: { a: { ...text, default: 'deep' }, b: { type: 'integer' } } },
    },
  };
  const status = { type: 'object', properties: { fine: { type: 'boolean' } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: { kind: kindOf(plural), plural },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
        },
      ],
    },
  };
}

let present = '';
const kindOf = (plural: string): string => (present = `Gadget${plural.slice(-6)}`);

const gadget = (name: string, spec: object): object => ({
  apiVersion: `${GROUP}/v1`,
  kind: present,
  metadata: { name, namespace: 'default' },
  spec,
});

async function established(raw: Raw, name: string): Promise<void> {
  const look = async (): Promise<boolean> => {
    const conditions = (await raw.call({ path: `${CRDS}/${name}` })).json().status?.conditions ?? [];
    return conditions.some(({ type, status }: Loose) => type === 'Established' && status === 'True');
  };
  await until(`${name} to be established`, look, SOON);
}

/** A moment after it is established. */
async function served(raw: Raw, path: string): Promise<void> {
  await until(`${path} to be served`, async () => (await raw.call({ path })).status === 200, SOON);
}

async function gone(raw: Raw, path: string): Promise<void> {
  await until(`${path} to be gone`, async () => (await raw.call({ path })).status === 404, SOON);
}
