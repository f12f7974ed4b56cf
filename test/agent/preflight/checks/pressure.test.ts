import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostFacts } from '#agent/preflight/host-facts.ts';
import { checkOnHost } from '#agent/preflight/preflight.ts';
import { NO_FACTS } from '../../../support/agent/no-facts.ts';
import { candidate, GIB, found, args, room, checkRows, type Fields } from '../support/on-host.ts';

/** The same threshold, hard and soft. */
const thresholds = (signal: string, amount: string): Fields => ({
  evictionHard: { [signal]: amount },
  evictionSoft: { [signal]: amount },
  evictionSoftGracePeriod: { [signal]: '1m' },
});
const AT_ONCE = 'pressure-at-once';

describe('preflight of pressure', () => {
  checkRows([
    [
      'a threshold that is crossed already',
      { evictionHard: { 'memory.available': '99%', 'nodefs.available': '6Gi' } },
      { memoryBytes: 8 * GIB, availableMemoryBytes: 7 * GIB, nodefs: room({ availableBytes: 5 * GIB }) },
      [
        'warning little-left evictionHard',
        'error pressure-at-once evictionHard',
        'error pressure-at-once evictionHard',
      ],
    ],
    [
      'a usual threshold on a disk that is full',
      { evictionHard: { 'nodefs.available': '10%' } },
      { nodefs: room({ availableBytes: GIB / 2 }) },
      ['warning pressure-at-once evictionHard'],
    ],
    [
      'a threshold with as much as that available, and one that is switched off',
      { evictionHard: { 'memory.available': '6Gi', 'nodefs.available': '100%' } },
      { memoryBytes: 8 * GIB, availableMemoryBytes: 6 * GIB, nodefs: room({ availableBytes: 0 }) },
      [],
    ],
    [
      'a threshold that only the new config crosses',
      { evictionHard: { 'nodefs.available': '20%' } },
      { nodefs: room({ availableBytes: 1.5 * GIB }), present: { evictionHard: { 'nodefs.available': '10%' } } },
      [`error ${AT_ONCE} evictionHard`],
    ],
    [
      'a default threshold that only the new config crosses',
      {},
      { imagefs: room({ availableBytes: GIB }), present: { evictionHard: { 'imagefs.available': '5%' } } },
      [`error ${AT_ONCE} evictionHard`],
    ],
    [
      'a threshold that the present config crosses as well, be it as a soft one',
      { evictionHard: { 'nodefs.available': '90%' } },
      { nodefs: room({ availableBytes: 2 * GIB }), present: thresholds('nodefs.available', '30%') },
      [`warning ${AT_ONCE} evictionHard`],
    ],
    [
      'file systems that are nearly full beside thresholds of others',
      { evictionHard: { 'containerfs.available': '90%', 'nodefs.available': '5%' } },
      { nodefs: room({ availableBytes: GIB }), imagefs: room({ availableBytes: 1, freeInodes: 1 }), present: {} },
      [],
    ],
    [
      'a file system that does not count its inodes',
      { evictionHard: { 'nodefs.inodesFree': '100k' } },
      { nodefs: room({ inodes: 0, freeInodes: 0 }), present: {} },
      [],
    ],
    [
      'thresholds in whose place flags come',
      thresholds('nodefs.available', '90%'),
      { nodefs: room({ availableBytes: GIB }), ...args('--eviction-hard=memory.available<1Mi', '--eviction-soft=') },
      ['error flag-shadows evictionHard', 'error flag-shadows evictionSoft'],
    ],
  ]);

  it('says how much is asked for and how much there is', () => {
    const config = { evictionHard: { 'memory.available': '99%' } };
    const facts = { ...NO_FACTS, memoryBytes: 1000 * 2 ** 20, availableMemoryBytes: 600 * 2 ** 20 };
    const messages = checkOnHost(candidate(config), facts).map(({ message }) => message);
    assert.ok(
      messages.includes(
        'memory.available is to be at least 990Mi, and 600Mi of 1000Mi are available now: pods would be evicted at once',
      ),
      messages.join(),
    );
  });

  const signals: readonly (readonly [string, (left: number) => Partial<HostFacts>])[] = [
    ['memory.available', (left) => ({ memoryBytes: 1_000, availableMemoryBytes: left })],
    ['pid.available', (left) => ({ mostPids: 1_000, pids: 1_000 - left })],
    ['nodefs.available', (left) => ({ nodefs: room({ bytes: 1_000, availableBytes: left }) })],
    ['nodefs.inodesFree', (left) => ({ nodefs: room({ freeInodes: left }) })],
    ['imagefs.available', (left) => ({ imagefs: room({ bytes: 1_000, availableBytes: left }) })],
    ['imagefs.inodesFree', (left) => ({ imagefs: room({ freeInodes: left }) })],
  ];
  for (const [signal, leaves] of signals) {
    for (const field of ['evictionHard', 'evictionSoft']) {
      it(`compares ${field} of ${signal} with what is left, in bytes or counts and in percent`, () => {
        for (const amount of ['300', '30%']) {
          const config = { evictionHard: {}, [field]: { [signal]: amount } };
          const said = (left: number, now: Fields = { evictionHard: {} }) =>
            found(config, { ...leaves(left), present: now });
          assert.deepEqual(said(299), [`error ${AT_ONCE} ${field}`]);
          assert.deepEqual(said(300), []);
          assert.deepEqual(said(299, config), [`warning ${AT_ONCE} ${field}`]);
          assert.deepEqual(
            found(config, { ...leaves(299) }),
            [`warning ${AT_ONCE} ${field}`],
            'nobody knows of before',
          );
        }
      });
    }
  }

  it('counts inodes and processes, and says what a soft threshold does', () => {
    const config = { evictionSoft: { 'nodefs.inodesFree': '50%', 'pid.available': '9' } };
    const facts = { ...NO_FACTS, nodefs: room({ freeInodes: 400 }), mostPids: 10, pids: 8 };
    assert.deepEqual(
      checkOnHost(candidate(config), facts).map(({ message }) => message),
      [
        'pid.available is to be at least 9, and 2 of 10 are available now: pods would be evicted after its grace period',
        'nodefs.inodesFree is to be at least 500, and 400 of 1000 are available now: pods would be evicted after its grace period',
      ],
    );
  });
});
