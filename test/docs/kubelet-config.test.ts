import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { COST_WORDS } from '#cli/plan/render/plan-lines.ts';
import { DENIED_BY_DEFAULT } from '#shared/contract/kubelet-config/field-policy.ts';
import { FLAGS } from '#shared/contract/kubelet-config/fields/flags.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import type { ChangeCost } from '#shared/contract/kubelet-config/fields/field.ts';
import { RISK_NOTES, type RiskNote } from '#shared/contract/kubelet-config/fields/risk-notes.ts';
import { generateKubeletConfigPage } from '../../scripts/generate/kubelet-config-page.ts';

const PAGE = 'docs/reference/kubelet-config.md';
const text = readFileSync(PAGE, 'utf8');
const [, legend = '', tables = ''] = /^([\s\S]*?)^(## [\s\S]*)$/m.exec(text) ?? [];
const lines = tables.split('\n').filter((line) => line.startsWith('- `'));

/** What the line of a field says: what it means, what it takes, what else counts. */
const partsOf = (name: string): readonly string[] =>
  (lines.find((line) => line.startsWith(`- \`${name}\`: `)) ?? '').slice(`- \`${name}\`: `.length).split('. ');

/** The words at the end of its line, and those of the maps that it is in. */
const notesOn = (name: string): readonly string[] => [
  ...(partsOf(name)[2] ?? '').replaceAll('`', '').split(' '),
  ...[...FIELDS.keys()]
    .filter((outer) => name.startsWith(`${outer}.`) || name.startsWith(`${outer}[].`))
    .flatMap((outer) => (partsOf(outer)[2] ?? '').replaceAll('`', '').split(' ')),
];

describe('the reference of fields', () => {
  it('is what the tables make it', () => {
    assert.deepEqual([...generateKubeletConfigPage()], [[PAGE, text]], 'run npm run generate');
  });

  it('has one line for every field, and no others', () => {
    const names = lines.map((line) => /^- `([^`]+)`: /.exec(line)?.[1] ?? '');
    assert.deepEqual([...names].sort(), [...FIELDS.keys()].sort());
    for (const path of FIELDS.keys()) assert.ok([2, 3].includes(partsOf(path).length), path);
  });

  it('says what a change costs and risks by words that it explains above the lists', () => {
    for (const [path, { cost = 'restart', note }] of FIELDS) {
      const words = [cost, note ?? 'restart'].filter((word) => word !== 'restart');
      for (const word of words) {
        assert.ok(notesOn(path).includes(word), `${path}: ${word}`);
        const meaning = COST_WORDS[word as ChangeCost] ?? RISK_NOTES[word as RiskNote].means;
        assert.ok(legend.includes(`\n| \`${word}\` | ${meaning} `), word);
      }
    }
  });

  it('marks what is denied by default, and names the flags of fields that there are', () => {
    for (const name of Object.keys(DENIED_BY_DEFAULT)) assert.ok(notesOn(name).includes('**denied**'), name);
    assert.deepEqual(
      Object.keys(FLAGS).filter((path) => !FIELDS.has(path)),
      [],
    );
    assert.equal(new Set(Object.values(FLAGS)).size, Object.keys(FLAGS).length);
  });
});
