import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { before, describe, it } from 'node:test';
import { COMMANDS } from '#cli/commands.ts';
import { KUBELET_NODES, KUBELET_POOLS } from '#shared/kube/kube.ts';
import { complete } from '#cli/completion/complete.ts';
import { without } from '../../support/required-tools.ts';
import { aCluster } from '../support/cluster.ts';
import { run, runIn } from '../support/run.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const BIN = resolve('cli/bin.js');
/** Contexts may be called anything; these hold everything that a shell would act on. */
const HOSTILE = ['$(touch pwned)', '`touch pwned`', "it's; touch pwned", 'a b', '*', 'a\\b"c', '~root', 'x&y|z>w'];
const CONTEXTS = ['kubernetes-admin@kubernetes', 'arn:aws:eks:eu-1:12:cluster/prod', ...HOSTILE];
const UNSAID = ['line\nbreak', '-rf', ':4', 'esc\u001b[2J', ''];

describe('names that a shell is offered', () => {
  const directory = temporaryDirectory();
  let env: Readonly<Record<string, string>>;

  before(async () => {
    for (const pool of ['general', 'gpu', 'Odd', '$(touch pwned)', "a'b", 'a b'])
      await mkdir(join(directory, 'pools', pool), { recursive: true });
    await mkdir(join(directory, 'clusters'));
    for (const file of ['prod.yaml', 'test.yml', 'README.md']) await writeFile(join(directory, 'clusters', file), '');
    await writeFile(join(directory, 'kubeconfig'), kubeconfig('http://127.0.0.1:1', [...CONTEXTS, ...UNSAID]));
    env = { KUBECONFIG: join(directory, 'kubeconfig') };
  });

  const kubeconfig = (server: string, contexts: readonly string[], user: object = { token: 't' }): string =>
    JSON.stringify({
      clusters: [{ name: 'c', cluster: { server } }],
      users: [{ name: 'u', user }],
      contexts: contexts.map((name) => ({ name, context: { cluster: 'c', user: 'u' } })),
      'current-context': contexts[0],
    });

  const asked = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { code, out, err } = await runIn(env, ['__complete', ...words]);
    assert.deepEqual([code, err], [0, '']);
    return out.trimEnd().split('\n');
  };

  it('are pools and clusters of the repository, and contexts of the kubeconfig', async () => {
    const repo = ['--repo', directory];
    assert.deepEqual(await asked('render', ...repo, ''), ['general', 'gpu', ':4']);
    assert.deepEqual(await asked('render', ...repo, 'gp'), ['gpu', ':4']);
    assert.deepEqual(await asked('plan', ...repo, '--cluster', ''), ['prod', 'test', ':4']);
    assert.deepEqual(await asked('plan', ...repo, '--cluster=t'), ['--cluster=test', ':4']);
    assert.deepEqual(await asked('status', '--context', ''), [...[...CONTEXTS].sort(), ':4']);
  });

  it('are branches and tags where a revision is asked for', async () => {
    const repo = join(directory, 'with-git');
    const git = (...args: readonly string[]) =>
      spawnSync('git', ['-C', repo, '-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args]);
    await mkdir(repo);
    git('init', '-q', '-b', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'x');
    git('branch', 'feature/more');
    git('tag', 'v1.2');
    assert.deepEqual(await asked('plan', '--repo', repo, '--base', ''), ['HEAD', 'feature/more', 'main', 'v1.2', ':4']);
    assert.deepEqual(await asked('plan', '--repo', repo, '--base', 'f'), ['feature/more', ':4']);
    assert.deepEqual(await asked('plan', '--repo', join(directory, 'pools'), '--base', ''), [':4']);
  });

  it('are fields, words, versions, files and folders where those are asked for', async () => {
    assert.deepEqual(await asked('why', 'worker-1', 'maxP'), ['maxParallelImagePulls', 'maxPods', ':4']);
    assert.deepEqual(await asked('plan', '--fail-on', ''), [...(await wordsOf('plan', 'fail-on')), ':4']);
    assert.deepEqual(await asked('status', '-o', 'j'), ['json', ':4']);
    assert.deepEqual(await asked('validate', '--kubelet-version', '1.3'), [
      ...Array.from({ length: 8 }, (_, n) => `1.3${n}`),
      ':4',
    ]);
    assert.deepEqual(await asked('plan', '--repo', ''), [':16']);
    assert.deepEqual(await asked('status', '--kubeconfig', ''), [':0']);
    assert.deepEqual(await asked('validate', ''), [':0']);
    assert.deepEqual(await asked('nothing', ''), [':4']);
  });

  const wordsOf = async (command: string, option: string): Promise<readonly string[]> =>
    [...(COMMANDS.find(({ name }) => name === command)?.options[option]?.words ?? [])].sort();

  it('are nodes, namespaces and pools of the cluster', async () => {
    await using cluster = await aCluster();
    const { store } = cluster.sandbox.server;
    for (const name of ['worker-1', 'worker-2']) store.seed(KUBELET_NODES, { metadata: { name } });
    store.seed(KUBELET_POOLS, { metadata: { name: 'edge' } });
    // However long the machine takes.
    const clock = { sleep: () => new Promise<void>(() => undefined) };
    const patiently = async (...words: readonly string[]): Promise<string> => {
      let out = '';
      const io = { out: { write: (text: string) => (out += text) }, err: { write: assert.fail }, env };
      const [command = '', ...rest] = words;
      await complete([command, '--kubeconfig', cluster.kubeconfig, ...rest], COMMANDS, io, clock);
      return out;
    };
    assert.equal(await patiently('events', '--node', ''), 'worker-1\nworker-2\n:4\n');
    assert.equal(await patiently('suspend', 'e'), 'edge\n:4\n');
    assert.equal(await patiently('status', '--namespace', 'def'), 'default\n:4\n');
  });

  it('are nothing, and no word is said, where the cluster is away, does not answer, or asks for credentials first', async (t) => {
    assert.deepEqual(await asked('events', '--node', ''), [':4']);
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    t.after(() => silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as { readonly port: number };
    const path = join(directory, 'silent');
    await writeFile(path, kubeconfig(`http://127.0.0.1:${port}`, ['c']));
    let out = '';
    const slept: number[] = [];
    const io = { out: { write: (text: string) => (out += text) }, err: { write: assert.fail }, env: {} };
    const clock = { sleep: (ms: number) => Promise.resolve(void slept.push(ms)) };
    await complete(['events', '--kubeconfig', path, '--node', ''], COMMANDS, io, clock);
    assert.deepEqual([out, slept], [':4\n', [2_000]]);

    const withHelper = join(directory, 'with-helper');
    const helper = join(directory, 'helper');
    await writeFile(helper, `#!/bin/sh\ntouch ${directory}/asked-$1\n`);
    await chmod(helper, 0o755);
    for (const interactiveMode of ['IfAvailable', 'Always', undefined, 'Never']) {
      const exec = {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: helper,
        args: [interactiveMode ?? 'unsaid'],
      };
      const user = { exec: { ...exec, ...(interactiveMode === undefined ? {} : { interactiveMode }) } };
      await writeFile(withHelper, kubeconfig(`https://127.0.0.1:${port}`, ['c'], user));
      assert.deepEqual(await asked('events', '--kubeconfig', withHelper, '--node', ''), [':4']);
    }
    const ran = (await readdir(directory)).filter((name) => name.startsWith('asked-'));
    assert.deepEqual(ran, ['asked-Never']);
  });

  /** What bash has in COMPREPLY for a line as it is typed, by the real program. */
  async function inBash(pieces: readonly string[], line: string): Promise<readonly string[]> {
    const { out } = await run('completion', 'bash');
    const words = pieces.map((piece) => `'${piece.replaceAll("'", String.raw`'\''`)}'`).join(' ');
    const script = `${out}\nCOMP_WORDS=(${words}); COMP_CWORD=${pieces.length - 1}; COMP_LINE=$LINE; COMP_POINT=\${#LINE}
_kubelet_gitops; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const options = {
      encoding: 'utf8',
      cwd: directory,
      env: { PATH: process.env['PATH'], ...env, LINE: line },
    } as const;
    const { stdout, stderr, status } = spawnSync('bash', ['--norc', '-c', script], options);
    assert.deepEqual([status, stderr], [0, '']);
    return stdout.split('\n').filter(Boolean);
  }

  it('reach bash: in words that it parts at = : and @ as in whole ones', async () => {
    const line = (rest: string): string => `${BIN} ${rest}`;
    assert.deepEqual(await inBash([BIN, 'suspend', 'g'], line('suspend g')), ['general', 'gpu']);
    assert.deepEqual(await inBash([BIN, 'status', '--pool', ''], line('status --pool ')), ['general', 'gpu']);
    assert.deepEqual(await inBash([BIN, 'status', '--pool', '=', 'gp'], line('status --pool=gp')), ['gpu']);
    assert.deepEqual(await inBash([BIN, 'status', '--pool', '='], line('status --pool=')), ['general', 'gpu']);
    assert.deepEqual(await inBash([BIN, 'status', '--output', '=', 'j'], line('status --output=j')), ['json']);
    assert.deepEqual(
      await inBash([BIN, 'status', '--context', 'arn', ':', 'aws', ':', 'e'], line('status --context arn:aws:e')),
      ['eks:eu-1:12:cluster/prod'],
    );
    const admin = [BIN, 'status', '--context', 'kubernetes-admin', '@'];
    assert.deepEqual(await inBash(admin, line('status --context kubernetes-admin@')), ['kubernetes']);
  });

  it('are quoted for bash: whatever a context is called, the line that comes of it runs nothing', async () => {
    const offered = await inBash([BIN, 'status', '--context', ''], `${BIN} status --context `);
    const back = offered.map((quoted) => {
      const script = `set -- ${quoted}; printf '%s|%s' "$#" "$1"`;
      return spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8', cwd: directory }).stdout;
    });
    assert.deepEqual(back.sort(), CONTEXTS.map((name) => `1|${name}`).sort());
    assert.equal(existsSync(join(directory, 'pwned')), false);
  });

  it('reach kubectl, by the program that it looks for', async () => {
    const bin = join(directory, 'bin');
    await mkdir(bin);
    const asks = join(bin, 'kubectl_complete-kubelet_gitops');
    await writeFile(asks, (await run('completion', 'kubectl')).out, { mode: 0o755 });
    await writeFile(join(bin, 'kubectl-kubelet_gitops'), `#!/bin/sh\nexec ${BIN} "$@"\n`, { mode: 0o755 });
    const options = {
      encoding: 'utf8',
      cwd: directory,
      env: { ...env, PATH: `${bin}:${process.env['PATH']}` },
    } as const;
    const { stdout, stderr } = spawnSync(asks, ['suspend', 'g'], options);
    assert.deepEqual([stdout, stderr], ['general\ngpu\n:4\n', '']);
  });

  it('reach shells that hand on whole words, as zsh does', async () => {
    const line = `${BIN} status --pool=gp`;
    assert.deepEqual(await inBash([BIN, 'status', '--pool=gp'], line), ['--pool=gpu']);
    assert.deepEqual(await inBash([BIN, 'status', '--output=y'], `${BIN} status --output=y`), ['--output=yaml']);
  });

  const skip = without('fish', ['--version'], 'nothing proves that completion works in it');
  it('reach fish', { skip }, async () => {
    const bin = join(directory, 'fish-bin');
    await mkdir(bin);
    await writeFile(join(bin, 'kubelet-gitops'), `#!/bin/sh\nexec ${BIN} "$@"\n`, { mode: 0o755 });
    const { out } = await run('completion', 'fish');
    const fish = (line: string): readonly string[] => {
      const options = {
        encoding: 'utf8',
        cwd: directory,
        env: { ...env, HOME: directory, PATH: `${bin}:${process.env['PATH']}`, LINE: line },
      } as const;
      const { stdout } = spawnSync('fish', ['--no-config', '-c', `${out}\ncomplete -C $LINE`], options);
      return stdout
        .split('\n')
        .filter(Boolean)
        .map((offer) => offer.replace(/\t.*/, ''));
    };
    assert.deepEqual(fish('kubelet-gitops suspend g'), ['general', 'gpu']);
    assert.deepEqual(fish('kubelet-gitops status --pool g'), ['general', 'gpu']);
    assert.deepEqual(fish('kubelet-gitops status --pool=g'), ['--pool=general', '--pool=gpu']);
    assert.deepEqual(fish('kubelet-gitops status --context kubern'), ['kubernetes-admin@kubernetes']);
    assert.equal(existsSync(join(directory, 'pwned')), false);
  });
});
