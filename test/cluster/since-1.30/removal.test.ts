import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { renderChart, renderKustomization, REQUIRED_VALUES, WITHOUT_RENDERERS } from '../../deploy/chart/render.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { until } from '../../support/until.ts';
import { controllersSkipReason, KUBERNETES } from '../support/binaries.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane.ts';
import { type ControllerManager, startControllerManager } from '../support/controller-manager.ts';
import { type PlayedNodes, playNodes, type PlayedPod, type Step } from '../support/played-node.ts';
import { installManifests, NAMESPACE } from '../support/programs.ts';

const skip = (await controllersSkipReason()) || WITHOUT_RENDERERS;
/** A second of Kubernetes' takes so long here: minReadySeconds, leases, probes, and the controller manager's patience. */
const SECOND_MS = 1000 / 10;
/** In such seconds. minReadySeconds of 90 leaves 30 when a kubelet died, whose lease ends after 50 and is looked at every 5. */
const MOST_LAG = 10;
const flag = (name: string, seconds: number): string => `--${name}=${Math.round(seconds * SECOND_MS)}ms`;
const MOST_TRIES = 3;
const NODES = ['node-1', 'node-2', 'node-3', 'node-4', 'node-5'] as const;
const DAEMON_SETS = `/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;

interface DaemonSet {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly minReadySeconds: number; readonly template: { readonly spec: object } };
  readonly status?: { readonly numberAvailable?: number };
}
/** A DaemonSet of ours; `goes`: on its way off the nodes. */
type Rendered = (goes: boolean) => DaemonSet;
interface Removal {
  /** Nodes in the order in which they began. */
  readonly begun: readonly string[];
  /** Nodes that were done and healthy. */
  readonly done: readonly string[];
  /** What was neither done nor healthy when another node began. */
  readonly overtaken: readonly string[];
  /** See `PlayedNodes`. */
  readonly lag: number;
}

/** The real controller of DaemonSets, and that of nodes; kubelets are played as those of 1.37 speak of a young pod after their restart. */
describeOrSkip(`removal with the controller manager of Kubernetes ${KUBERNETES}`, { skip }, () => {
  let cluster: ControlPlane;
  let controllers: ControllerManager;
  let nodes: PlayedNodes;
  /** Which node, by the order in which they begin, cannot come back. */
  let bad: number;
  let begun: string[];
  let done: string[];
  let overtaken: string[];
  let removals = 0;

  before(async () => {
    cluster = await startControlPlane();
    await installManifests(cluster);
    controllers = await startControllerManager(
      cluster,
      ['daemonset-controller', 'node-lifecycle-controller'],
      // Its defaults, in the seconds of this test.
      [flag('node-monitor-grace-period', 50), flag('node-monitor-period', 5)],
    );
    nodes = await playNodes({ cluster, namespace: NAMESPACE, names: NODES, secondMs: SECOND_MS, lifeOf });
  });
  after(async () => {
    await controllers?.stop();
    await nodes?.stop();
    await cluster?.stop();
  });

  /** The agent restarts the kubelet, which has the pod for Ready until it has probed it. */
  function lifeOf({ spec }: PlayedPod, node: string): readonly Step[] {
    const [{ readinessProbe: probe }] = spec.containers;
    if (probe === undefined) return [{ seconds: 0, says: 'Ready', ago: 3600 }];
    overtaken.push(...begun.filter((other) => !done.includes(other)));
    begun.push(node);
    const untilProbed = probe.periodSeconds * probe.failureThreshold;
    return [
      { seconds: 0, says: 'NotReady' },
      { seconds: 3, says: 'Ready' },
      begun.length === bad ? { seconds: 0, says: 'dead' } : { seconds: untilProbed, says: 'NotReady' },
      { seconds: 20, says: 'Ready', onceSaid: () => void done.push(node) },
    ];
  }

  /** The one of all nodes, as kustomize makes it. */
  const ofAll: Rendered = (goes) =>
    renderKustomization({ components: goes ? ['../deploy/components/uninstall'] : [] }).find(
      ({ kind }) => kind === 'DaemonSet',
    ) as unknown as DaemonSet;
  /** That of servers, as the chart makes it where half of the agents may go at once; our nodes have no labels. */
  const ofServers: Rendered = (goes) => {
    const values = { distribution: 'k3s', agent: { maxUnavailable: '50%' }, uninstall: { enabled: goes } };
    const found = renderChart({ ...REQUIRED_VALUES, ...values }).find(
      ({ kind, metadata }) => kind === 'DaemonSet' && metadata.name === 'kubelet-gitops-agent-servers',
    ) as unknown as DaemonSet;
    const { template } = found.spec;
    const anywhere = { ...template, spec: { ...template.spec, affinity: undefined } };
    return { ...found, spec: { ...found.spec, template: anywhere } };
  };

  function daemonSet(name: string, found: DaemonSet, minReadySeconds: (it: number) => number): object {
    const scaled = Math.round((minReadySeconds(found.spec.minReadySeconds) * SECOND_MS) / 1000);
    return { ...found, metadata: { ...found.metadata, name }, spec: { ...found.spec, minReadySeconds: scaled } };
  }
  const available = async (name: string): Promise<number> => {
    const answer = await cluster.request('GET', `${DAEMON_SETS}/${name}`);
    return (answer.json() as DaemonSet).status?.numberAvailable ?? 0;
  };
  async function must(method: string, path: string, body?: unknown): Promise<void> {
    const answer = await cluster.request(method, path, body, 'application/merge-patch+json');
    assert.ok(answer.status < 300, answer.text);
  }

  /** Once more where a node began too early and nodes were not played in time: the machine may be too busy for its seconds. */
  async function remove(
    minReadySeconds: (it: number) => number,
    rendered = ofAll,
    over?: (name: string) => Promise<void>,
  ): Promise<Removal> {
    for (let left = MOST_TRIES; ; left -= 1) {
      const removal = await removeOnce(minReadySeconds, rendered, over);
      const lag = Math.round(removal.lag);
      if (removal.overtaken.length === 0 || lag <= MOST_LAG) return removal;
      console.error(`the nodes of a removal lagged by ${lag} of Kubernetes' seconds, and ${MOST_LAG} are allowed`);
      if (left === 1) throw new Error('this machine is too busy to play nodes');
    }
  }

  /**
   * Five nodes with the agent, and then the component `uninstall`. Ends when `over` does: by default when a node begins too early, and
   * otherwise when nothing happened for longer than the longest wait.
   */
  async function removeOnce(
    minReadySeconds: (it: number) => number,
    rendered: Rendered,
    over?: (name: string) => Promise<void>,
  ): Promise<Removal> {
    // The controller remembers what it expects of a name.
    const name = `agent-${(removals += 1)}`;
    [begun, done, overtaken] = [[], [], []];
    const answer = await cluster.request(
      'POST',
      DAEMON_SETS,
      daemonSet(name, rendered(false), () => 0),
    );
    assert.equal(answer.status, 201, answer.text);
    const bound = { hopeless: () => controllers.ended() ?? nodes.failed(), evidence: controllers.logTail };
    try {
      await until('five agents', async () => (await available(name)) === NODES.length, bound);
      await must('PATCH', `${DAEMON_SETS}/${name}`, daemonSet(name, rendered(true), minReadySeconds));
      if (over !== undefined) {
        await over(name);
        return { begun: [...begun], done: [...done], overtaken: [...overtaken], lag: nodes.lag() };
      }
      let [count, since] = [0, Date.now()];
      const isOver = (): boolean => {
        const events = begun.length + done.length;
        if (events > count) [count, since] = [events, Date.now()];
        return overtaken.length > 0 || Date.now() - since > 250 * SECOND_MS;
      };
      await until('the end of the removal', isOver, bound);
      return { begun, done, overtaken, lag: nodes.lag() };
    } finally {
      await must('DELETE', `${DAEMON_SETS}/${name}`);
      await nodes.clear();
    }
  }

  it('goes on from a node that is done and healthy alone, and stops at one that cannot come back', async () => {
    bad = 2;
    const removal = await remove((it) => it);
    assert.deepEqual(removal.overtaken, []);
    assert.deepEqual(removal.begun.slice(0, 1), removal.done);
    assert.equal(removal.begun.length, bad);
  });

  it('takes servers one at a time, however many agents go at once', async () => {
    bad = 2;
    const removal = await remove((it) => it, ofServers);
    assert.deepEqual(removal.overtaken, []);
    assert.deepEqual(removal.begun.slice(0, 1), removal.done);
    assert.equal(removal.begun.length, bad);
  });

  it('is over for kubectl rollout status when the last node is done', async () => {
    bad = Infinity;
    const removal = await remove(
      (it) => it,
      ofServers,
      async (name) => {
        const args = ['-n', NAMESPACE, 'rollout', 'status', `daemonset/${name}`, '--timeout=5m'];
        const { code, stderr } = await cluster.kubectl(args);
        assert.equal(code, 0, stderr);
      },
    );
    assert.equal(removal.done.length, NODES.length);
    assert.deepEqual(removal.overtaken, []);
  });

  for (const [seconds, why] of [
    [0, 'a kubelet calls its pod Ready before the probe'],
    [15, 'a kubelet that died is believed for longer'],
  ] as const) {
    it(`would not with minReadySeconds: ${seconds}: ${why}`, async () => {
      bad = 1;
      const removal = await remove(() => seconds);
      // On a busy machine a third one begins before anybody looks.
      assert.ok(removal.begun.length >= 2);
      assert.equal(removal.overtaken[0], removal.begun[0]);
    });
  }
});
