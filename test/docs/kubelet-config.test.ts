import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { gateNames } from '#shared/contract/kubelet-config/feature-gates/feature-gates.ts';
import { DENIED_BY_DEFAULT } from '#shared/contract/kubelet-config/field-policy.ts';
import { FLAGS } from '#shared/contract/kubelet-config/fields/flags.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { meaningOf } from '../../scripts/generate/field-meanings/meanings.ts';
import { generateKubeletConfigPage } from '../../scripts/generate/kubelet-config-page.ts';

const PAGE = 'docs/reference/kubelet-config.md';
const text = readFileSync(PAGE, 'utf8');
const rows = text.split('\n').filter((line) => line.startsWith('| `'));
const rowOf = (name: string): readonly string[] =>
  (rows.find((line) => line.startsWith(`| \`${name}\` |`)) ?? '').split(' | ').map((cell) => cell.replaceAll('`', ''));

describe('the reference of fields and gates', () => {
  it('is what the tables make it', () => {
    assert.deepEqual([...generateKubeletConfigPage()], [[PAGE, text]], 'run npm run generate');
  });

  it('has one row for every field and every gate', () => {
    const names = rows.map((line) => /^\| `([^`]+)`/.exec(line)?.[1] ?? '');
    assert.deepEqual([...names].sort(), [...FIELDS.keys(), ...gateNames()].sort());
  });

  it('says what each field means, before what a change of it costs', () => {
    for (const path of FIELDS.keys()) assert.equal(rowOf(path)[1], meaningOf(path), path);
  });

  it('tells defaults and values by version', () => {
    assert.equal(rowOf('kubeAPIQPS')[3], '5 before 1.27; 50');
    assert.match(
      rowOf('memorySwap.swapBehavior')[2] ?? '',
      /LimitedSwap, UnlimitedSwap before 1\.30; LimitedSwap, NoSwap/,
    );
    assert.equal(rowOf('failCgroupV1')[4], '1.31 on');
    assert.equal(rowOf('logging.sanitization')[4], 'up to 1.23');
    assert.match(rowOf('iptablesDropBit')[7] ?? '', /ignored from 1\.28 on/);
  });

  it('marks what is denied by default, and names the flags of fields that there are', () => {
    for (const name of Object.keys(DENIED_BY_DEFAULT)) assert.match(rowOf(name)[7] ?? '', /\*\*denied\*\*/, name);
    assert.match(rowOf('authentication.webhook.enabled')[7] ?? '', /\*\*denied\*\*/);
    assert.doesNotMatch(rowOf('maxPods')[7] ?? '', /denied/);
    assert.equal(rowOf('podPidsLimit')[6], '--pod-max-pids');
    assert.deepEqual(
      Object.keys(FLAGS).filter((path) => !FIELDS.has(path)),
      [],
    );
    assert.equal(new Set(Object.values(FLAGS)).size, Object.keys(FLAGS).length);
  });
});
