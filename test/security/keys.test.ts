import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { promisify } from 'node:util';
import { generateKey } from 'openpgp';
import { pino } from 'pino';
import { createCommitTrust } from '#reconciler/git/trust/commit-trust.ts';
import { trustedKeysIn } from '#reconciler/git/trust/trusted-keys.ts';
import { type SandboxApiServer, startApiServer } from '#sandbox/api-server/server.ts';
import { CONFIG_MAPS, EVENTS, KUBELET_POOLS, KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { describeError } from '#shared/runtime/log.ts';
import { freePorts } from '../cluster/support/free-ports.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { until } from '../support/until.ts';
import { rawRepository } from '../reconciler/git/support/repository.ts';
import { nativeGit } from '../sandbox/git-server/support/native-git.ts';
import { WITHOUT_GIT } from '../support/required-tools.ts';
import { startSshd, type Sshd, WITHOUT_SSHD } from '../support/sshd.ts';
import { leaksIn, linesOfKey } from './support/canaries.ts';
import { type Running, startKept } from './support/programs.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { kubeconfigOf } from '../support/kubeconfig/one-cluster.ts';

const keygen = (file: string, passphrase: string): Promise<unknown> =>
  promisify(execFile)('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-f', file]);

const PASSPHRASE = 'cnry-phrase-Jb4mQ7wE2';
/** Every look at the repository is a connection or two of ssh, each a second on a busy machine. */
const WITHIN = { withinMs: 180_000, everyMs: 50 };
const FILES = {
  'pools/all/pool.yaml': `apiVersion: kubelet-gitops.dev/v1alpha1
kind: KubeletPool
spec:
  nodeSelector: {matchLabels: {role: worker}}
`,
  'pools/all/kubelet.yaml': 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: 77\n',
};

/** The reconciler itself, over the real OpenSSH, with keys that work, that are broken, locked and strange. */
describeOrSkip('an SSH key', { skip: WITHOUT_GIT || WITHOUT_SSHD }, () => {
  const outputs = new Map<string, string>();
  let secrets: Readonly<Record<string, string>> = { 'passphrase of a key': PASSPHRASE };
  let directory = '';
  let api: SandboxApiServer;
  let sshd: Sshd;
  let git: ReturnType<typeof nativeGit>;
  let reconciler: Running;
  let commit = '';

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-keys-'));
    api = await startApiServer({ tokens: [], anonymous: { user: 'reconciler' } });
    sshd = await startSshd();
    const repository = join(directory, 'repository');
    await mkdir(repository);
    git = nativeGit(repository);
    await git('init', '--quiet', '--bare', '--initial-branch=main');
    commit = await rawRepository(repository).commitFiles(FILES);
    await writeFile(join(directory, 'kubeconfig'), kubeconfigOf({ server: api.url }));
    const [health = 0, page = 0] = await freePorts(2);
    reconciler = startKept('reconciler/main.ts', [], {
      KUBECONFIG: join(directory, 'kubeconfig'),
      CLUSTER: 'demo',
      GIT_URL: sshd.url(repository),
      GIT_CREDENTIALS_DIR: sshd.credentials,
      POLL_INTERVAL: '1s',
      NOTES_INTERVAL: '1s',
      HEALTH_PORT: String(health),
      METRICS_PORT: '0',
      STATUS_PORT: String(page),
      LOG_LEVEL: 'trace',
    });
  });
  after(async () => {
    await reconciler?.stop();
    await sshd?.stop();
    await api?.stop();
    await rm(directory, { recursive: true, force: true });
  });

  const key = (): string => join(sshd.credentials, 'ssh-privatekey');
  const said = (pattern: RegExp): Promise<unknown> =>
    until(`${pattern}`, async () => pattern.test(reconciler.said()), { ...WITHIN, evidence: reconciler.said });
  const keep = async (name: string): Promise<void> => {
    secrets = { ...secrets, ...linesOfKey(name, await readFile(key(), 'utf8')) };
  };

  it('that works is used, to read and to write notes', async () => {
    await keep('key that works');
    const noted = async (): Promise<boolean> =>
      (await git('for-each-ref', 'refs/notes')).includes('refs/notes/kubelet-gitops/demo');
    await until('a note', noted, { ...WITHIN, evidence: reconciler.said });
    outputs.set('the note', await git('notes', '--ref=kubelet-gitops/demo', 'show', commit));
  });

  it('that is broken, locked or strange is told of by what it is', async () => {
    const good = await readFile(key(), 'utf8');
    const lines = good.split('\n');
    await writeFile(key(), [...lines.slice(0, 2), 'AAAA', ...lines.slice(3)].join('\n'));
    await said(/GIT_CREDENTIALS_UNREADABLE/);
    for (const [name, passphrase, tells] of [
      ['locked', PASSPHRASE, /passphrase/],
      ['strange', '', /GIT_UNAUTHORIZED/],
    ] as const) {
      const file = join(directory, name);
      await keygen(file, passphrase);
      await cp(file, key());
      await keep(`${name} key`);
      await said(tells);
    }
    const kinds = [KUBELET_SOURCES, KUBELET_POOLS, CONFIG_MAPS, EVENTS];
    const objects = (): string => JSON.stringify(kinds.map((kind) => api.store.list(kind)));
    // The log has it before the record.
    await until('the reason in the record', async () => /does not take this key/.test(objects()), WITHIN);
    outputs.set('objects', objects());
  });

  it('comes out nowhere, and the place where it lies not on the commit', () => {
    outputs.set('the log', reconciler.said());
    assert.ok(Object.keys(secrets).length > 8);
    assert.deepEqual(leaksIn(outputs, secrets), []);
    assert.ok(!(outputs.get('the note') ?? sshd.credentials).includes(sshd.credentials));
  });
});

describeOrSkip('private keys among the trusted ones', { skip: WITHOUT_SSHD }, () => {
  it('let nobody in, and come out nowhere', async (t) => {
    const directory = temporaryDirectory(t);
    await keygen(join(directory, 'id_ed25519'), '');
    const { privateKey } = await generateKey({ userIDs: [{ email: 'ada@example.com' }], format: 'armored' });
    await writeFile(join(directory, 'ada.asc'), privateKey);
    await writeFile(join(directory, 'cut.asc'), privateKey.slice(0, privateKey.length / 2));
    const ssh = await readFile(join(directory, 'id_ed25519'), 'utf8');
    await writeFile(join(directory, 'one-line'), `ada@example.com ssh-ed25519 ${ssh.split('\n')[1]}\n`);
    let said = '';
    const sink = { write: (line: string) => (said += line) };
    const log = pino({ level: 'trace', serializers: { err: describeError } }, sink);
    const trust = createCommitTrust({ keys: trustedKeysIn(directory), clock: systemClock, log });
    const signed = (kind: string): Buffer =>
      Buffer.from(
        `tree ${'a'.repeat(40)}\nauthor A <a@example.com> 1 +0000\ncommitter A <a@example.com> 1 +0000\n` +
          `gpgsig -----BEGIN ${kind} SIGNATURE-----\n AAAA\n -----END ${kind} SIGNATURE-----\n\nChange\n`,
      );
    const verdicts = [];
    for (const kind of ['SSH', 'PGP']) verdicts.push(await trust.judge({ oid: 'a'.repeat(40), raw: signed(kind) }));
    assert.ok(
      verdicts.every(({ verdict }) => verdict === 'untrusted'),
      JSON.stringify(verdicts),
    );
    for (const name of ['id_ed25519', 'ada.asc', 'cut.asc', 'one-line']) assert.match(said, new RegExp(name));
    const secrets = { ...linesOfKey('SSH key', ssh), ...linesOfKey('OpenPGP key', privateKey) };
    assert.ok(Object.keys(secrets).length > 8);
    const outputs = new Map([
      ['the log', said],
      ['the verdicts', JSON.stringify(verdicts)],
    ]);
    assert.deepEqual(leaksIn(outputs, secrets), []);
  });
});
