import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { verifyWebhookSignature } from '#reconciler/git/webhook/webhook-signature.ts';

/** What came for a channel, and whether it was signed by the key. */
export interface Arrived {
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
  readonly isGenuine: boolean;
}

/** Two channels, as an operator has them: a chat, and a program that takes CloudEvents. With the file that names them. */
export interface Channels extends AsyncDisposable {
  readonly file: string;
  readonly slack: readonly Arrived[];
  readonly events: readonly Arrived[];
  /** What is answered instead of 200, by channel. */
  readonly answers: { slack: number; events: number };
}

const KEY = 'a-key-of-notifications-0123456789';

export async function startChannels(more: Readonly<Record<string, unknown>> = {}): Promise<Channels> {
  const directory = await mkdtemp(join(tmpdir(), 'notified-'));
  const arrived = { slack: [] as Arrived[], events: [] as Arrived[] };
  const answers = { slack: 200, events: 200 };
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const channel = request.url?.startsWith('/slack/') === true ? 'slack' : 'events';
      const entries = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const);
      const delivery = { path: '/', headers: Object.fromEntries(entries), body };
      const { genuine } = verifyWebhookSignature(delivery, [KEY], Date.now());
      const status = answers[channel];
      if (status < 300)
        arrived[channel].push({
          headers: request.headers,
          body: JSON.parse(body.toString('utf8')) as Arrived['body'],
          isGenuine: genuine,
        });
      response.writeHead(status);
      response.end('ok');
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const files = {
    'slack-url': `${origin}/slack/T000/B000/secret-part-of-the-address\n`,
    'events-url': `${origin}/events/secret-part-of-the-address\n`,
    'events-key': `${KEY}\n`,
    'receivers.yaml': JSON.stringify({
      apiVersion: 'kubelet-gitops.dev/v1alpha1',
      kind: 'NotificationReceivers',
      spec: {
        runbooksUrl: 'https://git.example.com/platform/kubelet-gitops/blob/main/docs/runbooks',
        receivers: [
          { name: 'chat', type: 'slack', urlFile: 'slack-url', plainHttp: true, ...more },
          { name: 'programs', type: 'cloudevents', urlFile: 'events-url', keyFile: 'events-key', plainHttp: true },
        ],
      },
    }),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(directory, name), text);
  return {
    file: join(directory, 'receivers.yaml'),
    ...arrived,
    answers,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
