import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sourceObject } from '../../support/source-object.ts';
import { STATUS, runStatus } from '#cli/status/command.ts';
import type { SandboxApiServer } from '#sandbox/api-server/server.ts';
import { SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_NODES, KUBELET_POOLS, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import type { ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import { afterPass, factsOf, REFUSAL, SETTLED } from '../../reconciler/reporting/source/support/states.ts';
import { COMMIT_A, COMMIT_B } from '../../support/fleet.ts';
import { aCluster, type TestCluster } from '../support/cluster.ts';
import { watch } from '../support/watch.ts';

const state = sourceObject({ commit: COMMIT_A, subject: 'Raise maxPods' });

const REFUSED = { status: afterPass(factsOf(COMMIT_B, REFUSAL), SETTLED).status };

function fill({ store }: SandboxApiServer, phase: 'Progressing' | 'Settled'): void {
  store.seed(KUBELET_SOURCES, state);
  store.seed(KUBELET_POOLS, { metadata: { name: 'general' }, status: { phase, configName: 'general-2gmf6b4k8c' } });
  store.seed(KUBELET_NODES, { metadata: { name: 'worker-1' }, spec: { pool: 'general' }, status: { phase: 'Idle' } });
}

const watchStatus = (
  { kubeconfig }: TestCluster,
  happens: readonly (() => unknown)[],
  { sleepMs = 2_000, more = [] }: { readonly sleepMs?: number; readonly more?: readonly string[] } = {},
) => watch(STATUS, runStatus, ['--watch', '--why', '--kubeconfig', kubeconfig, ...more], happens, { sleepMs });

describe('kubelet-gitops status --watch', () => {
  it('goes on while the API server is away, says so, and ends when all is settled, the reasons with it', async () => {
    await using cluster = await aCluster();
    const { server } = cluster.sandbox;
    fill(server, 'Progressing');
    const { code, shown } = await watchStatus(cluster, [
      server.stop,
      async () => {
        await server.start();
        server.store.patch(KUBELET_POOLS, 'general', { status: { phase: 'Settled' } });
      },
    ]);
    assert.equal(code, 0);
    assert.equal(shown.length, 3);
    assert.match(shown[1] ?? '', /^general +Progressing[^]*^not as it is now: .*no answer from /m);
    assert.match(shown[2] ?? '', /^general +Settled/m);
    assert.doesNotMatch(shown[2] ?? '', /not as it is now/);
    for (const text of shown) assert.match(text, /^NODE +POOL +STANDING +NOW +BECAUSE$/m);
  });

  it('waits for the commit that it is given', async () => {
    await using cluster = await aCluster();
    const { server } = cluster.sandbox;
    fill(server, 'Settled');
    const next = 'b'.repeat(40);
    const takeUp = () => server.store.patch(KUBELET_SOURCES, SOURCE_NAME, { status: { commit: next } });
    const { code, shown } = await watchStatus(cluster, [() => undefined, takeUp], {
      more: ['--commit', next.slice(0, 8)],
    });
    assert.equal(code, 0);
    assert.equal(shown.length, 3);
    assert.equal((await cluster.cli('status', '--commit', COMMIT_A)).code, 1);
    const past = (outcome: string) =>
      JSON.stringify([{ oid: COMMIT_A, subject: '', author: '', at: '2026-11-21T12:00:00Z', outcome }]);
    const remember = (outcome: string) =>
      server.store.patch(KUBELET_SOURCES, SOURCE_NAME, { status: { history: past(outcome) } });
    remember('superseded');
    assert.equal((await cluster.cli('status', '--commit', COMMIT_A)).code, 0);
    remember('refused');
    assert.equal((await cluster.cli('status', '--commit', COMMIT_A)).code, 1);
    assert.match((await cluster.cli('status', '--commit', 'HEAD')).err, /--commit HEAD: write the name of a commit/);
  });

  it('ends where nothing more happens by itself, once a second look says the same, and says what stops it', async () => {
    await using cluster = await aCluster();
    const { server } = cluster.sandbox;
    fill(server, 'Progressing');
    const halt = () => server.store.patch(KUBELET_POOLS, 'general', { status: { phase: 'Halted' } });
    const { code, shown } = await watchStatus(cluster, [halt, () => undefined, assert.fail]);
    assert.equal(code, 1);
    assert.equal(shown.length, 4);
    assert.match(shown[2] ?? '', /^general +Halted/m);
    assert.equal(shown[3], '\nwaiting for a person: pool general is halted\n');
  });

  it('ends when the time is over that it was given', async () => {
    await using cluster = await aCluster();
    fill(cluster.sandbox.server, 'Progressing');
    const { code, shown } = await watchStatus(cluster, [], { sleepMs: 20_000, more: ['--timeout', '90s'] });
    assert.equal(code, 1);
    assert.equal(shown.length, 7);
    assert.equal(shown.at(-1), '\nnot settled within --timeout\n');
    for (const [wrong, said] of [
      [['--timeout', '5m'], /--timeout needs --watch/],
      [['--watch', '--timeout', 'soon'], /--timeout soon: write it as 90s/],
    ] as const) {
      const { code: mistaken, err } = await cluster.cli('status', ...wrong);
      assert.equal(mistaken, 2);
      assert.match(err, said);
    }
  });

  it('is about one pool and its nodes where that is asked for, and knows a slip of the fingers', async () => {
    await using cluster = await aCluster();
    const { store } = cluster.sandbox.server;
    fill(cluster.sandbox.server, 'Settled');
    store.seed(KUBELET_POOLS, { metadata: { name: 'gpu' }, status: { phase: 'Halted', message: 'failed on gpu-1' } });
    store.seed(KUBELET_NODES, { metadata: { name: 'gpu-1' }, spec: { pool: 'gpu' }, status: { phase: 'Idle' } });
    const { code, shown } = await watchStatus(cluster, [], { more: ['--pool', 'general'] });
    assert.equal(code, 0);
    assert.match(shown[0] ?? '', /^worker-1 /m);
    assert.doesNotMatch(shown[0] ?? '', /gpu/);
    const ofNode = await watchStatus(cluster, [], { more: ['--node', 'worker-1'] });
    assert.equal(ofNode.code, 0);
    assert.doesNotMatch(ofNode.shown[0] ?? '', /gpu/);
    const slip = await watchStatus(cluster, [], { more: ['--pool', 'genral'] });
    assert.match(String(slip.code), /the cluster has no pool genral \(did you mean general\?\)/);
  });

  it('gives up where the API server stays away', async () => {
    await using cluster = await aCluster();
    fill(cluster.sandbox.server, 'Progressing');
    const { code } = await watchStatus(cluster, [cluster.sandbox.server.stop], { sleepMs: 200_000 });
    assert.match(String(code), /no answer from /);
  });
});

describe('kubelet-gitops status', () => {
  it('needs no right to ConfigMaps, and says of a record that it may not read that it may not', async () => {
    const without = async (resource: string): Promise<TestCluster> => {
      const may = (call: ResourceCall): boolean => call.resource !== resource;
      const cluster = await aCluster({ anonymous: { user: 'reader', may } });
      fill(cluster.sandbox.server, 'Settled');
      cluster.sandbox.server.store.patch(KUBELET_SOURCES, SOURCE_NAME, REFUSED);
      return cluster;
    };
    await using blind = await without('kubeletsources');
    assert.deepEqual((({ code, out }) => [code, out])(await blind.cli('status')), [2, '']);
    await using cluster = await without('configmaps');
    const { code, out } = await cluster.cli('status', '--namespace', 'elsewhere');
    assert.equal(code, 1);
    assert.match(out, /^repository +https:\/\/git\.example\.com\/config\.git main$/m);
    assert.match(out, /^commit +aaaaaaaaaaaa Raise maxPods \(Ada, /m);
    assert.match(out, /^refused +bbbbbbbbbbbb: it would change 40 of 48 nodes/m);
  });

  it('tells programs and scripts the same of a commit that is waited for', async () => {
    await using cluster = await aCluster();
    fill(cluster.sandbox.server, 'Settled');
    for (const [name, there] of [
      [COMMIT_A, true],
      ['f'.repeat(40), false],
    ] as const) {
      const { code, out } = await cluster.cli('status', '-o', 'json', '--commit', name);
      const { settled } = JSON.parse(out) as { readonly settled: boolean };
      assert.deepEqual([settled, code], [there, there ? 0 : 1]);
    }
  });

  it('gives the same to programs', async () => {
    await using cluster = await aCluster();
    fill(cluster.sandbox.server, 'Settled');
    const { code, out } = await cluster.cli('status', '-o', 'json', '--why');
    assert.equal(code, 0);
    const { settled, commit, pools, nodes, why } = JSON.parse(out) as Record<string, unknown>;
    assert.equal(settled, true);
    assert.deepEqual(commit, { commit: COMMIT_A, subject: 'Raise maxPods', author: '', takenUpAt: '' });
    assert.deepEqual(pools, [
      {
        name: 'general',
        phase: 'Settled',
        message: '',
        suspended: null,
        config: 'general-2gmf6b4k8c',
        classes: [],
        counts: null,
        halt: null,
        impact: null,
        findings: [],
        waves: [],
      },
    ]);
    assert.deepEqual(nodes, [
      {
        name: 'worker-1',
        pool: 'general',
        phase: 'Idle',
        assigned: null,
        active: null,
        lastKnownGood: null,
        kubeletVersion: null,
        heartbeat: null,
        error: null,
        awaitsTurn: null,
        unseen: null,
      },
    ]);
    assert.ok(Array.isArray(why));
    assert.match((await cluster.cli('status', '-o', 'json', '--watch')).err, /--watch is for people/);
  });

  it('does not call a cluster settled in which no commit is in force', async () => {
    await using cluster = await aCluster();
    fill(cluster.sandbox.server, 'Settled');
    cluster.sandbox.server.store.remove(KUBELET_SOURCES, SOURCE_NAME);
    const { code, out } = await cluster.cli('status');
    assert.equal(code, 1);
    assert.match(
      out,
      /^commit +none in force yet\nno reconciler has written to this namespace: doctor says what is missing/m,
    );
  });
});
