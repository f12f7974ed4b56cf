import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { SETTINGS } from '#cli/doctor/installation.generated.ts';

const PAGE = 'docs/reference/settings.md';
const PROGRAMS = [
  { program: 'Reconciler', source: 'reconciler/settings.ts' },
  { program: 'Agent', source: 'agent/settings.ts' },
];

/** Names that the program asks its environment for. */
function readIn(source: string): readonly string[] {
  const asked = /\b(?:text|optional|duration|oneOf|integer|path)\(\s*(?:read,\s*)?'([A-Z][A-Z0-9_]+)'/g;
  const text = readFileSync(source, 'utf8');
  const more = text.includes('readProxySettings(read') ? readFileSync('shared/http/proxy.ts', 'utf8') : '';
  const found = [...text.matchAll(asked), ...more.matchAll(/: (?:address|either)\('([A-Z_]+)'\)/g)];
  return [...new Set(found.map(([, name = '']) => name))].sort();
}

/** Names at the beginning of the lines under the program's heading. */
function explainedFor(program: string): readonly string[] {
  const sections = readFileSync(PAGE, 'utf8').split(/^## /m);
  const section = sections.find((text) => text.startsWith(`${program}\n`)) ?? '';
  return [...section.matchAll(/^- `([A-Z0-9_]+)`(?: \(.+?\))?: \S/gm)].map(([, name = '']) => name).sort();
}

describe('the page about settings', () => {
  for (const { program, source } of PROGRAMS) {
    it(`lists what the ${program.toLowerCase()} reads, and nothing else`, () => {
      const names = readIn(source);
      assert.ok(names.length > 3, `found only ${names.length} names in ${source}`);
      assert.deepEqual(explainedFor(program), names);
    });
  }

  it('is where doctor and support-bundle know every setting from', () => {
    const names = PROGRAMS.flatMap(({ source }) => readIn(source));
    assert.deepEqual([...SETTINGS].sort(), [...new Set(names)].sort());
  });
});
