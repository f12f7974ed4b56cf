import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { glob, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { promisify } from 'node:util';
import { existsIn, FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { RISK_NOTES } from '#shared/contract/kubelet-config/fields/risk-notes.ts';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { startErrors } from '../docs/support/start-errors.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { without } from '../support/required-tools.ts';

const WITHOUT_GO = without('go', ['version'], 'nothing compares the table of fields with the source of the kubelet');
const MODULE = join(import.meta.dirname, `../support/go-programs/kubernetes-${minorName(NEWEST_MINOR)}`);

/** Read while the file is judged, and nowhere else. */
const JUDGED_ONLY: ReadonlySet<string> = new Set(['failCgroupV1', 'runOnce']);

const KNOWN_ERRORS = join(import.meta.dirname, 'start-errors.json');
/** An error that a function makes, or its exit. */
const ENDING = /(?:Errorf|errors\.New)\(\s*("(?:[^"\\]|\\.)*"|`[^`]*`)|os\.Exit\(/g;

async function sourceDirectory(): Promise<string> {
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', 'k8s.io/kubernetes'], {
    cwd: MODULE,
  });
  return (JSON.parse(stdout) as { readonly Dir: string }).Dir;
}

/** All that the kubelet does with a config that passed: not its type, its defaults, its validation, nor its flags. */
async function codeOf(directory: string): Promise<string> {
  const texts: string[] = [];
  for await (const file of glob('{pkg,cmd}/kubelet/**/*.go', { cwd: directory })) {
    if (/_test\.go$|^pkg\/kubelet\/apis\/|options\/options\.go$/.test(file)) continue;
    texts.push(await readFile(join(directory, file), 'utf8'));
  }
  return texts.join('\n');
}

describeOrSkip(`the source of the kubelet ${minorName(NEWEST_MINOR)}`, { skip: WITHOUT_GO }, () => {
  it('has what each note on costs rests on', async () => {
    const directory = await sourceDirectory();
    for (const [note, { source }] of Object.entries(RISK_NOTES)) {
      const [file, name] = source;
      assert.ok((await readFile(join(directory, file), 'utf8')).includes(name), `${note}: ${name} in ${file}`);
    }
  });

  it('ends at its start by no errors but those that were read (UPDATE_START_ERRORS=1 writes what there is)', async () => {
    const directory = await sourceDirectory();
    const found: Record<string, string> = {};
    for (const { source } of startErrors()) {
      const [, name = '', folder = ''] = /^(\w+) \(((?:cmd|pkg)\/[\w/]+)\)$/.exec(source) ?? [];
      if (folder === '') continue;
      const files = (await readdir(join(directory, folder))).filter((file) => /(?<!_test)\.go$/.test(file)).toSorted();
      const texts = await Promise.all(files.map((file) => readFile(join(directory, folder, file), 'utf8')));
      const bodies = texts.flatMap(
        (text) => text.match(new RegExp(`^func (?:\\([^)]*\\) )?${name}[([][^]*?^}`, 'gm')) ?? [],
      );
      assert.ok(bodies.length > 0, source);
      const errors = bodies.flatMap((body) => [...body.matchAll(ENDING)].map(([, text]) => text ?? 'os.Exit'));
      // Not the texts: they are not ours.
      found[source] = `${errors.length} ${createHash('sha256').update(errors.join('\n')).digest('hex').slice(0, 12)}`;
    }
    if (process.env['UPDATE_START_ERRORS'] === '1')
      await writeFile(KNOWN_ERRORS, `${JSON.stringify(found, null, 2)}\n`);
    const known: unknown = JSON.parse(await readFile(KNOWN_ERRORS, 'utf8'));
    assert.deepEqual(
      found,
      known,
      'say in docs/reference/kubelet-start-errors.md, and where it belongs in start.go, what is new',
    );
  });

  it('reads every field but those that the table calls ignored', async () => {
    const directory = await sourceDirectory();
    const code = await codeOf(directory);
    const types = await readFile(join(directory, 'pkg/kubelet/apis/config/types.go'), 'utf8');
    const members = [
      ...(/^type KubeletConfiguration struct \{\n(.*?)^\}/ms.exec(types)?.[1] ?? '').matchAll(/^\t([A-Z]\w*)\s/gm),
    ];
    const names = new Map(members.map(([, name = '']) => [name.toLowerCase(), name]));
    const compared = [...FIELDS].flatMap(([path, field]) => {
      const name = names.get(path.toLowerCase());
      if (name === undefined || !existsIn(field, NEWEST_MINOR) || JUDGED_ONLY.has(path)) return [];
      return [
        { path, isRead: new RegExp(`\\.${name}\\b(?!\\()`).test(code), isIgnored: field.ignoredFrom !== undefined },
      ];
    });
    assert.ok(compared.length > 100);
    assert.deepEqual(
      compared.filter(({ isRead, isIgnored }) => isRead === isIgnored).map(({ path }) => path),
      [],
    );
  });
});
