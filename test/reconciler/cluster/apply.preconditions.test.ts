import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { apply } from '#reconciler/cluster/apply.ts';
import type { Step } from '#reconciler/policy/steps.ts';
import { API_VERSION, CORDONED_ANNOTATION, NOT_CONFIGURED_TAINT } from '#shared/contract/api/group.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, type Kube, KUBELET_NODES, KUBELET_POOLS, NODES, type Place, PODS } from '#shared/kube/kube.ts';
import { aSandbox, type ApiServerSandbox } from '../../sandbox/api-server/support/sandbox.ts';
import { validPool } from '../../support/fleet.ts';
import { applyPorts } from './support/apply-ports.ts';

const NAMESPACE = 'kubelet-gitops';
const NAME = 'web';
const never = new AbortController().signal;
const { spec: poolSpec } = validPool(NAME, 110);
const MARK = { config: 'web-1', at: 0 };

/** An object that a step is about, and the step that was decided on it. */
interface Case {
  readonly place: Place;
  readonly body: object;
  step(present: KubeObject & { readonly metadata: { readonly uid: string } }): Step;
}

const configMap = { place: { resource: CONFIG_MAPS, namespace: NAMESPACE }, body: { data: {} } };
const kubeletNode = { place: { resource: KUBELET_NODES }, body: { apiVersion: API_VERSION, spec: {} } };
const kubeletPool = { place: { resource: KUBELET_POOLS }, body: { apiVersion: API_VERSION, spec: poolSpec } };
const nodeOf = (body: object): Pick<Case, 'place' | 'body'> => ({ place: { resource: NODES }, body });
const marked = {
  metadata: { annotations: { [CORDONED_ANNOTATION]: 'web-1@2026-11-21T12:00:00Z' } },
  spec: { unschedulable: true },
};
const tainted = { spec: { taints: [{ key: NOT_CONFIGURED_TAINT, effect: 'NoSchedule' }] } };
const running = { spec: { nodeName: 'n1', containers: [{ name: 'main', image: 'example.test/none' }] } };
const BECAUSE = 'a test';

const CASES: Readonly<Record<string, Case>> = {
  'delete-config-source': {
    ...configMap,
    step: ({ metadata: { uid } }) => ({ step: 'delete-config-source', name: NAME, uid, because: 'unused' }),
  },
  'delete-node': { ...kubeletNode, step: ({ metadata: { uid } }) => ({ step: 'delete-node', node: NAME, uid }) },
  'delete-pool': { ...kubeletPool, step: ({ metadata: { uid } }) => ({ step: 'delete-pool', pool: NAME, uid }) },
  evict: {
    place: { resource: PODS, namespace: NAMESPACE },
    body: running,
    step: () => ({ step: 'evict', node: 'n1', since: 0 }),
  },
  remember: {
    ...kubeletNode,
    step: (present) => ({ step: 'remember', node: NAME, present: present as KubeletNode, annotations: { a: 'b' } }),
  },
  assign: {
    ...kubeletNode,
    step: (node) => ({ step: 'assign', node: node as KubeletNode, spec: { pool: NAME }, because: BECAUSE }),
  },
  'write-pool': {
    ...kubeletPool,
    step: (pool) => ({ step: 'write-pool', pool: pool as KubeletPool, spec: { ...poolSpec, suspend: true } }),
  },
  'write-pool-status': {
    ...kubeletPool,
    step: (pool) => ({ step: 'write-pool-status', pool: pool as KubeletPool, status: { phase: 'Settled' } }),
  },
  cordon: {
    ...nodeOf({}),
    step: ({ metadata: { uid } }) => ({ step: 'cordon', node: NAME, uid, mark: MARK }),
  },
  uncordon: {
    ...nodeOf(marked),
    step: ({ metadata: { uid } }) => ({ step: 'uncordon', node: NAME, uid, failed: null }),
  },
  untaint: {
    ...nodeOf(tainted),
    step: ({ metadata: { uid } }) => ({ step: 'untaint', node: NAME, uid, because: BECAUSE }),
  },
};

const DELETIONS = ['delete-config-source', 'delete-node', 'delete-pool', 'evict'];
const KINDS: Readonly<Record<string, string>> = {
  configmaps: 'ConfigMap',
  kubeletnodes: 'KubeletNode',
  kubeletpools: 'KubeletPool',
  nodes: 'Node',
  pods: 'Pod',
};

async function clear(kube: Kube, place: Place): Promise<void> {
  const uid = (await kube.get(place, NAME))?.metadata.uid;
  if (uid !== undefined) await kube.delete(place, NAME, { uid });
}

interface Seen {
  /** The object when the write was sent, and what came of it. */
  readonly sent: KubeObject | null;
  readonly left: KubeObject | null;
}

/**
 * @param meanwhile what somebody does between the step's last look and its write
 * @param earlier   the same, between the decision and the step
 */
async function see(
  { kube }: ApiServerSandbox,
  { place, body, step }: Case,
  meanwhile: (make: () => Promise<KubeObject>) => Promise<unknown> = () => Promise.resolve(),
  earlier: typeof meanwhile = () => Promise.resolve(),
): Promise<Seen> {
  const { namespace, resource } = place;
  const make = (): Promise<KubeObject> => {
    const { metadata, ...rest } = { metadata: {}, ...body };
    const named = { ...metadata, name: NAME, ...(namespace === undefined ? {} : { namespace }) };
    return kube.create(place, {
      apiVersion: 'v1',
      kind: KINDS[resource.plural],
      ...rest,
      metadata: named,
    } as KubeObject);
  };
  await clear(kube, place);
  const present = await make();
  await earlier(make);
  let sent = await kube.get(place, NAME);
  const after = async <T>(write: () => Promise<T>): Promise<T> => {
    await meanwhile(make);
    sent = await kube.get(place, NAME);
    return write();
  };
  const late: Kube = {
    ...kube,
    create: (...call) => after(() => kube.create(...call)),
    mergePatch: <T extends KubeObject>(...call: Parameters<Kube['mergePatch']>) =>
      after(() => kube.mergePatch<T>(...call)),
    delete: (...call) => after(() => kube.delete(...call)),
  };
  const ports = applyPorts(late);
  await apply([step(present as Parameters<Case['step']>[0])], ports, never);
  return { sent, left: await kube.get(place, NAME) };
}

describe('a write is made only of the object that it was decided on:', () => {
  let sandbox: ApiServerSandbox;
  before(async () => {
    sandbox = await aSandbox();
  });
  after(() => sandbox.server.stop());

  for (const [name, each] of Object.entries(CASES)) {
    const replace = async (make: () => Promise<KubeObject>): Promise<void> => {
      await clear(sandbox.kube, each.place);
      await make();
    };

    it(`${name} goes through where nobody was quicker`, async () => {
      const { sent, left } = await see(sandbox, each);
      assert.notEqual(sent, null);
      assert.notDeepEqual(left, sent);
    });

    it(`${name} leaves alone another object of that name`, async () => {
      const { sent, left } = await see(sandbox, each, replace);
      assert.notEqual(sent, null);
      assert.deepEqual(left, sent);
    });

    // Whoever evicts looks at the pods of the moment.
    if (name === 'evict') continue;
    it(`${name} leaves alone an object that took the name before`, async () => {
      const { sent, left } = await see(sandbox, each, undefined, replace);
      assert.notEqual(sent, null);
      assert.deepEqual(left, sent);
    });

    // What is to go goes, whatever somebody wrote into it.
    if (DELETIONS.includes(name)) continue;
    it(`${name} does not write over what somebody wrote meanwhile`, async () => {
      const theirs = { metadata: { labels: { theirs: 'yes' } } };
      const { sent, left } = await see(sandbox, each, () => sandbox.kube.mergePatch(each.place, NAME, theirs));
      assert.notEqual(sent, null);
      assert.deepEqual(left, sent);
    });
  }
});
