import assert from 'node:assert/strict';
import type { TLSSocket } from 'node:tls';
import { describe, it } from 'node:test';
import { staticCredentials } from '#shared/kube/kube-credentials.ts';
import { inClusterCredentials } from '#shared/kube/in-cluster.ts';
import { createAuthority } from './support/certificates.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { json, node, scriptedServer, stream } from './support/scripted-server.ts';
import { serviceAccountDirectory } from './support/service-account.ts';
import { AT_NODES, kubeFor, refusalOf } from './support/test-kube.ts';
import { until } from '../../support/until.ts';

const HOSTS = ['127.0.0.1', 'kubernetes.default'];
const one = createAuthority('one');
const two = createAuthority('two');
const identity = one.issue('server', HOSTS);

describe('TLS', () => {
  it("is made with the cluster's authority, and the connection is kept", async () => {
    await using server = await scriptedServer(identity);
    server.play(json(node('a', '1')), json(node('a', '2')));
    const kube = kubeFor(server, { credentials: staticCredentials({ ca: one.ca }) });
    await kube.get(AT_NODES, 'a');
    assert.deepEqual(await kube.get(AT_NODES, 'a'), node('a', '2'));
    assert.equal(server.accepted(), 1);
  });

  it('is refused where the certificate is of another authority', async () => {
    await using server = await scriptedServer(identity);
    const error = await refusalOf(
      kubeFor(server, { credentials: staticCredentials({ ca: two.ca }) }).get(AT_NODES, 'a'),
    );
    assert.equal(error.code, 'KUBE_UNREACHABLE');
    assert.match(error.message, /UNABLE_TO_VERIFY_LEAF_SIGNATURE\): its certificate is not trusted/);
    assert.equal(server.seen.length, 0);
  });

  it('is refused where the certificate is for another name, unless that name is expected', async () => {
    await using server = await scriptedServer(one.issue('server', ['kubernetes.default']));
    server.play(json(node('a', '1')));
    const plain = kubeFor(server, { credentials: staticCredentials({ ca: one.ca }) });
    assert.match(
      (await refusalOf(plain.get(AT_NODES, 'a'))).message,
      /ERR_TLS_CERT_ALTNAME_INVALID\): its certificate is for another name$/,
    );
    const named = kubeFor(server, {
      credentials: staticCredentials({ ca: one.ca, serverName: 'kubernetes.default' }),
    });
    await named.get(AT_NODES, 'a');
  });

  it('is made without a look at the certificate only where a kubeconfig says so', async () => {
    await using server = await scriptedServer(identity);
    server.play(json(node('a', '1')));
    await kubeFor(server, { credentials: staticCredentials({ insecure: true }) }).get(AT_NODES, 'a');
  });

  it('carries the client certificate', async () => {
    await using server = await scriptedServer({ ...identity, requestCert: true, ca: one.ca });
    let user: unknown;
    server.play((response, seen, socket) => {
      user = (socket as TLSSocket).getPeerCertificate().subject.CN;
      json(node('a', '1'))(response, seen, socket);
    });
    const credentials = staticCredentials({ ca: one.ca, ...one.issue('someone') });
    await kubeFor(server, { credentials }).get(AT_NODES, 'a');
    assert.equal(user, 'someone');
  });
});

describe("a change of the cluster's authority", () => {
  it('is noticed when the server can no longer be trusted, and the same call succeeds', async () => {
    await using account = await serviceAccountDirectory('token', one.ca);
    await using server = await scriptedServer(two.issue('server', HOSTS));
    server.play(json(node('a', '1')));
    const clock = createManualClock();
    const credentials = inClusterCredentials(clock, account.directory);
    await credentials.current();
    await account.write('ca.crt', two.ca);
    assert.deepEqual(await kubeFor(server, { clock, credentials }).get(AT_NODES, 'a'), node('a', '1'));
  });

  it('makes new connections, closes idle ones, and leaves a watch alone', async () => {
    await using account = await serviceAccountDirectory('token', one.ca);
    await using server = await scriptedServer(identity);
    const clock = createManualClock();
    const kube = kubeFor(server, { clock, credentials: inClusterCredentials(clock, account.directory) });
    const leave = new AbortController();
    let say: (text: string) => void = () => undefined;
    server.play(
      stream((response) => (say = (text) => void response.write(text))),
      json(node('a', '1')),
      json(node('a', '2')),
    );
    const watch = kube.watch(AT_NODES, { version: '1', lastsMs: 300_000 }, leave.signal)[Symbol.asyncIterator]();
    const first = watch.next();
    await until('the watch is open', () => server.seen.length === 1);
    await kube.get(AT_NODES, 'a');
    assert.equal(server.open(), 2);

    await account.write('ca.crt', one.ca + two.ca);
    await clock.advance(60_000);
    await kube.get(AT_NODES, 'a');
    await until('the idle connection is gone', () => server.open() === 2);
    assert.equal(server.accepted(), 3);

    say(`${JSON.stringify({ type: 'ADDED', object: node('b', '3') })}\n`);
    assert.equal((await first).done, false);
    leave.abort();
    await until('the connection of the watch is gone', () => server.open() === 1);
  });
});
