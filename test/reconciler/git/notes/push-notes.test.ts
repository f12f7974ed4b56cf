import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import type { GitSession } from '#reconciler/git/wire/git-session.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { pushNotes } from '#reconciler/git/notes/push-notes.ts';
import { createObjectStore } from '#reconciler/git/objects/git-object-store.ts';
import { readAdvertisement } from '#reconciler/git/wire/advertisement.ts';
import { FLUSH, packetLine } from '#reconciler/git/wire/pkt-line.ts';
import { supportsSingleObjects, requestObjects } from '#reconciler/git/wire/request-objects.ts';

const REF = 'refs/notes/kubelet-gitops/prod';
const TIP = 'a'.repeat(40);

/** A server that greets like this, and whose answer to any POST is this. */
function saying(greeting: Buffer, answer: Buffer): GitSession & { readonly posted: Buffer[] } {
  const posted: Buffer[] = [];
  const clean = (text: string): string => text;
  const heard = {
    base: new URL('http://git.invalid/x'),
    body: greeting,
    advertisement: readAdvertisement(greeting, clean),
  };
  return {
    posted,
    url: 'http://git.invalid/x',
    libraryUrl: 'http://git.invalid/x',
    limits: DEFAULT_GIT_LIMITS,
    greeting: () => heard,
    greet: () => Promise.resolve(heard),
    post: (_, body) => {
      posted.push(Buffer.from(body));
      return Promise.resolve(answer);
    },
    clean,
  };
}

const greetingOf = (...refs: readonly string[]): Buffer =>
  Buffer.concat([
    packetLine('# service=git-receive-pack\n'),
    FLUSH,
    ...refs.map((line, index) => packetLine(`${line}${index === 0 ? '\0report-status side-band-64k' : ''}\n`)),
    FLUSH,
  ]);
const band = (payload: Buffer): Buffer => packetLine(`\u0001${payload.toString('latin1')}`);
const report = (...lines: readonly string[]): Buffer =>
  Buffer.concat([band(Buffer.concat([...lines.map((line) => packetLine(`${line}\n`)), FLUSH])), FLUSH]);

async function push(session: GitSession): Promise<void> {
  const store = createObjectStore();
  const blob = await store.write('blob', Buffer.from('x'));
  await pushNotes(session, store.repo, { ref: REF, from: TIP, to: 'b'.repeat(40), oids: [blob] });
}

describe('the push of notes', () => {
  const there = greetingOf(`${'c'.repeat(40)} refs/heads/main`, `${TIP} ${REF}`);

  it('names what the ref was and is to be, and sends the new objects behind that', async () => {
    const session = saying(there, report('unpack ok', `ok ${REF}`));
    await push(session);
    const [body = Buffer.of()] = session.posted;
    const order = `${TIP} ${'b'.repeat(40)} ${REF}\0 report-status side-band-64k`;
    assert.equal(body.toString('latin1', 4, 4 + order.length), order);
    assert.equal(body.toString('latin1', order.length + 4, order.length + 12), '0000PACK');
  });

  it('is not even tried where the ref is elsewhere, gone, or only begins alike', async () => {
    for (const line of [`${'d'.repeat(40)} ${REF}`, `${TIP} ${REF}-2`, `${TIP} refs/heads/main`]) {
      const session = saying(greetingOf(line), report('unpack ok', `ok ${REF}`));
      await assert.rejects(push(session), (error) => isGitError(error, 'GIT_PUSH_RACE'));
      assert.equal(session.posted.length, 0);
    }
  });

  for (const [what, code, ...lines] of [
    ['a rule', 'GIT_PUSH_REFUSED', 'unpack ok', `ng ${REF} pre-receive hook declined`],
    ['another writer', 'GIT_PUSH_RACE', 'unpack ok', `ng ${REF} failed to update ref`],
    [
      'a failure that it does not explain',
      'GIT_REMOTE_ERROR',
      'unpack index-pack abnormal exit',
      `ng ${REF} unpacker error`,
    ],
    ['a full disk', 'GIT_PUSH_NO_ROOM', 'unpack No space left on device', `ng ${REF} unpacker error`],
    ['silence about this ref', 'GIT_REMOTE_ERROR', 'unpack ok', 'ok refs/heads/main'],
  ] as const) {
    it(`does not count where the server reports ${what}`, async () => {
      await assert.rejects(push(saying(there, report(...lines))), (error) => isGitError(error, code));
    });
  }

  it('fails as an error of git, whatever comes back', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        for (const answer of [Buffer.from(bytes), Buffer.concat([band(Buffer.from(bytes)), FLUSH])]) {
          await assert.rejects(push(saying(there, answer)), (error) => isGitError(error));
        }
      }),
      { numRuns: 150 },
    );
  });
});

describe('the request for single objects', () => {
  const greeting = (...lines: readonly string[]): Buffer =>
    Buffer.concat([packetLine('version 2\n'), ...lines.map((line) => packetLine(`${line}\n`)), FLUSH]);

  for (const [line, expected] of [
    ['fetch=shallow wait-for-done filter', true],
    ['fetch=filter', true],
    ['fetch=shallow', false],
    ['fetch=shallow filterless', false],
    ['ls-refs=filter', false],
  ] as const) {
    it(`is ${expected ? '' : 'not '}made where the server says ${line}`, () => {
      assert.equal(supportsSingleObjects(saying(greeting('agent=git/2', line), FLUSH)), expected);
    });
  }

  it('fails as an error of git, whatever comes back', async () => {
    const hello = greeting('fetch=filter');
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        const pack = Buffer.concat([packetLine('packfile\n'), band(Buffer.from(bytes)), FLUSH]);
        for (const answer of [Buffer.from(bytes), pack]) {
          const work = requestObjects(saying(hello, answer), [TIP], DEFAULT_GIT_LIMITS);
          await assert.rejects(work, (error) => isGitError(error));
        }
      }),
      { numRuns: 300 },
    );
  });
});
