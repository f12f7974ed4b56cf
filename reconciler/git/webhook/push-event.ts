import { type Delivery, headerOf } from './delivery.ts';
import { jsonIn } from '#shared/runtime/lenient.ts';

/** What a genuine delivery is about. */
type DeliverySubject =
  /** Something may have changed on the branch. */
  | { readonly told: 'push' }
  /** Of no interest: another branch, a tag, an issue, a ping. */
  | { readonly told: 'other' }
  | { readonly told: 'unreadable' };

const PUSH_EVENTS: ReadonlySet<string> = new Set(['push', 'Push Hook', 'System Hook']);
const EVENT_HEADERS = ['x-gitlab-event', 'x-forgejo-event', 'x-gitea-event', 'x-github-event', 'x-gogs-event'];

/**
 * Reads the only thing that is wanted of a body: the ref that was pushed. Nothing else in it is used, because what the
 * branch holds is read from git.
 *
 * @param branch `main` or `refs/heads/main`
 */
export function readPushEvent(delivery: Delivery, branch: string): DeliverySubject {
  const event = EVENT_HEADERS.map((name) => headerOf(delivery, name)).find((value) => value !== undefined);
  if (event !== undefined && !PUSH_EVENTS.has(event)) return { told: 'other' };
  // The generic form may say nothing at all: "look".
  if (event === undefined && delivery.body.length === 0) return { told: 'push' };
  const ref = refIn(delivery);
  if (ref === undefined) return { told: 'unreadable' };
  const wanted = branch.startsWith('refs/') ? branch : `refs/heads/${branch}`;
  return { told: ref === wanted ? 'push' : 'other' };
}

/** `ref` of the JSON body; null without one; undefined for an unreadable body. */
function refIn(delivery: Delivery): string | null | undefined {
  const parsed = jsonIn(jsonOf(delivery));
  if (typeof parsed !== 'object' || parsed === null) return undefined;
  return 'ref' in parsed && typeof parsed.ref === 'string' ? parsed.ref : null;
}

/** GitHub can be set to send a form with the JSON in a field of it. curl calls everything a form by default. */
function jsonOf(delivery: Delivery): string {
  const text = delivery.body.toString('utf8');
  return text.startsWith('payload=') ? (new URLSearchParams(text).get('payload') ?? '') : text;
}
