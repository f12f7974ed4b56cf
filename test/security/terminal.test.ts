import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { COMMIT_A } from '../support/fleet.ts';
import { sourceObject } from '../support/source-object.ts';
import { forTerminal, safeIo } from '#cli/io.ts';
import { paintFor } from '#cli/paint.ts';
import { SUSPEND_ANNOTATION } from '#shared/contract/api/group.ts';
import { KUBELET_SOURCES, KUBELET_NODES, KUBELET_POOLS, NODES } from '#shared/kube/kube.ts';
import { aCluster } from '../cli/support/cluster.ts';
import { run } from '../cli/support/run.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Clears the screen, writes the clipboard, sets the title, goes up a line, hides text, turns the order of letters around. */
const HOSTILE = '\u001b[2J\u001b]52;c;cm0gLXJm\u0007\u001b]0;owned\u0007\u009b1A\u001b[8m\r\u202Etxt\u2066';
/** A line that the command itself could have said. */
const FORGED = 'worker-2  general  Idle  forged';
// oxlint-disable-next-line no-control-regex
const MOVES = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028-\u202E\u2066-\u2069]/;

describe('what others say', () => {
  const at = '2026-03-01T12:00:00Z';
  const sha256 = 'a'.repeat(64);
  for (const command of [
    ['status'],
    ['status', '--why'],
    ['status', '-o', 'json'],
    ['doctor'],
    ['doctor', '-o', 'json'],
    ['events'],
    ['events', '-o', 'json'],
  ]) {
    it(`moves no cursor and forges no line by ${command.join(' ')}`, async () => {
      await using cluster = await aCluster();
      const { store } = cluster.sandbox.server;
      const said = `${HOSTILE}\n${FORGED}`;
      const condition = (type: string, message = said) => ({
        type,
        status: 'False',
        reason: 'Bad',
        message,
        lastTransitionTime: at,
      });
      store.seed(
        KUBELET_SOURCES,
        sourceObject({
          url: `https://x/${said}`,
          commit: COMMIT_A,
          subject: said,
          author: said,
          failure: said,
          findings: HOSTILE,
        }),
      );
      store.seed(KUBELET_POOLS, {
        metadata: { name: 'general', annotations: { [SUSPEND_ANNOTATION]: said } },
        // Findings stand in lines of their own, further in.
        status: { phase: 'Waiting', message: said, conditions: [condition('ConfigValid', HOSTILE)] },
      });
      store.seed(NODES, { metadata: { name: 'worker-1', labels: {} }, status: { nodeInfo: { kubeletVersion: said } } });
      store.seed(KUBELET_NODES, {
        metadata: { name: 'worker-1' },
        spec: { pool: 'general' },
        status: {
          phase: 'Broken',
          error: { reason: 'Rejected', message: said, at },
          kubeletVersion: said,
          active: { name: said, sha256 },
          refusedBase: { sha256, message: said, at },
          conditions: [condition('ConfigHealthy'), condition('CheckpointsIntact')],
        },
      });
      const { out, err } = await cluster.cli(...command);
      assert.ok(`${out}${err}`.includes('forged'), 'it says something of it');
      assert.doesNotMatch(`${out}${err}`, MOVES);
      if (command.includes('json')) assert.doesNotThrow(() => JSON.parse(out));
      else assert.ok(!out.split('\n').some((line) => line.trim().startsWith(FORGED)), out);
    });
  }

  it('comes into no bundle either, which people look at with cat', async (t) => {
    await using cluster = await aCluster();
    const { store } = cluster.sandbox.server;
    store.seed(KUBELET_NODES, {
      metadata: { name: 'worker-1' },
      status: { phase: 'Broken', error: { reason: 'Rejected', message: HOSTILE, at: '2026-03-01T12:00:00Z' } },
    });
    const directory = temporaryDirectory(t);
    const into = join(directory, 'bundle');
    await cluster.cli('support-bundle', '--into', into);
    const files = (await readdir(into, { recursive: true })).filter((name) => /\.(?:txt|json|log)$/.test(name));
    assert.ok(files.length > 5);
    for (const file of files) assert.doesNotMatch(await readFile(join(into, file), 'utf8'), MOVES, file);
  });

  it('moves no cursor by names of files and values in a repository', async (t) => {
    const directory = temporaryDirectory(t);
    const name = '\u001b[2J\u202E\u0007general';
    const layer = 'apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n';
    await mkdir(join(directory, 'pools', name), { recursive: true });
    await mkdir(join(directory, 'clusters'));
    await writeFile(join(directory, 'clusters/\u001b[2Jdemo.yaml'), 'kind: [\n');
    await writeFile(join(directory, 'pools', name, 'kubelet.yaml'), `${layer}"max\\ePodz": "\\e[2J"\n`);
    await writeFile(join(directory, 'pools', name, 'pool.yaml'), 'kind: "\\e[2J"\n');
    for (const format of ['text', 'json', 'github', 'gitlab', 'sarif', 'junit']) {
      const { out, err } = await run('validate', directory, '-o', format);
      assert.ok(out.length > 10);
      assert.doesNotMatch(`${out}${err}`, MOVES, format);
    }
  });
});

describe('a pipeline', () => {
  it('takes no orders from names of files: GitHub obeys lines that begin with two colons', async (t) => {
    const directory = temporaryDirectory(t);
    await mkdir(join(directory, 'pools/a'), { recursive: true });
    const names = ['::set-output name=verdict::good.yaml', '##[add-mask]error.yaml'];
    // Of what no pool names, nothing is told.
    const pool = { kind: 'KubeletPool', spec: { nodeSelector: {}, layers: names } };
    await writeFile(join(directory, 'pools/a/pool.yaml'), JSON.stringify(pool));
    for (const name of names) await writeFile(join(directory, name), `# ${'x'.repeat(300 * 1024)}\n`);
    for (const format of ['text', 'junit']) {
      const { out } = await run('validate', directory, '-o', format);
      assert.ok(names.every((name) => out.includes(name)));
      for (const line of out.split('\n')) assert.doesNotMatch(line, /^\s*(?:::|##)/, format);
    }
  });
});

describe('what the command says itself', () => {
  it('has its colours on a terminal, and nothing but those', () => {
    const written: string[] = [];
    const stream = { write: (text: string) => written.push(text), isTTY: true, columns: 80 };
    const { out, err } = safeIo({ out: stream, err: stream, env: {} });
    const paint = paintFor(out, {});
    for (const tone of ['good', 'busy', 'bad', 'quiet', 'strong'] as const) out.write(paint(tone, 'x\u001b[31;8my'));
    err.write('\r\u001b[Kasked 1 of 2 \r\u001b[K kubelets');
    out.write('\u001b[H\u001b[2Jnow \u001b[H\u001b[2J');
    assert.deepEqual(written, [
      ...[32, 33, 31, 90].map((code) => `\u001b[${code}mx\\u001b[31;8my\u001b[39m`),
      '\u001b[1mx\\u001b[31;8my\u001b[22m',
      '\r\u001b[Kasked 1 of 2 \\u000d\\u001b[K kubelets',
      '\u001b[H\u001b[2Jnow \\u001b[H\\u001b[2J',
    ]);
    assert.equal(out.columns, 80);
  });

  it('has none elsewhere, and keeps lines, tabs and letters of any language', () => {
    assert.equal(forTerminal('a\tb\nc — “Größe” 漢字 😀'), 'a\tb\nc — “Größe” 漢字 😀');
    assert.equal(forTerminal('\u001b[31mx\u001b[39m'), '\\u001b[31mx\\u001b[39m');
  });
});
