import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, it } from 'node:test';

const PAGES = globSync('**/*.md', { exclude: (path) => /(?:^|\/)(?:node_modules|dist|\.git)$/.test(path) }).sort();

/** Markdown without its code: what is in there is no link and no heading. */
function prose(page: string): string {
  return readFileSync(page, 'utf8')
    .replaceAll(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.replaceAll(/[[\]()]/g, ' '));
}

function linksOf(page: string): readonly string[] {
  const inline = [...prose(page).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target = '']) => target);
  return inline.filter((target) => !/^[a-z]+:/.test(target));
}

/** Anchors as forges make them from headings: lower case, spaces to dashes, punctuation gone; and those written out. */
function anchorsOf(page: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  const headings = readFileSync(page, 'utf8')
    .replaceAll(/^( *)(`{3,})[^\n]*\n[\s\S]*?^\1\2$/gm, '')
    .matchAll(/^#{1,6} +(.+?) *#*$/gm);
  for (const [, heading = ''] of headings) {
    const slug = heading
      .toLowerCase()
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replaceAll(/[^\p{L}\p{N}\p{M}_\- ]/gu, '')
      .replaceAll(' ', '-');
    let unique = slug;
    for (let number = 1; anchors.has(unique); number += 1) unique = `${slug}-${number}`;
    anchors.add(unique);
  }
  return anchors;
}

/** A slash at its beginning is the root of the repository, as forges have it. */
const targetOf = (page: string, path: string): string =>
  normalize(path.startsWith('/') ? path.slice(1) : join(dirname(page), path));

function whyBroken(page: string, link: string): string | undefined {
  const [path = '', anchor = ''] = link.split('#');
  const target = path === '' ? page : targetOf(page, path);
  if (target.startsWith('..') || !existsSync(target)) return `${page}: ${link}: there is no ${target}`;
  if (anchor === '') return undefined;
  if (!statSync(target).isFile() || !target.endsWith('.md')) return `${page}: ${link}: only pages have anchors`;
  return anchorsOf(target).has(anchor) ? undefined : `${page}: ${link}: ${target} has no heading for it`;
}

describe('the guide for contributors', () => {
  const words = [...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

  it('names files and folders that there are', () => {
    const folders = globSync('*/').filter((folder) => folder !== 'node_modules' && folder !== 'dist');
    const paths = words
      .flatMap((code) => code.split(' '))
      .filter((word) => folders.some((folder) => word.startsWith(`${folder}/`)));
    assert.ok(paths.length > 60, `${paths.length} paths`);
    assert.deepEqual(
      paths.filter((path) => !existsSync(path)),
      [],
    );
  });

  it('names scripts that there are', () => {
    const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly scripts: object };
    const named = words.flatMap((code) => [...code.matchAll(/npm run (\S+)/g)].map(([, run = '']) => run));
    assert.ok(named.length > 10, `${named.length} scripts`);
    assert.deepEqual(
      named.filter((name) => !Object.hasOwn(scripts, name)),
      [],
    );
  });
});

describe('the documentation', () => {
  it('has pages and links to look at', () => {
    assert.ok(PAGES.includes('README.md') && PAGES.includes('docs/operate.md'));
    assert.ok(PAGES.flatMap(linksOf).length > 30);
  });

  for (const page of PAGES) {
    it(`leads from ${page} nowhere but to what is there`, () => {
      assert.deepEqual(
        linksOf(page).flatMap((link) => whyBroken(page, link) ?? []),
        [],
      );
    });
  }

  it('is reached from the index as a whole', () => {
    const from = (page: string): readonly string[] =>
      linksOf(page).map((link) => targetOf(page, link.split('#')[0] ?? ''));
    const reached = new Set(['docs/README.md', 'docs/runbooks/README.md'].flatMap(from));
    const pages = PAGES.filter((page) => page.startsWith('docs/') && page !== 'docs/README.md');
    assert.deepEqual(
      pages.filter((page) => !reached.has(page)),
      [],
    );
  });
});
