import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { signingKeyIn } from '#reconciler/git/trust/signing-key.ts';
import { startSandbox, type Sandbox } from '#sandbox/sandbox.ts';
import type { KubeletSource } from '#shared/contract/api/kubelet-source.ts';
import { SOURCE_NAME } from '#shared/contract/api/kubelet-source.ts';
import { KUBELET_SOURCES } from '#shared/kube/kube.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { silentLog } from '#shared/runtime/log.ts';
import { nativeGit } from '../../sandbox/git-server/support/native-git.ts';
import { describeOrSkip } from '../../support/describe-or-skip.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { until } from '../../support/until.ts';
import { WITHOUT_SSH } from '../../reconciler/git/trust/signing.ts';
import { PATIENCE_MS, settled } from '../support.ts';

const OURS = 'apiVersion: kubelet-gitops.dev/v1alpha1\n';
const POOL =
  `${OURS}kind: KubeletPool\nspec:\n  nodeSelector: {matchLabels: {role: general}}\n` +
  '  rollout: {maxUnavailable: 2, onFailure: {threshold: 1, action: halt}, soak: 0s}\n  trial: {duration: 200ms, startTimeout: 30s}\n';
const cluster = (spec: string): string => `${OURS}kind: ClusterConfig\nspec: {trial: {minDuration: 200ms}${spec}}\n`;
const pods = (count: number): string =>
  `apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\nmaxPods: ${count}\n`;
/** Longer than a busy machine takes to write a note that takes the one before back. */
const SETTLED_FOR_MS = 8_000;
const REF = 'refs/notes/kubelet-gitops/staging';

interface Pair extends AsyncDisposable {
  readonly staging: Sandbox;
  readonly production: Sandbox;
  /** Staging's private key; what is written into it counts at the next note. */
  readonly keyFile: string;
  follow(keys: readonly string[]): string;
  /** Makes another key. @returns its file */
  makeKey(name: string): string;
  publicOf(file: string): string;
  /** Writes a note of staging as somebody who may push, with a key or without. */
  note(commit: string, outcome: string, keyFile?: string): Promise<void>;
  refNow(): Promise<string>;
  /** Sets the ref as a thief of a token does; '' deletes it. */
  pushRef(oid: string): Promise<void>;
}

async function begin(t: TestContext): Promise<Pair> {
  const directory = temporaryDirectory(t);
  const makeKey = (name: string): string => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', join(directory, name)]);
    return join(directory, name);
  };
  const publicOf = (file: string): string => readFileSync(`${file}.pub`, 'utf8').trim();
  const keyFile = makeKey('staging');
  const world = (name: string, more: object): Promise<Sandbox> =>
    startSandbox({
      cluster: name,
      nodes: [{ name: `${name}-1`, labels: { role: 'general' } }],
      log: () => silentLog,
      pollMs: 100,
      ...more,
    });
  const staging = await world('staging', { notesSigningKeyFile: keyFile });
  const production = await world('production', { git: staging.git });
  const { url } = staging.git;
  const git = nativeGit(directory);
  await git('init', '--quiet', '--bare', 'clone');
  const thief = (...words: string[]): Promise<string> => git('-C', 'clone', ...words);
  const follow = (keys: readonly string[]): string =>
    cluster(
      `, follows: {clusters: [staging], settledFor: ${SETTLED_FOR_MS}ms, signers: {staging: ${JSON.stringify(keys)}}}`,
    );
  const files = {
    'pools/general/pool.yaml': POOL,
    'pools/general/kubelet.yaml': pods(110),
    'clusters/staging.yaml': cluster(''),
    'clusters/production.yaml': follow([publicOf(keyFile)]),
  };
  const first = await staging.git.commit({ files, message: 'Begin' });
  for (const each of [staging, production]) await onCommit(each, first);
  return {
    staging,
    production,
    keyFile,
    follow,
    makeKey,
    publicOf,
    async note(commit, outcome, by) {
      const annotator = createAnnotator({
        url,
        credentials: fileCredentials(undefined),
        clock: systemClock,
        random: Math.random,
        ref: REF,
        signing: by === undefined ? undefined : { cluster: 'staging', key: () => signingKeyIn(by) },
      });
      const said = { schema: 'kubelet-gitops.dev/note/v1', cluster: 'staging', commit, outcome };
      await annotator.annotate(
        new Map([[commit, { text: outcome, data: JSON.stringify(said) }]]),
        AbortSignal.timeout(PATIENCE_MS),
      );
    },
    async refNow() {
      await thief('fetch', '--quiet', url, `+${REF}:refs/kept/${performance.now()}`);
      return (await thief('ls-remote', url, REF)).split(/\s/, 1)[0] ?? '';
    },
    pushRef: async (oid) => void (await thief('push', '--quiet', '--force', url, `${oid}:${REF}`)),
    async [Symbol.asyncDispose]() {
      await production.stop();
      await staging.stop();
    },
  };
}

const onCommit = (of: Sandbox, commit: string): Promise<unknown> =>
  of.until(`settled on ${commit.slice(0, 8)}`, (view) => settled(view) && view.source.commit === commit);
const inForce = async (of: Sandbox): Promise<string> => (await of.status()).source.commit;

async function says(of: Sandbox, reason: string, message: RegExp): Promise<void> {
  const standing = async (): Promise<boolean> => {
    const { conditions = [] } =
      (await of.kube.get<KubeletSource>({ resource: KUBELET_SOURCES }, SOURCE_NAME))?.status ?? {};
    const found = conditions.find(({ type }) => type === 'Following');
    return found?.reason === reason && message.test(found.message);
  };
  await until(`${reason} ${message}`, standing, { withinMs: PATIENCE_MS, everyMs: 50 });
}

/** Long enough for what must not come. */
const wait = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, SETTLED_FOR_MS + 3_000));

describeOrSkip('a cluster that follows one whose notes are signed', { skip: WITHOUT_SSH }, () => {
  it('takes what that settled, and nothing that a thief of the forge token says of it', async (t) => {
    await using pair = await begin(t);
    const { staging, production, note } = pair;
    const good = await staging.git.commit({ files: { 'pools/general/kubelet.yaml': pods(120) }, message: 'Good' });
    await onCommit(production, good);

    let next = '';
    const thiefs = pair.makeKey('stolen');
    await staging.restartReconciler(async () => {
      next = await staging.git.commit({ files: { 'pools/general/kubelet.yaml': pods(20) }, message: 'Next' });
      await note(next, 'settled');
      await says(production, 'NotesUntrusted', /^the notes of staging are not signed\. .*NOTES_SIGNING_KEY_PATH/);
      await wait();
      await note(next, 'settled', thiefs);
      await says(production, 'NotesUntrusted', /are signed with SHA256:\S+, a key that is not named for it/);
      await wait();
      assert.equal(await inForce(production), good);
    });
    // What it signs has nothing of the thief's in it, and it goes on.
    await onCommit(production, next);
    assert.doesNotMatch((await staging.git.readNotes(REF)).get(next) ?? '', /^settled$/m);
  });

  it('does not take what was settled once and is halted, whoever pushes the old note again, also after a takeover', async (t) => {
    await using pair = await begin(t);
    const { staging, production, note, keyFile, pushRef } = pair;
    const before = await inForce(production);
    await staging.restartReconciler(async () => {
      const change = await staging.git.commit({
        files: { 'pools/general/kubelet.yaml': pods(120) },
        message: 'Change',
      });
      // As staging's own reconciler would say it.
      await note(change, 'settled', keyFile);
      const old = await pair.refNow();
      await note(change, 'halted', keyFile);
      await says(production, 'Waiting', /: halted/);
      await pushRef(old);
      await says(production, 'NotesUntrusted', /are older than some that were seen/);
      await production.restartReconciler(() => Promise.resolve(), true);
      await wait();
      await says(production, 'NotesUntrusted', /are older than some that were seen/);
      assert.equal(await inForce(production), before);
      await pushRef('');
      await says(production, 'NotesUntrusted', /do not exist/);
      await wait();
      assert.equal(await inForce(production), before);
    });
    const next = await staging.git.commit({ files: { 'pools/general/kubelet.yaml': pods(130) }, message: 'Next' });
    await onCommit(production, next);
  });

  it('goes on while one key takes the place of another, and does not take the old one back', async (t) => {
    await using pair = await begin(t);
    const { staging, production, keyFile, publicOf, follow } = pair;
    const old = readFileSync(keyFile);
    const other = pair.makeKey('next');
    const both = await staging.git.commit({
      files: { 'clusters/production.yaml': follow([publicOf(keyFile), publicOf(other)]) },
      message: 'Two keys',
    });
    await onCommit(production, both);
    writeFileSync(keyFile, readFileSync(other));
    const one = await staging.git.commit({
      files: { 'clusters/production.yaml': follow([publicOf(other)]) },
      message: 'One key',
    });
    await onCommit(production, one);
    writeFileSync(keyFile, old);
    const change = await staging.git.commit({ files: { 'pools/general/kubelet.yaml': pods(120) }, message: 'Change' });
    await says(production, 'NotesUntrusted', /are signed with SHA256:\S+, a key that is not named for it/);
    await wait();
    assert.equal(await inForce(production), one);
    writeFileSync(keyFile, readFileSync(other));
    await staging.restartReconciler();
    await onCommit(production, change);
  });
});
