import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { releaseValue } from '#reconciler/policy/rollout/halt.ts';
import { connectWith } from '#cli/connect-cluster.ts';
import { parseCommandLine } from '#cli/parse-command-line.ts';
import { annotatorFor } from '#cli/pools/annotate-pool.ts';
import { RESUME } from '#cli/resume/command.ts';
import { readClaim } from '#shared/contract/claim.ts';
import { KubeError } from '#shared/kube/kube-error.ts';
import {
  API_VERSION,
  APPROVE_ANNOTATION,
  BY_ANNOTATION,
  RELEASE_ANNOTATION,
  SUSPEND_ANNOTATION,
} from '#shared/contract/api/group.ts';
import type { KubeletPool, KubeletPoolStatus, RolloutStatus } from '#shared/contract/api/kubelet-pool.ts';
import { type KubeletSource, SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_POOLS, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { poolSpec } from '../../support/fleet.ts';
import type { ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import type { ApiServerSandbox } from '../../sandbox/api-server/support/sandbox.ts';
import { aCluster, type TestCluster } from '../support/cluster.ts';

const AT = { resource: KUBELET_POOLS };
const HALT = {
  config: 'b-2gmf6b4k8c',
  sha256: 'a'.repeat(64),
  at: '2026-11-21T12:00:00Z',
  message: 'failed on b-1',
  action: 'halt',
} as const;

const IO = { out: { write: () => 0 }, err: { write: () => 0 }, env: {} };

function givenOf({ kubeconfig }: TestCluster) {
  const parsed = parseCommandLine(['resume', 'a', '--kubeconfig', kubeconfig], [RESUME]);
  assert.ok(parsed.line === 'run');
  return parsed.given;
}

describe('the commands that hold pools up and let them go on', () => {
  let cluster: TestCluster;
  let sandbox: ApiServerSandbox;
  /** What docs/operate.md has whoever runs them be granted, and nothing more. */
  const verbs = new Set(['get', 'list', 'patch']);
  before(async () => {
    const may = ({ resource, verb, subresource }: ResourceCall): boolean =>
      ['kubeletpools', 'kubeletsources'].includes(resource) && subresource === undefined && verbs.has(verb);
    cluster = await aCluster({ anonymous: { user: 'operator', may } });
    ({ sandbox } = cluster);
    for (const name of ['a', 'b']) {
      await sandbox.kube.create<KubeletPool>(AT, {
        apiVersion: 'kubelet-gitops.dev/v1alpha1',
        kind: 'KubeletPool',
        metadata: { name },
        spec: poolSpec(name === 'b' ? { suspend: true } : {}),
      });
    }
  });
  after(() => cluster[Symbol.asyncDispose]());

  const cli = (...argv: readonly string[]) => cluster.cli(...argv);
  const annotation = async (pool: string, key: string): Promise<string | undefined> =>
    (await sandbox.kube.get<KubeletPool>(AT, pool))?.metadata.annotations?.[key];
  const write = (pool: string, patch: { readonly status?: KubeletPoolStatus | { readonly halt: null } }) =>
    sandbox.kube.mergePatch<KubeletPool>(AT, pool, patch, { subresource: 'status' });

  it('suspend writes why onto the pools that were named, and onto no other', async () => {
    assert.deepEqual(await cli('suspend', 'a', '--because', '  a look\n at it '), {
      code: 0,
      out: 'a: suspended (a look at it)\n',
      err: '',
    });
    assert.equal(await annotation('a', SUSPEND_ANNOTATION), 'a look at it');
    assert.equal(await annotation('b', SUSPEND_ANNOTATION), undefined);
  });

  it('say who did it, bound to what was written, where the API server tells', async () => {
    const by = await annotation('a', BY_ANNOTATION);
    assert.equal(readClaim(by, 'suspend', 'a look at it')?.who, 'operator');
    assert.equal(readClaim(by, 'suspend', 'something else'), undefined);
  });

  it('say that there is nothing to suspend', async () => {
    await using empty = await aCluster();
    const { out, err } = await empty.cli('suspend', '--all', '--because', 'incident');
    assert.deepEqual([out, err], ['', 'the cluster has no pools\n']);
  });

  it('hold a pool up though nobody answers who asks', async () => {
    const { kube, transport } = await connectWith(givenOf(cluster), IO);
    const ask: typeof transport.ask = () => Promise.reject(new KubeError('KUBE_TIMEOUT', 'no complete answer'));
    const annotate = await annotatorFor({ kube, transport: { ...transport, ask } });
    assert.equal(await annotate(KUBELET_POOLS, 'a', () => ({ say: 'suspended' })), 'a: suspended');
  });

  it('suspend says what it replaces, and writes nothing that is there already', async () => {
    assert.equal(
      (await cli('suspend', 'a', '--because', 'a look at it')).out,
      'a: is suspended already (a look at it)\n',
    );
    const all = await cli('suspend', '--all', '--because', 'an incident');
    assert.equal(
      all.out,
      'a: suspended (an incident); it was already, because: a look at it\nb: suspended (an incident)\n',
    );
  });

  it('suspend for a time writes when it ends, which resume need not wait for', async () => {
    const at = Date.now();
    const { out } = await cli('suspend', 'a', '--until', '4h', '--because', 'an incident');
    const [, until = ''] = /^a: suspended \(until (\S+): an incident\)/.exec(out) ?? [];
    const left = Date.parse(until) - at - 4 * 3_600_000;
    assert.ok(left > -1_000 && left < 60_000, until);
    assert.equal(await annotation('a', SUSPEND_ANNOTATION), `until ${until}: an incident`);
    const named = await cli('suspend', 'a', '--until', '9000-11-22T11:00:00+01:00', '--because', 'an incident');
    assert.match(
      named.out,
      /^a: suspended \(until 9000-11-22T10:00:00Z: an incident\); it was already, because: until /,
    );
    assert.match((await cli('resume', 'a')).out, /^a: resumed; it was suspended because: until 9000-/);
  });

  it('take one that is over for none', async () => {
    const over = { [SUSPEND_ANNOTATION]: 'until 2020-11-22T10:00:00Z: an incident' };
    await sandbox.kube.mergePatch<KubeletPool>(AT, 'a', { metadata: { annotations: over } });
    assert.equal((await cli('resume', 'a')).out, 'a: is not suspended\n');
    assert.equal((await cli('suspend', 'a', '--because', 'an incident')).out, 'a: suspended (an incident)\n');
  });

  it('resume takes it away, and says what is still suspended in git', async () => {
    const resumed = await cli('resume', '--all');
    assert.equal(resumed.code, 1);
    assert.match(resumed.out, /^a: resumed; it was suspended because: an incident\n/);
    assert.match(resumed.out, /^b: resumed; .*; pool\.yaml says suspend: true, so it stays suspended/m);
    assert.equal(await annotation('a', SUSPEND_ANNOTATION), undefined);
    const again = await cli('resume', 'a');
    assert.deepEqual([again.code, again.out], [0, 'a: is not suspended\n']);
  });

  it('release names the very halt that it ends, once', async () => {
    const idle = await cli('release', 'a');
    assert.deepEqual([idle.code, idle.out], [1, 'a: is not halted: there is nothing to release\n']);
    await write('a', { status: { halt: HALT } });
    const released = await cli('release', 'a');
    assert.deepEqual(
      [released.code, released.out],
      [0, 'a: b-2gmf6b4k8c is released; it was halted at 2026-11-21T12:00:00Z: failed on b-1\n'],
    );
    assert.equal(await annotation('a', RELEASE_ANNOTATION), releaseValue(HALT));
    assert.match((await cli('release', 'a')).out, /is released already/);
    const later = { ...HALT, at: '2026-11-21T13:00:00Z' };
    await write('a', { status: { halt: later } });
    assert.equal((await cli('release', 'a')).code, 0);
    assert.equal(await annotation('a', RELEASE_ANNOTATION), releaseValue(later));
  });

  it('approve names the payload, the wave and the wait that it ends', async () => {
    const paused: RolloutStatus = {
      configName: 'b-7kfc2m9h4t',
      sha256: 'b'.repeat(64),
      startedAt: '2026-11-21T10:00:00Z',
      waves: [
        {
          name: 'canary',
          nodes: 1,
          state: 'done',
          pausedAt: '2026-11-21T11:00:00Z',
          approvedAt: '2026-11-21T12:00:00Z',
        },
        { name: 'step 1', nodes: 3, state: 'done', pausedAt: '2026-11-21T13:00:00Z' },
        { name: 'rest', nodes: 9, state: 'waiting' },
      ],
    };
    const counts = { nodes: 9, updated: 2, updating: 0, pending: 6, failed: 1, noAgent: 0, drifted: 0 };
    await write('b', { status: { rollout: paused, counts } });
    const value = `${paused.sha256}@2026-11-21T13:00:00Z step 1`;
    const other = await cli('approve', 'b', '--config', 'b-2gmf6b4k8c');
    assert.deepEqual([other.code, await annotation('b', APPROVE_ANNOTATION)], [1, undefined]);
    assert.match(other.out, /^b: b-2gmf6b4k8c does not wait for an approval: b-7kfc2m9h4t after wave step 1 does/);
    const approved = await cli('approve', 'b', '--config', paused.configName);
    assert.deepEqual([approved.code, await annotation('b', APPROVE_ANNOTATION)], [0, value]);
    assert.match(approved.out, /it waited since 2026-11-21T13:00:00Z; 2 of 9 nodes run it, 1 failed\n$/);
    assert.equal(readClaim(await annotation('b', BY_ANNOTATION), 'approve', value)?.who, 'operator');
    const again = await cli('approve', 'b');
    assert.deepEqual([again.code, again.out.includes('is approved already')], [0, true]);
  });

  it('approve refuses where nothing waits: nothing rolls out, it is halted, or over', async () => {
    const before = await annotation('b', APPROVE_ANNOTATION);
    assert.equal((await cli('approve', 'a', 'b')).code, 1);
    await write('b', { status: { halt: HALT } });
    const halted = await cli('approve', 'b');
    assert.deepEqual([halted.code, halted.out.includes('is halted')], [1, true]);
    await write('b', { status: { halt: null } });
    const rollout = (await sandbox.kube.get<KubeletPool>(AT, 'b'))?.status?.rollout;
    assert.ok(rollout !== undefined);
    await write('b', { status: { rollout: { ...rollout, finishedAt: '2026-11-21T14:00:00Z' } } });
    const over = await cli('approve', 'b');
    assert.deepEqual([over.code, over.out], [1, 'b: nothing waits for an approval\n']);
    assert.equal(await annotation('b', APPROVE_ANNOTATION), before);
  });

  it('release --commit names the commit that ended reconcilers, and no other', async () => {
    const commit = 'c'.repeat(40);
    const release = () => cli('release', '--commit');
    const missing = await release();
    assert.deepEqual([missing.code, missing.out], [1, 'kubelet-gitops: it is gone\n']);
    const place = { resource: KUBELET_SOURCES };
    const metadata = { name: SOURCE_NAME };
    await sandbox.kube.create<KubeletSource>(place, { apiVersion: API_VERSION, kind: 'KubeletSource', metadata });
    const refuse = (reason: string) =>
      sandbox.kube.mergePatch<KubeletSource>(
        place,
        SOURCE_NAME,
        { status: { refused: { commit, reason, message: 'no' } } },
        { subresource: 'status' },
      );
    const found = async (): Promise<string | undefined> =>
      (await sandbox.kube.get<KubeletSource>(place, SOURCE_NAME))?.metadata.annotations?.[RELEASE_ANNOTATION];
    assert.match((await release()).out, /no commit is refused/);
    await refuse('changes-too-many');
    const other = await release();
    assert.deepEqual([other.code, await found()], [1, undefined]);
    await refuse('ended-the-reconciler');
    const { code, out } = await release();
    assert.equal(code, 0);
    assert.match(out, /^kubelet-gitops: commit cccccccccccc is released/);
    assert.match((await found()) ?? '', new RegExp(`^${commit}@\\d{4}-`));
  });

  it('release --commit COMMIT lets one through past the clusters that are followed, with the reason', async () => {
    const commit = 'd'.repeat(40);
    const release = () => cli('release', '--commit', commit, '--because', 'staging is gone');
    const alone = await release();
    assert.deepEqual([alone.code, alone.out.includes('follows no other')], [1, true]);
    const place = { resource: KUBELET_SOURCES };
    const status = { following: '{}' };
    await sandbox.kube.mergePatch<KubeletSource>(place, SOURCE_NAME, { status }, { subresource: 'status' });
    const refused = (reason: string) =>
      sandbox.kube.mergePatch<KubeletSource>(
        place,
        SOURCE_NAME,
        { status: { refused: { commit, reason, message: 'maxChange allows 0' } } },
        { subresource: 'status' },
      );
    await refused('changes-too-many');
    const vain = await release();
    assert.deepEqual(
      [vain.code, vain.out.includes('is refused, which no release ends: maxChange allows 0')],
      [1, true],
    );
    await refused('ended-the-reconciler');
    assert.equal((await release()).code, 0);
    const { annotations } = (await sandbox.kube.get<KubeletSource>(place, SOURCE_NAME))?.metadata ?? {};
    assert.match(annotations?.[RELEASE_ANNOTATION] ?? '', new RegExp(`^${commit}@\\S+ staging is gone$`));
  });

  const mistakes: readonly (readonly [string, readonly string[], RegExp])[] = [
    ['no pool', ['suspend', '--because', 'x'], /name a pool, or say --all/],
    ['a pool and all', ['resume', 'a', '--all'], /name pools, or say --all/],
    ['no reason', ['suspend', 'a'], /say why: --because TEXT/],
    ['an empty reason', ['suspend', 'a', '--because', ' '], /say why: --because TEXT/],
    ['a reason without an end', ['suspend', 'a', '--because', 'x'.repeat(501)], /501 of at most 500/],
    ['a suspension until whenever', ['suspend', 'a', '--until', 'noon', '--because', 'x'], /write a time as 2026-/],
    ['a time without a zone', ['suspend', 'a', '--until', '2099-01-01T00:00:00', '--because', 'x'], /write a time as/],
    ['a year of five digits', ['suspend', 'a', '--until', '99999999h', '--because', 'x'], /write a time as/],
    [
      'one that is over',
      ['suspend', 'a', '--until', '2020-01-01T00:00:00Z', '--because', 'x'],
      /that is over already$/,
    ],
    ['one of no time', ['suspend', 'a', '--until', '0s', '--because', 'x'], /that is over already$/],
    [
      'a reason that would end it',
      ['suspend', 'a', '--because', 'until 2020-01-01T00:00:00Z storage is moved'],
      /begins with a time: say it with --until$/,
    ],
    ['a release of nothing', ['release'], /name a pool$/],
    ['a release of both', ['release', '--commit', 'a', 'b'], /name pools, or say --commit$/],
    ['a release of half a name', ['release', '--commit', 'abc'], /abc is not the full name/],
    ['a release of a commit without a reason', ['release', '--commit', 'a'.repeat(40)], /say why: --because TEXT/],
    ['a pool that is not there', ['release', 'aa'], /has no pool aa: did you mean a\?/],
    [
      'a pool that is not there and like none',
      ['suspend', 'workers', '--because', 'x'],
      /no pool workers: it has a, b/,
    ],
  ];
  for (const [name, argv, said] of mistakes) {
    it(`refuse ${name}`, async () => {
      const ran = await cli(...argv);
      assert.equal(ran.code, 2);
      assert.match(ran.err, said);
    });
  }

  for (const verb of verbs) {
    it(`need the right to ${verb} pools, and say so`, async () => {
      verbs.delete(verb);
      const ran = await cli('suspend', 'a', '--because', 'something new');
      verbs.add(verb);
      assert.equal(ran.code, 2);
      assert.match(ran.err, new RegExp(`Grant the verb "${verb}" on "kubeletpools"`));
      assert.equal(await annotation('a', SUSPEND_ANNOTATION), undefined);
    });
  }
});
