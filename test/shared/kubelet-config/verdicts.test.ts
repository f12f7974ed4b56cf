import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { decodeKubeletConfig } from '#shared/contract/kubelet-config/decode.ts';
import { validateKubeletConfig } from '#shared/contract/kubelet-config/validate.ts';

/**
 * Compares this validator with what real kubelets said of many files. `KUBELET_VERDICTS` is the path of a file with one
 * JSON object a line: `text` (or `b64`), and `kubelet`: version → `ok`, `lenient` (started, but dropped or doubled
 * something), `reject:STAGE`; `+late` behind ok or lenient: refused at start, known for some versions only.
 */
interface Verdict {
  readonly id: string;
  readonly mutation: string;
  readonly text?: string;
  readonly b64?: string;
  readonly kubelet: Readonly<Record<string, string>>;
}

type Outcome =
  | 'accepted'
  | 'refused'
  | 'refused, kubelet drops it'
  | 'accepted, kubelet drops it'
  | 'stricter on purpose'
  | 'lateness unknown'
  | 'FALSE ACCEPT'
  | 'FALSE REFUSAL';

const LATE_KNOWN = new Set(['1.20', '1.24', '1.30', '1.32', '1.34', '1.36']);

/** Refused here although the kubelet goes on, because it does so in a way that a person does not expect. */
const ON_PURPOSE = new Set([
  'yaml-ambiguous',
  'yaml-tag',
  'several-documents',
  'not-utf8',
  'duplicate-key',
  'wrong-case',
  'unknown-field',
  'json-number',
  'too-deep',
  'yaml-alias',
]);

const path = process.env['KUBELET_VERDICTS'];

describe('real kubelets', { skip: path === undefined ? 'KUBELET_VERDICTS names no file of verdicts' : false }, () => {
  it('accept what is accepted here, and refuse what is refused', (t: TestContext) => {
    const lines = readFileSync(path ?? '', 'utf8')
      .trim()
      .split('\n');
    const counts = new Map<string, Map<Outcome, number>>();
    const falsehoods: string[] = [];
    for (const line of lines) {
      const verdict = JSON.parse(line) as Verdict;
      for (const [minor, outcome] of outcomes(verdict)) {
        const row = counts.get(minor) ?? new Map<Outcome, number>();
        counts.set(minor, row.set(outcome, (row.get(outcome) ?? 0) + 1));
        if (outcome.startsWith('FALSE')) falsehoods.push(`${outcome} ${minor} ${verdict.id} ${verdict.mutation}`);
      }
    }
    for (const [minor, row] of counts)
      t.diagnostic(`${minor}: ${[...row].map(([name, count]) => `${name} ${count}`).join(', ')}`);
    for (const falsehood of falsehoods) t.diagnostic(falsehood);
    assert.deepEqual(
      falsehoods.filter((text) => text.startsWith('FALSE ACCEPT')),
      [],
    );
  });
});

function* outcomes({ text = '', b64, kubelet }: Verdict): Generator<readonly [string, Outcome]> {
  const bytes = b64 === undefined ? Buffer.from(text, 'utf8') : Buffer.from(b64, 'base64');
  const { value, findings, positionOf } = decodeKubeletConfig(bytes, 'verdict');
  const isLateSomewhere = Object.values(kubelet).some((said) => said.endsWith('+late'));
  for (const [minor, said] of Object.entries(kubelet)) {
    const judged = value === undefined ? [] : validateKubeletConfig(value, { minor, positionOf });
    const errors = [...findings, ...judged].filter(({ severity }) => severity === 'error');
    const onPurpose = errors.every(({ code }) => ON_PURPOSE.has(code));
    yield [minor, compare(said, errors.length > 0, onPurpose, isLateSomewhere && !LATE_KNOWN.has(minor))];
  }
}

function compare(said: string, isRefused: boolean, onPurpose: boolean, lateUnknown: boolean): Outcome {
  const drops = said.startsWith('lenient');
  if (said.startsWith('reject') || said.endsWith('+late')) return isRefused ? 'refused' : 'FALSE ACCEPT';
  if (!isRefused) return drops ? 'accepted, kubelet drops it' : 'accepted';
  if (onPurpose) return drops ? 'refused, kubelet drops it' : 'stricter on purpose';
  return lateUnknown ? 'lateness unknown' : 'FALSE REFUSAL';
}
