import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusalError } from '#shared/kube/response-error.ts';
import type { Verb } from '#shared/kube/kube-call.ts';
import { type Kube, LEASES, type Place } from '#shared/kube/kube.ts';
import type { Millis } from '#shared/runtime/clock.ts';
import { sampleOf } from '../../support/sample.ts';
import { AFTER, beginStory, type Chapter, isSettledOn, NODES, settledOnce } from '../../support/takeover/story.ts';

interface Request {
  readonly verb: Verb;
  readonly place: Place;
  readonly atMs: Millis;
}

/** So many steps go side by side: those that were sent already when the first one is answered. */
const AT_ONCE = 8;
const ASKED_MS = 30_000;

/** The same API server, which answers the nth request with 429 and asks for time. Watches and Leases are not counted. */
function throttling(kube: Kube, now: () => Millis, nth: number, retryAfter: () => string) {
  const requests: Request[] = [];
  const leases: Request[] = [];
  let struckAtMs: Millis | null = null;
  async function meet<T>(verb: Verb, place: Place, call: () => Promise<T>): Promise<T> {
    (place.resource === LEASES ? leases : requests).push({ verb, place, atMs: now() });
    if (place.resource === LEASES || requests.length !== nth) return call();
    struckAtMs = now();
    throw refusalError(
      { verb, ...place },
      { status: 429, body: undefined, retryAfter: retryAfter() },
      Date.UTC(2026, 0),
    );
  }
  const throttled: Kube = {
    get: (place, name, signal) => meet('get', place, () => kube.get(place, name, signal)),
    list: (selection, signal, trim) => meet('list', selection, () => kube.list(selection, signal, trim)),
    create: (place, object, signal) => meet('create', place, () => kube.create(place, object, signal)),
    delete: (place, name, only, signal) => meet('delete', place, () => kube.delete(place, name, only, signal)),
    mergePatch: (place, name, patch, options, signal) =>
      meet('patch', place, () => kube.mergePatch(place, name, patch, options, signal)),
    watch: kube.watch,
  };
  return { kube: throttled, requests, leases, struckAtMs: () => struckAtMs };
}

async function play(from: Chapter, nth: number, retryAfter: string) {
  const story = await beginStory(NODES, from);
  const now = (): Millis => story.clock.monotonic();
  let wire: ReturnType<typeof throttling> | undefined;
  const commit = story.repository.commit(...AFTER);
  const { replica } = story.start('one', {
    network: (kube) => (wire = throttling(kube, now, nth, () => retryAfter)).kube,
  });
  await story.until('settled', () => isSettledOn(story, commit, AFTER));
  // The last of all requests is waited for as any other.
  await story.clock.advance(2 * ASKED_MS);
  assert.ok(replica.isLeader());
  replica.stop();
  await story.tick();
  await replica.ended;
  assert.ok(wire !== undefined);
  return { requests: wire.requests, leases: wire.leases, struckAtMs: wire.struckAtMs() };
}

describe('an API server that asks for time with 429', () => {
  const forms = { 'in seconds': '30', 'as a date': 'Thu, 01 Jan 2026 00:00:30 GMT' };
  for (const [form, retryAfter] of Object.entries(forms)) {
    it(`is left alone for as long as it says ${form}, whatever was asked for: only the lead is kept`, async (t) => {
      const from = await settledOnce();
      const { requests: all } = await play(from, 0, retryAfter);
      const points = sampleOf(
        all.map((_, index) => index + 1),
        8,
      );
      for (const nth of points) {
        const { requests, leases, struckAtMs } = await play(from, nth, retryAfter);
        assert.ok(struckAtMs !== null);
        const until = struckAtMs + ASKED_MS;
        const what = `request ${nth}, ${requests[nth - 1]?.verb} ${requests[nth - 1]?.place.resource.plural}`;
        const atOnce = requests.slice(nth).filter(({ atMs }) => atMs === struckAtMs);
        assert.ok(atOnce.length < AT_ONCE, `${what}: ${atOnce.length} more at once`);
        const early = requests.filter(({ atMs }) => atMs > struckAtMs && atMs < until);
        assert.deepEqual(
          early.map(({ verb, place, atMs }) => [verb, place.resource.plural, atMs]),
          [],
          what,
        );
        assert.ok(
          requests.some(({ atMs }) => atMs >= until && atMs <= until + 15_000),
          `${what}: it goes on`,
        );
        assert.ok(leases.filter(({ atMs }) => atMs > struckAtMs && atMs < until).length > 10, 'the lead is kept');
      }
      t.diagnostic(`${points.length} of ${all.length} requests`);
    });
  }
});
