import assert from 'node:assert/strict';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parse } from 'yaml';
import type { KubeletNodeStatus } from '#shared/contract/api/kubelet-node.ts';
import { DENIED_BY_DEFAULT } from '#shared/contract/kubelet-config/field-policy.ts';
import { readTree } from '../support/file-tree.ts';
import { type NodeUnderTest, startNodeUnderTest, type World } from '../support/node-under-test.ts';
import { KUBELET_UNIT, LOCAL_CONFIG_FILE, STATE_DIRECTORY, UNIT_DIRECTORY } from '../support/node-paths.ts';
import { say } from '../support/say.ts';
import { watchWrites } from '../support/status-writes.ts';

const FIELDS = { maxPods: 77 };
const KEPT = Object.keys(DENIED_BY_DEFAULT).sort();

/** What goes well, and what other people do to a node that runs well. */
export function describeChanges(world: World): void {
  describe('a node whose configs are good', { concurrency: 1 }, () => {
    let node: NodeUnderTest;
    let name: string;
    let provisioned: Readonly<Record<string, string>>;
    before(async () => {
      node = await startNodeUnderTest(world, { name: 'node-changes', config: { maxPods: 42 } });
      provisioned = await ourTree();
    });
    after(() => node?.stop());

    /** All that the agent could have written to, but for what the kubelet and systemd keep for themselves. */
    const ourTree = async (): Promise<Readonly<Record<string, string>>> => ({
      ...(await readTree(join(node.machine.root, 'etc'), (path) =>
        /kubelet-gitops(-agent.service|\/agent.env)$/.test(path),
      )),
      ...(await readTree(join(node.machine.root, 'var/lib'), (path) => LIVES.test(path))),
    });
    const managed = (): string => join(node.machine.root, LOCAL_CONFIG_FILE);
    /** In one step: one that the machine stopped at its half would be taken for spoiled, and put back. */
    const provision = async (text: string): Promise<void> => {
      const beside = join(node.machine.root, 'provisioned');
      await writeFile(beside, text);
      await rename(beside, managed());
    };

    it('takes a change up and proves it', async (t) => {
      await node.agent.enable();
      const started = performance.now();
      name = await node.assignments.assign(FIELDS);
      await node.settlesOn(name);
      say(t, 'assigned → promoted (trial of 4 s)', started);
      const running = await node.configz();
      assert.equal(running['maxPods'], 77);
      assert.equal(running['cgroupDriver'], 'cgroupfs', 'what it was provisioned with is still there underneath');
      await node.isUnguarded();
    });

    it('tells of a kubelet that was killed, and does not wait for its next look', async (t) => {
      await node.holdStarts();
      const started = performance.now();
      await node.machine.systemctl('kill', '--signal=KILL', KUBELET_UNIT);
      const isUnwell = (status: string | undefined): boolean => status === 'False';
      await node.reaches('word of the kill', ({ conditions }) =>
        isUnwell(conditions?.find(({ type }) => type === 'KubeletConfigHealthy')?.status),
      );
      say(t, 'kubelet killed → in the status', started);
      // It looks by itself every minute.
      assert.ok(performance.now() - started < 45_000, `${performance.now() - started} ms`);
      await node.isHeld();
      await node.letStart();
      await node.waits('a healthy kubelet', node.healthy);
      say(t, 'kubelet killed → healthy again (2 s of them systemd’s pause)', started);
      await node.settlesOn(name);
    });

    it('puts a managed file back that somebody edited, spoiled or deleted, and restarts nothing for it', async (t) => {
      const before = await node.runs();
      const text = await node.read(LOCAL_CONFIG_FILE);
      for (const [what, spoil] of [
        ['edited by hand', () => writeFile(managed(), text?.replace('"maxPods": 77', '"maxPods": 78') ?? '')],
        ['spoiled', () => writeFile(managed(), 'maxPods: [oops\n')],
        ['deleted', () => rm(managed())],
      ] as const) {
        const started = performance.now();
        await spoil();
        await node.waits('the file', async () => (await node.read(LOCAL_CONFIG_FILE)) === text);
        say(t, `managed file ${what} → put back`, started);
      }
      await node.settlesOn(name);
      assert.deepEqual(await node.runs(), before);
    });

    it('puts its file back when the node is provisioned again, and tries it over the new one in its turn', async (t) => {
      const rewritten = `${JSON.stringify({ ...JSON.parse(node.localConfig), podPidsLimit: 2048 }, undefined, 1)}\n`;
      const [proved, runs, ours] = [
        await node.assignments.status(),
        await node.runs(),
        await node.read(LOCAL_CONFIG_FILE),
      ];
      const asks = ({ awaitsTurn }: KubeletNodeStatus): boolean => awaitsTurn?.reason === 'NewBase';
      const started = performance.now();
      // As kubeadm does at an upgrade of a node.
      await provision(rewritten);
      await node.reaches('its wish for a turn', asks);
      say(t, 'provisioned again → file put back, and a turn asked for', started);
      await node.waits('our file', async () => (await node.read(LOCAL_CONFIG_FILE)) === ours);
      assert.deepEqual(await node.runs(), runs, 'nothing is restarted without a turn');
      const granted = performance.now();
      await node.assignments.grant();
      await node.waits('both in force', async () => {
        const { maxPods, podPidsLimit } = await node.configz();
        return maxPods === 77 && podPidsLimit === 2048;
      });
      const again = await node.settlesOn(name, proved);
      say(t, 'turn granted → both promoted', granted);
      await provision(node.localConfig);
      await node.reaches('its wish for another turn', asks);
      await node.assignments.grant();
      await node.waits('the old local config', async () => (await node.configz())['podPidsLimit'] === -1);
      await node.settlesOn(name, again);
    });

    it('keeps the fields of its own config that it is told to keep, where a config takes its place', async () => {
      const { apiVersion: _, kind: __, ...own } = JSON.parse(node.localConfig) as Readonly<Record<string, unknown>>;
      const isKept = (field: string): boolean => KEPT.includes(field);
      const kept = Object.fromEntries(Object.entries(own).filter(([field]) => isKept(field)));
      const others = Object.fromEntries(Object.entries(own).filter(([field]) => !isKept(field)));
      assert.ok(Object.keys(kept).length > 0, node.localConfig);
      await node.settlesOn(
        await node.assignments.assign({ ...others, maxPods: 76 }, { apply: 'replace', keepFields: KEPT }),
      );
      const running = await node.configz();
      assert.equal(running['maxPods'], 76);
      const file = parse((await node.read(LOCAL_CONFIG_FILE)) ?? '') as Readonly<Record<string, unknown>>;
      for (const [field, value] of Object.entries(kept)) assert.deepEqual(file[field], value, field);
      await node.settlesOn(await node.assignments.assign(FIELDS));
    });

    it('restarts nothing, and writes nothing that it did not have to, for another agent, an outage, or the same config again', async () => {
      const before = await node.runs();
      const status = await node.assignments.status();
      const saidBefore = withoutGenerations(status);
      const said = async (message: string): Promise<number> =>
        (await node.agent.lines()).filter(({ msg }) => msg === message).length;
      const writes = await watchWrites(world.cluster(), node.name, world.agentDirectory());
      let unanswered = 0;
      const haveBeen = async (count: number): Promise<void> => {
        await node.waits(`write ${count}`, async () => {
          const { metadata, status: now } = await node.assignments.get();
          return (await writes.all()).length >= count && now?.observedGeneration === metadata.generation;
        });
        await passes(1000);
        const all = await writes.all();
        // A kubelet that a busy machine keeps from answering is told of, and taken back.
        unanswered = all.filter((text) => text.includes('no answer within')).length;
        assert.ok(all.length >= count && all.length <= count + 2 * unanswered, all.join('\n'));
      };
      try {
        const [started, missedBefore] = [await said('started'), await said(MISSED)];
        // A heartbeat in the same second as the last write changes nothing, and nobody could see it.
        const second = Date.parse(status.heartbeat ?? '');
        await node.waits('the next second', async () => Date.now() >= second + 1000);
        await node.agent.restart();
        await node.waits('the new agent', async () => (await said('started')) > started);
        // Its first heartbeat.
        await haveBeen(1);
        await node.api.cut();
        await node.waits('the agent to miss the API server', async () => (await said(MISSED)) > missedBefore);
        await node.api.fix();
        // Two each: the assignment, and that the agent has seen it.
        await node.assignments.relabel(FIELDS);
        await haveBeen(3);
        await node.assignments.recreate(FIELDS);
        await haveBeen(5);
      } finally {
        await writes.stop();
      }
      assert.deepEqual(await node.runs(), before);
      const after = await node.assignments.status();
      if (unanswered === 0) assert.deepEqual(withoutGenerations(after), saidBefore);
      const { generation } = (await node.assignments.get()).metadata;
      assert.equal(after.observedGeneration, generation);
      assert.ok((after.conditions ?? []).every(({ observedGeneration }) => observedGeneration === generation));
    });

    /** For what must not happen: there is nothing to wait for. */
    const passes = async (ms: number): Promise<void> => {
      const from = performance.now();
      await node.waits('time to pass', async () => performance.now() - from > ms);
    };

    it('has its own config back byte for byte, with one restart, when it is unassigned', async (t) => {
      const before = await node.runs();
      const started = performance.now();
      await node.assignments.unassign();
      await node.settlesOn('local');
      say(t, 'unassigned → local', started);
      assert.equal(await node.read(LOCAL_CONFIG_FILE), node.localConfig);
      assert.equal((await node.configz())['maxPods'], 42);
      assert.notEqual((await node.runs()).invocation, before.invocation);
    });

    it('keeps nothing of ours when the agent is taken off it', async () => {
      const before = await node.runs();
      await node.agent.disable();
      await node.agent.set({ MODE: 'uninstall' });
      await node.agent.enable();
      await node.waits('the state directory to be empty', async () => {
        const left = await readTree(join(node.machine.root, STATE_DIRECTORY), () => false);
        return Object.keys(left).length === 0;
      });
      await node.agent.disable();
      assert.deepEqual(await node.runs(), before, 'nothing was restarted');
      // The directory that the kubelet makes for the pod stays, empty; the unit's settings are this test's.
      const { [DROP_INS]: made, ...left } = await ourTree();
      assert.match(made ?? '', /^directory/);
      assert.deepEqual(left, provisioned);
      await node.waits('systemd to forget the guard', async () => {
        const units = await node.machine.systemctl('list-units', '--all', '--no-legend', 'kubelet-gitops-guard*');
        return units === '';
      });
    });
  });
}

const MISSED = 'the assignment cannot be watched: everything stays as it is';

/** Below /etc. */
const DROP_INS = UNIT_DIRECTORY.replace('/etc/', '');

/** Below /var/lib: what the kubelet, the container runtime and systemd write in the course of a day. */
const LIVES =
  /^(containerd|systemd|cni|dbus|kubelet-gitops|kubelet\/(pods|plugins|plugins_registry|device-plugins|pki|cpu_manager_state))/;

/** What a node says, but for when it said so and which generations it had seen by then. */
function withoutGenerations(status: KubeletNodeStatus): object {
  const { heartbeat: _, observedGeneration: __, conditions = [], ...rest } = status;
  const plain = conditions.map((condition) => ({ ...condition, observedGeneration: undefined }));
  return { ...rest, conditions: plain };
}
