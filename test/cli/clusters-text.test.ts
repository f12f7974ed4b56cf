import assert from 'node:assert/strict';
import { it } from 'node:test';
import { clustersAsText } from '#cli/clusters-text.ts';
import type { ClusterCell, ClusterPicture } from '#reconciler/policy/following/cluster-picture.ts';
import { NOW } from '../support/fleet.ts';

const said = (note: string): ClusterCell => ({ is: 'said', note, since: NOW - 3_600_000 });
const picture = (clusters: readonly string[]): ClusterPicture => ({
  clusters,
  rows: [
    {
      oid: 'b'.repeat(40),
      subject: 'Limit the files that a pod may open',
      cells: new Map([['staging', said('halted')]]),
    },
    {
      oid: 'a'.repeat(40),
      subject: 'Begin',
      cells: new Map(clusters.map((name) => [name, name === 'staging' ? said('settled') : said('progressing')])),
    },
  ],
});
const TWO = picture(['production', 'staging']);

it('is a table, with subjects below their rows where a terminal has no room for them', () => {
  const wide = clustersAsText(TWO, NOW);
  assert.equal(wide[0], 'COMMIT        PRODUCTION      STAGING     SUBJECT');
  assert.equal(wide.length, 3);
  assert.deepEqual(clustersAsText(TWO, NOW, 60), [
    'COMMIT        PRODUCTION      STAGING',
    'bbbbbbbbbbbb                  halted 1h',
    '  Limit the files that a pod may open',
    'aaaaaaaaaaaa  progressing 1h  settled 1h',
    '  Begin',
  ]);
});

it('says once what many clusters say where a terminal has no room for their columns', () => {
  const many = picture(['staging', ...Array.from({ length: 50 }, (_, index) => `production-${index}`)]);
  const lines = clustersAsText(many, NOW, 80);
  assert.deepEqual(lines.slice(0, 4), [
    'bbbbbbbbbbbb  Limit the files that a pod may open',
    '  halted 1h: staging',
    'aaaaaaaaaaaa  Begin',
    '  settled 1h: staging',
  ]);
  assert.match(lines[4] ?? '', /^ {2}progressing 1h: production-0, production-1, .*, production-49$/);
  assert.equal(lines.length, 5);
});
