import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type CommitTrust, createCommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import { createFirstSeenSignatures } from '#reconciler/git/trust/first-seen-signatures.ts';
import { trustedKeysIn } from '#reconciler/git/trust/trusted-keys.ts';
import type { SignatureVerdict } from '#reconciler/policy/commit-snapshot.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { type SigningRepository, startSigning, WITHOUT_GIT, WITHOUT_SSH } from './signing.ts';

const BEGIN = Date.parse('2026-03-01T00:00:00Z');
const END = Date.parse('2026-04-01T00:00:00Z');
const HOUR = 3_600_000;

describeOrSkip('a key that counts for a time', { skip: WITHOUT_GIT || WITHOUT_SSH }, () => {
  let repository: SigningRepository;
  let trusted: string;
  let ada: string;

  before(async () => {
    repository = await startSigning();
    trusted = join(repository.directory, 'trusted');
    await mkdir(trusted);
    ada = await repository.sshKey('ada', '-t', 'ed25519');
    const times = 'valid-after="20260301Z",valid-before="20260401Z"';
    await writeFile(join(trusted, 'signers'), `ada@example.com ${times} ${await repository.publicLine(ada)}\n`);
  });
  after(() => repository.remove());

  /** A process, with a clock that the test sets. */
  function process(): { readonly trust: CommitTrust; readonly clock: { at: number } } {
    const clock = { at: 0 };
    const now = () => clock.at;
    return { trust: createCommitTrust({ keys: trustedKeysIn(trusted), clock: { now }, log: silentLog }), clock };
  }
  const made = (at: number) => repository.commit({ ssh: ada, at: new Date(at).toISOString().replace('.000', '') });
  const judge = async (trust: CommitTrust, oid: string): Promise<SignatureVerdict> =>
    trust.judge({ oid, raw: await repository.raw(oid) });
  const because = (verdict: SignatureVerdict): string => (verdict.verdict === 'untrusted' ? verdict.because : '');

  for (const [what, stated, seen, verdict] of [
    ['dated and seen within it', BEGIN + HOUR, BEGIN + 2 * HOUR, 'trusted'],
    ['dated and seen in its last second', END, END, 'trusted'],
    ['dated back into it, and seen after its end', END - HOUR, END + 1_000, 'untrusted'],
    ['dated back into it, and seen a year later', BEGIN + HOUR, END + 8_000 * HOUR, 'untrusted'],
    ['dated and seen after its end', END + HOUR, END + HOUR, 'untrusted'],
    ['dated ahead into it, and seen before it begins', BEGIN + HOUR, BEGIN - HOUR, 'untrusted'],
    ['dated ahead beyond its end, and seen within it', END + HOUR, END - HOUR, 'untrusted'],
    ['dated before it begins, and seen within it', BEGIN - HOUR, BEGIN + HOUR, 'untrusted'],
  ] as const) {
    it(`makes ${verdict} a commit that is ${what}`, async () => {
      const { trust, clock } = process();
      clock.at = seen;
      const found = await judge(trust, await made(stated));
      assert.equal(found.verdict, verdict, JSON.stringify(found));
    });
  }

  it('says that the commit is dated back', async () => {
    const { trust, clock } = process();
    clock.at = END + HOUR;
    assert.match(
      because(await judge(trust, await made(BEGIN + HOUR))),
      /when it was first seen here, though it is dated/,
    );
    assert.match(because(await judge(trust, await made(END + HOUR))), /at that time$/);
  });

  it('keeps a commit trusted that was seen in time, also after a restart where the record says since when it is in force', async () => {
    const { trust, clock } = process();
    const oid = await made(BEGIN + HOUR);
    clock.at = END - HOUR;
    assert.equal((await judge(trust, oid)).verdict, 'trusted');
    clock.at = END + HOUR;
    assert.equal((await judge(trust, oid)).verdict, 'trusted', 'by the process that saw it');
    const next = process();
    next.clock.at = END + 2 * HOUR;
    assert.equal((await judge(next.trust, oid)).verdict, 'untrusted', 'by one that knows nothing');
    next.trust.isInForce(oid, END - HOUR);
    assert.equal((await judge(next.trust, oid)).verdict, 'trusted', 'by one that was told');
    next.trust.isInForce(oid, END + HOUR);
    assert.equal((await judge(next.trust, oid)).verdict, 'untrusted', 'that it came into force later');
    const other = await made(BEGIN + HOUR);
    next.trust.isInForce(oid, END - HOUR);
    assert.equal((await judge(next.trust, other)).verdict, 'untrusted', 'which says nothing of another commit');
  });
});

describe('when things were first seen', () => {
  it('is the earliest time, whatever the clock does then', () => {
    const seen = createFirstSeenSignatures();
    assert.deepEqual(
      [seen.of('a', 5), seen.of('a', 9), seen.of('b', 9), seen.of('a', 3), seen.of('a', 8)],
      [5, 5, 9, 3, 3],
    );
  });

  it('is forgotten of what was not asked for longest, and of no more than that', () => {
    const seen = createFirstSeenSignatures();
    seen.of('old', 1);
    for (let index = 0; index < 999; index += 1) seen.of(`${index}`, 2);
    assert.equal(seen.of('old', 3), 1);
    seen.of('one more', 3);
    assert.equal(seen.of('0', 9), 9, 'forgotten');
    assert.equal(seen.of('old', 9), 1);
  });
});
