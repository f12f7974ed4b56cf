import assert from 'node:assert/strict';
import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createHostFiles, type HostFiles } from '#agent/host/host-files.ts';
import { createMarkLog, createReadLastErrors } from '#agent/kubelet/last-errors.ts';
import type { LastErrorsQuery, LogMark } from '#agent/ports/last-errors.ts';
import { createManualClock } from '../../support/manual-clock.ts';
import { journalOf } from '../host/journal/support/journal-writer.ts';

const MACHINE = '0123456789abcdef0123456789abcdef';
const START = Date.parse('2026-01-01T00:00:00Z');
const never = new AbortController().signal;
const ALL: LastErrorsQuery = { since: undefined, notOf: [] };

const error = (seconds: number, text: string, run = 'run-1', unit = 'kubelet.service') => ({
  at: START + seconds * 1000,
  fields: {
    _SYSTEMD_UNIT: unit,
    _SYSTEMD_INVOCATION_ID: run,
    MESSAGE: `E0101 00:00:00.000000       1 a.go:1] ${text}`,
  },
});
/** A line of the stacks below a fatal error. */
const stack = (seconds: number, line: number) => {
  const { at, fields } = error(seconds, '');
  return { at, fields: { ...fields, MESSAGE: `\t/src/a.go:${line % 40} +0xb9` } };
};
const stacks = (seconds: number, count: number) => Array.from({ length: count }, (_, line) => stack(seconds, line));
const said = (...texts: readonly string[]): readonly string[] => texts.map((text) => `a.go:1] ${text}`);

describe('the last errors in a host’s journal', () => {
  let root: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'kubelet-gitops-journal-'));
    await mkdir(join(root, 'etc'));
    await writeFile(join(root, 'etc/machine-id'), `${MACHINE}\n`);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const write = async (file: string, entries: readonly ReturnType<typeof error>[]): Promise<void> => {
    await mkdir(join(root, file, '..'), { recursive: true });
    await writeFile(join(root, file), journalOf(entries, { isCompact: true }));
  };
  const inUse = `var/log/journal/${MACHINE}/system.journal`;
  const old = (time: string): string =>
    `var/log/journal/${MACHINE}/system@${'a'.repeat(32)}-0000000000000001-${time}.journal`;
  const words = (wanted: LastErrorsQuery = ALL, files: HostFiles = createHostFiles(root)): Promise<readonly string[]> =>
    createReadLastErrors({ files, unit: 'kubelet.service', clock: createManualClock() })(wanted, never);

  it('are those of the kubelet’s unit', async () => {
    await write(inUse, [error(1, 'mine'), error(2, 'another’s', 'run-2', 'containerd.service')]);
    assert.deepEqual(await words(), said('mine'));
  });

  it('are those since a moment, and not of runs that had nothing to do with it', async () => {
    await write(inUse, [
      error(1, 'early'),
      error(2, 'of before', 'run-0'),
      error(3, 'mine'),
      error(4, 'the guard’s', 'run-2'),
    ]);
    assert.deepEqual(await words({ since: '2026-01-01T00:00:02Z', notOf: ['run-0', 'run-2'] }), said('mine'));
    assert.deepEqual(await words({ since: '2026-01-01T00:00:05Z', notOf: [] }), []);
  });

  it('are found in the files that were put aside last, where the one in use has too few', async () => {
    await write(inUse, [error(9, 'newest')]);
    await write(old('0000000000000002'), [error(8, 'newer')]);
    await write(old('0000000000000001'), [error(7, 'older')]);
    await write(old('0000000000000000'), [error(6, 'of a file too far back')]);
    assert.deepEqual(await words(), said('newest', 'newer', 'older'));
    await writeFile(join(root, inUse), 'spoiled');
    assert.deepEqual(await words(), said('newer', 'older'));
  });

  it('are found above the stacks of all goroutines', async () => {
    await write(inUse, [error(1, 'before'), ...stacks(1, 9_000), error(2, 'why it ends'), ...stacks(2, 9_000)]);
    assert.deepEqual(await words(), said('why it ends'));
  });

  it('are older ones, too, where they stand close to the newest', async () => {
    await write(inUse, [error(1, 'far'), ...stacks(1, 500), error(2, 'close'), ...stacks(2, 600), error(3, 'newest')]);
    assert.deepEqual(await words(), said('newest', 'close'));
  });

  it('are read no further back than three of them', async () => {
    await write(inUse, [error(1, 'one'), error(2, 'two'), error(3, 'three')]);
    await write(old('0000000000000001'), [error(0, 'none')]);
    const files = createHostFiles(root);
    const opened: string[] = [];
    const open: HostFiles['open'] = (path) => {
      opened.push(path);
      return files.open(path);
    };
    assert.deepEqual(await words(ALL, { ...files, open }), said('three', 'two', 'one'));
    assert.deepEqual(opened, [`/${inUse}`]);
  });

  it('are found in memory, where journald keeps nothing on the disk', async () => {
    await write(`run/log/journal/${MACHINE}/system.journal`, [error(1, 'mine')]);
    assert.deepEqual(await words(), said('mine'));
  });

  it('are none where there is no journal, or nothing of the host is shown', async () => {
    assert.deepEqual(await words(), []);
    assert.deepEqual(await words(ALL, createHostFiles(join(root, 'nothing'))), []);
    await write(inUse, [error(1, 'mine')]);
    await writeFile(join(root, 'etc/machine-id'), 'uninitialized\n');
    assert.deepEqual(await words(), []);
  });

  describe('of a kubelet with a log file of its own', () => {
    const logFile = '/var/log/kubelet.log';
    const at = (path: string): string => join(root, path);
    const klog = (text: string, severity = 'E'): string => `${severity}0101 00:00:00.000000       1 a.go:1] ${text}\n`;
    const files = (): HostFiles => createHostFiles(root);
    const mark = async (): Promise<LogMark | undefined> =>
      createMarkLog({ files: files(), clock: createManualClock(), logFile })(never);
    const wordsOf = (wanted: LastErrorsQuery) =>
      createReadLastErrors({ files: files(), unit: 'kubelet.service', clock: createManualClock(), logFile })(
        wanted,
        never,
      );
    const ENDED = 'time="2026-01-01T00:00:09Z" level=error msg="Kubelet exited: exit status 1"';
    const since = '2026-01-01T00:00:00Z';
    beforeEach(async () => {
      await mkdir(at('var/log'), { recursive: true });
      const { at: moment, fields } = error(9, '');
      await write(inUse, [{ at: moment, fields: { ...fields, MESSAGE: ENDED } }]);
    });

    it('are its lines, before those of what starts it', async () => {
      await writeFile(at(logFile), klog('of before'));
      const marked = await mark();
      await appendFile(at(logFile), `${klog('one')}${klog('two')}${klog('fine', 'I')}`);
      assert.deepEqual(await wordsOf({ since, notOf: [], ...(marked && { mark: marked }) }), said('two', 'one'));
      assert.deepEqual(await wordsOf(ALL), said('two', 'one', 'of before'));
    });

    it('are its lines alone, where what starts it has errors of its own', async () => {
      await write(inUse, [error(9, 'of RKE2 itself')]);
      await writeFile(at(logFile), klog('one'));
      assert.deepEqual(await wordsOf(ALL), said('one'));
    });

    it('come from the program that starts it, where the disk refuses the file', async () => {
      const refuses = () => Promise.reject(new Error('EIO'));
      const file = { size: 9, read: refuses, close: () => Promise.resolve() };
      const broken = { ...files(), openPlain: () => Promise.resolve(file) };
      const clock = createManualClock();
      const read = createReadLastErrors({ files: broken, unit: 'kubelet.service', clock, logFile });
      assert.deepEqual(await read(ALL, never), [ENDED]);
      assert.equal(await createMarkLog({ files: broken, clock, logFile })(never), undefined);
    });

    it('come from the program that starts it, where the file has none, or the start is not known', async () => {
      await writeFile(at(logFile), klog('of before'));
      const marked = await mark();
      await appendFile(at(logFile), klog('fine', 'I'));
      assert.deepEqual(await wordsOf({ since, notOf: [], ...(marked && { mark: marked }) }), [ENDED]);
      assert.deepEqual(await wordsOf({ since, notOf: [] }), [ENDED]);
      await rm(at(logFile));
      assert.deepEqual(await wordsOf(ALL), [ENDED]);
      assert.deepEqual(await wordsOf({ since, notOf: [], ...(marked && { mark: marked }) }), [ENDED]);
    });

    it('are cut and without secrets, whatever is in the file', async () => {
      const token = `eyJhbGciOiJSUzI1NiJ9.${'a'.repeat(20_000)}`;
      await writeFile(
        at(logFile),
        Buffer.concat([
          Buffer.from(klog(`Bearer ${token}`)),
          Buffer.from(klog('x'.repeat(100_000))),
          Buffer.from([0xff, 0x00, 0x0a]),
          Buffer.from('y'.repeat(100_000)),
        ]),
      );
      const words = await wordsOf(ALL);
      assert.deepEqual(words, said(`${'x'.repeat(271)}…`, 'Bearer [redacted]'));
    });

    it('keep nobody waiting where a disk does not answer', async () => {
      const clock = createManualClock();
      const hanging = { ...files(), openPlain: () => new Promise<never>(() => undefined) };
      const marked = createMarkLog({ files: hanging, clock, logFile })(never);
      const asked = createReadLastErrors({ files: hanging, unit: 'kubelet.service', clock, logFile })(ALL, never);
      await clock.advance(3_000);
      assert.equal(await marked, undefined);
      assert.deepEqual(await asked, []);
    });
  });

  it('are those that were found until a disk does not answer: the way back does not wait for it', async () => {
    await write(inUse, [error(1, 'mine')]);
    await write(old('0000000000000001'), [error(0, 'of before')]);
    const files = createHostFiles(root);
    const hangs = { read: () => new Promise<never>(() => undefined), close: () => Promise.resolve() };
    for (const hanging of [`/${inUse}`, `/${old('0000000000000001')}`]) {
      const clock = createManualClock();
      const reached = Promise.withResolvers<void>();
      const open: HostFiles['open'] = (path) => {
        if (path !== hanging) return files.open(path);
        reached.resolve();
        return Promise.resolve(hangs);
      };
      const asked = createReadLastErrors({ files: { ...files, open }, unit: 'kubelet.service', clock })(ALL, never);
      await reached.promise;
      await clock.advance(3_000);
      assert.deepEqual(await asked, hanging === `/${inUse}` ? [] : said('mine'));
    }
  });
});
