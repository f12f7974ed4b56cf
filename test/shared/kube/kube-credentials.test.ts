import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { inClusterCredentials, inClusterServer } from '#shared/kube/in-cluster.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { json, node, scriptedServer, status, type Turn, playing } from './support/scripted-server.ts';
import { serviceAccountDirectory } from './support/service-account.ts';
import { AT_NODES, kubeFor, refusalOf } from './support/test-kube.ts';

/** Accepts one token. */
const only =
  (token: string): Turn =>
  (response, seen, socket) => {
    const right = seen.headers.authorization === `Bearer ${token}`;
    (right ? json(node('a', '1')) : status(401, 'Unauthorized'))(response, seen, socket);
  };

const setUp = async (token = 'one') => {
  const server = await scriptedServer();
  const account = await serviceAccountDirectory(token, 'an authority');
  const clock = createManualClock();
  const kube = kubeFor(server, { clock, credentials: inClusterCredentials(clock, account.directory) });
  const tokens = (): readonly (string | undefined)[] => server.seen.map(({ headers }) => headers.authorization);
  return {
    server,
    account,
    clock,
    kube,
    tokens,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await account[Symbol.asyncDispose]();
    },
  };
};

describe('the address of the API server in a pod', () => {
  for (const [env, server] of [
    [{ KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' }, 'https://10.96.0.1:443'],
    [{ KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }, 'https://[fd00::1]:6443'],
    [{ KUBERNETES_SERVICE_HOST: '[fd00::1]', KUBERNETES_SERVICE_PORT: '6443' }, 'https://[fd00::1]:6443'],
    [{ KUBERNETES_SERVICE_HOST: '10.96.0.1' }, undefined],
    [{}, undefined],
  ] as const) {
    it(`is ${server ?? 'unknown'} under ${JSON.stringify(env)}`, () => assert.equal(inClusterServer(env), server));
  }
});

describe("a pod's service account", () => {
  it('goes with every call, without the line feed at the end of the file', async () => {
    await using on = await setUp('one\n');
    on.server.play(only('one'));
    await on.kube.get(AT_NODES, 'a');
    assert.deepEqual(on.tokens(), ['Bearer one']);
  });

  it('is read again after a minute, not before', async () => {
    await using on = await setUp();
    on.server.play(only('one'), only('one'), only('two'));
    await on.kube.get(AT_NODES, 'a');
    await on.account.write('token', 'two');
    await on.clock.advance(59_999);
    await on.kube.get(AT_NODES, 'a');
    await on.clock.advance(1);
    await on.kube.get(AT_NODES, 'a');
    assert.deepEqual(on.tokens(), ['Bearer one', 'Bearer one', 'Bearer two']);
  });

  it('is read again at once when it is refused, and the same call succeeds', async () => {
    await using on = await setUp();
    on.server.play(only('one'), only('two'), only('two'));
    await on.kube.get(AT_NODES, 'a');
    await on.account.write('token', 'two\n');
    assert.deepEqual(await on.kube.get(AT_NODES, 'a'), node('a', '1'));
    assert.deepEqual(on.tokens(), ['Bearer one', 'Bearer one', 'Bearer two']);
  });

  it('is not sent again when it is the same as the one refused', async () => {
    await using on = await setUp();
    on.server.play(only('two'), only('two'));
    const error = await refusalOf(on.kube.get(AT_NODES, 'a'));
    assert.equal(error.code, 'KUBE_UNAUTHORIZED');
    assert.doesNotMatch(reasonOf(error), /one/);
    assert.equal(on.server.seen.length, 1);
  });

  it('is tried again once, however often the server refuses', async () => {
    await using on = await setUp();
    on.server.play(
      (...turn) => {
        void on.account.write('token', 'two').then(() => status(401, 'no')(...turn));
      },
      (...turn) => {
        void on.account.write('token', 'three').then(() => status(401, 'no')(...turn));
      },
      only('three'),
    );
    assert.equal((await refusalOf(on.kube.mergePatch(AT_NODES, 'a', {}))).code, 'KUBE_UNAUTHORIZED');
    assert.equal(on.server.seen.length, 2);
  });

  it('whose token file is missing fails the call, not the process, and is well when the file is back', async () => {
    await using on = await setUp();
    on.server.play(only('one'), only('two'));
    await on.kube.get(AT_NODES, 'a');
    await on.account.remove('token');
    await on.clock.advance(60_000);
    for (let turn = 0; turn < 2; turn += 1) {
      const error = await refusalOf(on.kube.get(AT_NODES, 'a'));
      assert.equal(error.code, 'KUBE_UNAUTHORIZED');
      assert.match(error.message, /^cannot get nodes a: there is no credential \(ENOENT: .*\/token'\)$/);
    }
    await on.account.write('token', 'two');
    await on.kube.get(AT_NODES, 'a');
    assert.equal(on.server.seen.length, 2);
  });

  it('whose token goes missing after a refusal fails the call', async () => {
    await using on = await setUp();
    await on.kube.get(AT_NODES, 'a').catch(() => undefined);
    await on.account.remove('token');
    on.server.play(status(401, 'Unauthorized'));
    assert.match((await refusalOf(on.kube.get(AT_NODES, 'a'))).message, /there is no credential/);
  });

  it('whose token file is empty has no credential', async () => {
    await using on = await setUp(' \n');
    assert.match((await refusalOf(on.kube.get(AT_NODES, 'a'))).message, /token is empty\)$/);
    assert.equal(on.server.accepted(), 0);
  });
});

describe('a fixed token', () => {
  it('is trimmed, and one that no header can carry fails the call without being shown', async () => {
    await using server = await playing(only('one'));
    await kubeFor(server, { credentials: staticCredentials({ token: ' one\n' }) }).get(AT_NODES, 'a');
    const broken = kubeFor(server, { credentials: staticCredentials({ token: 'sec\nret' }) });
    const error = await refusalOf(broken.get(AT_NODES, 'a'));
    assert.equal(error.code, 'KUBE_UNREACHABLE');
    assert.doesNotMatch(reasonOf(error), /sec|ret\b/);
  });
});
