import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createHostFiles, type HostFiles } from '#agent/host/host-files.ts';
import { linesSince, markIn } from '#agent/kubelet/log-file.ts';
import type { LogMark } from '#agent/ports/last-errors.ts';
import { until } from '../../support/until.ts';

const MOST_BYTES = 256 * 1024;
/** What tells whether it is the same file. */
const TAIL_BYTES = 1024;
const LOGS = '/var/lib/rancher/rke2/agent/logs';
const LOG = `${LOGS}/kubelet.log`;
/** As lumberjack puts a file aside. */
const OLD = `${LOGS}/kubelet-2026-01-01T00-00-00.000.log`;

describe('a kubelet’s own log file', () => {
  let root: string;
  /** Bytes that were read. */
  let read = 0;
  let opened = 0;
  let files: HostFiles;
  const at = (path: string): string => join(root, path);
  const write = (path: string, ...lines: readonly string[]): void =>
    writeFileSync(at(path), lines.map((line) => `${line}\n`).join(''));
  const append = (...lines: readonly string[]): void =>
    appendFileSync(at(LOG), lines.map((line) => `${line}\n`).join(''));
  const mark = (): Promise<LogMark> => markIn(files, LOG);
  /** The oldest first, without what is behind the last line break. */
  const since = async (marked?: LogMark): Promise<readonly string[]> => {
    read = 0;
    const lines = await linesSince(files, LOG, marked);
    assert.equal(opened, 0, 'a file is left open');
    return lines.filter((line) => line !== '').toReversed();
  };

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'kubelet-gitops-log-'));
    mkdirSync(at(LOGS), { recursive: true });
    const host = createHostFiles(root);
    const openPlain: HostFiles['openPlain'] = async (path) => {
      const file = await host.openPlain(path);
      if (file === undefined) return undefined;
      opened += 1;
      return {
        ...file,
        async read(offset, length) {
          const bytes = await file.read(offset, length);
          assert.ok(bytes.length <= MOST_BYTES);
          read += bytes.length;
          return bytes;
        },
        close: () => file.close().then(() => void (opened -= 1)),
      };
    };
    files = { ...host, openPlain };
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('is read from where it stood', async () => {
    write(LOG, 'of before', 'of before');
    const before = await mark();
    assert.deepEqual(await since(before), []);
    append('one', 'two');
    assert.deepEqual(await since(before), ['one', 'two']);
    assert.deepEqual(await since(), ['of before', 'of before', 'one', 'two']);
  });

  it('is read from the line after the one that was being written', async () => {
    writeFileSync(at(LOG), 'half a li');
    const before = await mark();
    append('ne', 'one');
    assert.deepEqual(await since(before), ['one']);
  });

  for (const name of [OLD, `${LOGS}/kubelet.log.1`])
    it(`is read from its beginning where it was put aside as ${name}, after the rest of that`, async () => {
      write(LOG, 'of before');
      const before = await mark();
      append('one');
      const older = `${LOGS}/kubelet-2025-01-01T00-00-00.000.log`;
      write(older, 'far too old');
      utimesSync(at(older), 0, 0);
      write(`${LOGS}/kube-proxy.log`, 'another’s');
      renameSync(at(LOG), at(name));
      write(`${name}.gz`, 'begun to be compressed');
      utimesSync(at(`${name}.gz`), 4e9, 4e9);
      write(LOG, 'two');
      assert.deepEqual(await since(before), ['one', 'two']);
    });

  it('is read as it is where the one of before is compressed already', async () => {
    write(LOG, 'of before');
    const before = await mark();
    rmSync(at(LOG));
    write(`${OLD}.gz`, 'compressed');
    write(`${LOGS}/kubelet.log.1`, 'of a day before');
    write(LOG, 'two');
    assert.deepEqual(await since(before), ['two']);
  });

  it('is read from its beginning where it was truncated, however long it is since', async () => {
    write(LOG, 'of before', 'of before');
    const before = await mark();
    truncateSync(at(LOG));
    append('one');
    assert.deepEqual(await since(before), ['one']);
    append('and as much as there was before');
    assert.deepEqual(await since(before), ['one', 'and as much as there was before']);
  });

  it('is read from its beginning where it was copied and truncated, after the rest of the copy', async () => {
    write(LOG, 'of before');
    const before = await mark();
    append('one');
    copyFileSync(at(LOG), at(`${LOGS}/kubelet.log.1`));
    truncateSync(at(LOG));
    append('two');
    assert.deepEqual(await since(before), ['one', 'two']);
  });

  it('is read from its beginning where another file has the inode of the one of before', async () => {
    write(LOG, 'of before');
    const before = await mark();
    const { ino } = statSync(at(LOG));
    write(LOG, 'by another', 'one');
    assert.equal(statSync(at(LOG)).ino, ino);
    assert.deepEqual(await since(before), ['by another', 'one']);
  });

  it('is read from its beginning where there was none, or an empty one', async () => {
    const none = await mark();
    assert.deepEqual(await since(none), []);
    writeFileSync(at(LOG), '');
    const empty = await mark();
    append('one');
    assert.deepEqual(await since(none), ['one']);
    assert.deepEqual(await since(empty), ['one']);
    renameSync(at(LOG), at(OLD));
    write(LOG, 'two');
    assert.deepEqual(await since(none), ['two']);
    assert.deepEqual(await since(empty), ['two']);
  });

  it('is read to at most 256 KiB, of its end', async () => {
    write(LOG, 'of before');
    const before = await mark();
    const many = Array.from({ length: 9_000 }, (_, index) => `line ${index} ${'x'.repeat(90)}`);
    append(...many);
    const lines = await since(before);
    assert.ok(read <= MOST_BYTES + TAIL_BYTES, `${read} bytes`);
    assert.ok(lines.length > 2_500 && lines.length < 2_700, `${lines.length} lines`);
    assert.deepEqual(lines, many.slice(-lines.length), 'whole lines, and the last ones');
  });

  it('is read to at most 256 KiB together with what was put aside', async () => {
    write(LOG, 'of before');
    const before = await mark();
    const old = Array.from({ length: 4_000 }, (_, index) => `old ${index} ${'x'.repeat(90)}`);
    append(...old);
    renameSync(at(LOG), at(OLD));
    const many = Array.from({ length: 2_000 }, (_, index) => `new ${index} ${'x'.repeat(90)}`);
    write(LOG, ...many);
    const lines = await since(before);
    assert.ok(read <= MOST_BYTES + 3 * TAIL_BYTES, `${read} bytes`);
    assert.deepEqual(lines, [...old, ...many].slice(-lines.length));
    assert.ok(lines.length > 2_500, `${lines.length} lines`);
    write(LOG, ...old);
    await since(before);
    assert.ok(read <= MOST_BYTES + 3 * TAIL_BYTES, `${read} bytes`);
  });

  it('says nothing with a line whose beginning is too far away', async () => {
    write(LOG, 'of before');
    const before = await mark();
    appendFileSync(at(LOG), `secret=${'x'.repeat(1024 * 1024)}`);
    assert.deepEqual(await since(before), []);
    append('', 'one');
    assert.deepEqual(await since(before), ['one']);
  });

  it('may hold what is no text', async () => {
    const before = await mark();
    writeFileSync(at(LOG), Buffer.from([0xff, 0xfe, 0x00, 0x0a, 0xc3, 0x0a, 0x6f, 0x6b, 0x0a]));
    assert.deepEqual(await since(before), ['��\0', '�', 'ok']);
  });

  for (const [what, put] of Object.entries({
    'a link to a file': (path: string) => symlinkSync('/etc/hostname', path),
    'a link to a log beside it': (path: string) => {
      writeFileSync(`${path}.real`, 'secret\n');
      symlinkSync('kubelet.log.real', path);
    },
    'a link to nothing': (path: string) => symlinkSync('nowhere', path),
    'a FIFO': (path: string) => assert.equal(spawnSync('mkfifo', [path]).status, 0),
    'a directory': (path: string) => mkdirSync(path),
    'a link to a device': (path: string) => symlinkSync('/dev/zero', path),
  }))
    it(`is not read where ${what} is in its place`, { timeout: 10_000 }, async () => {
      put(at(LOG));
      assert.equal((await mark()).offset, 0);
      assert.deepEqual(await since(), []);
      rmSync(at(LOG), { recursive: true });
      write(LOG, 'of before');
      const before = await mark();
      renameSync(at(LOG), at(OLD));
      put(at(LOG));
      assert.deepEqual(await since(before), []);
      rmSync(at(OLD));
      put(at(OLD));
      rmSync(at(LOG), { recursive: true });
      write(LOG, 'one');
      assert.deepEqual(await since(before), ['one']);
    });

  it('is not read where a socket or a device is in its place', { timeout: 10_000 }, async (test) => {
    const server = createServer().listen(at(LOG));
    await once(server, 'listening');
    assert.deepEqual(await since(), []);
    server.close();
    if (spawnSync('mknod', [at(OLD), 'c', '1', '5']).status !== 0) return test.diagnostic('no device could be made');
    renameSync(at(OLD), at(LOG));
    assert.deepEqual(await since(), []);
  });

  for (const directory of ['/var', '/var/lib/rancher', LOGS])
    it(`is not read where ${directory} is a link`, async () => {
      write(LOG, 'secret');
      const before = await mark();
      append('secret');
      renameSync(at(directory), at('elsewhere'));
      symlinkSync('/elsewhere', at(directory));
      // As the host itself goes there.
      assert.equal(await files.kind(LOG), 'file');
      assert.deepEqual(await since(), []);
      assert.deepEqual(await since(before), []);
    });

  it('is not even opened where it is a FIFO: who writes to that would go on', { timeout: 10_000 }, async () => {
    assert.equal(spawnSync('mkfifo', [at(LOG)]).status, 0);
    const writer = spawn('sh', ['-c', 'echo opens; echo >"$0"', at(LOG)]);
    const state = (): string | undefined => readFileSync(`/proc/${writer.pid}/stat`, 'utf8').split(' ')[2];
    await once(writer.stdout, 'data');
    await until('the writer to wait', () => state() === 'S');
    for (let tries = 0; tries < 20; tries += 1) {
      assert.deepEqual(await since(), []);
      spawnSync('true');
    }
    assert.equal(state(), 'S');
    writer.kill();
  });

  it('leaves nothing open, whatever is in its place', async () => {
    const openBelow = (): readonly string[] =>
      readdirSync('/proc/self/fd').filter((fd) => {
        const place = `/proc/self/fd/${fd}`;
        // That of the listing itself is gone.
        return existsSync(place) && readlinkSync(place).startsWith(root);
      });
    write(LOG, 'one');
    for (let times = 0; times < 5; times += 1) {
      await since();
      await since(await mark());
      rmSync(at(LOG));
      mkdirSync(at(LOG));
      await since();
      rmSync(at(LOG), { recursive: true });
      symlinkSync('/etc/hostname', at(LOG));
      await since();
      rmSync(at(LOG));
      await since();
      write(LOG, 'one');
    }
    assert.deepEqual(openBelow(), []);
  });

  it('is read where the host’s root itself is behind a link', async () => {
    write(LOG, 'one');
    const link = `${root}-link`;
    symlinkSync(root, link);
    try {
      assert.deepEqual(await linesSince(createHostFiles(link), LOG, undefined), ['', 'one']);
    } finally {
      rmSync(link);
    }
  });
});
