import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { COMMANDS } from '#cli/commands.ts';
import { commandHelp, programHelp } from '#cli/help.ts';
import { renderFitting, renderFolding, renderTable } from '#cli/text-table.ts';
import { VALIDATE } from '#cli/validate/command.ts';
import { parseCommandLine } from '#cli/parse-command-line.ts';
import { paintFor } from '#cli/paint.ts';
import { progressFor } from '#cli/progress-line.ts';
import { wrapFor } from '#cli/wrap.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const ESC = '\u001b[';

describe('colours', () => {
  it('are for terminals, and for nobody who set NO_COLOR', () => {
    assert.equal(paintFor({ isTTY: true }, {})('bad', 'x'), `${ESC}31mx${ESC}39m`);
    assert.equal(paintFor({ isTTY: true }, { NO_COLOR: '' })('bad', 'x'), `${ESC}31mx${ESC}39m`);
    assert.equal(paintFor({ isTTY: true }, { NO_COLOR: '1' })('bad', 'x'), 'x');
    assert.equal(paintFor({}, {})('bad', 'x'), 'x');
    assert.equal(paintFor({}, { FORCE_COLOR: '1' })('bad', 'x'), `${ESC}31mx${ESC}39m`);
    assert.equal(paintFor({}, { FORCE_COLOR: '0' })('bad', 'x'), 'x');
    assert.equal(paintFor({}, { FORCE_COLOR: '1', NO_COLOR: '1' })('bad', 'x'), 'x');
  });
});

describe('long lines', () => {
  const line = `  pools/general/kubelet.yaml:10:3: error unknown-field: ${'some words '.repeat(12)}end`;

  it('are broken between words at the width of a terminal, and go on further in', () => {
    const lines = wrapFor({ isTTY: true, columns: 60 })(`${line}\nshort`).split('\n');
    assert.ok(lines.every((each) => each.length <= 60));
    assert.ok(lines.slice(1, -1).every((each) => /^ {6}\S/.test(each)));
    assert.equal(lines.at(-1), 'short');
    assert.equal(lines.slice(0, -1).join(' ').replaceAll(/\s+/g, ' ').trim(), line.trim());
  });

  it('are measured without their colours, and keep them', () => {
    const painted = paintFor({ isTTY: true }, {})('bad', line);
    const wrapped = wrapFor({ isTTY: true, columns: 60 })(painted);
    assert.ok(wrapped.split('\n').every((each) => stripVTControlCharacters(each).length <= 60));
    assert.ok(wrapped.startsWith(`${ESC}31m  pools`) && wrapped.endsWith(`end${ESC}39m`));
    const fitting = paintFor({ isTTY: true }, {})('bad', 'x'.repeat(60));
    assert.equal(wrapFor({ isTTY: true, columns: 60 })(fitting), fitting);
  });

  it('stay whole for pipes, in terminals without a width, and where a word is longer than the line', () => {
    assert.equal(wrapFor({ columns: 60 })(line), line);
    assert.equal(wrapFor({ isTTY: true })(line), line);
    const word = 'x'.repeat(200);
    assert.equal(wrapFor({ isTTY: true, columns: 60 })(word), word);
  });
});

describe('progress', () => {
  function watch(isTTY: boolean) {
    const [written, clock]: [string[], { now: number }] = [[], { now: 0 }];
    const progress = progressFor({ write: (text) => written.push(text), isTTY }, () => clock.now);
    return { written, progress, at: (now: number) => (clock.now = now) };
  }

  it('says nothing of what is quick, and leaves nothing behind', () => {
    const { written, progress, at } = watch(true);
    at(499);
    progress.say('judged 1 of 2 files');
    progress.end();
    assert.deepEqual(written, []);
  });

  it('shows one line from half a second on, ten times a second at most, and takes it away', () => {
    const { written, progress, at } = watch(true);
    for (const now of [500, 550, 599, 600]) {
      at(now);
      progress.say(`at ${now}`);
    }
    progress.end();
    progress.end();
    assert.deepEqual(written, [`\r${ESC}Kat 500`, `\r${ESC}Kat 600`, `\r${ESC}K`]);
  });

  it('is not for pipes', () => {
    const { written, progress, at } = watch(false);
    at(5000);
    progress.say('x');
    progress.end();
    assert.deepEqual(written, []);
  });
});

describe('validate on a terminal', () => {
  it('breaks its lines and colours them, and gives programs neither', async (t) => {
    const directory = temporaryDirectory(t);
    const file = join(directory, 'config.yaml');
    await writeFile(file, 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPodz: 110\n');
    const outOf = async (format: string): Promise<string> => {
      let out = '';
      const parsed = parseCommandLine(['validate', file, '-o', format], [VALIDATE]);
      assert.ok(parsed.line === 'run');
      const io = { out: { write: (text: string) => (out += text), isTTY: true, columns: 50 }, err: { write: () => 0 } };
      assert.equal(await parsed.command.run(parsed.given, { ...io, env: {} }), 1);
      return out;
    };
    const text = await outOf('text');
    assert.ok(text.startsWith(`${ESC}31m`));
    assert.match(stripVTControlCharacters(text), /\n {4}\S.*maxPod/);
    for (const format of ['json', 'github', 'gitlab', 'sarif', 'junit'])
      assert.ok(!(await outOf(format)).includes(ESC));
  });
});

describe('tables', () => {
  const rows = [
    ['NODE', 'POOL', 'ACTIVE'],
    ['worker-1', 'general', 'general-2gmf6b4k8c'],
  ];

  it('leave out what can be spared, and no more, where a line has no room', () => {
    assert.deepEqual(renderFitting(rows, 80, ['POOL']), renderTable(rows));
    assert.deepEqual(renderFitting(rows, 30, ['POOL', 'ACTIVE']), ['NODE      ACTIVE', 'worker-1  general-2gmf6b4k8c']);
    assert.deepEqual(renderFitting(rows, 5, ['POOL', 'ACTIVE']), ['NODE', 'worker-1']);
  });

  it('have their last column below each line where a line has no room', () => {
    const notes = [
      ['NODE', 'BECAUSE'],
      ['worker-1', { text: 'it runs what it was assigned', shown: 'IT RUNS' }],
      ['worker-2', ''],
    ];
    assert.deepEqual(renderFolding(notes, 40).flat(), renderTable(notes));
    assert.deepEqual(renderFolding(notes, 30), [['NODE'], ['worker-1', '  IT RUNS'], ['worker-2']]);
  });

  it('go on below their last column, where that leaves room', () => {
    const line = `  -o, --output text|json  ${'for people or for programs '.repeat(4)}`.trimEnd();
    const [first = '', second = ''] = wrapFor({ isTTY: true, columns: 60 })(line).split('\n');
    assert.equal(second.search(/\S/), first.indexOf('for people'));
  });
});

describe('everything that the commands say of themselves', () => {
  it('fits a terminal of 80 columns', () => {
    const wrap = wrapFor({ isTTY: true, columns: 80 });
    for (const text of [programHelp(COMMANDS, 'docs'), ...COMMANDS.map((command) => commandHelp(command))]) {
      for (const line of wrap(text).split('\n')) assert.ok(line.length <= 80, line);
    }
  });

  it('has an example of every command', () => {
    for (const { name, examples } of COMMANDS)
      assert.ok(
        examples.some((example) => example.includes(name)),
        name,
      );
  });
});
