import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import type { Sandbox } from '#sandbox/sandbox.ts';
import { SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import { configMapName } from '#shared/contract/config-map-hash.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { CONFIG_MAPS, KUBELET_POOLS, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { type CommitOptions, WITHOUT_GIT, WITHOUT_SSH } from '../../reconciler/git/trust/signing.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { type SignedWorld, startSignedWorld } from '../signed-world.ts';

const POOL = 'pools/general/kubelet.yaml';
const PLACE = { resource: CONFIG_MAPS, namespace: 'kubelet-gitops' };

interface StoredConfig extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

/** Every account that may write pools or ConfigMaps, and a cluster that wants signed commits: what it runs comes from those alone. */
describeOrSkip(
  'whoever may write the objects of a cluster that wants signed commits',
  { skip: WITHOUT_GIT || WITHOUT_SSH },
  () => {
    let signedWorld: SignedWorld;
    let world: Sandbox;
    let ada: string;
    let layer: string;

    before(async () => {
      signedWorld = await startSignedWorld();
      ({ world, ada } = signedWorld);
      layer = signedWorld.files[POOL] ?? '';
      await signed();
      await world.until('the pool is settled', ({ pools }) =>
        pools.some(({ metadata, status }) => metadata.name === 'general' && status?.phase === 'Settled'),
      );
    });
    after(() => signedWorld.stop());

    const put = (files: Readonly<Record<string, string>>) => signedWorld.put(files);
    const push = (options: CommitOptions) => signedWorld.push(options);
    const inForce = (oid: string) => signedWorld.inForce(oid);
    const refused = (oid: string) => signedWorld.refused(oid);
    const signed = async (): Promise<string> => {
      const oid = await push({ ssh: ada });
      await inForce(oid);
      return oid;
    };
    const signal = () => AbortSignal.timeout(8_000);

    async function worker(): Promise<KubeletNode> {
      const [node] = (await world.status()).nodes;
      assert.ok(node !== undefined);
      return node;
    }

    /** The reconciler wakes up in a state in which no commit is in force: the tip is refused. */
    async function withoutCommit(): Promise<string> {
      const oid = await push({});
      await refused(oid);
      await world.restartReconciler();
      return oid;
    }

    let marks = 0;
    /** Whatever is there now, the reconciler has made a whole pass over it: the first may have begun before. */
    async function looked(): Promise<void> {
      for (let pass = 0; pass < 2; pass += 1) {
        const before = await passes();
        let now = before;
        await patchPool('general', { metadata: { annotations: { 'example.com/look': `${(marks += 1)}` } } });
        await world.until('the reconciler made a pass', () => {
          void passes().then((count) => (now = count));
          return now > before;
        });
      }
    }

    async function passes(): Promise<number> {
      const count = /^\S*reconcile_duration_seconds_count\{[^}]*outcome="made"[^}]*\} (\d+)/m.exec(
        await world.metrics(),
      )?.[1];
      return Number(count ?? 0);
    }

    /** A config source that no commit ever had, as somebody may make it who may make ConfigMaps. */
    async function forged(
      fields: Readonly<Record<string, unknown>>,
    ): Promise<{ readonly configName: string; readonly sha256: string }> {
      const pool = await world.kube.get<KubeletPool>({ resource: KUBELET_POOLS }, 'general', signal());
      const real = await world.kube.get<StoredConfig>(PLACE, pool?.status?.configName ?? '', signal());
      const [key = ''] = Object.keys(real?.data ?? {});
      const payload = JSON.stringify({
        apiVersion: 'kubelet.config.k8s.io/v1beta1',
        kind: 'KubeletConfiguration',
        ...fields,
      });
      const { labels, annotations } = real?.metadata ?? {};
      const configName = configMapName('general', payload);
      const metadata = {
        name: configName,
        namespace: 'kubelet-gitops',
        ...(labels === undefined ? {} : { labels }),
        ...(annotations === undefined ? {} : { annotations }),
      };
      const object: StoredConfig = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata,
        immutable: true,
        data: { [key]: payload },
      };
      await world.kube.create(PLACE, object, signal());
      return { configName, sha256: createHash('sha256').update(payload).digest('hex') };
    }

    const patchPool = (name: string, patch: Readonly<Record<string, unknown>>, subresource?: 'status') =>
      world.kube.mergePatch(
        { resource: KUBELET_POOLS },
        name,
        patch,
        subresource === undefined ? {} : { subresource },
        signal(),
      );

    it('gets no config of his onto a node by a pool’s status and a ConfigMap, and none of his fields allowed', async () => {
      const had = await worker();
      const evil = await forged({
        authentication: { anonymous: { enabled: true } },
        authorization: { mode: 'AlwaysAllow' },
      });
      await withoutCommit();
      await patchPool('general', { spec: { allowFields: ['authentication', 'authorization'] } });
      await patchPool('general', { status: evil }, 'status');
      await world.restartReconciler();
      await looked();
      const node = await worker();
      assert.deepEqual(node.spec, had.spec);
      await inForce(await push({ ssh: ada }));
      await looked();
      assert.equal((await worker()).spec?.configSource?.sha256, had.spec?.configSource?.sha256);
      assert.equal((await worker()).spec?.allowFields, undefined);
    });

    it('moves no node into another pool by the pool’s spec', async () => {
      const had = await worker();
      await withoutCommit();
      const everyWorker = {
        matchLabels: null,
        matchExpressions: [{ key: 'node-role.kubernetes.io/worker', operator: 'Exists' }],
      };
      const rollout = { maxUnavailable: '100%' };
      const disruption = { allow: ['restart', 'drain'], drainTimeout: '5m', onDrainTimeout: 'wait', gracePeriod: null };
      await patchPool('gpu', { spec: { nodeSelector: everyWorker, priority: 1000, rollout, disruption } });
      await looked();
      assert.deepEqual((await worker()).spec, had.spec);
      await inForce(await push({ ssh: ada }));
      await looked();
      assert.equal((await worker()).spec?.pool, 'general');
    });

    it('sends no node back to its local config by selecting none', async () => {
      const had = await worker();
      await withoutCommit();
      await patchPool('general', {
        spec: { nodeSelector: { matchLabels: { 'no-such': 'label' }, matchExpressions: null } },
      });
      await patchPool('general', { status: { configName: null, sha256: null } }, 'status');
      await looked();
      assert.deepEqual((await worker()).spec, had.spec);
      await inForce(await push({ ssh: ada }));
    });

    it('has no config of his taken for what a halted pool settled on, though a commit is in force', async () => {
      const first = await worker();
      await put({ [POOL]: withFields(layer, { maxPods: 123 }) });
      const oid = await signed();
      await world.until(
        'the node runs it',
        ({ nodes: [node] }) =>
          node?.spec?.commit === oid &&
          node.status?.phase === 'Idle' &&
          node.status.active?.sha256 === node.spec.configSource?.sha256,
      );
      const had = await worker();
      const evil = await forged({ maxPods: 66 });
      const general = await world.kube.get<KubeletPool>({ resource: KUBELET_POOLS }, 'general', signal());
      const { configName = '', sha256 = '' } = general?.status ?? {};
      const at = new Date(0).toISOString();
      const halt = { action: 'revert', at, message: 'made up', config: configName, sha256, failed: 1 };
      await patchPool('general', { status: { halt, settled: { ...evil, apply: 'overlay', at } } }, 'status');
      await looked();
      const { spec } = await worker();
      assert.notEqual(spec?.configSource?.sha256, evil.sha256);
      // At worst it goes back to what it ran before, or to its local config.
      const known = [undefined, ...[had, first].map((node) => node.spec?.configSource?.sha256)];
      assert.ok(known.includes(spec?.configSource?.sha256), 'the node has something that it never had');
    });

    it('sends a node back to what a commit in the record renders still, after another leader, and to nothing else', async () => {
      const runs = async (maxPods: number) => {
        await put({ [POOL]: withFields(layer, { maxPods }) });
        const oid = await signed();
        const isDone = ({ spec, status }: KubeletNode): boolean =>
          spec?.commit === oid && status?.phase === 'Idle' && status.active?.sha256 === spec.configSource?.sha256;
        await world.until('the node runs it', ({ nodes: [node] }) => node !== undefined && isDone(node));
        return { oid, sha256: (await worker()).spec?.configSource?.sha256 ?? '' };
      };
      /** The next leader finds that the pool is to go back to this, which no node has. */
      const claim = (sha256: string, commit: string) =>
        world.restartReconciler(async () => {
          const general = await world.kube.get<KubeletPool>({ resource: KUBELET_POOLS }, 'general', signal());
          const { configName: config = '', sha256: present = '' } = general?.status ?? {};
          const at = new Date(0).toISOString();
          const halt = { action: 'revert', at, message: 'made up', config, sha256: present };
          const of = { name: '', state: 'proven', since: 0, proven: 0, commit: 0, nodes: 1, proved: 1 };
          const proof = { payloads: [sha256], commits: [commit], times: [at], classes: [of] };
          await patchPool('general', { status: { halt, proof } }, 'status');
        });
      const old = await runs(124);
      await runs(125);
      await claim(old.sha256, old.oid);
      await world.until('it went back', ({ nodes: [node] }) => node?.status?.active?.sha256 === old.sha256);
      await runs(126);
      const evil = await forged({ maxPods: 67 });
      await claim(evil.sha256, old.oid);
      await world.until(
        'it went back to what it had before the first of all configs',
        ({ nodes: [node] }) => node?.spec !== undefined && node.spec.configSource === undefined,
      );
    });

    it('does not have the branch played back to an old commit by deleting the record of the one in force', async () => {
      const old = await signed();
      await put({ [POOL]: withFields(layer, { maxPods: 77 }) });
      const newest = await signed();
      await world.git.setRef('refs/heads/main', old);
      await refused(old);
      const sources = { resource: KUBELET_SOURCES };
      const record = await world.kube.get(sources, SOURCE_NAME, signal());
      await world.kube.delete(sources, SOURCE_NAME, { uid: record?.metadata.uid ?? '' }, signal());
      await world.restartReconciler();
      const { source, nodes } = await refused(old);
      assert.match(source.refusedBecause, /the branch was rewritten/);
      assert.notEqual(source.commit, old);
      assert.equal(nodes[0]?.spec?.commit, newest);
    });
  },
);
