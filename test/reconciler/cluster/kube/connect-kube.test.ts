import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { before, describe, it } from 'node:test';
import {
  connectKube,
  findApiServer,
  findConnectionMethod,
  type ConnectionMethod,
} from '#reconciler/cluster/kube/connect-kube.ts';
import { NODES } from '#shared/kube/kube.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createAuthority } from '../../../shared/kube/support/certificates.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import { json, node, scriptedServer, status, type Turn } from '../../../shared/kube/support/scripted-server.ts';
import { refusalOf } from '../../../shared/kube/support/test-kube.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
const HOME = { HOME: '/home/someone' };
const usual = '/home/someone/.kube/config';
const nothing = (): boolean => false;
const everything = (): boolean => true;
const POD_ACCOUNT = { by: 'service-account' } as const;

const ways: readonly (readonly [
  what: string,
  ...asked: Parameters<typeof findConnectionMethod>,
  way: ConnectionMethod,
])[] = [
  ['a kubeconfig that is asked for', { kubeconfigPath: 'x', env: { ...POD, KUBECONFIG: 'y' } }, nothing, by('x')],
  ['KUBECONFIG, though in a pod', { env: { ...POD, KUBECONFIG: `y${delimiter}z` } }, nothing, by('y', 'z')],
  ["the user's kubeconfig, though in a pod", { env: { ...POD, ...HOME } }, everything, by(usual)],
  ['KUBECONFIG that names no file', { env: { KUBECONFIG: delimiter, ...HOME } }, everything, by()],
  ["the user's kubeconfig", { env: HOME }, everything, by(usual)],
  ['a service account where there is no kubeconfig', { env: HOME }, nothing, POD_ACCOUNT],
  ['a service account without a home', { env: {} }, everything, POD_ACCOUNT],
];

function by(...paths: readonly string[]): ConnectionMethod {
  return { by: 'kubeconfig', paths };
}

describe('the way to the cluster', () => {
  for (const [what, asked, exists, way] of ways) {
    it(`is ${what}`, () => assert.deepEqual(findConnectionMethod(asked, exists), way));
  }

  it('is the service account where a kubeconfig has no current context, unless one is asked for', async () => {
    const directory = temporaryDirectory();
    const path = join(directory, 'config');
    const clock = createManualClock();
    for (const text of ['', '{"contexts":[{"name":"a","context":{"namespace":"x"}}],"current-context":"a"}']) {
      await writeFile(path, text);
      const found = await findApiServer({ env: { KUBECONFIG: path, ...POD }, clock });
      assert.equal(found.server, 'https://10.96.0.1:443');
      await assert.rejects(findApiServer({ env: { KUBECONFIG: path }, clock }), /no current context/);
      await assert.rejects(findApiServer({ env: { KUBECONFIG: path, ...POD }, context: 'x', clock }), /no context x/);
    }
    await assert.rejects(findApiServer({ env: POD, context: 'x', clock }), /Name a kubeconfig/);
  });

  it('goes through the proxy of the environment, also in a pod', async () => {
    const clock = createManualClock();
    const env = { ...POD, HTTPS_PROXY: 'proxy:3128' };
    assert.equal((await findApiServer({ env, clock })).proxy, 'http://proxy:3128/');
    assert.equal((await findApiServer({ env: { ...env, NO_PROXY: '10.96.0.0/12' }, clock })).proxy, undefined);
    await assert.rejects(findApiServer({ env: { ...POD, HTTPS_PROXY: 'ftp://u:hidden@x' }, clock }), {
      code: 'SETTINGS_INVALID',
      message: 'HTTPS_PROXY is not the address of a proxy: write http://HOST:PORT',
    });
  });

  it('that is nowhere says what to do', async () => {
    await assert.rejects(connectKube({ env: {}, clock: createManualClock(), log: silentLog, userAgent: 't' }), {
      code: 'KUBECONFIG_MISSING',
      message: /Name a kubeconfig with --kubeconfig$/,
    });
  });
});

describe('a kubeconfig', () => {
  const authority = createAuthority('cluster');
  const identity = authority.issue('server', ['127.0.0.1']);
  const directory = temporaryDirectory();
  before(async () => {
    await write('ca.crt', authority.ca);
  });

  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text);
    return join(directory, name);
  };

  /** A kubeconfig of one user in the directory. JSON is YAML. */
  const kubeconfig = (server: string, user: object, cluster: object = { 'certificate-authority': 'ca.crt' }) =>
    write(
      'config',
      JSON.stringify({
        clusters: [{ name: 'here', cluster: { server, ...cluster } }],
        users: [{ name: 'me', user }],
        contexts: [{ name: 'usual', context: { cluster: 'here', user: 'me' } }],
        'current-context': 'usual',
      }),
    );

  const connect = (kubeconfigPath: string, context?: string, clock = createManualClock()) =>
    connectKube({ kubeconfigPath, context, env: {}, clock, log: silentLog, userAgent: 'test' });

  const tlsServer = () => scriptedServer(identity);

  it('brings what a plugin says, and asks it again after a refusal', async () => {
    const plugin = await write(
      'plugin',
      `#!/bin/sh
n=$(cat ${directory}/count 2>/dev/null || echo 0); n=$((n + 1)); echo $n > ${directory}/count
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":{"token":"run-'$n'"}}'
`,
    );
    await chmod(plugin, 0o755);
    await using server = await tlsServer();
    const only: (token: string) => Turn =
      (token) =>
      (...turn) =>
        (turn[1].headers.authorization === `Bearer ${token}` ? json(node('a', '1')) : status(401, 'no'))(...turn);
    server.play(only('run-1'), only('run-1'), only('run-2'), only('run-2'));
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
    const kube = await connect(await kubeconfig(server.url, { exec }));
    for (let turn = 0; turn < 3; turn += 1) await kube.get({ resource: NODES }, 'a');
    assert.equal(server.seen.length, 4);
  });

  it('whose plugin fails says which and why, and the call ends', async () => {
    await using server = await tlsServer();
    const plugin = await write('broken', '#!/bin/sh\nexit 1\n');
    await chmod(plugin, 0o755);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
    const kube = await connect(await kubeconfig(server.url, { exec }));
    const error = await refusalOf(kube.get({ resource: NODES }, 'a'));
    assert.equal(error.code, 'KUBE_UNAUTHORIZED');
    assert.ok(
      reasonOf(error).includes(`the credential plugin ${plugin} failed (exit code 1): it says why on standard error`),
    );
    assert.equal(server.accepted(), 0);
  });

  it('whose plugin prints something else says that, and not what', async () => {
    await using server = await tlsServer();
    const says: readonly (readonly [script: string, said: string])[] = [
      ['echo sesame', 'printed no ExecCredential with a status'],
      ["echo '{}'", 'printed no ExecCredential with a status'],
      ['kill -TERM $$', 'failed (SIGTERM): it says why on standard error'],
    ];
    for (const [index, [script, said]] of says.entries()) {
      const plugin = await write(`odd-${index}`, `#!/bin/sh\n${script}\n`);
      await chmod(plugin, 0o755);
      const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
      const kube = await connect(await kubeconfig(server.url, { exec }));
      const reason = reasonOf(await refusalOf(kube.get({ resource: NODES }, 'a')));
      assert.ok(reason.endsWith(`there is no credential (the credential plugin ${plugin} ${said})`), reason);
    }
    assert.equal(server.accepted(), 0);
  });

  for (const [what, address, proxy, said] of [
    [
      'a port that there cannot be',
      'https://127.0.0.1:99999',
      undefined,
      /\/config: cluster here has the server .*:99999, which is not an address/,
    ],
    ['no server', '', undefined, /\/config: cluster here has no server/],
    [
      'a proxy without an address',
      'https://127.0.0.1:1',
      'proxy',
      /\/config: cluster here has a proxy-url that is not an address/,
    ],
  ] as const) {
    it(`with ${what} is refused with its name`, async () => {
      const cluster = proxy === undefined ? {} : { 'proxy-url': proxy };
      await assert.rejects(async () => connect(await kubeconfig(address, {}, cluster)), said);
    });
  }

  it('is read again after a refusal', async () => {
    await using server = await tlsServer();
    const path = await kubeconfig(server.url, { token: 'one' });
    const kube = await connect(path);
    server.play(status(401, 'no'), json(node('a', '1')));
    await kubeconfig(server.url, { token: 'two' });
    await kube.get({ resource: NODES }, 'a');
    assert.deepEqual(
      server.seen.map(({ headers }) => headers.authorization),
      ['Bearer one', 'Bearer two'],
    );
  });

  const refusals: readonly (readonly [what: string, text: string | undefined, context: string | undefined, RegExp])[] =
    [
      ['that is not there', undefined, undefined, /^there is no kubeconfig at \//],
      ['that is no YAML', 'users: [{token: s3cret', undefined, /is not a kubeconfig: not YAML \(\w+, line 1\)$/],
      ['that is a list', '[]', undefined, /holds no mapping$/],
      ['without a current context', '{}', undefined, /no current context; name one with --context$/],
      [
        'without the context asked for',
        '{"contexts":[{"name":"a"},{"name":"b"}]}',
        'c',
        /no context c; there are: a, b$/,
      ],
      [
        'whose context is of a missing cluster',
        '{"contexts":[{"name":"a","context":{"cluster":"x"}}]}',
        'a',
        /context a is of the cluster x, not there$/,
      ],
      [
        'whose context is of a missing user',
        '{"contexts":[{"name":"a","context":{"cluster":"x","user":"y"}}],"clusters":[{"name":"x","cluster":{"server":"https://x"}}]}',
        'a',
        /context a is of the user y, not there$/,
      ],
      [
        'of a server that is no URL',
        '{"contexts":[{"name":"a","context":{"cluster":"x"}}],"clusters":[{"name":"x","cluster":{"server":"x:1"}}]}',
        'a',
        /cluster x has the server x:1, which begins with neither https:\/\/ nor http:\/\/$/,
      ],
    ];
  for (const [what, text, context, message] of refusals) {
    it(`${what} is refused with a reason, and without its secrets`, async () => {
      const path = text === undefined ? join(directory, 'missing') : await write('bad', text);
      await assert.rejects(connect(path, context), (error) => {
        assert.match(reasonOf(error), message);
        assert.doesNotMatch(reasonOf(error), /s3cret/);
        return true;
      });
    });
  }
});
