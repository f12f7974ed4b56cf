import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KUBELET_NODES } from '#shared/kube/kube.ts';
import { grantedTo } from '../support/granted-rights.ts';
import type { ResourceCall } from '#sandbox/api-server/request/api-call.ts';
import { NODES_PATH } from './support/bench.ts';
import { aSandbox } from '../sandbox/api-server/support/sandbox.ts';

const account = { namespace: 'ns', name: 'robot' };
const subjects = [{ kind: 'ServiceAccount', ...account }];

const call = (over: Partial<ResourceCall>): ResourceCall => ({
  verb: 'get',
  group: '',
  version: 'v1',
  resource: 'configmaps',
  subresource: undefined,
  namespace: 'ns',
  name: 'a',
  ...over,
});

describe('rights from manifests', () => {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'], resourceNames: ['a'] }];
  const role = { kind: 'Role', metadata: { name: 'reader', namespace: 'ns' }, rules };
  const clusterRole = { kind: 'ClusterRole', metadata: { name: 'reader' }, rules };
  const binding = { kind: 'RoleBinding', metadata: { name: 'b', namespace: 'ns' }, subjects };
  const bound = grantedTo(account, [role, { ...binding, roleRef: { kind: 'Role', name: 'reader' } }]);

  it('cover what a rule names, and nothing else', () => {
    assert.equal(bound(call({})), true);
    for (const other of [
      { verb: 'list' },
      { group: 'apps' },
      { resource: 'secrets' },
      { subresource: 'status' },
      { name: 'b' },
      { name: undefined },
      { namespace: 'elsewhere' },
      { namespace: undefined },
    ] as const) {
      assert.equal(bound(call(other)), false, JSON.stringify(other));
    }
  });

  it('of a ClusterRole hold where its binding says', () => {
    const roleRef = { kind: 'ClusterRole', name: 'reader' };
    const inOne = grantedTo(account, [clusterRole, { ...binding, roleRef }]);
    const everywhere = grantedTo(account, [clusterRole, { kind: 'ClusterRoleBinding', subjects, roleRef }]);
    assert.deepEqual(
      [inOne, everywhere].map((may) => may(call({}))),
      [true, true],
    );
    assert.deepEqual(
      [inOne, everywhere].map((may) => may(call({ namespace: 'elsewhere' }))),
      [false, true],
    );
  });

  it('are for the account that is bound, and need the role', () => {
    const roleRef = { kind: 'Role', name: 'reader' };
    assert.equal(grantedTo({ ...account, name: 'other' }, [role, { ...binding, roleRef }])(call({})), false);
    assert.equal(grantedTo(account, [{ ...binding, roleRef }])(call({})), false);
    assert.equal(grantedTo(account, [])(call({})), false);
  });
});

describe('the subjects of the sandbox', () => {
  it('are told to who listens, with what they ask', async () => {
    const heard: string[] = [];
    const tokens = { t: { user: 'robot' } };
    await using sandbox = await aSandbox({
      tokens,
      onCall: ({ of }, { user }) => heard.push(`${user} ${of?.verb} ${of?.name}`),
    });
    const query = { fieldSelector: 'metadata.name=a' };
    assert.equal((await sandbox.raw.call({ path: NODES_PATH, query, token: 't' })).status, 200);
    assert.equal((await sandbox.raw.call({ path: NODES_PATH, token: 'unknown' })).status, 401);
    assert.deepEqual(heard, ['robot list a']);
  });

  it('may include those without a token', async () => {
    await using sandbox = await aSandbox({ anonymous: { user: 'anyone', may: ({ verb }) => verb === 'list' } });
    assert.equal((await sandbox.raw.call({ path: NODES_PATH, token: null })).status, 200);
    assert.equal((await sandbox.raw.call({ path: `${NODES_PATH}/a`, token: null })).status, 403);
    assert.equal(sandbox.server.store.list(KUBELET_NODES).length, 0);
  });
});
