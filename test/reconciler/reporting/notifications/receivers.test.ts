import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { stringify } from 'yaml';
import { loadReceivers, matches, readReceivers, wants } from '#reconciler/reporting/notifications/receivers.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { notification, receiver } from './support.ts';

const FILE = '/etc/notifications/receivers.yaml';
const GOOD = { name: 'chat', type: 'slack', urlFile: 'slack-url' };
const SIGNED = { name: 'programs', type: 'cloudevents', urlFile: '/run/url', keyFile: 'key', caFile: 'ca.crt' };

const written = (receivers: unknown, more: object = {}): string =>
  stringify({
    apiVersion: 'kubelet-gitops.dev/v1alpha1',
    kind: 'NotificationReceivers',
    spec: { receivers, ...more },
  });
const read = (text: string) => readReceivers(Buffer.from(text), FILE);
const complaint = (text: string): string => {
  try {
    read(text);
  } catch (error) {
    assert.ok(error instanceof GitopsError && error.code === 'NOTIFICATIONS_INVALID');
    return error.message;
  }
  return '';
};

describe('the file of receivers', () => {
  it('is read with defaults, and with paths beside itself', () => {
    const all = { ...SIGNED, pools: ['gpu-*'], severity: 'critical', kinds: ['halted'], plainHttp: true };
    assert.deepEqual(read(written([GOOD, all], { runbooksUrl: 'https://git.example.com/runbooks' })), {
      runbooksUrl: 'https://git.example.com/runbooks',
      receivers: [
        { ...GOOD, urlFile: '/etc/notifications/slack-url', plainHttp: false, severity: 'info' },
        { ...all, keyFile: '/etc/notifications/key', caFile: '/etc/notifications/ca.crt' },
      ],
    });
  });

  const WRONG: readonly (readonly [name: string, text: string, says: RegExp])[] = [
    ['nothing', '', /there is nothing in the file/],
    ['no YAML', '{', /receivers\.yaml/],
    ['another kind', written([GOOD]).replace('NotificationReceivers', 'KubeletPool'), /kind is "KubeletPool"/],
    ['no receivers', written([]), /at least one/],
    ['no name', written([{ type: 'slack', urlFile: 'u' }]), /the receiver has no name/],
    ['a name with blanks', written([{ ...GOOD, name: 'on call' }]), /not a valid name of a receiver/],
    ['the same name twice', written([GOOD, GOOD]), /two receivers with the name chat/],
    ['no type', written([{ name: 'chat', urlFile: 'u' }]), /the receiver has no type/],
    ['another type', written([{ ...GOOD, type: 'email' }]), /cannot be "email" \(write cloudevents or slack\)/],
    ['no address', written([{ name: 'chat', type: 'slack' }]), /the receiver has no urlFile/],
    ['a key that is misspelt', written([{ ...GOOD, pool: ['a'] }]), /pool is not a field \(did you mean pools\?\)/],
    ['another severity', written([{ ...GOOD, severity: 'error' }]), /severity cannot be "error"/],
    ['another kind of message', written([{ ...GOOD, kinds: ['halt'] }]), /"halt" is nothing that is told of/],
    ['a pool that cannot be', written([{ ...GOOD, pools: ['A b'] }]), /"A b" is not a name of pools/],
    ['no pools at all', written([{ ...GOOD, pools: [] }]), /pools has to be a list of at least one/],
    ['no kinds at all', written([{ ...GOOD, kinds: [] }]), /kinds has to be a list of at least one/],
    [
      'kinds that are never severe enough',
      written([{ ...GOOD, kinds: ['settled', 'refused'], severity: 'critical' }]),
      /nothing is ever sent to the receiver chat: settled is info and refused warning at most/,
    ],
    [
      'kinds that are about no pool',
      written([{ ...GOOD, kinds: ['follows'], pools: ['web'] }]),
      /nothing is ever sent to the receiver chat: follows is about no pool/,
    ],
    ['a key that signs nothing', written([{ ...GOOD, keyFile: 'key' }]), /chat has a keyFile, and nothing is signed/],
    ['no key to sign with', written([{ ...SIGNED, keyFile: null }]), /programs has no keyFile/],
    ['an address of runbooks that is none', written([GOOD], { runbooksUrl: 'docs' }), /has to be an address/],
  ];
  for (const [name, text, says] of WRONG) {
    it(`is refused with ${name}`, () => {
      assert.match(complaint(text), says);
    });
  }

  it('is refused with a secret where the name of its file belongs, without a word of it', () => {
    const secrets = {
      urlFile: 'https://hooks.slack.com/services/T000/B000/secret-part',
      keyFile: '3b7c0f0e2f0a4c1d9e8b7a6f5e4d3c2b',
    };
    for (const [field, secret] of Object.entries(secrets)) {
      const said = complaint(written([{ ...SIGNED, [field]: secret }]));
      assert.match(said, new RegExp(`${field} is not the path of a file`));
      assert.ok(!said.includes(secret) && !said.includes('secret-part'), said);
    }
  });

  it('is refused with all that is wrong in it at once', () => {
    const said = complaint(
      written([
        { ...GOOD, type: 'email' },
        { ...GOOD, name: 'x y' },
      ]),
    );
    assert.match(said, /cannot be "email".*not a valid name/);
  });

  it('is refused in few words where it is a file of something else', () => {
    const said = complaint('a: 1\n'.repeat(3_000));
    assert.match(said, /; and 29\d\d more$/);
    assert.ok(said.length < 10_000, `${said.length}`);
  });

  it('is read from its place, and refused where there is none', (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'receivers-'));
    t.after(() => rmSync(directory, { recursive: true }));
    writeFileSync(join(directory, 'receivers.yaml'), written([GOOD]));
    assert.equal(loadReceivers(join(directory, 'receivers.yaml')).receivers[0]?.urlFile, join(directory, 'slack-url'));
    assert.throws(
      () => loadReceivers(join(directory, 'none.yaml')),
      /none\.yaml cannot be used: it cannot be read \(ENOENT\)/,
    );
  });
});

describe('what a receiver wants', () => {
  const told = (pools: readonly string[], over = {}) => notification({ pools, ...over });
  const ROWS = [
    ['everything, unless it says otherwise', receiver(), told([]), true],
    ['what is severe enough', receiver({ severity: 'warning' }), told(['a'], { severity: 'warning' }), true],
    ['nothing milder', receiver({ severity: 'warning' }), told(['a'], { severity: 'info' }), false],
    ['its kinds', receiver({ kinds: ['settled', 'halted'] }), told(['a']), true],
    ['no other kinds', receiver({ kinds: ['settled'] }), told(['a']), false],
    ['its pools', receiver({ pools: ['x', 'gpu-*'] }), told(['gpu-a']), true],
    ['what is also about its pools', receiver({ pools: ['gpu-*'] }), told(['web', 'gpu-a']), true],
    ['no other pools', receiver({ pools: ['gpu-*'] }), told(['web']), false],
    ['nothing of the repository, where it names pools', receiver({ pools: ['*'] }), told([]), false],
  ] as const;
  for (const [name, who, what, expected] of ROWS) {
    it(`is ${name}`, () => {
      assert.equal(wants(who, what), expected);
    });
  }

  it('is by patterns in which a star stands for any characters', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 7 });
    const names = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 9 });
    fc.assert(
      fc.property(letters, names, (pattern, name) => {
        assert.equal(matches(pattern, name), new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(name));
      }),
      { numRuns: 3_000 },
    );
  });
});
