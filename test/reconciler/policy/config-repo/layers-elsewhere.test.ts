import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { layersElsewhere } from '#reconciler/policy/config-repo/layers-elsewhere.ts';
import { READING_LIMITS } from '#reconciler/policy/config-repo/reading-limits.ts';
import { isConfigPath } from '#reconciler/git/snapshot/config-paths.ts';

const file = (text: string) => ({ bytes: new TextEncoder().encode(text) });
const named = (text: string, path = 'pools/x/pool.yaml'): readonly string[] =>
  [...new Set([...layersElsewhere(new Map([[path, file(text)]]), isConfigPath)].flat())].sort();

describe('layers elsewhere that a pool file may name', () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'in a list on one line',
      'layers: [team/a.yaml,team/b.yml, "team/c.json"]',
      ['team/a.yaml', 'team/b.yml', 'team/c.json'],
    ],
    [
      'in a list of lines, with a comment',
      'layers:\n  - team/a.yaml # why\n-   team/b.yaml\r\n',
      ['team/a.yaml', 'team/b.yaml'],
    ],
    ['up from the pool', 'layers: [../../team/a.yaml, ../y/b.yaml]', ['team/a.yaml']],
    ['at the root', 'layers: [../../a.yaml]', ['a.yaml']],
    ['with blanks in them', "layers:\n  - our team/a b.yaml\n  - 'my/c d.yaml'", ['my/c d.yaml', 'our team/a b.yaml']],
    ['in JSON, as some write it', '{"spec":{"layers":["team\\/a.json"]}}', ['team/a.json']],
    ['in capitals', 'layers: [team/A.YAML]', ['team/A.YAML']],
    [
      'that are none',
      'layers: [/etc/a.yaml, ../../../a.yaml, base/a.yaml, kubelet.yaml, team/a.txt, https://a/b.yaml]',
      [],
    ],
  ];
  for (const [what, text, expected] of rows) it(what, () => assert.deepEqual(named(text), expected));

  it('are those of pool files alone', () => {
    assert.deepEqual(named('layers: [team/a.yaml]', 'pools/x/y/pool.yaml'), []);
    assert.deepEqual(named('layers: [team/a.yaml]', 'base/pool.yaml'), []);
  });

  it('are found within a bounded time in whatever a file may hold', () => {
    for (const unit of [',', ' ', 'a/b.yaml,', 'x', '../', '- ', '.json ', '.yaml', '{}.yml\\n']) {
      const text = unit.repeat(Math.floor((256 * 1024) / unit.length));
      const before = process.threadCpuUsage();
      named(text);
      const { user, system } = process.threadCpuUsage(before);
      assert.ok(user + system < 250_000, `${unit}: ${user + system} µs`);
    }
  });

  it('are not looked for in more than is read of pool files', () => {
    const big = file(`# ${'x'.repeat(READING_LIMITS.poolFiles)}\nlayers: [team/a.yaml]`);
    assert.deepEqual([...layersElsewhere(new Map([['pools/x/pool.yaml', big]]), isConfigPath)], []);
  });
});
