import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { withFields } from '#sandbox/demo/template-repository.ts';
import type { Snapshot } from '#sandbox/api-server/store/resource-store.ts';
import type { Sandbox } from '#sandbox/sandbox.ts';
import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { until } from '../../support/until.ts';
import { startUnreliableGit } from '../../support/unreliable-proxy.ts';
import { GPU, undrainedFiles, settled, startWorld, WORKER } from '../support.ts';

const NAMES = ['worker-1', 'worker-2', 'worker-3'];
const FILE = 'pools/general/kubelet.yaml';

/** Of the pool that is changed; another node keeps the commits below the share that may change at once. */
const isWorker = ({ metadata: { name } }: KubeletNode): boolean => NAMES.includes(name);

describe('an etcd that is restored from a backup', () => {
  let git: Awaited<ReturnType<typeof startUnreliableGit>>;
  let world: Sandbox;
  let files: Readonly<Record<string, string>>;
  /** From before the first assignment, and of the pool settled on its first config. */
  let [empty, settledOnFirst]: Snapshot[] = [];
  let [oldest, newest]: (string | undefined)[] = [];
  const starts = (): readonly number[] => NAMES.map((name) => world.nodes.get(name)?.kubelet.starts() ?? 0);
  const workers = (): readonly KubeletNode[] =>
    world.api.store
      .list(KUBELET_NODES)
      .map((object) => object as unknown as KubeletNode)
      .filter(isWorker);
  const runs = ({ status }: KubeletNode): string | undefined => status?.active?.name;
  const eachSays = (what: string, condition: (node: KubeletNode) => boolean): Promise<unknown> =>
    until(what, () => workers().length === NAMES.length && workers().every(condition), { hopeless: () => unwanted });
  const settle = async (podsPerCore: number): Promise<void> => {
    const changed = { [FILE]: withFields(files[FILE] ?? '', { podsPerCore }) };
    const oid = await world.git.commit({ files: { ...files, ...changed }, message: 'Change' });
    await world.until('settled', (view) => view.source.commit === oid && settled(view));
  };
  /** A start of a kubelet that has no turn; undefined for none. */
  let unwanted: string | undefined;
  let mayStart = true;
  /** Starts of a kubelet while another one of the pool is down or on trial. */
  const together: string[] = [];
  const isInChange = (name: string): boolean => {
    const { phase } = workers().find(({ metadata }) => metadata.name === name)?.status ?? {};
    return phase === 'Trial' || phase === 'FallingBack' || world.nodes.get(name)?.kubelet.running() === null;
  };
  /** Each runs this config by an order that its agent followed, and nothing is left to do. */
  const recovered = async (config = newest): Promise<void> => {
    const followed = ({ spec, status }: KubeletNode): boolean =>
      spec?.order !== undefined && status?.obeyedOrder === spec.order && spec.configSource?.name === config;
    await eachSays('an order that was followed', (node) => followed(node) && runs(node) === config);
    await world.until('settled', settled);
  };

  /** Connections break, and the server knows no version that it is asked to go on from: everybody reads everything again. */
  function restore(backup: Snapshot | undefined): void {
    assert.ok(backup !== undefined);
    const asked = new Set<string>();
    world.api.faults.set({
      answer: 410,
      match({ path, query, of }) {
        const watch = `${path} ${query.get('fieldSelector') ?? ''} ${query.get('labelSelector') ?? ''}`;
        if (of?.verb !== 'watch' || asked.has(watch)) return false;
        asked.add(watch);
        return true;
      },
    });
    world.api.restore(backup);
    world.api.dropWatches('reset');
  }

  before(async () => {
    const fault = (name: string) => (): null => {
      const others = world?.api === undefined ? [] : NAMES.filter((other) => other !== name && isInChange(other));
      if (!mayStart) unwanted = `the kubelet of ${name} was started`;
      if (others.length > 0) together.push(`${name} and ${others.join()}`);
      return null;
    };
    const workersToBe = NAMES.map((name) => ({ name, labels: WORKER, fault: fault(name) }));
    const machines = [...workersToBe, { name: 'gpu-1', labels: GPU }];
    git = await startUnreliableGit();
    world = await startWorld({ nodes: machines, git });
    files = await undrainedFiles();
    await eachSays('its agent lives', ({ status }) => status?.heartbeat !== undefined);
    empty = world.api.snapshot();
    await settle(10);
    settledOnFirst = world.api.snapshot();
    oldest = workers().map(runs)[0];
    await settle(11);
    newest = workers().map(runs)[0];
    mayStart = false;
  });
  after(async () => {
    await world.stop();
    await git.stop();
  });

  it('changes nothing while git is away: the nodes run on, say so, and ask for a turn', async () => {
    const before = starts();
    git.setReachable(false);
    await world.restartReconciler(async () => restore(settledOnFirst));
    const asks = ({ status }: KubeletNode): boolean => status?.awaitsTurn?.reason === 'StateLost';
    await eachSays('what it runs, and a request', (node) => runs(node) === newest && asks(node));
    assert.ok(workers().every(({ spec, status }) => (status?.obeyedOrder ?? 0) > (spec?.order ?? 0)));
    assert.deepEqual(starts(), before);
  });

  it('restarts nothing when git is back', async () => {
    const before = starts();
    git.setReachable(true);
    await recovered();
    assert.deepEqual(starts(), before);
  });

  it('restarts nothing under a reconciler that lives on, nor from before the first assignment', async () => {
    const before = starts();
    for (const backup of [settledOnFirst, empty]) {
      restore(backup);
      await recovered();
      assert.deepEqual(starts(), before);
    }
  });

  it('restarts nothing where KubeletNodes are deleted and made again', async () => {
    const before = starts();
    for (const name of NAMES) world.api.store.remove(KUBELET_NODES, name);
    await recovered();
    assert.deepEqual(starts(), before);
  });

  it('gives each node its turn, one after the other, where git went back as well', async () => {
    const before = starts();
    together.length = 0;
    mayStart = true;
    restore(settledOnFirst);
    await settle(10);
    // What was restored says that all of it is done already.
    await until('each kubelet was restarted', () => starts().every((times, index) => times > (before[index] ?? 0)));
    await recovered(oldest);
    assert.deepEqual(
      starts(),
      before.map((times) => times + 1),
    );
    assert.deepEqual(together, []);
  });
});
