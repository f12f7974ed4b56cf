import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';

const OLDEST = minorName(OLDEST_MINOR);
const RANGE = `${OLDEST} to ${minorName(NEWEST_MINOR)}`;
const PAGES = ['README.md', 'CHANGELOG.md', 'docs/install.md', 'docs/tested.md', 'docs/reference/pool.md'];

/** The changelog says what releases of the past had, and Dynamic Kubelet Configuration ended with 1.23. */
const OF_THE_PAST = ['CHANGELOG.md', 'docs/migrate-from-dynamic-kubelet-config.md'];

const rangesIn = (page: string): readonly string[] =>
  readFileSync(page, 'utf8').match(new RegExp(String.raw`\b${OLDEST.replace('.', '\\.')} to 1\.\d+`, 'g')) ?? [];

describe('the versions of kubelets that are supported', () => {
  for (const page of PAGES) {
    it(`${page}: are ${RANGE}, as the tables know them`, () => assert.ok(rangesIn(page).includes(RANGE)));
  }

  it('are the same on every other page that names them', () => {
    const pages = globSync(['*.md', 'docs/**/*.md', 'config-repo-template/**/*.md']).filter(
      (page) => !OF_THE_PAST.includes(page),
    );
    assert.ok(pages.length > 40, `${pages.length} pages`);
    const wrong = pages.flatMap((page) =>
      rangesIn(page)
        .filter((range) => range !== RANGE)
        .map((range) => `${page}: ${range}`),
    );
    assert.deepEqual(wrong, []);
  });

  it('end with the one that is linked into the program that plays distributions', () => {
    const modulesOf = (folder: string): string =>
      readFileSync(`test/support/go-programs/${folder}/go.mod`, 'utf8').replace(/^[\s\S]*?\n(?=require)/, '');
    assert.equal(modulesOf('kubelet-starter'), modulesOf(`kubernetes-${minorName(NEWEST_MINOR)}`));
  });
});
