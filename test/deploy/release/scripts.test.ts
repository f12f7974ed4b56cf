import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { before, beforeEach, describe, it } from 'node:test';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

const [AMD64, ARM64, WHOLE] = ['a', 'b', 'c'].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string, string];
const IMAGE = 'registry.example.com/acme/kubelet-gitops';
const SCRIPTS = resolve('scripts/release');
const RUN = {
  GITHUB_SERVER_URL: 'https://github.com',
  GITHUB_REPOSITORY: 'acme/kubelet-gitops',
  GITHUB_WORKFLOW_REF: 'acme/kubelet-gitops/.github/workflows/release.yaml@refs/tags/v1.2.3',
  GITHUB_REF: 'refs/tags/v1.2.3',
  GITHUB_SHA: 'd'.repeat(40),
  GITHUB_EVENT_NAME: 'push',
  GITHUB_RUN_ID: '7',
  GITHUB_RUN_ATTEMPT: '1',
};
/** Programs of others: each writes down how it was called, and says what the real one would. */
const PROGRAMS = {
  docker: `case "$*" in
    *imagetools\\ inspect*) echo ${WHOLE} ;;
    *image\\ inspect*) printf '%s\\n' other.example/x@${ARM64} ${IMAGE}@${AMD64} '' ;;
  esac`,
  cosign: `while [ $# -gt 1 ]; do
    if [ "$1" = --predicate ]; then cp "$2" "$HOME/predicate-$(basename "$2" | cut -c1-3)"; fi
    if [ "$1" = --bundle ]; then echo '{}' > "$2"; fi
    shift
  done`,
  gh: '',
  helm: `echo "Pushed: $3" >&2; echo "Digest: ${WHOLE}" >&2`,
  npm: '',
  npx: `shift; case "$1" in */artifacts.ts) echo made > release/SHA256SUMS; exit ;; esac; exec '${process.execPath}' "$@"`,
};

describe('the scripts of a release', () => {
  const directory = temporaryDirectory();
  before(async () => {
    await mkdir(join(directory, 'bin'));
    await mkdir(join(directory, 'release'));
    await mkdir(join(directory, 'scripts'));
    await symlink(SCRIPTS, join(directory, 'scripts/release'));
    for (const [name, body] of Object.entries(PROGRAMS)) {
      const text = `#!/bin/sh\necho "${name} $*" >> "$HOME/calls"\n${body}\n`;
      await writeFile(join(directory, 'bin', name), text, { mode: 0o755 });
    }
    const goPrograms = join(directory, 'test/support/go-programs');
    await mkdir(goPrograms, { recursive: true });
    await writeFile(join(goPrograms, 'build.sh'), '#!/bin/sh\necho /built\n', { mode: 0o755 });
    await writeFile(join(directory, 'CHANGELOG.md'), '# Changelog\n\n## 1.2.3\n\n- New.\n\n## 1.2.2\n\n- Old.\n');
  });
  beforeEach(() => writeFile(join(directory, 'calls'), ''));

  function run(script: string, ...argv: readonly string[]) {
    const env = { PATH: `${directory}/bin:${process.env['PATH']}`, HOME: directory, ...RUN };
    return spawnSync('sh', [`scripts/release/${script}`, ...argv], { cwd: directory, env, encoding: 'utf8' });
  }
  const calls = async (program: string): Promise<readonly string[]> =>
    (await readFile(join(directory, 'calls'), 'utf8')).split('\n').filter((line) => line.startsWith(`${program} `));

  it('make the files again in each job, and go on only with the bytes of the first', async () => {
    for (const argv of [[], ['made']]) {
      const { status, stdout } = run('prepare.sh', ...argv);
      assert.deepEqual([status, stdout], [0, '/built/helm\n']);
    }
    const { status, stdout, stderr } = run('prepare.sh', 'other');
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(stderr, /not the bytes that the first job made/);
    assert.match((await calls('npx')).join(), /artifacts\.ts --helm \/built\/helm/);
  });

  it('build an image for its architecture, push it, and print what was pushed', async () => {
    const { status, stdout } = run('image.sh', IMAGE, '1.2.3', 'arm64');
    assert.deepEqual([status, stdout], [0, `${AMD64}\n`]);
    const [build, push] = await calls('docker');
    assert.equal(build, `docker build --pull --platform linux/arm64 --tag ${IMAGE}:1.2.3-arm64 .`);
    assert.equal(push, `docker push --quiet ${IMAGE}:1.2.3-arm64`);
  });

  it('fail where nothing says what was pushed', () => {
    assert.notEqual(run('image.sh', 'registry.example.com/acme/another', '1.2.3', 'arm64').status, 0);
  });

  it('make one image by digests, and sign and attest the digest of the whole', async () => {
    const { status, stdout, stderr } = run('index.sh', IMAGE, '1.2.3', AMD64, ARM64);
    assert.deepEqual([status, stdout], [0, `${WHOLE}\n`], stderr);
    const [create] = await calls('docker');
    assert.equal(create, `docker buildx imagetools create --tag ${IMAGE}:1.2.3 ${IMAGE}@${AMD64} ${IMAGE}@${ARM64}`);
    const signed = await calls('cosign');
    assert.equal(signed.length, 3);
    for (const call of signed) assert.ok(call.endsWith(` ${IMAGE}@${WHOLE}`), call);
    assert.match(
      signed.join('\n'),
      /sign --yes .*\n.*--type slsaprovenance1 .*\n.*--type cyclonedx --predicate release\//,
    );
  });

  it('say in the provenance which commit and which workflow it was', async () => {
    run('sign.sh', `${IMAGE}@${WHOLE}`);
    const predicate = JSON.parse(await readFile(join(directory, 'predicate-tmp'), 'utf8')) as {
      readonly buildDefinition: {
        readonly externalParameters: object;
        readonly resolvedDependencies: readonly object[];
      };
      readonly runDetails: object;
    };
    const repository = 'https://github.com/acme/kubelet-gitops';
    assert.deepEqual(predicate.buildDefinition.externalParameters, {
      workflow: { ref: 'refs/tags/v1.2.3', repository, path: '.github/workflows/release.yaml' },
    });
    assert.deepEqual(predicate.buildDefinition.resolvedDependencies, [
      { uri: `git+${repository}@refs/tags/v1.2.3`, digest: { gitCommit: RUN.GITHUB_SHA } },
    ]);
    assert.deepEqual(predicate.runDetails, {
      builder: { id: `https://github.com/${RUN.GITHUB_WORKFLOW_REF}` },
      metadata: { invocationId: `${repository}/actions/runs/7/attempts/1` },
    });
  });

  it('push the chart, and sign what helm says it pushed', async () => {
    const { status, stdout } = run('push-chart.sh', 'helm', 'registry.example.com/acme/charts', '1.2.3');
    assert.deepEqual([status, stdout], [0, `${WHOLE}\n`]);
    assert.deepEqual(await calls('helm'), [
      'helm push release/kubelet-gitops-chart-1.2.3.tgz oci://registry.example.com/acme/charts',
    ]);
    const signed = await calls('cosign');
    assert.equal(signed[0], `cosign sign --yes registry.example.com/acme/charts/kubelet-gitops@${WHOLE}`);
  });

  it('sign nothing that a tag names, because a tag can be moved', async () => {
    assert.equal(run('sign.sh', `${IMAGE}:1.2.3`).status, 2);
    assert.equal(run('index.sh', IMAGE, '1.2.3', AMD64, 'latest').status, 2);
    assert.deepEqual([...(await calls('cosign')), ...(await calls('docker'))], []);
  });

  it('publish files with their signed checksums, and the part of the changelog that is theirs', async () => {
    await writeFile(join(directory, 'release/a.txt'), 'a\n');
    const sums = spawnSync('sha256sum', ['a.txt'], { cwd: join(directory, 'release'), encoding: 'utf8' }).stdout;
    await writeFile(join(directory, 'release/SHA256SUMS'), sums);
    const { status, stderr } = run('publish.sh', 'v1.2.3');
    assert.equal(status, 0, stderr);
    assert.deepEqual(await calls('cosign'), ['cosign sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS']);
    const [release = ''] = await calls('gh');
    assert.match(
      release,
      /^gh release create v1\.2\.3 --verify-tag .* \.\/SHA256SUMS \.\/SHA256SUMS\.sigstore\.json \.\/a\.txt$/,
    );
  });

  it('publish nothing where a file is not what was checked', async () => {
    await writeFile(join(directory, 'release/a.txt'), 'b\n');
    assert.notEqual(run('publish.sh', 'v1.2.3').status, 0);
    assert.deepEqual([...(await calls('cosign')), ...(await calls('gh'))], []);
  });
});
