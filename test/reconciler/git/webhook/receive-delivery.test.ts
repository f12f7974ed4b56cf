import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { receiveDelivery, type DeliveryVerdict } from '#reconciler/git/webhook/receive-delivery.ts';
import { createReplays, type Replays } from '#reconciler/git/webhook/replays.ts';
import { verifyWebhookSignature, TIME_WINDOW_MS } from '#reconciler/git/webhook/webhook-signature.ts';
import { delivery, pushTo, SECRET, SENDERS } from './deliveries.ts';

const NOW = 1_800_000_000_000;

function said(
  headers: Readonly<Record<string, string | readonly string[]>>,
  body: string,
  { now = NOW, replays = createReplays(), secrets = [SECRET] as readonly string[] } = {},
): DeliveryVerdict['said'] {
  return receiveDelivery(delivery(headers, body), secrets, { branch: 'main', replays, clock: { now: () => now } }).said;
}

describe('a delivery', () => {
  for (const [sender, sign] of Object.entries(SENDERS)) {
    describe(`of ${sender}`, () => {
      it('that tells of a push to the branch is followed by a look', () => {
        const body = pushTo('main');
        assert.equal(said(sign(body, SECRET, NOW, 'a'), body), 'looking');
      });

      it('that tells of a push to another branch or of a tag is followed by nothing', () => {
        for (const body of [pushTo('main-2'), '{"ref":"refs/tags/main"}', '{"ref":"main"}', '{}', '{"ref":7}']) {
          assert.equal(said(sign(body, SECRET, NOW, 'a'), body), 'nothing to do', body);
        }
      });

      it('with a secret that is not ours, or none at all, is refused', () => {
        const body = pushTo('main');
        assert.equal(said(sign(body, 'another secret of somebody', NOW, 'a'), body), 'wrong signature');
        assert.equal(said(sign(body, SECRET, NOW, 'a'), body, { secrets: [] }), 'wrong signature');
        assert.equal(said(sign(body, '', NOW, 'a'), body), 'wrong signature');
      });

      it('is let in by either secret while a secret is changed', () => {
        const body = pushTo('main');
        for (const secrets of [
          ['a secret of tomorrow', SECRET],
          [SECRET, 'a secret of tomorrow'],
        ]) {
          assert.equal(said(sign(body, SECRET, NOW, 'a'), body, { secrets }), 'looking');
        }
      });

      it('is acted upon once', () => {
        const replays: Replays = createReplays();
        const body = pushTo('main');
        assert.equal(said(sign(body, SECRET, NOW, 'a'), body, { replays }), 'looking');
        assert.equal(said(sign(body, SECRET, NOW, 'a'), body, { replays }), 'seen before');
        const next = pushTo('main', { after: '3'.repeat(40) });
        assert.equal(said(sign(next, SECRET, NOW, 'b'), next, { replays }), 'looking');
      });

      if (sender !== 'GitLab with a token') {
        it('whose body was changed is refused', () => {
          const headers = sign(pushTo('other'), SECRET, NOW, 'a');
          assert.equal(said(headers, pushTo('main')), 'wrong signature');
        });
      }

      it('that cannot be read is refused, once its signature held', () => {
        for (const body of ['nonsense', '[', '"text"', 'null', '7']) {
          assert.equal(said(sign(body, SECRET, NOW, 'a'), body), 'unreadable', body);
          assert.equal(said(sign(body, 'another secret of somebody', NOW, 'a'), body), 'wrong signature', body);
        }
      });
    });
  }

  it('without a signature is refused', () => {
    assert.equal(said({ 'x-github-event': 'push' }, pushTo('main')), 'not signed');
    assert.equal(said({}, ''), 'not signed');
  });

  it('with a signature twice is refused, because nobody knows which one counts', () => {
    const body = pushTo('main');
    const right = SENDERS['GitHub']?.(body, SECRET, NOW, 'a')['x-hub-signature-256'] ?? '';
    assert.equal(said({ 'x-hub-signature-256': [right, right] }, body), 'not signed');
  });

  it('with one wrong proof is not rescued by another that is right', () => {
    const body = pushTo('main');
    const right = SENDERS['GitHub']?.(body, SECRET, NOW, 'a') ?? {};
    assert.equal(said({ ...right, 'x-gitea-signature': '0'.repeat(64) }, body), 'wrong signature');
    assert.equal(said({ ...right, 'x-gitlab-token': 'guessed' }, body), 'wrong signature');
  });

  it('with a new id and an old body is known again: ids are not signed', () => {
    const replays = createReplays();
    const body = pushTo('main');
    assert.equal(said(SENDERS['GitHub']?.(body, SECRET, NOW, 'a') ?? {}, body, { replays }), 'looking');
    assert.equal(said(SENDERS['GitHub']?.(body, SECRET, NOW, 'b') ?? {}, body, { replays }), 'seen before');
  });

  it('of another kind of event is followed by nothing', () => {
    const body = '{"zen":"Keep it simple"}';
    const headers = SENDERS['GitHub']?.(body, SECRET, NOW, 'a') ?? {};
    assert.equal(said({ ...headers, 'x-github-event': 'ping' }, body), 'nothing to do');
  });

  it('of GitHub may be a form', () => {
    const body = `payload=${encodeURIComponent(pushTo('main'))}`;
    const headers = SENDERS['GitHub']?.(body, SECRET, NOW, 'a') ?? {};
    assert.equal(said({ ...headers, 'content-type': 'application/x-www-form-urlencoded' }, body), 'looking');
  });

  it('of the generic form may say nothing but: look', () => {
    assert.equal(said(SENDERS['anything else']?.('', SECRET, NOW, '') ?? {}, ''), 'looking');
  });

  it('with a key as Standard Webhooks writes it is let in', () => {
    const key = Buffer.from('twenty-four random bytes');
    const body = pushTo('main');
    const time = String(NOW / 1000);
    const signature = createHmac('sha256', key).update(`id-1.${time}.${body}`).digest('base64');
    const headers = { 'webhook-id': 'id-1', 'webhook-timestamp': time, 'webhook-signature': `v1,AAAA v1,${signature}` };
    assert.equal(said(headers, body, { secrets: [`whsec_${key.toString('base64')}`] }), 'looking');
  });

  for (const sender of ['GitLab with a signature', 'anything else']) {
    it(`of ${sender} holds for five minutes, either way`, () => {
      const body = pushTo('main');
      const headers = SENDERS[sender]?.(body, SECRET, NOW, 'a') ?? {};
      for (const off of [-TIME_WINDOW_MS, 0, TIME_WINDOW_MS]) {
        assert.equal(said(headers, body, { now: NOW + off }), 'looking', `${off}`);
      }
      for (const off of [-TIME_WINDOW_MS - 1, TIME_WINDOW_MS + 1]) {
        assert.equal(said(headers, body, { now: NOW + off }), 'out of time', `${off}`);
      }
    });
  }
});

describe('the memory of deliveries', () => {
  it('is bounded, and keeps what comes again and again', () => {
    const replays = createReplays(100);
    const often = delivery({}, 'often');
    replays.isReplay(often);
    for (let n = 0; n < 1_000; n += 1) {
      assert.equal(replays.isReplay(delivery({ 'x-github-delivery': `id ${n}` }, `body ${n}`)), false);
      if (n % 20 === 0) assert.equal(replays.isReplay(often), true);
    }
    assert.ok(replays.size() <= 100);
  });
});

describe('whatever a stranger sends', () => {
  const names = fc.constantFrom(
    ...new Set(Object.values(SENDERS).flatMap((sign) => Object.keys(sign('', SECRET, NOW, 'a')))),
    '__proto__',
    'constructor',
    'toString',
  );
  const values = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.constantFrom('push', 'Push Hook', 'sha256=', 'v1,', String(NOW / 1000), '9'.repeat(400), 'NaN', '-1'),
    fc.stringMatching(/^(?:sha256=)?[0-9a-f]{64}$/),
  );
  const bodies = fc.oneof(
    fc.uint8Array({ maxLength: 400 }),
    fc.constant(Buffer.from(pushTo('main'))),
    fc.json().map((text) => Buffer.from(text)),
  );

  it('breaks nothing and is never taken for genuine', () => {
    fc.assert(
      fc.property(fc.dictionary(names, values), bodies, (headers, body) => {
        const sent = { headers, body: Buffer.from(body) };
        const ports = { branch: 'main', replays: createReplays(), clock: { now: () => NOW } };
        assert.equal(receiveDelivery(sent, [SECRET], ports).status, 401);
        assert.equal(ports.replays.size(), 0);
      }),
      { numRuns: 3_000 },
    );
  });

  it('breaks nothing even where the signature is right', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...Object.values(SENDERS)),
        fc.dictionary(names, values),
        bodies,
        (sign, more, body) => {
          const text = Buffer.from(body).toString('latin1');
          const headers = { ...more, ...sign(text, SECRET, NOW, 'a') };
          const ports = { branch: 'main', replays: createReplays(), clock: { now: () => NOW } };
          const { status } = receiveDelivery(delivery(headers, text), [SECRET], ports);
          assert.ok([200, 202, 400, 401].includes(status));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is no longer genuine with any bit of body or signature turned over', () => {
    const body = pushTo('main');
    fc.assert(
      fc.property(
        fc.constantFrom('GitHub', 'Gitea', 'Forgejo', 'GitLab with a signature', 'anything else'),
        fc.nat(),
        fc.nat(7),
        (sender, at, bit) => {
          const headers = SENDERS[sender]?.(body, SECRET, NOW, 'a') ?? {};
          const bytes = Buffer.from(body);
          const place = at % bytes.length;
          bytes[place] = (bytes[place] ?? 0) ^ (1 << bit);
          assert.equal(verifyWebhookSignature({ headers, body: bytes }, [SECRET], NOW).genuine, false);
        },
      ),
    );
  });
});
