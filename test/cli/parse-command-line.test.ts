import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { COMMANDS } from '#cli/commands.ts';
import { commandHelp, programHelp } from '#cli/help.ts';
import { parseCommandLine } from '#cli/parse-command-line.ts';
import { run } from './support/run.ts';

const rows: readonly (readonly [string, string])[] = [
  ['', 'help'],
  ['--help', 'help'],
  ['help', 'help'],
  ['help status', 'help status'],
  ['status --help', 'help status'],
  ['status -h', 'help status'],
  ['--version', 'version'],
  ['version', 'version'],
  ['status', 'run status'],
  ['status -w --context prod', 'run status'],
  ['validate a b c -o json', 'run validate'],
  ['status a', 'mistake: status takes no argument, and got a'],
  ['validate --watch', 'mistake: validate knows no option --watch'],
  [
    'validate --kubelet-versoin 1.34',
    'mistake: validate knows no option --kubelet-versoin; did you mean --kubelet-version?',
  ],
  ['validate -n x', 'mistake: validate knows no option -n'],
  ['status -n elsewhere', 'run status'],
  ['stauts', 'mistake: there is no command stauts; did you mean status?'],
  ['--nope status', 'mistake: no command given before --nope'],
  ['help stauts', 'mistake: there is no command stauts; did you mean status?'],
  ['status --context', 'mistake: status: --context needs a value'],
  ['status --context --why', 'mistake: status: --context needs a value'],
  ['validate -o', 'mistake: validate: --output needs a value'],
];

const short = (argv: readonly string[]): string => {
  const parsed = parseCommandLine(argv, COMMANDS);
  if (parsed.line === 'mistake') return `mistake: ${parsed.message}`;
  return [parsed.line, ...('command' in parsed && parsed.command !== undefined ? [parsed.command.name] : [])].join(' ');
};

describe('the command line', () => {
  for (const [line, expected] of rows) {
    it(JSON.stringify(line), () => assert.equal(short(line.split(' ').filter(Boolean)), expected));
  }

  it('takes no empty value, as of a variable that is not set, but for a folder', () => {
    const said = (...argv: readonly string[]): string => short(argv);
    assert.equal(
      said('plan', '--base', '', '--head', 'x'),
      'mistake: plan: --base needs a value, and got an empty one',
    );
    assert.equal(said('render', 'x', '--revision='), 'mistake: render: --revision needs a value, and got an empty one');
    assert.equal(
      said('plan', '--fail-on', 'held', '--fail-on', ''),
      'mistake: plan: --fail-on needs a value, and got an empty one',
    );
    assert.equal(said('validate', '--path', ''), 'run validate');
  });

  it('gives options to the command as they were written', () => {
    const parsed = parseCommandLine(['validate', 'x', '--kubelet-version', '1.33', '--kubelet-version=1.34'], COMMANDS);
    assert.ok(parsed.line === 'run');
    assert.deepEqual(parsed.given.texts('kubelet-version'), ['1.33', '1.34']);
    assert.deepEqual(
      [parsed.given.words, parsed.given.text('cluster'), parsed.given.flag('watch')],
      [['x'], undefined, false],
    );
  });

  it('refuses versions and words that are none', async () => {
    const ran = await run('validate', '.', '--kubelet-version', 'latest');
    assert.deepEqual([ran.code, ran.err], [2, '--kubelet-version latest: write the minor version, 1.34']);
    assert.match(
      (await run('validate', '.', '--kubelet-version', '1.12')).err,
      /the oldest that is supported is 1\.20/,
    );
    assert.match((await run('validate', '.', '-o', 'xml')).err, /--output xml: choose one of text, json/);
  });
});

describe('help', () => {
  it('names every command, and every option of each with what it is for', () => {
    for (const command of COMMANDS) {
      assert.match(programHelp(COMMANDS, 'docs'), new RegExp(`^  ${command.name} `, 'm'));
      const help = commandHelp(command);
      for (const option of Object.keys(command.options)) assert.match(help, new RegExp(`--${option}\\b.*\\w{3}`));
      assert.ok(command.examples.length > 0, command.name);
    }
  });

  it('fits into a terminal of 120 columns', () => {
    const lines = [programHelp(COMMANDS, 'docs'), ...COMMANDS.map((command) => commandHelp(command))]
      .join('\n')
      .split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > 120),
      [],
    );
  });

  it('flows in a terminal: no line of prose is broken before the words fill it, and none is too long', () => {
    for (const command of COMMANDS) {
      const lines = commandHelp(command, 80).split('\n');
      const end = lines.indexOf('Examples:');
      // A command that stands in the prose is there to be copied.
      const prose = lines.slice(0, end).filter((line) => !/^ +kubectl|^Usage: /.test(line));
      assert.deepEqual(
        prose.filter((line) => line.length > 80),
        [],
        command.name,
      );
      const broken = prose.filter((line, index) => {
        const [next = ''] = (prose[index + 1] ?? '').split(' ');
        return line !== '' && next !== '' && !line.endsWith(':') && line.length + 1 + next.length <= 80;
      });
      assert.deepEqual(broken, [], command.name);
    }
  });
});
