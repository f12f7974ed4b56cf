import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Millis } from '#shared/runtime/clock.ts';
import { type Delivery, headerOf } from './delivery.ts';

/** How a delivery proves that its sender knows the secret. */
export type SignatureScheme = 'github' | 'gitea' | 'gitlab' | 'gitlab-token' | 'generic';

type SignatureCheck =
  | { readonly genuine: true; readonly proof: SignatureScheme }
  | { readonly genuine: false; readonly because: 'no-signature' | 'wrong-signature' | 'out-of-time' };

const WRONG: SignatureCheck = { genuine: false, because: 'wrong-signature' };

/** How far a signed time may be off, either way: what Standard Webhooks recommends. */
export const TIME_WINDOW_MS: Millis = 5 * 60_000;

/**
 * Whether a sender with one of the secrets sent this. The headers name the sender's kind: exactly one proof is
 * looked at, so that a wrong one is never rescued by another. Every comparison takes the same time wherever texts differ.
 *
 * GitHub: `X-Hub-Signature-256: sha256=<hex>`. Gitea and Forgejo: `X-Forgejo-Signature` or `X-Gitea-Signature: <hex>`. GitLab:
 * `webhook-signature: v1,<base64>` over id, time and body (Standard Webhooks), or the secret itself in `X-Gitlab-Token`.
 * Anything else: `X-Kubelet-Gitops-Signature: sha256=<hex>` over `<X-Kubelet-Gitops-Timestamp>.<body>`.
 *
 * @param secrets any of them will do, so that a secret can be changed without a gap; none accepts no delivery
 * @param now     wall-clock time, against which signed times are held
 */
export function verifyWebhookSignature(delivery: Delivery, secrets: readonly string[], now: Millis): SignatureCheck {
  const { body } = delivery;
  const sent = (name: string): string | undefined => headerOf(delivery, name);
  const judge = (proof: SignatureScheme, given: string, expected: (secret: string) => string): SignatureCheck =>
    secrets.map((secret) => isSame(given, expected(secret))).includes(true) ? { genuine: true, proof } : WRONG;

  const generic = sent('x-kubelet-gitops-signature');
  if (generic !== undefined) {
    const time = sent('x-kubelet-gitops-timestamp') ?? '';
    if (!isTimely(time, now)) return { genuine: false, because: 'out-of-time' };
    return judge('generic', generic, (secret) => signBody(secret, time, body));
  }
  const standard = sent('webhook-signature');
  if (standard !== undefined) return judgeStandard(delivery, standard, secrets, now);
  const token = sent('x-gitlab-token');
  if (token !== undefined) return judge('gitlab-token', token, (secret) => secret);
  const gitea = sent('x-forgejo-signature') ?? sent('x-gitea-signature');
  if (gitea !== undefined) return judge('gitea', gitea, (secret) => hmac(secret, body, 'hex'));
  const github = sent('x-hub-signature-256');
  if (github === undefined) return { genuine: false, because: 'no-signature' };
  return judge('github', github, (secret) => `sha256=${hmac(secret, body, 'hex')}`);
}

/**
 * What stands in `X-Kubelet-Gitops-Signature`, here and on what we send ourselves.
 *
 * @param time whole seconds since the epoch, as `X-Kubelet-Gitops-Timestamp` has them
 */
export const signBody = (secret: string, time: string, body: Buffer): string =>
  `sha256=${hmac(secret, Buffer.concat([Buffer.from(`${time}.`), body]), 'hex')}`;

/** Several signatures may stand side by side there, while a key is being changed. */
function judgeStandard(delivery: Delivery, header: string, secrets: readonly string[], now: Millis): SignatureCheck {
  const id = headerOf(delivery, 'webhook-id') ?? '';
  const time = headerOf(delivery, 'webhook-timestamp') ?? '';
  if (!isTimely(time, now)) return { genuine: false, because: 'out-of-time' };
  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), delivery.body]);
  const given = header.split(' ').slice(0, 8);
  const matches = secrets
    .flatMap(keysOf)
    .flatMap((key) => given.map((signature) => isSame(signature, `v1,${hmac(key, signed, 'base64')}`)));
  return matches.includes(true) ? { genuine: true, proof: 'gitlab' } : WRONG;
}

/** Standard Webhooks writes keys as `whsec_<base64>`; any other token is the key as it is. */
function keysOf(secret: string): readonly (string | Buffer)[] {
  const encoded = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(secret)?.[1];
  return encoded === undefined ? [secret] : [secret, Buffer.from(encoded, 'base64')];
}

/** Whole seconds since the epoch, as both kinds of signed times are. */
function isTimely(seconds: string, now: Millis): boolean {
  return /^\d{1,12}$/.test(seconds) && Math.abs(Number(seconds) * 1000 - now) <= TIME_WINDOW_MS;
}

const hmac = (key: string | Buffer, signed: Buffer, encoding: 'hex' | 'base64'): string =>
  createHmac('sha256', key).update(signed).digest(encoding);

/** Compares digests of equal length, so that not even the length of what is expected shows in the time that it takes. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
