import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { it, type TestContext } from 'node:test';
import type { Annotated } from '#reconciler/git/notes/annotator.ts';
import { verifyNotes } from '#reconciler/git/notes/signed-notes.ts';
import { readSigningKey, type SigningKey } from '#reconciler/git/trust/signing-key.ts';
import type { SignedNotes } from '#reconciler/policy/following/notes-serial.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import { soon } from '../support/start.ts';
import { itOverHttp } from '../support/transport.ts';
import { places, REF, startWithNotes, type WithNotes } from '../support/with-notes.ts';

const newKey = (): SigningKey =>
  readSigningKey(String(generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' })));
const KEY = newKey();

interface Signing extends WithNotes {
  /** A process that knows this record. */
  process(recorded?: SignedNotes | null, key?: SigningKey): (notes: Record<string, string>) => Promise<Annotated>;
  tip(): Promise<string>;
  /** Serial of what stands on the ref; null where it is not signed. */
  serial(key?: SigningKey): Promise<number | null>;
  /** What somebody else makes of it: every note says this. */
  forge(text: string): Promise<void>;
}

async function begin(t: TestContext): Promise<Signing> {
  const started = await startWithNotes(t);
  const { server, annotator } = started;
  const tip = async (): Promise<string> => (await server.git.attempt('rev-parse', '--verify', '-q', REF)).out.trim();
  return {
    ...started,
    tip,
    process(recorded = null, key = KEY) {
      const writer = annotator({ signing: { cluster: 'staging', key: () => Promise.resolve(key) } });
      let known = recorded;
      return async (notes) => {
        const contents = Object.entries(notes).map(([commit, text]) => [commit, { text, data: text }] as const);
        const outcome = await writer.annotate(new Map(contents), soon(), { signed: known });
        known = outcome.signed ?? known;
        return outcome;
      };
    },
    async serial(key = KEY) {
      const raw = Buffer.from(`${await server.git('cat-file', 'commit', REF)}\n`);
      const verdict = verifyNotes(raw, 'staging', [key.publicLine]);
      return verdict.verdict === 'trusted' ? verdict.serial : null;
    },
    async forge(text) {
      await annotator().annotate(new Map(started.commits.map((commit) => [commit, { text, data: text }])), soon());
    },
  };
}

describeOrSkip('signed notes', { skip: WITHOUT_GIT }, () => {
  it('are signed as a whole, with a serial that grows with each push, and again without any news', async (t) => {
    const world = await begin(t);
    const [a = '', b = ''] = world.commits;
    const write = world.process();
    const one = await write({ [a]: 'one' });
    assert.deepEqual([one.written, one.signed?.tip], [true, await world.tip()]);
    assert.equal(await world.serial(), one.signed?.serial);
    const two = await write({ [b]: 'two' });
    assert.ok((two.signed?.serial ?? 0) > (one.signed?.serial ?? 0));
    assert.deepEqual(await write({ [b]: 'two' }), { written: false, unreadable: new Map(), signed: two.signed });
    const again = await write({});
    assert.ok((again.signed?.serial ?? 0) > (two.signed?.serial ?? 0));
    assert.deepEqual([await world.note(a), await world.note(b)], ['one\n', 'two\n']);
    await world.server.git('fsck', '--strict');
  });

  it('go on after a takeover, from the record or, where that is lost or behind, from the ref', async (t) => {
    const world = await begin(t);
    const [a = '', b = ''] = world.commits;
    const first = await world.process()({ [a]: 'one' });
    const second = await world.process(first.signed)({ [b]: 'two' });
    for (const recorded of [null, first.signed, second.signed]) {
      const next = await world.process(recorded)({ [a]: `after ${recorded?.serial}` });
      assert.ok((next.signed?.serial ?? 0) > (second.signed?.serial ?? 0));
      assert.equal(await world.note(b), 'two\n');
    }
  });

  it('have nothing in them that somebody else put there', async (t) => {
    const world = await begin(t);
    const [a = '', b = '', c = ''] = world.commits;
    const write = world.process();
    const { signed } = await write({ [a]: 'one' });
    for (const next of [write, world.process(signed)]) {
      await world.forge('forged');
      assert.equal(await world.serial(), null);
      await next({ [b]: 'two' });
      assert.notEqual(await world.serial(), null);
      assert.deepEqual([await world.note(a), await world.note(b), await world.note(c)], ['one\n', 'two\n', '']);
    }
    await world.forge('forged');
    await world.process()({});
    assert.deepEqual([await world.note(a), await world.note(b)], ['', ''], 'with its record lost, it begins anew');
  });

  it('that were pushed again are taken for those of somebody else', async (t) => {
    const world = await begin(t);
    const [a = ''] = world.commits;
    const write = world.process();
    await write({ [a]: 'settled' });
    const old = await world.tip();
    const { signed } = await write({ [a]: 'halted' });
    await world.server.git('update-ref', REF, old);
    for (const next of [write, world.process(signed)]) {
      await next({});
      assert.equal(await world.note(a), 'halted\n');
      await world.server.git('update-ref', REF, old);
    }
  });

  it('are there again after the ref was deleted, as far as the server still has them', async (t) => {
    const world = await begin(t);
    const [a = '', b = ''] = world.commits;
    const write = world.process();
    const { signed } = await write({ [a]: 'one' });
    await world.server.git('update-ref', '-d', REF);
    const next = await write({ [b]: 'two' });
    assert.ok((next.signed?.serial ?? 0) > (signed?.serial ?? 0));
    assert.deepEqual([await world.note(a), await world.note(b)], ['one\n', 'two\n']);
    await world.server.git('update-ref', '-d', REF);
    await world.server.git('gc', '--prune=now', '-q');
    const last = await world.process(next.signed)({ [b]: 'three' });
    assert.equal(last.begunAnew, true);
    assert.ok((last.signed?.serial ?? 0) > (next.signed?.serial ?? 0));
    assert.deepEqual([await world.note(a), await world.note(b)], ['', 'three\n']);
  });

  it('begin anew where what was signed has a folder that is damaged', async (t) => {
    const world = await begin(t);
    const [a = '', b = ''] = world.commits;
    const { blob, tree, commit, setRef } = world.repository;
    const folder = ['40000', a.slice(0, 2), await blob('a file\n')] as const;
    const more = await tree([folder, ['100644', 'zzz', await blob('more\n')]]);
    await setRef(REF, await commit({ tree: more, parents: [await commit({ tree: await tree([folder]) })] }));
    const tip = await world.tip();
    const held = await world.process({ serial: 5, tip })({ [a]: 'one' });
    assert.deepEqual([...held.unreadable.keys()], [a], 'as without a signature: only those in it wait');
    await world.server.git('update-ref', '-d', REF);
    const repaired = await world.process({ serial: 5, tip })({ [a]: 'one', [b]: 'two' });
    assert.deepEqual([repaired.unreadable.size, await world.note(a), await world.note(b)], [0, 'one\n', 'two\n']);
  });

  it('go on with another key, and never without one', async (t) => {
    const world = await begin(t);
    const [a = '', b = ''] = world.commits;
    const other = newKey();
    const { signed } = await world.process()({ [a]: 'one' });
    await world.process(signed, other)({ [b]: 'two' });
    assert.notEqual(await world.serial(other), null);
    assert.deepEqual([await world.note(a), await world.note(b)], ['one\n', 'two\n']);
    const tip = await world.tip();
    const locked = world.annotator({ signing: { cluster: 'staging', key: () => Promise.reject(new Error('no key')) } });
    await assert.rejects(locked.annotate(new Map([[a, 'three']]), soon(), { signed: signed ?? null }), /no key/);
    assert.equal(await world.tip(), tip);
  });

  itOverHttp('cost as many requests as others', async (t) => {
    const world = await begin(t);
    const [a = '', b = ''] = world.commits;
    const write = world.process();
    await write({ [a]: 'one' });
    const before = world.server.requests.length;
    await write({ [b]: 'two' });
    assert.equal(world.server.requests.length - before, 2);
    assert.equal((await places(world)).length, 4);
  });
});
