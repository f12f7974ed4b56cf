import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { diagnoseCommits } from '#cli/doctor/diagnose/diagnose-commits.ts';
import type { Facts } from '#cli/doctor/facts.ts';
import { AUTHOR, demoCommits } from '#sandbox/demo/demo-commits.ts';
import { DEMO_NODES } from '#sandbox/demo/demo-nodes.ts';
import type { Sandbox } from '#sandbox/sandbox.ts';
import { SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { DEFAULT_NAMESPACE, SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import type { KubeObject } from '#shared/contract/api/object.ts';
import { KUBELET_POOLS, KUBELET_SOURCES, PODS } from '#shared/kube/kube.ts';
import { withFields } from '#sandbox/demo/template-repository.ts';
import { startChannels, type Channels } from '../../support/notified.ts';
import { GPU, quickFiles, settled, startWorld, WORKER } from '../support.ts';

/** What stands for what differs from run to run. */
const steady = (text: string): string =>
  text
    .replaceAll(/\b[0-9a-f]{12}\b/g, 'COMMIT')
    .replaceAll(/\b(general|gpu|control-plane)-[a-z0-9]{10}\b/g, '$1-HASH')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME');

const SETTLED = '*[info] demo: Pool general is settled*';

const isRecord = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  method === 'PATCH' && path.includes('/kubeletsources/') && path.endsWith('/status');

describe('the story of the demo', () => {
  let world: Sandbox;
  let channels: Channels;
  let files: Readonly<Record<string, string>>;

  before(async () => {
    channels = await startChannels();
    files = await quickFiles();
    world = await startWorld({ nodes: DEMO_NODES, notificationsFile: channels.file });
  });
  after(async () => {
    await world.stop();
    await channels[Symbol.asyncDispose]();
  });

  const texts = (): readonly string[] => channels.slack.map(({ body }) => String(body['text']));
  const titles = (): readonly string[] => texts().map((text) => text.split('\n', 1)[0] ?? '');
  const tellsOf = (title: string, from: number): Promise<unknown> =>
    world.until(
      `a message: ${title}`,
      () => titles().slice(from).includes(title) && channels.events.length === channels.slack.length,
    );

  /** Killed before that, a reconciler leaves it to the next one to tell it again. */
  const owesNothing = (): Promise<unknown> =>
    world.until('the record owes nothing', ({ source }) => JSON.parse(source.told).owed.length === 0);

  const CHAPTERS: readonly (readonly string[])[] = [
    [
      '*[info] demo: Pool control-plane is settled*',
      '*[info] demo: Pool gpu is settled*',
      '*[info] demo: Pool general is settled*',
    ],
    ['*[info] demo: Pool general is settled*'],
    ['*[warning] demo: Pool gpu keeps what it has: the commit has errors in it*'],
    ['*[warning] demo: Pool general is halted, and at rest*'],
    ['*[warning] demo: Pool general is halted, and at rest*'],
    ['*[info] demo: Pool general is settled*'],
  ];

  it('is told in each channel, chapter by chapter', async () => {
    for (const [index, { changed, message, isOver, title }] of demoCommits(files).entries()) {
      const from = titles().length;
      const commit = await world.git.commit({ files: changed, message, author: AUTHOR });
      await world.until(title, (view) => view.source.commit === commit && isOver(view));
      for (const line of CHAPTERS[index] ?? []) await tellsOf(line, from);
      const said = new Set(titles().slice(from));
      // Besides, a halt is told of while nodes are still being taken back, if anybody looked in time.
      said.delete('*[warning] demo: Pool general is halted*');
      assert.deepEqual([...said].sort(), [...(CHAPTERS[index] ?? [])].sort(), title);
    }
  });

  it('is told as the page shows it', () => {
    const page = readFileSync('docs/notifications.md', 'utf8');
    const [, example = ''] = /```text\n([^]*?)```/.exec(page) ?? [];
    const halts = texts().filter((text) => text.includes('is halted, and at rest'));
    assert.equal(steady(halts[0] ?? ''), steady(example.trim()));
  });

  it('is signed for programs, whose events say the same', () => {
    assert.ok(channels.events.every(({ isGenuine }) => isGenuine));
    const event = channels.events.find(({ body }) => body['type'] === 'dev.kubelet-gitops.halted')?.body;
    assert.ok(event !== undefined);
    assert.equal(event['subject'], 'pools/general');
    const { commit, canWait } = event['data'] as {
      readonly commit: { readonly subject: string; readonly author: string };
      readonly canWait: { readonly answer: string };
    };
    assert.deepEqual(
      [commit.subject, commit.author],
      ['Fix gpu; keep CPUs 0 and 4 for the system on general', 'Ada Admin'],
    );
    assert.equal(canWait.answer, 'yes');
    const ids = channels.events.map(({ body }) => body['id']);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('is not told again by the next reconcilers, whether the one before ended in order or not', async () => {
    const before = titles().length;
    await world.restartReconciler();
    await world.restartReconciler(undefined, true);
    const commit = await world.git.commit({ files, message: 'As it began', author: AUTHOR });
    await world.until(
      'settled again',
      (view) => view.source.commit === commit && view.pools.every(({ status }) => status?.phase === 'Settled'),
    );
    await tellsOf(SETTLED, before);
    assert.deepEqual(titles().slice(before), ['*[info] demo: Pool general is settled*']);
  });

  it('is not told again after an orderly end that called off a write which arrived', async () => {
    const [told, taken] = [titles().length, channels.events.length];
    // The answer to the write that says what the chat took is lost: the reconciler no longer knows what is recorded.
    world.api.faults.set({ match: (call) => isRecord(call) && channels.slack.length > told, answer: 'lost-answer' });
    Object.assign(channels.answers, { events: 503 });
    const [, good] = demoCommits(files);
    const commit = await world.git.commit({ files: good?.changed ?? {}, message: 'Raise it', author: AUTHOR });
    await world.until('a lost answer', () => world.api.faults.struck() > 0);
    Object.assign(channels.answers, { events: 200 });
    await world.until('the program takes it', () => channels.events.length > taken);
    const struck = world.api.faults.struck();
    await world.until('the next write', () => world.api.faults.struck() > struck);
    world.api.faults.clear();
    await world.restartReconciler();
    await world.until(
      'settled',
      (view) => view.source.commit === commit && view.pools.every(({ status }) => status?.phase === 'Settled'),
    );
    await world.until('the record says so', ({ source }) => source.notifications === 'on');
    assert.deepEqual([titles().length, channels.events.length], [told + 1, taken + 1]);
    await world.git.commit({ files, message: 'As it began', author: AUTHOR });
    await tellsOf(SETTLED, told + 1);
  });

  it('is not told again where answers to writes are lost in the middle of life, and others write as well', async () => {
    const [told, taken] = [titles().length, channels.events.length];
    const [, good] = demoCommits(files);
    let isLost = false;
    world.api.faults.set({ match: (call) => isRecord(call) && (isLost = !isLost), answer: 'lost-answer' });
    const annotate = (value: string): Promise<unknown> =>
      world.kube.mergePatch({ resource: KUBELET_SOURCES }, SOURCE_NAME, { metadata: { annotations: { look: value } } });
    for (const [index, changed] of [good?.changed ?? {}, files].entries()) {
      const commit = await world.git.commit({ files: changed, message: `Change ${index}`, author: AUTHOR });
      await world.until('written by another as well', () => channels.slack.length > told + index);
      await annotate(String(index));
      await world.until(
        'settled',
        (view) => view.source.commit === commit && view.pools.every(({ status }) => status?.phase === 'Settled'),
      );
    }
    assert.ok(world.api.faults.struck() > 2);
    world.api.faults.clear();
    await owesNothing();
    assert.deepEqual(titles().slice(told), [SETTLED, SETTLED]);
    assert.equal(channels.events.length, taken + 2);
  });

  it('is not told while the cluster has no record of it', async () => {
    const before = titles().length;
    world.api.faults.set({ match: isRecord, answer: 503 });
    const [, , refused] = demoCommits(files);
    await world.git.commit({ files: refused?.changed ?? {}, message: 'Break gpu', author: AUTHOR });
    await world.until('refused in the pool', ({ pools }) =>
      pools.some(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === 'ConfigValid' && is === 'False'),
      ),
    );
    const struck = world.api.faults.struck();
    await world.until('a few more passes', () => world.api.faults.struck() > struck + 3);
    assert.deepEqual(titles().slice(before), []);
    world.api.faults.clear();
    await tellsOf('*[warning] demo: Pool gpu keeps what it has: the commit has errors in it*', before);
    const commit = await world.git.commit({ files, message: 'Mend gpu', author: AUTHOR });
    await world.until(
      'mended',
      (view) => view.source.commit === commit && view.pools.every(({ status }) => status?.phase === 'Settled'),
    );
  });

  it('is told of an error once, of the commit that brought it, whatever commits and restarts follow', async () => {
    const pool = (files['pools/general/pool.yaml'] ?? '').replace(
      /nodeSelector:[^]*?\n(?=  \w)/,
      'nodeSelector: { matchLabels: { is: none } }\n',
    );
    const api = (kubelet: string) => ({ 'pools/api/pool.yaml': pool, 'pools/api/kubelet.yaml': kubelet });
    const KIND = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
    const before = titles().length;
    const faulty = (): readonly string[] =>
      texts()
        .slice(before)
        .filter((text) => text.includes('says what cannot be used'));
    const commit = async (changed: Readonly<Record<string, string | null>>, message: string): Promise<void> => {
      const oid = await world.git.commit({ files: changed, message, author: AUTHOR });
      await world.until(
        message,
        (view) => view.source.commit === oid && view.pools.every(({ status }) => status?.phase !== 'Progressing'),
      );
    };
    await commit(api(`${KIND}maxPodz: 1\n`), 'Add api');
    await world.until('it is told', () => faulty().length === 1);
    await owesNothing();
    await world.restartReconciler(undefined, true);
    await commit(api(`${KIND}\nmaxPodz: 1\n`), 'Move a line');
    await world.restartReconciler();
    await commit({ 'pools/api': null }, 'Take api back');
    assert.equal(faulty().length, 1);
    assert.match(faulty()[0] ?? '', /"Add api"/);
    await commit(api(`${KIND}maxPodz: 1\n`), 'Add api again');
    await world.until('it is told again', () => faulty().length === 2);
    await commit({ 'pools/api': null }, 'Take api back again');
  });

  it('goes on while nobody listens, which metrics and doctor say, and is told later by the next reconciler', async () => {
    Object.assign(channels.answers, { slack: 503 });
    const before = titles().length;
    const [, good] = demoCommits(files);
    const commit = await world.git.commit({ files: good?.changed ?? {}, message: 'Raise it', author: AUTHOR });
    await world.until(
      'settled',
      (view) => view.source.commit === commit && view.pools.every(({ status }) => status?.phase === 'Settled'),
    );
    const view = await world.until('the record says so', ({ source }) => source.notifications.startsWith('off: chat'));
    assert.match(view.source.notifications, /^off: chat: the receiver chat at 127\.0\.0\.1:\d+ failed \(status 503\)$/);
    const unread = { read: false, why: '' };
    const facts = {
      lease: unread,
      reconciler: unread,
      webhookService: unread,
      source: { read: true, value: view.source },
    };
    const said = diagnoseCommits(facts as unknown as Facts).map(({ code, what }) => `${code}: ${what}`);
    assert.match(said.join('\n'), /^notifications-off: notifications are failing, and tried again: chat: /m);
    const metrics = await world.metrics();
    assert.match(metrics, /kubelet_gitops_notifications_working\{receiver="chat"\} 0/);
    assert.match(metrics, /kubelet_gitops_notifications_working\{receiver="programs"\} 1/);
    assert.match(metrics, /kubelet_gitops_notifications_waiting\{receiver="chat"\} 1/);
    assert.doesNotMatch(`${metrics} ${JSON.stringify(view.source)}`, /secret-part/);
    assert.equal(titles().length, before);
    await world.restartReconciler(async () => {
      Object.assign(channels.answers, { slack: 200 });
      await Promise.resolve();
    });
    await tellsOf(SETTLED, before);
    await world.until('the record says so', ({ source }) => source.notifications === 'on');
  });
});

describe('a reconciler that drains its own node', () => {
  const OWN = 'kubelet-gitops-reconciler-a';
  const nodes = [
    { name: 'worker-1', labels: WORKER },
    { name: 'gpu-1', labels: GPU },
  ];

  it('records what was taken before it hands over the lead, so that the next one does not tell it again', async () => {
    await using channels = await startChannels();
    const world = await startWorld({ nodes, notificationsFile: channels.file, ownPod: OWN });
    const suspend = (pool: string, because: string | null): Promise<unknown> =>
      world.kube.mergePatch({ resource: KUBELET_POOLS }, pool, {
        metadata: { annotations: { [SUSPEND_ANNOTATION]: because } },
      });
    const heard = (pool: string): number =>
      channels.slack.filter(({ body }) => String(body['text']).includes(`Pool ${pool} is suspended`)).length;
    try {
      const template = await quickFiles();
      const pool = `${template['pools/general/pool.yaml'] ?? ''}\n  disruption: { allow: [restart, drain] }\n`;
      const files: Readonly<Record<string, string>> = { ...template, 'pools/general/pool.yaml': pool };
      await world.git.commit({ files, message: 'Start', author: AUTHOR });
      await world.until('a beginning', settled);
      const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a', uid: 'a', controller: true };
      const own = { name: OWN, namespace: DEFAULT_NAMESPACE, ownerReferences: [owner] };
      await world.kube.create({ resource: PODS, namespace: DEFAULT_NAMESPACE }, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: own,
        spec: { nodeName: 'worker-1' },
      } as KubeObject);
      await suspend('general', 'not yet');
      await world.until('general is suspended', () => heard('general') > 0);
      const fields = withFields(files['pools/general/kubelet.yaml'] ?? '', { cpuCFSQuota: false });
      const changed = { ...files, 'pools/general/kubelet.yaml': fields };
      const commit = await world.git.commit({ files: changed, message: 'Needs a drain', author: AUTHOR });
      await world.until('in force', ({ source }) => source.commit === commit);

      let isLeaving = false;
      const match = (call: { readonly method: string; readonly path: string }): boolean => {
        isLeaving ||= call.path.includes('/eviction');
        return isRecord(call) && heard('gpu') > 0 && !isLeaving;
      };
      world.api.faults.set({ match, answer: 503 });
      await suspend('gpu', 'a look at it');
      await world.until('gpu is suspended', () => heard('gpu') > 0);
      await suspend('general', null);
      await world.until('it leaves', async () => {
        const { items } = await world.kube.list({ resource: PODS });
        return items.length === 0;
      });
      world.api.faults.clear();
      await world.restartReconciler(undefined, true);
      await world.until('settled', ({ source, pools }) => source.commit === commit && settled({ pools } as never));
      await world.until('nothing is owed', ({ source }) => source.notifications === 'on');
      assert.equal(heard('gpu'), 1);
    } finally {
      await world.stop();
    }
  });
});
