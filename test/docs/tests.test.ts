import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const PAGE = readFileSync('test/README.md', 'utf8');

describe('the page about the tests', () => {
  it('names every suite', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object };
    const suites = Object.keys(scripts).filter((name) => /^test\b/.test(name));
    assert.ok(suites.length >= 5);
    assert.deepEqual(
      suites.filter((name) => !PAGE.includes(name === 'test' ? '`npm test`' : `\`npm run ${name}\``)),
      [],
    );
  });

  it('names every folder that mirrors none of the source', () => {
    const own = globSync('test/*/').map((folder) => folder.replace(/^test\/|\/$/g, ''));
    assert.ok(own.length > 10);
    assert.deepEqual(
      own.filter((folder) => !existsSync(folder) && folder !== 'support' && !PAGE.includes(`\`${folder}\``)),
      [],
    );
  });

  it('names every clock and every way to wait that tests share', () => {
    const shared = globSync('test/support/{*clock*,until}.ts').map((file) => file.replace('test/', ''));
    assert.ok(shared.length >= 3);
    assert.deepEqual(
      shared.filter((file) => !PAGE.includes(`(${file})`)),
      [],
    );
  });
});
