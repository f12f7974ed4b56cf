import { createHmac } from 'node:crypto';
import type { Delivery } from '#reconciler/git/webhook/delivery.ts';

export const SECRET = 'a secret that nobody knows';

export const pushTo = (branch: string, more: object = {}): string =>
  JSON.stringify({ ref: `refs/heads/${branch}`, before: '1'.repeat(40), after: '2'.repeat(40), ...more });

const hex = (secret: string, ...parts: readonly string[]): string =>
  createHmac('sha256', secret).update(parts.join('')).digest('hex');

const seconds = (now: number): string => String(Math.floor(now / 1000));

/** A delivery as each kind of sender documents it, signed with what is given. */
export const SENDERS: Readonly<
  Record<string, (body: string, secret: string, now: number, id: string) => Record<string, string>>
> = {
  GitHub: (body, secret, _now, id) => ({
    'content-type': 'application/json',
    'x-github-event': 'push',
    'x-github-delivery': id,
    'x-hub-signature-256': `sha256=${hex(secret, body)}`,
  }),
  Gitea: (body, secret, _now, id) => ({
    'content-type': 'application/json',
    'x-gitea-event': 'push',
    'x-gitea-delivery': id,
    'x-gitea-signature': hex(secret, body),
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${hex(secret, body)}`,
  }),
  Forgejo: (body, secret, _now, id) => ({
    'content-type': 'application/json',
    'x-forgejo-event': 'push',
    'x-forgejo-delivery': id,
    'x-forgejo-signature': hex(secret, body),
    'x-gitea-signature': hex(secret, body),
  }),
  'GitLab with a token': (_body, secret, _now, id) => ({
    'content-type': 'application/json',
    'x-gitlab-event': 'Push Hook',
    'idempotency-key': id,
    'x-gitlab-token': secret,
  }),
  'GitLab with a signature': (body, secret, now, id) => ({
    'content-type': 'application/json',
    'x-gitlab-event': 'Push Hook',
    'webhook-id': id,
    'webhook-timestamp': seconds(now),
    'webhook-signature': `v1,${createHmac('sha256', secret)
      .update(`${id}.${seconds(now)}.${body}`)
      .digest('base64')}`,
  }),
  'anything else': (body, secret, now) => ({
    'x-kubelet-gitops-timestamp': seconds(now),
    'x-kubelet-gitops-signature': `sha256=${hex(secret, seconds(now), '.', body)}`,
  }),
};

export const delivery = (headers: Delivery['headers'], body: string): Delivery => ({
  headers,
  body: Buffer.from(body),
});
