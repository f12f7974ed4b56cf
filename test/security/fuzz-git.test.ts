import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { fc, forAllAsyncOf } from '../support/property.ts';
import { readNote } from '#cli/history/read-note.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { parseCommit } from '#reconciler/git/objects/parse-commit.ts';
import { createObjectStore } from '#reconciler/git/objects/git-object-store.ts';
import { parseTree } from '#reconciler/git/objects/tree.ts';
import { readAdvertisement } from '#reconciler/git/wire/advertisement.ts';
import { scanPack } from '#reconciler/git/wire/pack-scan.ts';
import { packetLine, readPackets } from '#reconciler/git/wire/pkt-line.ts';
import { readSideBand } from '#reconciler/git/wire/side-band.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { readHistory } from '#reconciler/reporting/notes/commit-history.ts';
import { templateFiles } from '#sandbox/demo/template-repository.ts';
import { writePack } from '../reconciler/git/support/write-pack.ts';
import { GitopsError } from '#shared/runtime/errors.ts';
import { damaged, survives } from './support/hostile.ts';

const OID = 'a'.repeat(40);
const asIs = (text: string): string => text;
const COMMIT = Buffer.from(
  `tree ${OID}\nparent ${OID}\nauthor Ada <ada@example.com> 1700000000 +0100\ncommitter Ada <ada@example.com> 1700000000 +0100\n\nSubject\n\nBody\n`,
);
const TREE = Buffer.concat([
  Buffer.from('40000 pools\0'),
  Buffer.alloc(20, 7),
  Buffer.from('100644 a.yaml\0'),
  Buffer.alloc(20, 8),
]);
const PACK = writePack([
  { type: 'commit', body: COMMIT },
  { type: 'tree', body: TREE },
  { type: 'blob', body: Buffer.from('maxPods: 100\n'.repeat(20)) },
]);
const LIMITS = { ...DEFAULT_GIT_LIMITS, objects: 1_000, inflatedBytes: 1024 * 1024 };

/** What makes a damaged pack pass its first check, as a hostile server would. */
function withRightSum(pack: Buffer): Buffer {
  const content = pack.subarray(0, Math.max(0, pack.length - 20));
  return Buffer.concat([content, createHash('sha1').update(content).digest()]);
}

describe('a hostile git server', () => {
  const advertisement = Buffer.concat(
    ['# service=git-upload-pack\n', 'version 2\n', 'ls-refs\n', 'fetch=shallow\n']
      .map(packetLine)
      .concat(Buffer.from('0000')),
  );
  const answer = Buffer.concat([
    packetLine('packfile\n'),
    packetLine(`\u0001${'PACK'.repeat(20)}`),
    packetLine('\u0002remark\n'),
    Buffer.from('0000'),
  ]);

  it('breaks nothing with any advertisement or framing', async () => {
    await forAllAsyncOf(
      1_500,
      fc.oneof(damaged(advertisement), damaged(answer), fc.uint8Array({ maxLength: 200 }).map(Buffer.from)),
      async (bytes) => {
        await survives(() => readAdvertisement(bytes, asIs));
        await survives(() => readSideBand(readPackets(bytes), asIs));
      },
    );
  });

  it('breaks nothing with any pack, its checksum being right', async () => {
    let taken = 0;
    await forAllAsyncOf(400, damaged(PACK).map(withRightSum), async (pack) => {
      const scanned = await survives(() => scanPack(pack, LIMITS));
      if (scanned instanceof GitopsError) return;
      taken += 1;
      const store = createObjectStore();
      const oids = await survives(() => store.addPack(pack));
      if (oids instanceof GitopsError) return;
      for (const oid of oids)
        for (const type of ['commit', 'tree', 'blob'] as const) await survives(() => store.read(oid, type));
    });
    assert.ok(taken > 0, 'no damage got past the first check');
  });

  it('breaks nothing with any commit or tree', async () => {
    await forAllAsyncOf(1_500, damaged(COMMIT), damaged(TREE), async (commit, tree) => {
      const parsed = await survives(() => parseCommit(OID, commit));
      if (!(parsed instanceof GitopsError)) {
        assert.ok(parsed.subject.length <= 200);
        assert.doesNotMatch(parsed.subject, /\p{Cc}/u);
      }
      await survives(() => parseTree(OID, tree));
    });
  });
});

describe('a hostile commit', () => {
  const SEEDS = [
    '&a [*a, *a]',
    '{<<: {a: 1}}',
    '__proto__: {polluted: true}',
    '? [a]\n: b',
    '!!js/function x',
    '- '.repeat(500),
    '&',
    '"\\uD800"',
    '\u0000',
  ];

  it('makes findings, and nothing else, of whatever stands in its files', async () => {
    const files = await templateFiles();
    const paths = Object.keys(files).filter((path) => path.endsWith('.yaml'));
    const file = fc.constantFrom(...paths).chain((path) =>
      fc
        .oneof(
          damaged(Buffer.from(files[path] ?? '')),
          fc.constantFrom(...SEEDS).map(Buffer.from),
          fc.tuple(fc.constantFrom(...SEEDS), fc.nat(400)).map(([seed, at]) => {
            const text = files[path] ?? '';
            return Buffer.from(`${text.slice(0, at)}${seed}${text.slice(at)}`);
          }),
        )
        .map((bytes) => ({ path, bytes })),
    );
    await forAllAsyncOf(150, fc.array(file, { minLength: 1, maxLength: 3 }), async (changed) => {
      const all = new Map<string, Uint8Array>(paths.map((path) => [path, Buffer.from(files[path] ?? '')]));
      for (const { path, bytes } of changed) all.set(path, bytes);
      const repo = new Map([...all].map(([path, bytes]) => [path, { path, oid: path, bytes }]));
      const loaded = await survives(() => loadRepo(repo, { cluster: 'demo' }));
      assert.ok(!(loaded instanceof GitopsError));
      // A pool is either whole or says where it is not.
      for (const pool of loaded.pools) if (pool.status === 'invalid') assert.notEqual(pool.findings.length, 0);
    });
  });

  it('and notes or records that somebody else wrote are read or passed over', async () => {
    const note = Buffer.from(
      'demo: settled\n\nPOOL NODES\n\n```json\n{"schema":"kubelet-gitops.dev/note/v1","cluster":"demo"}\n```\n',
    );
    await forAllAsyncOf(
      1_500,
      fc.oneof(damaged(note), damaged(Buffer.from(`[{"oid":"${OID}","at":"2026-11-21T00:00:00Z"}]`))),
      async (bytes) => {
        await survives(() => readNote(bytes.toString('utf8')));
        await survives(() => readHistory(bytes.toString('utf8')));
      },
    );
  });
});
