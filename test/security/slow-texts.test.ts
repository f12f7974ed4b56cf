import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { redact } from '#shared/runtime/redact.ts';
import { parseCommit } from '#reconciler/git/objects/parse-commit.ts';
import { mergeBases } from '#reconciler/git/merge-verification/commit-graph.ts';
import { DEFAULT_GIT_LIMITS } from '#reconciler/git/git-limits.ts';
import { plainLine } from '#reconciler/git/plain-text.ts';
import { createGreetingReader } from '#reconciler/git/ssh/greeting.ts';
import { splitCommit } from '#reconciler/git/trust/signed-commit.ts';
import { readSshSignature } from '#reconciler/git/trust/sshsig.ts';
import { pushError } from '#reconciler/git/notes/push-refusal.ts';
import { loadRepo } from '#reconciler/policy/config-repo/load-repo.ts';
import { committedAtOf } from '#reconciler/reporting/metrics/rollout-times.ts';
import { templateFiles } from '#sandbox/demo/template-repository.ts';
import { parseCpus } from '#shared/contract/kubelet-config/syntax/cpu-set.ts';
import { parseGoDuration } from '#shared/contract/kubelet-config/syntax/go-duration.ts';
import { imagePatternFault } from '#shared/contract/kubelet-config/syntax/image-pattern.ts';
import { parsePercentage } from '#shared/contract/kubelet-config/syntax/percentage.ts';
import { parseQuantity } from '#shared/contract/kubelet-config/syntax/quantity.ts';
import { linesOf } from '#shared/kube/response-body.ts';
import { CONFIG_MAPS } from '#shared/kube/kube.ts';
import { parseDuration } from '#shared/runtime/duration.ts';
import { certificatesIn } from '#shared/runtime/pem.ts';
import { sanitizeText } from '#shared/runtime/sanitize.ts';
import { survives } from './support/hostile.ts';

/** As long as a file, or an object of git, may be. */
const FILE = 250_000;
const OBJECT = 1_000_000;
const OID = 'a'.repeat(40);

const commitWith = (author: string): Buffer =>
  Buffer.from(`tree ${OID}\nauthor ${author}\ncommitter ${author}\n\nhi\n`);

/** Texts that made a reader go over them again and again, or would have. */
const TEXTS: readonly string[] = [
  ...[
    '1',
    '<',
    '> ',
    ' ',
    '\n',
    '%',
    ':',
    '/',
    '@',
    '=',
    ',',
    '-',
    '.',
    'a',
    '"',
    "'",
    '\\',
    '(',
    '[',
    'http://',
    '\uFFFD',
  ].map((part) => `${part.repeat(FILE / part.length)}x`),
  'a:'.repeat(FILE / 2),
  '1h'.repeat(FILE / 2),
  '1.1'.repeat(FILE / 3),
  '1e'.repeat(FILE / 2),
  '0-99999,'.repeat(FILE / 8),
  '0-65535,'.repeat(FILE / 8) + '1',
  `${'%'.repeat(FILE)}x%`,
  'password:'.repeat(FILE / 9),
  'Bearer '.repeat(FILE / 7),
  'eyJy'.repeat(FILE / 4),
  '-----BEGIN CERTIFICATE-----'.repeat(FILE / 27),
  '-----BEGIN RSA PRIVATE KEY-----'.repeat(FILE / 31),
  'error: cannot lock ref '.repeat(FILE / 23),
  'load key no host key '.repeat(FILE / 21),
  'kind: '.repeat(FILE / 6),
  `-----BEGIN SSH SIGNATURE-----\n${'\n'.repeat(FILE)}-----END SSH SIGNATURE----`,
];

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'a duration of Go': parseGoDuration,
  'a duration of ours': parseDuration,
  'a list of CPUs': (text) => parseCpus(text),
  'a careless list of CPUs': (text) => parseCpus(text, true),
  'a quantity': parseQuantity,
  'a percentage': parsePercentage,
  'an image': imagePatternFault,
  'a name in a log': (text) => plainLine(text, 100),
  'a sentence with addresses': sanitizeText,
  'a log of a support bundle': redact,
  certificates: certificatesIn,
  'the words of a server that refuses a push': (text) => pushError({ ref: 'r', reason: text, remarks: text }),
  'a signature': (text) => {
    try {
      return readSshSignature(text);
    } catch {
      return undefined;
    }
  },
};

describe('a text that is as long as may be takes no long time as', () => {
  for (const [what, read] of Object.entries(READERS)) {
    it(what, async () => {
      await survives(() => TEXTS.map(read));
    });
  }

  it('the author of a commit', async () => {
    for (const part of ['<', '> 1', '<a@a> ', ' ', '1']) {
      const raw = commitWith(part.repeat(OBJECT / part.length));
      await survives(() => [parseCommit(OID, raw), splitCommit(raw), committedAtOf({ raw })]);
    }
  });

  it('the greeting of a git server over SSH, in however small pieces it comes', async () => {
    const most = DEFAULT_GIT_LIMITS.advertisementBytes;
    const piece = Buffer.from('0004'.repeat(256));
    await survives(() => {
      const greeting = createGreetingReader(most);
      const ends = Array.from({ length: most / piece.length }, () => greeting.push(piece));
      return [...new Set(ends)];
    });
  });

  it('a line of the API server, in however small pieces it comes', async () => {
    const piece = Buffer.from('a'.repeat(16));
    async function* pieces(): AsyncGenerator<Buffer> {
      for (let at = 0; at < OBJECT / 4; at += 1) yield await Promise.resolve(piece);
    }
    const call = { verb: 'watch', resource: CONFIG_MAPS } as const;
    await survives(async () => {
      for await (const line of linesOf(call, pieces(), Infinity)) if (line.length < OBJECT) throw new Error('cut');
    });
  });

  it('the history that merges bring, however it is knotted', async () => {
    // Commits of both sides, each met before those that are newer.
    const half = 1_000;
    const name = (kind: string, at: number): string => `${kind}${at}`;
    const commit = (oid: string, parents: readonly string[]) =>
      [oid, { oid, parents, tree: OID, raw: Buffer.alloc(0) }] as const;
    const graph = new Map([
      ...Array.from({ length: half }, (_, at) => commit(name('common', at), at === 0 ? [] : [name('common', at - 1)])),
      ...Array.from({ length: half }, (_, at) =>
        commit(name('side', at), [name('side', at + 1), name('common', at)].slice(at === half - 1 ? 1 : 0)),
      ),
    ]);
    await survives(() => {
      for (let merges = 0; merges < 200; merges += 1)
        assert.deepEqual(mergeBases(graph, 'side0', name('common', half - 1)), [name('common', half - 1)]);
    });
  });

  it('a number that the next one cannot be told from', async () => {
    await survives(() => parseCpus('9223372036854775807,9223372036854775806'));
  });

  it('a value of any field', async () => {
    const template = await templateFiles();
    const path = 'pools/general/kubelet.yaml';
    for (const text of TEXTS) {
      const value = JSON.stringify(text.slice(0, FILE / 8));
      const fields = [
        'syncFrequency',
        'reservedSystemCPUs',
        'containerLogMaxSize',
        'tracing: {endpoint',
        'clusterDomain',
      ]
        .map((field) => `${field}: ${value}${field.includes('{') ? '}' : ''}`)
        .concat(`evictionHard: {memory.available: ${value}}`, `preloadedImagesVerificationAllowlist: [${value}]`);
      const kubelet = `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n${fields.join('\n')}\n`;
      const files = Object.entries({ ...template, [path]: kubelet });
      const repo = new Map(
        files.map(([name, content]) => [name, { path: name, oid: name, bytes: Buffer.from(content) }]),
      );
      await survives(() => loadRepo(repo, { cluster: 'demo' }));
    }
  });
});
