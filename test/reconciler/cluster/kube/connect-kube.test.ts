import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect as connectSocket, type Socket } from 'node:net';
import { delimiter, join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { before, describe, it } from 'node:test';
import { connectKube, findConnectionMethod, type ConnectionMethod } from '#reconciler/cluster/kube/connect-kube.ts';
import { NODES } from '#shared/kube/kube.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { createAuthority } from '../../../shared/kube/support/certificates.ts';
import { createManualClock } from '../../../support/manual-clock.ts';
import {
  json,
  node,
  scriptedServer,
  status,
  type Turn,
  playing,
} from '../../../shared/kube/support/scripted-server.ts';
import { refusalOf } from '../../../shared/kube/support/test-kube.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const POD = { KUBERNETES_SERVICE_HOST: '10.96.0.1', KUBERNETES_SERVICE_PORT: '443' };
const HOME = { HOME: '/home/someone' };
const usual = '/home/someone/.kube/config';
const nothing = (): boolean => false;
const everything = (): boolean => true;

const ways: readonly (readonly [
  what: string,
  ...asked: Parameters<typeof findConnectionMethod>,
  way: ConnectionMethod,
])[] = [
  ['a kubeconfig that is asked for', { kubeconfigPath: 'x', env: { ...POD, KUBECONFIG: 'y' } }, nothing, by('x')],
  ['KUBECONFIG, though in a pod', { env: { ...POD, KUBECONFIG: `y${delimiter}z` } }, nothing, by('y', 'z')],
  ['the service account in a pod', { env: { ...POD, ...HOME } }, everything, pod('https://10.96.0.1:443')],
  [
    "the user's kubeconfig for a context, though in a pod",
    { context: 'c', env: { ...POD, ...HOME } },
    everything,
    by(usual),
  ],
  ["the user's kubeconfig", { env: HOME }, everything, by(usual)],
  ['nothing where there is nothing', { env: HOME }, nothing, { by: 'nothing' }],
  ['nothing without a home', { env: {} }, everything, { by: 'nothing' }],
];

function by(...paths: readonly string[]): ConnectionMethod {
  return { by: 'kubeconfig', paths };
}

function pod(server: string): ConnectionMethod {
  return { by: 'service-account', server };
}

/** A proxy that makes tunnels, and says where to. */
async function connectProxy() {
  const asked: string[] = [];
  const open = new Set<Socket>();
  const proxy = createServer();
  proxy.on('connect', (request: IncomingMessage, client: Socket) => {
    asked.push(request.url ?? '');
    const { hostname, port } = new URL(`http://${request.url}`);
    const target = connectSocket(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      target.pipe(client).pipe(target);
    });
    for (const socket of [target, client]) {
      open.add(socket);
      socket.on('error', () => socket.destroy());
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    asked,
    async [Symbol.asyncDispose]() {
      proxy.close();
      for (const socket of open) socket.destroy();
      await once(proxy, 'close');
    },
  };
}

describe('the way to the cluster', () => {
  for (const [what, asked, exists, way] of ways) {
    it(`is ${what}`, () => assert.deepEqual(findConnectionMethod(asked, exists), way));
  }

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

  const tlsServer = () =>
    scriptedServer({ ...identity, requestCert: true, rejectUnauthorized: false, ca: authority.ca });

  /** The authorization of the one request that a user of this kind sends. */
  const authorizationOf = async (user: object, cluster?: object): Promise<string | undefined> => {
    await using server = await tlsServer();
    server.play(json(node('a', '1')));
    const kube = await connect(await kubeconfig(server.url, user, cluster));
    await kube.get({ resource: NODES }, 'a');
    return server.seen[0]?.headers.authorization;
  };

  it('brings a token', async () => assert.equal(await authorizationOf({ token: 'one' }), 'Bearer one'));

  it('brings a token from a file beside it, which goes before a token in it', async () => {
    await write('token', 'two\n');
    assert.equal(await authorizationOf({ tokenFile: 'token', token: 'one' }), 'Bearer two');
  });

  it('brings a name and a password', async () => {
    const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    assert.equal(await authorizationOf({ username: 'me', password: 'secret' }), basic);
  });

  it('brings a client certificate, inline or from files', async () => {
    const { cert, key } = authority.issue('someone');
    await Promise.all([write('me.crt', cert), write('me.key', key)]);
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    for (const user of [
      { 'client-certificate': 'me.crt', 'client-key': 'me.key' },
      { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) },
    ]) {
      await using server = await tlsServer();
      let seen: unknown;
      server.play((response, request, socket) => {
        seen = (socket as TLSSocket).getPeerCertificate().subject.CN;
        json(node('a', '1'))(response, request, socket);
      });
      await (await connect(await kubeconfig(server.url, user))).get({ resource: NODES }, 'a');
      assert.equal(seen, 'someone');
    }
  });

  it('brings the authority inline, or none where it says not to look', async () => {
    const inline = { 'certificate-authority-data': Buffer.from(authority.ca).toString('base64') };
    assert.equal(await authorizationOf({ token: 'one' }, inline), 'Bearer one');
    assert.equal(await authorizationOf({ token: 'one' }, { 'insecure-skip-tls-verify': true }), 'Bearer one');
  });

  it('of nobody in particular brings the authority alone', async () => {
    assert.equal(await authorizationOf({}), undefined);
  });

  it('brings what a plugin says, and asks it again after a refusal', async () => {
    const plugin = await write(
      'plugin',
      `#!/bin/sh
n=$(cat ${directory}/count 2>/dev/null || echo 0); n=$((n + 1)); echo $n > ${directory}/count
echo '{"kind":"ExecCredential","status":{"token":"run-'$n'"}}'
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
    const plugin = await write('broken', '#!/bin/sh\necho "log in\nfirst" >&2; exit 1\n');
    await chmod(plugin, 0o755);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin };
    const kube = await connect(await kubeconfig(server.url, { exec }));
    const error = await refusalOf(kube.get({ resource: NODES }, 'a'));
    assert.equal(error.code, 'KUBE_UNAUTHORIZED');
    assert.ok(reasonOf(error).includes(`the credential plugin ${plugin} failed: log in first`));
    assert.equal(server.accepted(), 0);
  });

  it('whose plugin prints something else says that, and not what', async () => {
    await using server = await tlsServer();
    const says: readonly (readonly [script: string, said: string])[] = [
      ['echo sesame', 'printed no ExecCredential'],
      ["echo '{}'", 'printed no ExecCredential'],
      ['exit 1', 'failed, and did not say why'],
    ];
    for (const [index, [script, said]] of says.entries()) {
      const plugin = await write(`odd-${index}`, `#!/bin/sh\n${script}\n`);
      await chmod(plugin, 0o755);
      const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin };
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
      /\/config: .*the server .*:99999 is not an address/,
    ],
    ['no server', '', undefined, /\/config: .*has no server/],
    [
      'a proxy without an address',
      'https://127.0.0.1:1',
      'proxy',
      /\/config: .*the proxy-url of context .* is not an address/,
    ],
  ] as const) {
    it(`with ${what} is refused with its name`, async () => {
      const cluster = proxy === undefined ? {} : { 'proxy-url': proxy };
      await assert.rejects(async () => connect(await kubeconfig(address, {}, cluster)), said);
    });
  }

  it('goes through the proxy that it names', async () => {
    await using server = await tlsServer();
    await using proxy = await connectProxy();
    server.play(json(node('a', '1')));
    const cluster = { 'certificate-authority': 'ca.crt', 'proxy-url': proxy.url };
    await (await connect(await kubeconfig(server.url, { token: 'one' }, cluster))).get({ resource: NODES }, 'a');
    assert.deepEqual(proxy.asked, [new URL(server.url).host]);
    assert.equal(server.seen[0]?.headers.authorization, 'Bearer one');
  });

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

  it('of a server without TLS works, and sends it no credential', async () => {
    await using server = await playing(json(node('a', '1')));
    await (await connect(await kubeconfig(server.url, { token: 'one' }, {}))).get({ resource: NODES }, 'a');
    assert.equal(server.seen[0]?.headers.authorization, undefined);
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
        /context a is of a cluster that is not there, or has no server$/,
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
        /the server x:1 is neither https:\/\/ nor http:\/\/$/,
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
