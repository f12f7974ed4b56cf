import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readRules, rulesRequestFor } from '#reconciler/cluster/blockers/alert-rules.ts';
import { NOT_BLOCKED } from '#reconciler/policy/pool-blockers.ts';

const spec = (...alerts: readonly string[]) => ({ url: 'http://prometheus:9090/base/', alerts });
const answer = (...names: readonly string[]): string =>
  JSON.stringify({ status: 'success', data: { groups: [{ rules: names.map((name) => ({ name })) }] } });

describe('alerts that have to be quiet', () => {
  it('are asked for by name', () => {
    const url = rulesRequestFor(spec('A', 'B'));
    assert.equal(url.pathname, '/base/api/v1/rules');
    assert.deepEqual(
      [...url.searchParams],
      [
        ['type', 'alert'],
        ['exclude_alerts', 'true'],
        ['rule_name[]', 'A'],
        ['rule_name[]', 'B'],
      ],
    );
  });

  it('hold nothing up where there is a rule for each', () => {
    assert.deepEqual(readRules(spec('A', 'B'), 200, answer('B', 'A', 'C')), NOT_BLOCKED);
  });

  it('hold up where there is none: the first three are named', () => {
    const why = (...alerts: readonly string[]): string | undefined =>
      /for the alert (.*), which can never/.exec(JSON.stringify(readRules(spec(...alerts), 200, answer('A'))))?.[1];
    assert.equal(why('A', 'B'), 'B');
    assert.equal(why('B', 'C', 'D'), 'B, C, D');
    assert.equal(why('B', 'C', 'D', 'E', 'F'), 'B, C, D and 2 more');
  });

  it('hold up where nobody can say whether there is', () => {
    for (const [status, text] of [
      [500, ''],
      [200, '{'],
      [200, '{"status":"error","error":"x"}'],
      [200, '{"status":"success","data":{"groups":[null,{"rules":7},{"rules":[null,{"name":7}]}]}}'],
    ] as const) {
      assert.notDeepEqual(readRules(spec('A'), status, text), NOT_BLOCKED);
    }
  });
});
