import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { validateConfigFile } from '#cli/validate/validate-file.ts';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { byVersion } from './support/cases-by-version.ts';
import { confusionMatrix, type RealVerdict } from './support/confusion-matrix.ts';

/**
 * Compares what `validate` says of files with what real kubelets make of them. Their word is `ok` (taken strictly),
 * `lenient` (started, but something was dropped or doubled), `reject` (does not start: load, gates, validation) or
 * `late` (refused at start, of the config alone).
 */
const HEADER = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';

function judge(bytes: Uint8Array, minors: readonly string[]) {
  return validateConfigFile('f', bytes, minors).verdicts;
}

const linesOf = (fixture: string): readonly string[] =>
  readFileSync(new URL(`fixtures/${fixture}.ndjson`, import.meta.url), 'utf8')
    .trim()
    .split('\n');

describe('verdicts', () => {
  it('are those of kubelet 1.20.2 on files with everything odd that YAML, JSON and fields can have', (t: TestContext) => {
    const matrix = confusionMatrix();
    for (const line of linesOf('kubelet-1.20')) {
      // `@` stands for the two type fields; bytes that are no text are in base64.
      const [said, text, base64] = JSON.parse(line) as [RealVerdict, string, string?];
      const bytes = Buffer.from(base64 ?? text.replace(/^@/, HEADER), base64 === undefined ? 'utf8' : 'base64');
      matrix.add(said, judge(bytes, ['1.20'])['1.20'], line);
    }
    matrix.print(t);
    assert.deepEqual(matrix.wrong, []);
  });

  it('change with the version as the kubelet does', (t: TestContext) => {
    const matrix = confusionMatrix();
    for (const { text, said } of byVersion()) {
      const minors = Object.keys(said);
      const got = judge(Buffer.from(text.replace(/^@/, HEADER)), minors);
      for (const minor of minors) matrix.add(said[minor] ?? 'ok', got[minor], `${minor} ${text}`);
    }
    matrix.print(t);
    assert.deepEqual(matrix.wrong, []);
  });

  it('are right at the edges of bounds, parsers and rules', (t: TestContext) => {
    const matrix = confusionMatrix();
    // Written from the sources; `reject` stands for lenient and late as well.
    for (const line of linesOf('edges')) {
      const [minor, said, text] = JSON.parse(line) as [string, RealVerdict, string];
      matrix.add(said, judge(Buffer.from(text.replace(/^@/, HEADER)), [minor])[minor], `${minor} ${text}`);
    }
    matrix.print(t);
    assert.deepEqual(matrix.wrong, []);
  });
});

describe('a number that only JSON makes a fraction', () => {
  const text =
    '{"apiVersion":"kubelet.config.k8s.io/v1beta1","kind":"KubeletConfiguration","maxParallelImagePulls":5.0,"maxPods":1e2}';
  const found = (...minors: readonly string[]): readonly string[] =>
    validateConfigFile('f', Buffer.from(text), minors)
      .findings.filter(({ code }) => code === 'json-number')
      .map(({ field, versions }) => [field, ...(versions ?? [])].join(' '));

  it('is nothing to a kubelet that drops the field', () => {
    assert.deepEqual(found('1.26'), ['maxPods']);
    assert.deepEqual(found('1.27'), ['maxParallelImagePulls', 'maxPods']);
    assert.deepEqual(found('1.26', '1.27'), ['maxParallelImagePulls 1.27', 'maxPods']);
  });
});

/** The path of a file with one JSON object a line: `id`, `text` (or `b64`), and `kubelet`: version → its word. */
const path = process.env['KUBELET_VERDICTS'];

interface Recorded {
  readonly id: string;
  readonly text?: string;
  readonly b64?: string;
  readonly kubelet: Readonly<Record<string, string>>;
}

/** Versions whose start was watched. For the others, `ok` may hide a refusal at start. */
const WATCHED = new Set(['1.20', '1.24', '1.30', '1.32', '1.34', '1.36']);

/** Where this validator is right and the record is not the whole truth. */
const EXPLAINED: Readonly<Record<string, string>> = {
  '1.22 c2909':
    '1.22 refuses cpuManagerPolicyOptions at start while CPUManagerPolicyOptions is off; its start was not watched',
  ...Object.fromEntries(
    ['1.26', '1.27'].map((minor) => [
      `${minor} c1327`,
      'server.go of 1.26.15 and 1.27.16 refuses even empty topologyManagerPolicyOptions at start while their gate is off; no start of these was watched',
    ]),
  ),
  '1.26 c3016': 'CSIMigration is locked to true in 1.25 and 1.26, as the code of 1.25.16 and 1.26.15 says',
  ...Object.fromEntries(
    ['1.33', '1.34', '1.35'].flatMap((minor) =>
      ['c1350', 'c1352', 'c1358'].map((id) => [
        `${minor} ${id}`,
        'NodeLogQuery is off by default until 1.36, as the code of 1.33.6, 1.33.13, 1.34.0 to 1.34.4 and 1.35.4 says',
      ]),
    ),
  ),
};

describeOrSkip(
  'recorded kubelets',
  { skip: path === undefined ? 'KUBELET_VERDICTS names no file of verdicts' : false },
  () => {
    it('accept what is accepted here, and refuse what is refused', (t: TestContext) => {
      const matrix = confusionMatrix();
      let unknown = 0;
      for (const line of readFileSync(path ?? '', 'utf8')
        .trim()
        .split('\n')) {
        const { id, text = '', b64, kubelet } = JSON.parse(line) as Recorded;
        const bytes = b64 === undefined ? Buffer.from(text) : Buffer.from(b64, 'base64');
        const minors = Object.keys(kubelet);
        const got = judge(bytes, minors);
        const isLateSomewhere = Object.values(kubelet).some((said) => said.endsWith('+late'));
        for (const minor of minors) {
          const said = wordOf(kubelet[minor] ?? '');
          const mayHide = said === 'ok' && isLateSomewhere && !WATCHED.has(minor) && got[minor] === 'reject';
          if (mayHide) unknown += 1;
          else if (`${minor} ${id}` in EXPLAINED && got[minor] === 'reject')
            t.diagnostic(`${minor} ${id}: ${EXPLAINED[`${minor} ${id}`]}`);
          else matrix.add(said, got[minor], `${minor} ${id}`);
        }
      }
      matrix.print(t);
      t.diagnostic(`ok, and refused at start where that was watched: ${unknown}`);
      assert.deepEqual(matrix.wrong, []);
    });
  },
);

function wordOf(said: string): RealVerdict {
  if (said.endsWith('+late')) return 'late';
  if (said.startsWith('reject')) return 'reject';
  return said === 'lenient' ? 'lenient' : 'ok';
}
