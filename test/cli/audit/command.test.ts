import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import type { AuditReport, AuditSection, SectionId } from '#cli/audit/audit-report.ts';
import { run, runIn } from '../support/run.ts';
import { checkIn, nodesOf } from './support/facts.ts';
import { fleetFiles } from './support/fleet-files.ts';

type Files = Readonly<Record<string, string>>;

let directory = '';
const inside = (path: string): string => join(directory, path);

async function put(files: Files): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(inside(path), '..'), { recursive: true });
    await writeFile(inside(path), text);
  }
}

const auditing = (...words: readonly string[]) =>
  run('audit', inside('configs'), '--inventory', inside('nodes.json'), ...words);

async function report(...words: readonly string[]): Promise<AuditReport> {
  const { out, err } = await auditing('-o', 'json', ...words);
  assert.equal(err, '');
  return JSON.parse(out) as AuditReport;
}

const section = ({ sections }: AuditReport, id: SectionId): AuditSection =>
  sections.find((each) => each.id === id) ?? assert.fail(id);

const numbered = (stem: string): readonly string[] =>
  Array.from({ length: 15 }, (_, index) => `${stem}-${index}`).sort();

async function putFleet(change?: Parameters<typeof fleetFiles>[0]): Promise<void> {
  const { configs, inventory } = fleetFiles(change);
  const files = Object.entries(configs).map(([name, text]) => [`configs/${name}`, text] as const);
  await put({ ...Object.fromEntries(files), 'nodes.json': inventory });
}

describe('an audit of sixty nodes of four distributions, as files', () => {
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-audit-'));
    await putFleet();
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  it('sees them all, and says which of the defaults of their installers are not safe', async () => {
    const found = await report();
    assert.deepEqual([found.nodes, found.unseen], [{ seen: 60, of: 60 }, []]);
    const safety = section(found, 'safety');
    const failing = (field: string) => nodesOf(checkIn(safety, `safety/${field}`), 'fail');
    assert.deepEqual(failing('authentication.anonymous.enabled'), []);
    // K3s' flag wins over its file.
    assert.deepEqual(failing('readOnlyPort'), numbered('gke'));
    assert.deepEqual(failing('tlsCertFile'), numbered('kubeadm'));
    assert.deepEqual(failing('rotateCertificates'), [...numbered('eks'), ...numbered('k3s')]);
    assert.equal(failing('seccompDefault').length, 60);
  });

  it('knows the groups, and finds no difference where labels explain all', async () => {
    const sameness = section(await report(), 'sameness');
    assert.deepEqual(
      sameness.groups?.map(({ count, configs }) => [count, configs.length]),
      [
        [30, 2],
        [15, 1],
        [15, 1],
      ],
    );
    assert.deepEqual(nodesOf(checkIn(sameness, 'sameness/differs'), 'fail'), []);
  });

  it('finds the node that differs from its like, in which field, and from what', async () => {
    await putFleet((name, config) =>
      name === 'gke-3' ? { ...config, maxPods: 64, clusterDNS: ['10.0.0.9'] } : config,
    );
    const check = checkIn(section(await report(), 'sameness'), 'sameness/differs');
    assert.deepEqual(nodesOf(check, 'fail'), ['gke-3']);
    assert.deepEqual(check.groups[0]?.evidence, [
      { field: 'maxPods', value: '64, others the default' },
      { field: 'clusterDNS', value: '[10.0.0.9], others the default' },
    ]);
  });

  it('says what later kubelets do with the configs, each from its own version on', async () => {
    await putFleet((name, config) => (name === 'k3s-1' ? { ...config, featureGates: { AppArmor: true } } : config));
    const upgrades = section(await report(), 'upgrades');
    const failed = upgrades.checks.filter(({ result }) => result === 'fail');
    assert.ok(failed.length > 0);
    for (const check of failed) assert.deepEqual(nodesOf(check, 'fail'), ['k3s-1'], check.id);
    const cgroups = checkIn(upgrades, 'upgrades/1.35/default/failCgroupV1');
    assert.deepEqual([cgroups.result, nodesOf(cgroups, 'info').length], ['info', 60]);
  });

  it('says who keeps nothing back, and by which profile the others do', async () => {
    const room = section(await report(), 'room');
    assert.deepEqual(nodesOf(checkIn(room, 'room/nothing-reserved'), 'fail'), [
      ...numbered('k3s'),
      ...numbered('kubeadm'),
    ]);
    assert.deepEqual(
      room.classes?.map(({ count, profile }) => [count, profile]),
      [
        [30, undefined],
        [15, 'eks'],
        [15, 'gke'],
      ],
    );
    assert.equal(checkIn(room, 'room/memory-over-reserved').result, 'not-visible');
  });

  it('ends with 1 for what is as bad as --fail-on, and with 0 for never', async () => {
    const code = async (...words: readonly string[]) => (await auditing(...words)).code;
    assert.deepEqual([await code(), await code('--fail-on', 'high'), await code('--fail-on', 'never')], [1, 1, 0]);
    const only = ['--section', 'safety', '--fail-on'] as const;
    await putFleet((_, config) => ({ ...config, readOnlyPort: 0 }));
    assert.deepEqual([await code(...only, 'high'), await code(...only, 'medium')], [0, 1]);
  });

  it('counts nodes that no file speaks of as not seen, and fails', async () => {
    await rm(inside('configs/gke-0.json'));
    const found = await report('--section', 'safety');
    assert.deepEqual(found.unseen, [
      { reason: 'no-answer', because: 'no file says what runs there', nodes: ['gke-0'] },
    ]);
    assert.equal((await auditing('--fail-on', 'high')).code, 1);
  });

  it('says with --since what is new and what is gone, and fails for what is new only', async () => {
    const { out } = await auditing('-o', 'json');
    await writeFile(inside('last.json'), out);
    await putFleet((name, config) => ({
      ...config,
      readOnlyPort: 0,
      ...(name === 'eks-1' ? { podPidsLimit: 10, makeIPTablesUtilChains: false } : {}),
    }));
    const { since } = await report('--section', 'safety', '--since', inside('last.json'));
    assert.deepEqual(
      since?.fresh.map(({ id, nodes }) => [id, nodes]),
      [['safety/makeIPTablesUtilChains', ['eks-1']]],
    );
    assert.deepEqual(
      since?.gone.map(({ id, nodes }) => [id, nodes.length]),
      [
        ['safety/readOnlyPort', 15],
        ['safety/podPidsLimit', 1],
      ],
    );
    await putFleet((_, config) => ({ ...config, readOnlyPort: 0 }));
    assert.equal((await auditing('--since', inside('last.json'))).code, 0);
  });

  it('writes for people, as YAML and as JSON the same', async () => {
    const text = (await auditing()).out;
    for (const title of ['Sameness', 'Safety', 'Upgrades', 'Room']) assert.match(text, new RegExp(`^${title}: `, 'm'));
    assert.match(text, /FAIL high Close the read-only port \(CIS 4\.2\.4/);
    assert.match(text, /15 nodes \(gke-0, .*readOnlyPort: 10255/);
    const { at: _, ...fromYaml } = parse((await auditing('-o', 'yaml')).out) as AuditReport;
    const { at: __, ...fromJson } = await report();
    assert.deepEqual(fromYaml, fromJson);
  });

  it('reads lines of kubelets from standard input, without any Node', async () => {
    const line = JSON.stringify({ node: 'a', kubeletconfig: { readOnlyPort: 10_255 } });
    const { out, code } = await runIn({}, ['audit', '-', '-o', 'json'], [`${line}\n`]);
    const found = JSON.parse(out) as AuditReport;
    assert.equal(code, 1);
    assert.deepEqual(nodesOf(checkIn(section(found, 'safety'), 'safety/readOnlyPort'), 'fail'), ['a']);
    assert.equal(checkIn(section(found, 'upgrades'), 'upgrades/version').result, 'not-visible');
    assert.equal(section(found, 'room').result, 'not-visible');
    const dated = await runIn({}, ['audit', '-', '-o', 'json', '--kubelet-version', '1.34'], [`${line}\n`]);
    assert.equal(
      section(JSON.parse(dated.out) as AuditReport, 'upgrades').checks.some(({ id }) => id === 'upgrades/version'),
      false,
    );
  });

  it('cannot run without a node that it sees, nor with an earlier report that is none', async () => {
    await put({ 'empty/a.json': '', 'last.json': '{}' });
    const { code: none, err: why } = await run('audit', inside('empty'));
    assert.equal(none, 2);
    assert.match(why, /empty\/a\.json: is empty/);
    const { code, err } = await auditing('--since', inside('last.json'));
    assert.equal(code, 2);
    assert.match(err, /last\.json is not a report that audit -o json wrote/);
  });

  it('waits for no pipe that lies among the files, and reads no endless one', { timeout: 60_000 }, async () => {
    execFileSync('mkfifo', [inside('configs/pipe.json')]);
    await symlink('/dev/zero', inside('configs/zero.json'));
    const { unseen } = await report('--section', 'safety');
    assert.deepEqual(unseen, [
      {
        reason: 'unreadable',
        because: 'is not a file',
        nodes: [inside('configs/pipe.json'), inside('configs/zero.json')],
      },
    ]);
    for (const option of ['--since', '--inventory'])
      assert.match((await run('audit', inside('configs'), option, '/dev/zero')).err, /it has more than \d+ MiB/);
  });

  it('refuses options that would change nothing', async () => {
    const refused = async (...words: readonly string[]) => (await run('audit', ...words)).code;
    for (const option of ['--context', '--kubeconfig', '--cluster', '--path'])
      assert.equal(await refused(inside('configs'), option, 'x'), 2, option);
    assert.equal(await refused('--kubeconfig', 'x', '--kubelet-version', '1.34'), 2);
    assert.match((await run('audit', '--kubelet-version', '1.34')).err, /goes with files/);
  });

  it('names the first of many files only', async () => {
    const words = numbered('gke').map((name) => inside(`configs/${name}.json`));
    const { out } = await run('audit', ...words, '-o', 'json', '--section', 'safety');
    assert.equal((JSON.parse(out) as AuditReport).source.of, `${words.slice(0, 3).join(', ')} and 12 more`);
  });
});
