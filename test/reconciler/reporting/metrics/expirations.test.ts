import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { generateKey } from 'openpgp';
import { followExpirations, readExpirations } from '#reconciler/reporting/metrics/expirations.ts';
import {
  parseExpirationDate,
  expiringCredentialsOf,
  type ExpiringSettings,
} from '#reconciler/reporting/metrics/expiring-credentials.ts';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { firstExpirationOf } from '#reconciler/git/trust/key-expiration.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { type Log, silentLog } from '#shared/runtime/log.ts';
import { createAuthority } from '../../../shared/kube/support/certificates.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const SOON = Date.UTC(2027, 5, 30);
const LATER = Date.UTC(2031, 0, 2, 3, 4, 5);
const soon = createAuthority('soon', '270630000000Z').ca;
const later = createAuthority('later', '310102030405Z').ca;

const settings = (more: Partial<ExpiringSettings> = {}): ExpiringSettings => ({
  gitCaFile: undefined,
  gitCredentialsDir: undefined,
  signedCommits: 'off',
  trustedKeysDir: undefined,
  notes: 'on',
  notesCredentialsDir: undefined,
  forge: undefined,
  prometheus: { caFile: undefined, token: undefined },
  ...more,
});

describe('what the reconciler was given for a time', () => {
  const directory = temporaryDirectory();

  const endOf = async (pem: string): Promise<number | undefined> => {
    const file = join(directory, 'ca.crt');
    await writeFile(file, pem);
    const [ends] = await readExpirations(expiringCredentialsOf(settings({ gitCaFile: file }), systemClock));
    assert.equal(ends?.purpose ?? 'git-authority', 'git-authority');
    return ends?.at;
  };

  for (const [what, pem, at] of [
    ['a certificate ends when it says', later, LATER],
    ['the first to end of several counts', `of ours:\n${later}and\n${soon}`, SOON],
    [
      'a new one beside the old one of the same name is the one that counts',
      createAuthority('soon').ca + soon,
      Date.UTC(2049, 11, 31, 23, 59, 59),
    ],
    ['a file without a certificate ends at once', 'nothing\n', 0],
    ['a damaged one does, too', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n', 0],
  ] as const) {
    it(what, async () => assert.equal(await endOf(pem), at));
  }

  for (const [text, at] of [
    ['2027-06-30', SOON],
    [' 2027-06-30\n', SOON],
    ['2031-01-02T03:04:05Z', LATER],
    ['2031-01-02 03:04:05 UTC', LATER],
    ['2031-01-02T05:04:05+02:00', LATER],
    ['2031-01-02T03:04:05', LATER],
    ['2027-06-31T25:00:00Z', undefined],
    ['30.6.2027', undefined],
    ['never', undefined],
    ['1', undefined],
    ['', undefined],
  ] as const) {
    it(`a date is read as it is meant: ${JSON.stringify(text)}`, () => assert.equal(parseExpirationDate(text), at));
  }

  it('says nothing of what is not there, and counts what cannot be read as over', async () => {
    const things = expiringCredentialsOf(
      settings({
        gitCaFile: join(directory, 'missing.crt'),
        gitCredentialsDir: join(directory, 'missing'),
        forge: { tokenFile: join(directory, 'token') },
      }),
      systemClock,
    );
    assert.deepEqual(await readExpirations(things), []);
    await writeFile(join(directory, 'expires'), 'in summer');
    assert.deepEqual(await readExpirations(things), [{ purpose: 'forge-token', at: 0 }]);
  });

  it('knows the end of a client certificate beside the git credential: the first of the two counts', async () => {
    const secret = await mkdtemp(join(directory, 'secret-'));
    const read = () => readExpirations(expiringCredentialsOf(settings({ gitCredentialsDir: secret }), systemClock));
    assert.deepEqual(await read(), []);
    await writeFile(join(secret, 'tls.crt'), later);
    assert.deepEqual(await read(), [{ purpose: 'git-credential', at: LATER }]);
    await writeFile(join(secret, 'expires'), '2027-06-30');
    assert.deepEqual(await read(), [{ purpose: 'git-credential', at: SOON }]);
    await writeFile(join(secret, 'tls.crt'), 'no certificate');
    assert.deepEqual(await read(), [{ purpose: 'git-credential', at: 0 }]);
  });

  it('says in the log why an end cannot be told, once and again where that changes', async () => {
    const secret = await mkdtemp(join(directory, 'secret-'));
    const said: string[] = [];
    const warn = ({ reason }: { readonly reason: string }): void => void said.push(reason.replaceAll(secret, ''));
    const log: Log = { ...silentLog, warn };
    const look = followExpirations(expiringCredentialsOf(settings({ gitCredentialsDir: secret }), systemClock), log);
    await writeFile(join(secret, 'expires'), 'in summer');
    for (let scrape = 0; scrape < 3; scrape += 1) await look();
    assert.deepEqual(said, ['/expires holds no date']);
    await writeFile(join(secret, 'expires'), '2027-06-30');
    await writeFile(join(secret, 'tls.crt'), 'none');
    assert.deepEqual(await look(), [{ purpose: 'git-credential', at: 0 }]);
    assert.deepEqual(said, ['/expires holds no date', '/tls.crt holds no certificate']);
  });

  it('looks for notes only where they have a credential of their own', () => {
    const purposes = (more: Partial<ExpiringSettings>): readonly string[] =>
      expiringCredentialsOf(settings({ gitCredentialsDir: '/git', ...more }), systemClock).map(
        ({ purpose }) => purpose,
      );
    assert.deepEqual(purposes({ notesCredentialsDir: '/git' }), ['git-credential']);
    assert.deepEqual(purposes({ notesCredentialsDir: '/notes' }), ['git-credential', 'notes-credential']);
    assert.deepEqual(purposes({ notesCredentialsDir: '/notes', notes: 'off' }), ['git-credential']);
    const token = { caFile: '/ca', token: { file: '/prometheus/token' } };
    assert.deepEqual(purposes({ prometheus: token }), ['prometheus-authority', 'git-credential', 'prometheus-token']);
  });

  it('knows the first end of the trusted keys, where commits have to be signed', async () => {
    const keys = await mkdtemp(join(directory, 'keys-'));
    const now = { now: () => Date.UTC(2026, 0) };
    const things = expiringCredentialsOf(settings({ signedCommits: 'on', trustedKeysDir: keys }), now);
    assert.deepEqual(await readExpirations(things), []);
    const blob = 'AAAAC3NzaC1lZDI1NTE5AAAAIJfvm1fUGrf3XkMEVBM5dAUVtGVKXiUCbWkJQAmZOVJK';
    const line = (options: string): string => `ada@example.com ${options}ssh-ed25519 ${blob}\n`;
    await writeFile(join(keys, 'signers'), `${line('')}${line('valid-before="20310102030405Z" ')}`);
    assert.deepEqual(await readExpirations(things), [{ purpose: 'trusted-key', at: LATER }]);
    const merges = await mkdtemp(join(directory, 'merge-keys-'));
    await writeFile(join(merges, 'signers'), line('valid-before="20270630Z" '));
    const both = expiringCredentialsOf(
      settings({ signedCommits: 'on', trustedKeysDir: keys, mergeKeysDir: merges }),
      now,
    );
    assert.deepEqual(await readExpirations(both), [{ purpose: 'trusted-key', at: SOON }]);
    assert.deepEqual(expiringCredentialsOf(settings({ trustedKeysDir: keys }), now), []);
    await rm(keys, { recursive: true });
    assert.deepEqual(await readExpirations(things), [{ purpose: 'trusted-key', at: 0 }], 'nobody is trusted any more');
  });

  for (const [what, keyExpirationTime, at] of [
    ['that never ends', 0, undefined],
    ['with an end', 86_400, Date.UTC(2026, 0, 2)],
  ] as const) {
    it(`knows the end of an OpenPGP key ${what}`, async () => {
      const date = new Date(Date.UTC(2026, 0));
      const userIDs = [{ email: 'ada@example.com' }];
      const { publicKey } = await generateKey({ userIDs, date, keyExpirationTime, format: 'object' });
      const endAt = (time: number): Promise<number | undefined> =>
        firstExpirationOf({ ssh: [], openPgp: [publicKey], unusable: [] }, new Date(time));
      assert.equal(await endAt(Date.UTC(2026, 0, 1, 12)), at);
      if (at !== undefined) assert.equal(await endAt(at + 1_000), at, 'also when it is over');
    });
  }

  it('a key outlives the signing part of it that ends first, and not the one that ends last', async () => {
    const { publicKey } = await generateKey({
      userIDs: [{ email: 'ada@example.com' }],
      date: new Date(Date.UTC(2026, 0)),
      keyExpirationTime: 100 * 86_400,
      subkeys: [{ sign: true, keyExpirationTime: 86_400 }],
      format: 'object',
    });
    const keys = { ssh: [], openPgp: [publicKey], unusable: [] };
    assert.equal(await firstExpirationOf(keys, new Date(Date.UTC(2026, 0, 1, 12))), Date.UTC(2026, 3, 11));
  });

  it('is served as it is now, and no longer once it is gone', async () => {
    const file = join(directory, 'expires');
    const things = expiringCredentialsOf(settings({ gitCredentialsDir: directory }), systemClock);
    const metrics = createMetrics({
      clock: systemClock,
      ofProcess: false,
      expirations: () => readExpirations(things),
    });
    const series = async (): Promise<readonly string[]> =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith('kubelet_gitops_expiration'));
    await writeFile(file, '2027-06-30');
    assert.deepEqual(await series(), [
      `kubelet_gitops_expiration_timestamp_seconds{purpose="git-credential"} ${SOON / 1000}`,
    ]);
    await rm(file);
    assert.deepEqual(await series(), []);
  });
});
