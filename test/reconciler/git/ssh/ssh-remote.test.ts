import assert from 'node:assert/strict';
import { chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { describeOrSkip } from '../../../support/describe-or-skip.ts';
import { fc } from '../../../support/property.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { isGitError } from '#reconciler/git/errors.ts';
import { createGitSource, type GitSourceOptions } from '#reconciler/git/git-source.ts';
import type { GitSource } from '#reconciler/git/source-port.ts';
import { sshAddress } from '#reconciler/git/ssh/address.ts';
import { sshErrorOf } from '#reconciler/git/ssh/ssh-error.ts';
import { until } from '../../../support/until.ts';
import { nativeGit } from '../../../sandbox/git-server/support/native-git.ts';
import { startSshd, type Sshd, WITHOUT_SSHD } from '../../../support/sshd.ts';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import { rawRepository } from '../support/repository.ts';
import { failsWith, PATIENT, soon } from '../support/start.ts';
import { steeredClock } from '../../../support/steered-clock.ts';
import { localSsh } from '../support/transport.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const NONE = fileCredentials(undefined);

async function bareRepository() {
  const directory = await mkdtemp(join(tmpdir(), 'ssh-repository-'));
  const git = nativeGit(directory);
  await git('init', '--quiet', '--bare', '--initial-branch=main');
  const repository = rawRepository(directory);
  const commit = await repository.commitFiles({ 'base/a.yaml': 'a: 1\n', 'pools/gpu/kubelet.yaml': 'maxPods: 1\n' });
  return { directory, git, repository, commit };
}

describeOrSkip('a repository on a real ssh server', { skip: WITHOUT_GIT || WITHOUT_SSHD }, () => {
  let sshd: Sshd;
  let other: Sshd;
  let repository: Awaited<ReturnType<typeof bareRepository>>;
  before(async () => {
    [sshd, other] = await Promise.all([startSshd(), startSshd({ acceptsVersion: false })]);
    repository = await bareRepository();
  });
  after(async () => {
    await Promise.all([sshd.stop(), other.stop()]);
    await rm(repository.directory, { recursive: true, force: true });
  });

  const source = (options: Partial<GitSourceOptions> = {}, from = sshd): GitSource =>
    createGitSource({
      url: from.url(repository.directory),
      branch: 'main',
      credentials: NONE,
      ssh: { directory: from.credentials },
      clock: systemClock,
      limits: PATIENT,
      ...options,
    });

  it('is polled, read and annotated', async () => {
    const reader = source();
    assert.equal(await reader.resolve(soon()), repository.commit);
    const { files, lineage } = await reader.snapshot(null, soon());
    assert.deepEqual([...files.keys()].sort(), ['base/a.yaml', 'pools/gpu/kubelet.yaml']);
    assert.equal(lineage, 'first');
    const annotator = createAnnotator({
      url: sshd.url(repository.directory),
      ref: 'refs/notes/kubelet-gitops/demo',
      credentials: NONE,
      ssh: { directory: sshd.credentials },
      limits: PATIENT,
      clock: systemClock,
      random: Math.random,
    });
    await annotator.annotate(new Map([[repository.commit, 'settled']]), soon());
    const shown = await repository.git('notes', '--ref=kubelet-gitops/demo', 'show', repository.commit);
    assert.equal(shown, 'settled');
    assert.equal(reader.url.includes(sshd.credentials), false);
  });

  it('is read also where the server does not pass on the protocol’s version', async () => {
    assert.equal((await source({}, other).snapshot(null, soon())).commit.oid, repository.commit);
  });

  it('that is not there is said to be missing', async () => {
    await assert.rejects(source({ url: sshd.url('/nowhere.git') }).resolve(soon()), failsWith('GIT_NOT_FOUND'));
  });

  it('is not read from a server with another host key', async (t) => {
    const swapped = join(sshd.credentials, '..', 'swapped');
    t.after(() => rm(swapped, { recursive: true, force: true }));
    await cp(sshd.credentials, swapped, { recursive: true });
    const hosts = await readFile(join(sshd.credentials, 'known_hosts'), 'utf8');
    await writeFile(join(swapped, 'known_hosts'), hosts.replaceAll(`:${sshd.port} `, `:${other.port} `));
    const pretender = source({ url: other.url(repository.directory), ssh: { directory: swapped } });
    await assert.rejects(pretender.resolve(soon()), failsWith('GIT_UNTRUSTED', /host key/));
  });

  it('is not read with a key that the server does not know, and nobody is asked for a password', async (t) => {
    const directory = join(other.credentials, '..', 'stranger');
    t.after(() => rm(directory, { recursive: true, force: true }));
    await cp(other.credentials, directory, { recursive: true });
    await cp(join(sshd.credentials, 'known_hosts'), join(directory, 'known_hosts'));
    const stranger = source({ ssh: { directory } });
    await assert.rejects(stranger.resolve(soon()), failsWith('GIT_UNAUTHORIZED', /does not take this key/));
  });

  it('is not read with a key that others may read, which ssh refuses', async (t) => {
    const directory = join(other.credentials, '..', 'open');
    t.after(() => rm(directory, { recursive: true, force: true }));
    await cp(other.credentials, directory, { recursive: true });
    await chmod(join(directory, 'ssh-privatekey'), 0o644);
    await assert.rejects(
      source({ ssh: { directory } }, other).resolve(soon()),
      failsWith('GIT_CREDENTIALS_UNREADABLE', /others may read/),
    );
  });

  it('behind an account that greets with something else is no repository', async (t) => {
    const shell = await startSshd({ forceCommand: 'echo Welcome to this machine' });
    t.after(() => shell.stop());
    await assert.rejects(source({}, shell).resolve(soon()), failsWith('GIT_NOT_GIT', /run a shell/));
  });

  it('on a server that is gone is said to be out of reach', async () => {
    const url = `ssh://git@127.0.0.1:9${repository.directory}`;
    await assert.rejects(source({ url }).resolve(soon()), failsWith('GIT_UNREACHABLE'));
  });
});

describeOrSkip('a call of ssh', { skip: WITHOUT_GIT }, () => {
  async function with_(script: string, limits: GitSourceOptions['limits'] = PATIENT, clock: Clock = systemClock) {
    const ssh = await localSsh();
    const { directory = '', program = '' } = ssh.options;
    await writeFile(program, `#!/bin/sh\n${script}\n`);
    const source = createGitSource({
      url: 'git@git.example:team/config.git',
      branch: 'main',
      credentials: NONE,
      ssh: ssh.options,
      limits,
      clock,
    });
    return { source, directory, remove: ssh.remove };
  }

  it('that hangs, or talks without end, is given up, and its process is gone', async (t) => {
    for (const [script, code, why] of [
      ['echo $$ > "$0.pid"; exec sleep 600', 'GIT_TIMEOUT', /no connection within 120 s/],
      ['echo $$ > "$0.pid"; printf 0008abcd; exec sleep 600', 'GIT_TIMEOUT', /silence for 120 s/],
      ['echo $$ > "$0.pid"; exec yes 0008abcd', 'GIT_NOT_GIT', /./],
      ['echo $$ > "$0.pid"; while :; do printf 0008abcd; done', 'GIT_TOO_BIG', /more than the 10000 bytes/],
    ] as const) {
      const clock = steeredClock();
      const { source, directory, remove } = await with_(script, { ...PATIENT, advertisementBytes: 10_000 }, clock);
      t.after(remove);
      const givenUp = assert.rejects(source.resolve(soon()), failsWith(code, why));
      const pid = await until('its process', async () => {
        const text = await readFile(join(directory, 'ssh.pid'), 'utf8');
        return text.endsWith('\n') && Number(text);
      });
      // Time is let pass only for what hangs, and only once it does.
      clock.hurry = code === 'GIT_TIMEOUT';
      await givenUp;
      assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    }
  });

  it('ends when its caller gives up', async (t) => {
    const { source, remove } = await with_('exec sleep 60');
    t.after(remove);
    const stop = new AbortController();
    const work = source.resolve(stop.signal);
    setImmediate(() => stop.abort());
    await assert.rejects(work, failsWith('GIT_ABORTED'));
  });

  it('without the program says which image has it', async () => {
    const ssh = await localSsh();
    await rm(ssh.options.program ?? '');
    const source = createGitSource({
      url: 'git@git.example:team/config.git',
      branch: 'main',
      credentials: NONE,
      ssh: ssh.options,
      limits: PATIENT,
      clock: systemClock,
    });
    await assert.rejects(source.resolve(soon()), failsWith('GIT_SSH_MISSING', /ENOENT/));
    await ssh.remove();
  });

  it('is not made without key and known hosts', async (t) => {
    const directory = temporaryDirectory(t);
    const resolve = (where: string | undefined) =>
      createGitSource({
        url: 'git@git.example:team/config.git',
        branch: 'main',
        credentials: NONE,
        ssh: { directory: where },
        limits: PATIENT,
        clock: systemClock,
      }).resolve(soon());
    await assert.rejects(resolve(undefined), failsWith('GIT_CREDENTIALS_UNREADABLE', /no directory/));
    await assert.rejects(resolve('/a b'), failsWith('GIT_CREDENTIALS_UNREADABLE', /misreads/));
    await assert.rejects(resolve(directory), failsWith('GIT_CREDENTIALS_UNREADABLE', /ssh-privatekey/));
    await writeFile(join(directory, 'identity'), 'x');
    await assert.rejects(resolve(directory), failsWith('GIT_CREDENTIALS_UNREADABLE', /known_hosts/));
  });

  it('hands the path over as one word, whatever stands in it', async (t) => {
    const { source, remove } = await with_('for last; do :; done; printf %s "$last" > "$0.command"; exit 1');
    t.after(remove);
    await assert.rejects(source.resolve(soon()));
    const odd = await localSsh();
    t.after(odd.remove);
    const { program = '', directory = '' } = odd.options;
    await writeFile(program, '#!/bin/sh\nfor last; do :; done\nprintf %s "$last" > "$0.command"\nexit 1\n');
    const url = "git@git.example:team/it's $(touch x) `y`;z.git";
    const strange = createGitSource({
      url,
      branch: 'main',
      credentials: NONE,
      ssh: odd.options,
      limits: PATIENT,
      clock: systemClock,
    });
    await assert.rejects(strange.resolve(soon()));
    const command = await readFile(join(directory, 'ssh.command'), 'utf8');
    assert.equal(command, String.raw`git-upload-pack 'team/it'\''s $(touch x) ` + "`y`;z.git'");
  });
});

describe('an address of ssh', () => {
  it('is read in both forms', () => {
    const read = (text: string) => {
      const { user, host, port, path } = sshAddress(text) ?? { user: '', host: '', port: 0, path: '' };
      return [user, host, port, path];
    };
    assert.deepEqual(read('ssh://git@git.example/team/a.git'), ['git', 'git.example', null, '/team/a.git']);
    assert.deepEqual(read('ssh://ada@git.example:2222/a.git/'), ['ada', 'git.example', 2222, '/a.git']);
    assert.deepEqual(read('ssh://git.example/~ada/a.git'), ['git', 'git.example', null, '~ada/a.git']);
    assert.deepEqual(read('ssh://[::1]:22/a.git'), ['git', '::1', 22, '/a.git']);
    assert.deepEqual(read('git@git.example:team/a.git'), ['git', 'git.example', null, 'team/a.git']);
    assert.deepEqual(read('git.example:/srv/a.git'), ['git', 'git.example', null, '/srv/a.git']);
    for (const other of ['https://git.example/a.git', 'http://x/y', '/srv/a.git', './a', '', 'file:///a']) {
      assert.equal(sshAddress(other), null, other);
    }
  });

  it('that ssh could take for an option or a command is refused, and no password is repeated', () => {
    for (const text of [
      'ssh://-oProxyCommand=evil/a.git',
      'ssh://git@-oProxyCommand=evil/a.git',
      '-oProxyCommand=evil:a.git',
      'git@-oProxyCommand=evil:a.git',
      'ssh://-l@git.example/a.git',
      'ssh://git.example/',
      'git@git.example:-x',
      'ssh://git:hunter2@git.example/a.git',
      'ssh://git.example/a.git?x=hunter2',
      'ssh://git.example/a%0Ab.git',
      'ssh://git.example/%zz',
    ]) {
      assert.throws(
        () => sshAddress(text),
        (error) => {
          assert.ok(isGitError(error, 'GIT_URL_UNUSABLE'), text);
          assert.doesNotMatch(error.message, /hunter2.*@/);
          return true;
        },
      );
    }
  });

  it('is read, refused or left to others, and never breaks anything', () => {
    const part = fc.oneof(fc.constantFrom('ssh://', 'git@', ':', '/', '-o', '@', '[', ']', '%', '~'), fc.string());
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        try {
          const address = sshAddress(parts.join(''));
          if (address === null) return;
          assert.doesNotMatch(address.host, /^-|\s/);
          assert.doesNotMatch(address.user, /^-|\s/);
          assert.doesNotMatch(address.path, /^-|\n/);
        } catch (error) {
          assert.ok(isGitError(error, 'GIT_URL_UNUSABLE'), String(error));
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('what forges say over ssh', () => {
  for (const [said, code] of [
    ['ERROR: Repository not found.\nfatal: Could not read from remote repository.', 'GIT_NOT_FOUND'],
    ['ERROR: The project you were looking for could not be found or you don’t have permission', 'GIT_NOT_FOUND'],
    ['git@github.com: Permission denied (publickey).', 'GIT_UNAUTHORIZED'],
    ['Host key verification failed.', 'GIT_UNTRUSTED'],
    ['ERROR: The key you are authenticating with has been marked as read only.', 'GIT_FORBIDDEN'],
    ['remote: You are not allowed to push code to this project.', 'GIT_FORBIDDEN'],
    ['ssh: connect to host git.example port 22: Connection refused', 'GIT_UNREACHABLE'],
    ['ssh: Could not resolve hostname git.example: Name or service not known', 'GIT_UNREACHABLE'],
    ['ssh: connect to host git.example port 22: Connection timed out', 'GIT_TIMEOUT'],
    ['something unheard of', 'GIT_REMOTE_ERROR'],
  ] as const) {
    it(`"${said.split('\n')[0]}" is ${code}`, () => {
      assert.equal(sshErrorOf('ssh://git@git.example/a.git', 128, said).code, code);
    });
  }
});
