import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Delivery } from '#reconciler/git/webhook/delivery.ts';
import { fileSecrets } from '#reconciler/git/webhook/webhook-secrets.ts';
import { verifyWebhookSignature } from '#reconciler/git/webhook/webhook-signature.ts';
import { isNotificationError, type NotificationErrorCode } from '#reconciler/reporting/notifications/errors.ts';
import type { Receiver } from '#reconciler/reporting/notifications/receivers.ts';
import {
  createSendNotification,
  type SendNotification,
} from '#reconciler/reporting/notifications/send-notification.ts';
import { askedToWaitMs } from '#shared/kube/kube-error.ts';
import { createAuthority } from '../../../shared/kube/support/certificates.ts';
import { hang, playing, reset, scriptedServer, text, type Turn } from '../../../shared/kube/support/scripted-server.ts';
import { startHttpProxy } from '../../../support/http-proxy.ts';
import { NOW, notification } from './support.ts';

const never = new AbortController().signal;
const KEY = 'a-key-of-notifications-0123456789';
/** Of an address all but its host is a secret. */
const SECRET = 'T000/B000/secret-part';

describe('sending a notification', () => {
  let directory: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'send-'));
    await writeFile(join(directory, 'key'), `${KEY}\n`);
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const file = (name: string): string => join(directory, name);
  const to = async (origin: string, over: Partial<Receiver> = {}): Promise<Receiver> => {
    await writeFile(file('url'), `${origin}/${SECRET}\n`);
    const names = { name: 'chat', type: 'slack', urlFile: file('url'), plainHttp: true, severity: 'info' } as const;
    return { ...names, ...over };
  };
  const sender = (timeoutMs = 60_000) =>
    createSendNotification({ context: { cluster: 'demo' }, clock: { now: () => NOW }, timeoutMs });
  const OWED = { id: 'an-id', to: ['chat'], notification: notification() };

  /** What became of it, as an operator reads it. */
  async function fails(
    receiver: Receiver,
    code: NotificationErrorCode,
    by: SendNotification = sender(),
  ): Promise<Error> {
    const error = await by(receiver, OWED, never).then(
      () => assert.fail('it was sent'),
      (reason: unknown) => reason,
    );
    assert.ok(isNotificationError(error, code), `${code} was expected: ${String(error)}`);
    assert.match(error.message, /receiver chat/);
    const all = `${error.message} ${JSON.stringify(error)} ${String(error.cause)} ${error.stack}`;
    assert.doesNotMatch(all, /secret-part|a-key-of/);
    return error;
  }

  it('posts a message as Slack takes it', async () => {
    await using server = await playing(text('ok'));
    await sender()(await to(server.url), OWED, never);
    const [seen] = server.seen;
    assert.equal(`${seen?.method} ${seen?.url.pathname}`, `POST /${SECRET}`);
    assert.equal(seen?.headers['content-type'], 'application/json');
    assert.match(seen?.body ?? '', /^\{"text":"\*\[warning\] demo: Pool web is halted\*\\n/);
    assert.equal(seen?.headers['x-kubelet-gitops-signature'], undefined);
  });

  it('posts a CloudEvent that our own webhook would believe, and nobody else’s', async () => {
    await using server = await playing(text('', 204));
    await sender()(await to(server.url, { type: 'cloudevents', keyFile: file('key') }), OWED, never);
    const [seen] = server.seen;
    assert.equal(seen?.headers['content-type'], 'application/cloudevents+json; charset=utf-8');
    const delivery = (body: string): Delivery => ({ headers: seen?.headers ?? {}, body: Buffer.from(body) });
    const right = delivery(seen?.body ?? '');
    assert.deepEqual(verifyWebhookSignature(right, [KEY], NOW), { genuine: true, proof: 'generic' });
    assert.equal(verifyWebhookSignature(right, ['another-key-0123456789'], NOW).genuine, false);
    assert.equal(verifyWebhookSignature(delivery(`${seen?.body} `), [KEY], NOW).genuine, false);
    assert.equal((JSON.parse(seen?.body ?? '{}') as { readonly id: string }).id, 'an-id');
  });

  it('signs with the very line that our own webhook would read', async () => {
    await writeFile(file('odd-key'), '\n a-key with blanks 0123456789 \r\nanother-key-0123456789\n');
    const [secret = ''] = await fileSecrets(file('odd-key'))();
    await using server = await playing(text('ok'));
    await sender()(await to(server.url, { type: 'cloudevents', keyFile: file('odd-key') }), OWED, never);
    const [seen] = server.seen;
    const delivery = { headers: seen?.headers ?? {}, body: Buffer.from(seen?.body ?? '') } as unknown as Delivery;
    assert.equal(verifyWebhookSignature(delivery, [secret], NOW).genuine, true);
  });

  it('reads address and key at every use', async () => {
    await using first = await playing(text('ok'));
    await using second = await playing(text('ok'), text('ok'));
    const send = sender();
    const receiver = await to(first.url, { type: 'cloudevents', keyFile: file('turning-key') });
    await writeFile(file('turning-key'), KEY);
    await send(receiver, OWED, never);
    await writeFile(file('turning-key'), 'another-key-0123456789\nand-the-old-one-0123456789');
    await to(second.url);
    await send(receiver, OWED, never);
    assert.equal(first.seen.length, 1);
    const [seen] = second.seen;
    const delivery = { headers: seen?.headers ?? {}, body: Buffer.from(seen?.body ?? '') } as unknown as Delivery;
    assert.equal(verifyWebhookSignature(delivery, ['another-key-0123456789'], NOW).genuine, true);
  });

  const ANSWERS: readonly (readonly [name: string, turn: Turn, code: NotificationErrorCode, says: RegExp])[] = [
    ['hangs', hang, 'NOTIFICATION_UNREACHABLE', /no complete answer within 0\.15 s/],
    ['breaks the connection', reset, 'NOTIFICATION_UNREACHABLE', /ECONNRESET/],
    ['fails', text('', 503), 'NOTIFICATION_SERVER_ERROR', /status 503/],
    ['is too slow for itself', text('', 408), 'NOTIFICATION_SERVER_ERROR', /status 408/],
    ['asks for fewer', text('', 429), 'NOTIFICATION_THROTTLED', /status 429/],
    ['knows no such address', text('no_service', 404), 'NOTIFICATION_UNAUTHORIZED', /does not know this address/],
    ['has taken the address back', text('', 410), 'NOTIFICATION_UNAUTHORIZED', /status 410/],
    ['wants another key', text('', 401), 'NOTIFICATION_UNAUTHORIZED', /or this key/],
    ['takes no messages at this address', text('', 405), 'NOTIFICATION_UNAUTHORIZED', /status 405/],
    ['finds the address too long', text('', 414), 'NOTIFICATION_UNAUTHORIZED', /status 414/],
    ['is not the one for this host', text('', 421), 'NOTIFICATION_UNAUTHORIZED', /status 421/],
    ['finds the head too long', text('', 431), 'NOTIFICATION_UNAUTHORIZED', /status 431/],
    ['takes no such message', text(SECRET, 400), 'NOTIFICATION_REFUSED', /does not take this message/],
    ['never comes to an end', text('x'.repeat(65 * 1024)), 'NOTIFICATION_UNREACHABLE', /does not come to an end/],
    [
      'sends less than it says',
      (response, _, socket) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('ok');
        setTimeout(() => socket.destroy(), 20);
      },
      'NOTIFICATION_UNREACHABLE',
      /ECONNRESET|no reason given/,
    ],
    [
      'drips',
      (response) => {
        response.writeHead(200);
        const drip = setInterval(() => response.write('.'), 20);
        response.on('close', () => clearInterval(drip));
      },
      'NOTIFICATION_UNREACHABLE',
      /no complete answer within/,
    ],
  ];
  for (const [name, turn, code, says] of ANSWERS) {
    it(`fails where the receiver ${name}, with its host alone in the error`, async () => {
      await using server = await playing(turn, turn);
      const error = await fails(await to(server.url), code, sender(150));
      assert.match(error.message, says);
      assert.ok(error.message.includes(new URL(server.url).host));
      assert.ok(server.seen.length >= 1);
    });
  }

  it('follows no redirect: neither address nor message goes along', async () => {
    await using elsewhere = await playing(text('ok'));
    const moved: Turn = text('', 307, { location: `${elsewhere.url}/${SECRET}` });
    await using server = await playing(moved);
    const error = await fails(await to(server.url), 'NOTIFICATION_MOVED');
    assert.match(error.message, /points elsewhere/);
    assert.equal(elsewhere.seen.length, 0);
  });

  it('waits as long as it is asked to, and no longer than an hour', async () => {
    await using server = await playing(
      text('', 429, { 'retry-after': '7' }),
      text('', 503, { 'retry-after': '99999' }),
    );
    assert.equal(askedToWaitMs(await fails(await to(server.url), 'NOTIFICATION_THROTTLED')), 7_000);
    assert.equal(askedToWaitMs(await fails(await to(server.url), 'NOTIFICATION_SERVER_ERROR')), 3_600_000);
  });

  it('fails where nobody listens, or what listens speaks no HTTP', async () => {
    const server = createServer((socket: Socket) => socket.resume().end('220 mail.example.com ESMTP\r\n'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await fails(await to(origin), 'NOTIFICATION_UNREACHABLE');
    server.close();
    await once(server, 'close');
    assert.match((await fails(await to(origin), 'NOTIFICATION_UNREACHABLE')).message, /ECONNREFUSED/);
  });

  it('ends with its caller', async () => {
    await using server = await playing(hang);
    const receiver = await to(server.url);
    await assert.rejects(sender()(receiver, OWED, AbortSignal.abort()), /called off/);
  });

  it('believes a certificate of a known authority alone', async () => {
    const authority = createAuthority('a private authority');
    await writeFile(file('ca.pem'), authority.ca);
    await writeFile(file('other.pem'), createAuthority('another one').ca);
    await using server = await scriptedServer(authority.issue('receiver', ['127.0.0.1']));
    server.play(text('ok'));
    const receiver = await to(server.url, { plainHttp: false });
    const error = await fails(receiver, 'NOTIFICATION_UNREACHABLE');
    assert.match(error.message, /its certificate is not trusted, [A-Z_]+: name its authority in caFile/);
    const wrong = await fails({ ...receiver, caFile: file('other.pem') }, 'NOTIFICATION_UNREACHABLE');
    assert.match(wrong.message, /it is not in caFile/);
    assert.equal(server.seen.length, 0);
    await sender()({ ...receiver, caFile: file('ca.pem') }, OWED, never);
    assert.equal(server.seen.length, 1);
    const broken = await fails({ ...receiver, caFile: file('key') }, 'NOTIFICATION_SECRET_UNUSABLE');
    assert.match(broken.message, /caFile .* is not a readable PEM file/);
  });

  it('says of a certificate that no authority would help', async () => {
    const says = async (until: string | undefined, host: string): Promise<string> => {
      const authority = createAuthority('a private authority', until);
      await writeFile(file('ca.pem'), authority.ca);
      await using server = await scriptedServer(authority.issue('receiver', [host]));
      const receiver = await to(server.url, { caFile: file('ca.pem') });
      return (await fails(receiver, 'NOTIFICATION_UNREACHABLE')).message;
    };
    assert.match(await says(undefined, 'other.example'), /is for another name, ERR_TLS_CERT_ALTNAME_INVALID: /);
    assert.match(await says('210101000000Z', '127.0.0.1'), /is not valid now, CERT_HAS_EXPIRED: /);
  });

  it('goes through the proxy that stands before a receiver', async (t) => {
    await using server = await playing(text('ok'));
    const proxy = await startHttpProxy(t, { to: Number(new URL(server.url).port) });
    const settings = { http: `http://${proxy.host}`, https: undefined, except: '' };
    const context = { cluster: 'demo' };
    const send = createSendNotification({ context, clock: { now: () => NOW }, proxy: settings, timeoutMs: 60_000 });
    await send(await to('http://receiver.example'), OWED, never);
    assert.deepEqual(proxy.asked, [`POST http://receiver.example/${SECRET}`]);
    assert.equal(server.seen.length, 1);
  });

  it('names the proxy that did not answer, or wants a password, and gives the message up for neither', async (t) => {
    const proxy = await startHttpProxy(t, { to: 9, password: 'ada:another-secret-part' });
    const context = { cluster: 'demo' };
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const closed = `127.0.0.1:${(gone.address() as AddressInfo).port}`;
    gone.close();
    await once(gone, 'close');
    const says = async (host: string, origin: string): Promise<string> => {
      const settings = { http: `http://u:secret-part@${host}`, https: `http://u:secret-part@${host}`, except: '' };
      const send = createSendNotification({ context, clock: { now: () => NOW }, proxy: settings, timeoutMs: 60_000 });
      return (await fails(await to(origin), 'NOTIFICATION_UNREACHABLE', send)).message;
    };
    const way = (host: string, origin: string): string =>
      `no answer from the receiver chat at ${origin} through the proxy ${host}`;
    for (const scheme of ['http', 'https']) {
      const origin = `${scheme}://receiver.example`;
      assert.equal(await says(closed, origin), `${way(closed, 'receiver.example')} (ECONNREFUSED)`);
      assert.match(await says(proxy.host, origin), new RegExp(`^${way(proxy.host, 'receiver.example')} \\(.*407`));
    }
  });

  const FILES: readonly (readonly [what: string, content: string | null, says: RegExp])[] = [
    ['is missing', null, /cannot be read \(ENOENT\)/],
    ['is empty', ' \n\n', /is empty/],
    ['is no address', 'secret-part', /holds no address/],
    ['is one of another kind', 'ftp://a.example/secret-part', /holds no address/],
    ['has a user in it', 'https://u:secret-part@a.example/', /with a user in it/],
    ['is one of http', 'http://a.example/secret-part', /write https:\/\/, or set plainHttp/],
  ];
  for (const [what, content, says] of FILES) {
    it(`says which file, and not what is in it, where an address ${what}`, async () => {
      const receiver = await to('http://127.0.0.1:9', { plainHttp: false, urlFile: file('wrong-url') });
      await rm(file('wrong-url'), { force: true });
      if (content !== null) await writeFile(file('wrong-url'), content);
      const error = await fails(receiver, 'NOTIFICATION_SECRET_UNUSABLE');
      assert.match(error.message, says);
      assert.match(error.message, /the urlFile \S+wrong-url of the receiver chat/);
    });
  }

  it('signs with no key that is easily guessed', async () => {
    await writeFile(file('short'), 'secret-part');
    const receiver = await to('http://127.0.0.1:9', { type: 'cloudevents', keyFile: file('short') });
    const error = await fails(receiver, 'NOTIFICATION_SECRET_UNUSABLE');
    assert.match(error.message, /less than 16 characters: make one with openssl/);
  });
});
