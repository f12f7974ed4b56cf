import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { matchesWildcard } from '#cli/inventory/wildcard.ts';
import { run, runIn } from '../support/run.ts';
import { commitAll } from '../support/repository.ts';

const configz = (config: Readonly<Record<string, unknown>>): string => JSON.stringify({ kubeletconfig: config });
const BASE = { clusterDomain: 'cluster.local', syncFrequency: '1m0s' };

let directory = '';
const inside = (path: string): string => join(directory, path);

async function put(files: Readonly<Record<string, string>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(inside(path)), { recursive: true });
    await writeFile(inside(path), text);
  }
}

const read = (path: string): Promise<string> => readFile(inside(path), 'utf8');
const size = (path: string): Promise<number | undefined> =>
  stat(inside(path)).then(
    (is) => is.size,
    () => undefined,
  );

const inventory = (nodes: Readonly<Record<string, Readonly<Record<string, string>>>>): string =>
  JSON.stringify({
    items: Object.entries(nodes).map(([name, labels]) => ({
      metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
      status: { nodeInfo: { kubeletVersion: 'v1.34.4-eks-f69f56f', osImage: 'Amazon Linux 2023.9.20260101' } },
    })),
  });

async function importing(words: readonly string[], piped?: string) {
  const argv = ['import', '--cluster', 'prod', '--into', inside('repo'), ...words];
  const ran = await runIn({}, argv, piped === undefined ? undefined : [piped]);
  return { ...ran, err: ran.err.replaceAll(directory, 'DIR') };
}

describe('the files of an import', () => {
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-import-'));
    const group = (value: string) => ({ 'eks.amazonaws.com/nodegroup': value });
    await put({
      'nodes.json': inventory({ 'a-1': group('a'), 'a-2': group('a'), 'a-3': group('a'), 'b-1': group('b') }),
      'configs/a-1.json': configz({ ...BASE, maxPods: 20 }),
      'configs/a-2.json': configz({ ...BASE, maxPods: 20 }),
      'configs/a-3.json': configz({ ...BASE, maxPods: 35 }),
      'configs/b-1.json': configz({ ...BASE, maxPods: 60, clusterDNS: ['10.96.0.10'] }),
    });
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const all = () => importing([inside('configs'), '--inventory', inside('nodes.json')]);

  it('are checked by the pipeline of the forge that is named, or by those of both', async () => {
    const pipelines = ['repo/.github/workflows/kubelet-config.yaml', 'repo/.gitlab-ci.yml'];
    const there = () => Promise.all(pipelines.map(async (path) => (await size(path)) !== undefined));
    assert.equal(
      (await importing([inside('configs'), '--inventory', inside('nodes.json'), '--forge', 'gitlab'])).code,
      0,
    );
    assert.deepEqual(await there(), [false, true]);
    await rm(inside('repo'), { recursive: true });
    await all();
    assert.deepEqual(await there(), [true, true]);
    const template = await readFile('config-repo-template/.gitlab-ci.yml', 'utf8');
    assert.equal(await read('repo/.gitlab-ci.yml'), template);
  });

  it('say for an editor what they are, and for a person whose they are', async () => {
    const { code, err } = await all();
    assert.equal(code, 0, err);
    assert.equal(
      await read('repo/pools/a-max-pods-35/pool.yaml'),
      `# yaml-language-server: $schema=../../.schemas/kubelet-pool.json
# 1 node when it was imported: a-3
# No label tells these nodes from the others: new nodes do not join them.
apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector:
    matchExpressions:
      - key: kubernetes.io/hostname
        operator: In
        values:
          - a-3
  priority: 10
  layers:
    - base/common.yaml
    - ./kubelet.yaml
  rollout:
    maxUnavailable: 1
`,
    );
    assert.equal(
      await read('repo/pools/a/kubelet.yaml'),
      `# yaml-language-server: $schema=../../.schemas/kubelet-configuration-1.34.json
# What only the nodes of a have.
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
maxPods: 20
`,
    );
    assert.equal(
      await read('repo/base/common.yaml'),
      `# yaml-language-server: $schema=../.schemas/kubelet-configuration-1.34.json
# What all nodes have beside the kubelet’s defaults. A change here changes every pool.
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
clusterDomain: cluster.local
`,
    );
    assert.equal(
      await read('repo/clusters/prod.yaml'),
      `# yaml-language-server: $schema=../.schemas/cluster-config.json
apiVersion: kubelet-gitops.dev/v1alpha1
kind: ClusterConfig
metadata:
  name: prod
spec:
  kubeletVersions:
    - "1.34"
`,
    );
    for (const schema of ['cluster-config', 'kubelet-pool', 'kubelet-configuration-1.34'])
      assert.equal(await read(`repo/.schemas/${schema}.json`), await readFile(`schemas/${schema}.json`, 'utf8'));
    assert.deepEqual(await run('validate', inside('repo')), { code: 0, out: '3 pools: nothing found\n', err: '' });
  });

  it('have the template’s pipelines and owners, for this cluster and these pools', async () => {
    await all();
    for (const pipeline of ['.github/workflows/kubelet-config.yaml', '.gitlab-ci.yml'])
      assert.equal(await read(`repo/${pipeline}`), await readFile(`config-repo-template/${pipeline}`, 'utf8'));
    const owners = await read('repo/CODEOWNERS');
    assert.match(owners, /^\/base\/ /m);
    assert.doesNotMatch(owners, /^\/pools\/(?:gpu|control-plane)\//m);
    assert.doesNotMatch(await read('repo/README.md'), /\bdemo\b/);
    assert.equal((await stat(inside('repo/scripts/show-notes.sh'))).mode & 0o111, 0o111);
  });

  it('are told of, with what comes next', async () => {
    const { out, err } = await all();
    assert.match(out, /\/repo\/pools\/a-max-pods-35\/pool\.yaml$/m);
    assert.equal(
      err,
      `pool a: 2 nodes
pool a-max-pods-35: 1 node (priority 10, listed by name)
pool b: 1 node
left to the nodes (set up with the host, or denied by default): clusterDNS
distribution: eks (a value of the chart, or the component of that name)
next:
  kubelet-gitops validate DIR/repo --cluster prod
  rename a pool now or later, and no kubelet restarts: git mv pools/OLD pools/NEW
  enter your teams in CODEOWNERS, and what the comments of your pipeline ask for; delete the other forge’s file
  commit DIR/repo, and see that no kubelet restarts: kubelet-gitops plan --repo DIR/repo --inventory DIR/nodes.json --running DIR/configs
`,
    );
  });

  it('come to a plan that changes nothing, by the same words', async () => {
    await all();
    await commitAll(inside('repo'));
    const planned = (...running: readonly string[]) =>
      run(
        'plan',
        '--repo',
        inside('repo'),
        '--inventory',
        inside('nodes.json'),
        ...running.flatMap((word) => ['--running', word]),
      );
    const { code, out, err } = await planned(inside('configs'));
    assert.equal(code, 0, out + err);
    assert.match(out, /^Nothing changes\.$/m);
    assert.equal((await planned(inside('configs/*.json'))).code, 0);
    await put({ 'configs/b-1.json': '{', 'configs/z.json': configz(BASE) });
    const partly = await planned(inside('configs'));
    assert.equal(partly.code, 1);
    assert.match(partly.out, /^ {2}b-1: what the kubelet runs is not known here/m);
    assert.match(partly.err, /^left out: \S+b-1\.json:1: holds no KubeletConfiguration/m);
    assert.match(partly.err, /^left out: \S+z\.json: there is no node z among those given$/m);
    const nowhere = await planned(inside('nowhere'));
    assert.deepEqual([nowhere.code, nowhere.err.includes('nowhere: cannot be read')], [2, true]);
  });

  it('are not laid over those of another cluster, also by force, and go into a folder of it', async () => {
    await all();
    await commitAll(inside('repo'));
    const before = await read('repo/pools/a/kubelet.yaml');
    const edge = (into: string, ...more: readonly string[]) =>
      run(
        'import',
        '--cluster',
        'edge',
        '--into',
        inside(into),
        inside('configs'),
        '--inventory',
        inside('nodes.json'),
        ...more,
      );
    for (const more of [[], ['--force']]) {
      const { code, err } = await edge('repo', ...more);
      assert.equal(code, 2, err);
      assert.match(
        err,
        /base\/common\.yaml is there already: this is the repository of prod, .* --into \S+\/repo\/edge, /,
      );
    }
    assert.equal(await read('repo/pools/a/kubelet.yaml'), before);
    const { code, err } = await edge('repo/edge');
    assert.equal(code, 0, err);
    assert.match(
      err,
      /^ {2}as edge is a folder of a repository: GIT_PATH=edge for its reconciler, \/edge\/ in the CODEOWNERS/m,
    );
    assert.match(
      err,
      /git mv edge\/\.github\/workflows\/kubelet-config\.yaml \.github\/workflows\/kubelet-config-edge\.yaml/,
    );
    // The plan that it prints is of the folder, not of the cluster at the root.
    const [, repo = ''] = /plan --repo (\S+)/.exec(err) ?? [];
    const planned = await run(
      'plan',
      '--repo',
      repo,
      '--inventory',
      inside('nodes.json'),
      '--running',
      inside('configs'),
    );
    assert.match(planned.out, /, for cluster edge\n[^]*Pool a is new and matches what its nodes run already/);
  });

  it('say which kubelets are open to anybody, with the values, and end with 1', async () => {
    const open = { anonymous: { enabled: true } };
    await put({
      'configs/a-1.json': configz({
        ...BASE,
        maxPods: 20,
        authentication: open,
        authorization: { mode: 'AlwaysAllow' },
      }),
      'configs/a-2.json': configz({ ...BASE, maxPods: 20, authentication: open, authorization: { mode: 'Webhook' } }),
      'configs/a-3.json': configz({
        ...BASE,
        maxPods: 20,
        authorization: { mode: 'AlwaysAllow' },
        readOnlyPort: 10255,
      }),
      'configs/b-1.json': configz({
        ...BASE,
        authentication: { anonymous: { enabled: false } },
        authorization: { mode: 'Webhook' },
        readOnlyPort: 0,
      }),
    });
    const { code, err } = await all();
    assert.equal(code, 1, err);
    const said = err.split('\n').filter((line) => line.startsWith('SECURITY'));
    const [anonymous, allowed] = ['authentication.anonymous.enabled: true', 'authorization.mode: AlwaysAllow'];
    assert.deepEqual(
      said.map((line) =>
        line
          .split(': ')
          .slice(1, 4)
          .join(': ')
          .replace(/, (?:authorization).*/, ''),
      ),
      [`a-1: ${anonymous}`, `a-2: ${anonymous}`, `a-3: ${allowed}`, 'a-3: readOnlyPort: 10255'],
    );
    assert.match(said[0] ?? '', /AlwaysAllow: anybody who reaches its port runs commands in every pod/);
  });

  it('have pools that a move of the folder renames, and say how nodes that are left out come in', async () => {
    await rm(inside('configs/a-3.json'));
    const { err } = await all();
    assert.match(err, /^ {2}rename a pool now or later, and no kubelet restarts: git mv pools\/OLD pools\/NEW$/m);
    assert.match(
      err,
      /^ {2}bring in a node that was left out: take its name from the values of kubernetes\.io\/hostname in pools\/a\//m,
    );
    await commitAll(inside('repo'));
    await rename(inside('repo/pools/a'), inside('repo/pools/workers'));
    const { code, out } = await run('plan', '--repo', inside('repo'), '--inventory', inside('nodes.json'));
    assert.equal(code, 1, out);
    assert.match(out, /^Pool a is removed: its nodes go to workers$/m);
    assert.match(
      out,
      /^Pool workers is new, and its nodes run its config already, as that of a: no kubelet restarts$/m,
    );
  });

  it('never overwrite what is there; with --force only what was imported', async () => {
    await put({ 'repo/CODEOWNERS': '* @us\n' });
    const first = await all();
    assert.equal(first.code, 0, first.err);
    assert.match(first.err, /^kept as it was: CODEOWNERS$/m);
    assert.equal(await read('repo/CODEOWNERS'), '* @us\n');
    await put({
      'repo/pools/a/kubelet.yaml': 'mine\n',
      'repo/.gitlab-ci.yml': 'mine\n',
      'repo/pools/old/pool.yaml': '',
    });
    await rm(inside('repo/base'), { recursive: true });
    const again = await all();
    assert.equal(again.code, 2);
    assert.match(again.err, /DIR\/repo\/clusters\/prod\.yaml is there already: .*--force$/);
    assert.deepEqual(
      [await read('repo/pools/a/kubelet.yaml'), await size('repo/base/common.yaml')],
      ['mine\n', undefined],
    );
    const forced = await importing([inside('configs'), '--inventory', inside('nodes.json'), '--force']);
    assert.equal(forced.code, 1, 'a pool of an earlier import may select the same nodes');
    assert.match(forced.err, /^pools\/old is not from this import: delete it if it is from an earlier one$/m);
    assert.match(await read('repo/pools/a/kubelet.yaml'), /^maxPods: 20$/m);
    assert.deepEqual([await read('repo/.gitlab-ci.yml'), await read('repo/CODEOWNERS')], ['mine\n', '* @us\n']);
  });

  it('say where nothing can be written', async () => {
    for (const [into, why] of [
      ['/proc/nope/repo', '[A-Z]+'],
      [inside('nodes.json'), 'ENOTDIR'],
    ] as const) {
      const { code, err } = await importing([inside('configs'), '--inventory', inside('nodes.json'), '--into', into]);
      assert.equal(code, 2);
      const start = into.replace(directory, 'DIR');
      assert.match(err, new RegExp(String.raw`(?:^|\n)${start.replaceAll('.', '\\.')} cannot be written: ${why}: `));
    }
  });

  it('say what is left out, with its place, and end with 1; the others are imported', async () => {
    await put({
      'configs/a-3.json': '{\n  "kind": "Status",\n  "apiVersion": "v1"\n}\n',
      'configs/b-1.json': 'kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\nmaxPods: [\n',
      'configs/c-9.json': configz(BASE),
      'configs/empty.yaml': '',
      'configs/list.json': '{"kubeletconfig": []}',
    });
    const { code, err } = await importing([
      inside('configs'),
      inside('nowhere.json'),
      inside('x*.json'),
      `a-1=${inside('configs/a-2.json')}`,
      '--inventory',
      inside('nodes.json'),
    ]);
    assert.equal(code, 1);
    const lines = err.split('\n').filter((line) => line.startsWith('left out: '));
    assert.equal(lines.length, 9, err);
    assert.match(err, /^left out: DIR\/nowhere\.json: cannot be read: ENOENT/m);
    assert.match(err, /^left out: DIR\/x\*\.json: matches no file$/m);
    assert.match(err, /^left out: DIR\/configs\/a-3\.json(?::\d+)?: holds no KubeletConfiguration: .*"Status"/m);
    assert.match(err, /^left out: DIR\/configs\/b-1\.json:[34]: holds no KubeletConfiguration: /m);
    assert.match(err, /^left out: DIR\/configs\/empty\.yaml: is empty$/m);
    assert.match(
      err,
      /^left out: DIR\/configs\/list\.json: holds no KubeletConfiguration: its "kubeletconfig" is not a map$/m,
    );
    assert.match(err, /^left out: DIR\/configs\/a-2\.json: a-1 was given before, by DIR\/configs\/a-1\.json$/m);
    assert.match(err, /^left out: DIR\/configs\/c-9\.json: c-9 is not in DIR\/nodes\.json$/m);
    assert.match(err, /^left out: a-3, b-1: no file says what runs there$/m);
    assert.match(err, /^pool a: 2 nodes$/m);
    const kept = /key: kubernetes\.io\/hostname\n +operator: NotIn\n +values:\n +- a-3\n/;
    assert.match(await read('repo/pools/a/pool.yaml'), kept, 'the label alone would have selected it');
  });

  it('come of patterns, of several files, and of a pipe', async () => {
    const labels = ['--inventory', inside('nodes.json')];
    const matched = await importing([inside('conf*/?-*.json'), ...labels]);
    assert.equal(matched.code, 0, matched.err);
    await rm(inside('repo'), { recursive: true });
    const files = ['a-1', 'a-2', 'a-3', 'b-1'].map((name) => inside(`configs/${name}.json`));
    assert.equal((await importing([...files, ...labels])).code, 0);
    await rm(inside('repo'), { recursive: true });
    const line = (node: string, maxPods: number) => JSON.stringify({ node, kubeletconfig: { ...BASE, maxPods } });
    const piped = [line('a-1', 20), line('a-2', 20), '', 'nonsense', '{"kubeletconfig": {}}', line('b-1', 60)].join(
      '\n',
    );
    const { code, err } = await importing(['-', `a-3=${files[2]}`, ...labels], piped);
    assert.equal(code, 1);
    assert.match(err, /^left out: -:4: is not JSON on one line/m);
    assert.match(err, /^left out: -:5: does not say of which node it is/m);
    assert.match(err, /^pool a: 2 nodes$/m);
    await rm(inside('repo'), { recursive: true });
    const one = await importing(['b-1=-'], configz({ maxPods: 60 }));
    assert.equal(one.code, 0, one.err);
    assert.match(one.err, /^without --inventory no label is known: pools list their nodes by name$/m);
    assert.match(
      (await importing(['-'], configz({ maxPods: 60 }))).err,
      /-: does not say of which node it is: write NODE=-/,
    );
  });

  it('are not made where no node is left, nor for a cluster whose name is no file’s', async () => {
    const none = await importing([inside('nowhere')]);
    assert.equal(none.code, 2);
    assert.match(none.err, /^left out: DIR\/nowhere: .*\nno node has a config that can be imported$/);
    assert.equal(await size('repo'), undefined);
    const named = await run('import', inside('configs'), '--cluster', '../../etc/x', '--into', inside('repo'));
    assert.deepEqual([named.code, await size('etc')], [2, undefined]);
    assert.match(named.err, /^--cluster \.\.\/\.\.\/etc\/x: it is not a valid name/);
  });

  it('have nothing of a hostile inventory in their names, and none of its lines', async () => {
    const evil = '../../x\nspec: {}';
    const list = {
      items: ['a-1', evil].map((name) => ({
        metadata: { name, labels: { 'kubernetes.io/hostname': name, 'eks.amazonaws.com/nodegroup': evil } },
        status: { nodeInfo: { kubeletVersion: 'v1.34.2' } },
      })),
    };
    await put({ 'nodes.json': JSON.stringify(list) });
    const piped = ['a-1', evil].map((node) => JSON.stringify({ node, kubeletconfig: { maxPods: 20 } })).join('\n');
    const { code, out, err } = await importing(['-', '--inventory', inside('nodes.json')], piped);
    assert.equal(code, 1, err);
    assert.doesNotMatch(out, /x/i.test(directory) ? /\.\.\// : /\.\.\/|x\n/);
    assert.match(await read('repo/pools/nodes/pool.yaml'), /^# 1 node when it was imported: a-1$/m);
    assert.deepEqual((await run('validate', inside('repo'))).out, '1 pool: nothing found\n');
  });

  it('say what the reconciler would refuse of what a kubelet runs', async () => {
    await put({ 'configs/b-1.json': configz({ ...BASE, evictionHard: { 'memory.available': 'lots' } }) });
    const { code, err } = await all();
    assert.equal(code, 1);
    assert.match(err, /^pools\/b\/kubelet\.yaml:\d+:\d+: error .*lots/m);
  });
});

describe('patterns', () => {
  it('match whole names, in time that grows with both lengths only', () => {
    const rows = [
      ['a-1.json', '*.json', true],
      ['a-1.json', '?-1.*', true],
      ['a-1.json', 'a', false],
      ['', '*', true],
      ['abc', 'a*b*c*', true],
      ['abd', 'a*c', false],
      ['a'.repeat(5_000), `${'*a'.repeat(500)}b`, false],
    ] as const;
    for (const [name, pattern, is] of rows) assert.equal(matchesWildcard(name, pattern), is, pattern);
  });
});
