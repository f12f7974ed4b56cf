import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { NO_COUNTS } from '#agent/metrics/trial-counts.ts';
import { familiesOf } from '#agent/metrics/families.ts';
import { INITIAL_STATE } from '#agent/decide/state.ts';
import { createMetrics } from '#reconciler/reporting/metrics/metrics.ts';
import { systemClock } from '#shared/runtime/clock.ts';

const PAGE = readFileSync('docs/metrics.md', 'utf8');

/** `name type` of every line of the list below a heading. */
function explained(heading: string): readonly string[] {
  const section = PAGE.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^- `([a-z_]+)` \((gauge|counter|histogram)\): ./gm)].map(
    ([, name, type]) => `${name} ${type}`,
  );
}

const typesIn = (text: string, prefix: string): readonly string[] =>
  [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)]
    .map(([, name = '', type = '']) => `${name.replace(prefix, '')} ${type}`)
    .toSorted();

describe('the page about metrics', () => {
  it('explains what the reconciler serves, and nothing else', async () => {
    const text = await createMetrics({ clock: systemClock, ofProcess: false }).text();
    assert.deepEqual(explained('Reconciler').toSorted(), typesIn(text, 'kubelet_gitops_'));
  });

  it('explains what the agent serves, and nothing else', () => {
    const families = familiesOf({ state: INITIAL_STATE, status: undefined, counts: NO_COUNTS, version: '1' });
    const served = families.map(({ name, type }) => `${name.replace('kubelet_gitops_node_', '')} ${type}`);
    assert.deepEqual(explained('Agent').toSorted(), served.toSorted());
  });
});

it('the page about Events explains every reason that the source knows, and nothing else', () => {
  const source = readFileSync('reconciler/reporting/events/cluster-event.ts', 'utf8');
  const union = source.slice(source.indexOf('type EventReason ='), source.indexOf('export interface EventSubject'));
  const known = [...union.matchAll(/\| '(\w+)'/g)].map(([, reason = '']) => reason);
  const page = readFileSync('docs/events.md', 'utf8').split(/^## Events/m)[1] ?? '';
  const shown = [...page.matchAll(/^- `(\w+)` \((?:Normal|Warning)\), ./gm)].map(([, reason = '']) => reason);
  assert.deepEqual(shown, known);
});
