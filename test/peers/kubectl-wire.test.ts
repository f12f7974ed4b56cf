import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { it } from 'node:test';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { goProgram } from '../support/go-program.ts';
import { without } from '../support/required-tools.ts';
import { expectedOf, prepareRow, type WireRow } from '../support/kubeconfig/wire-row.ts';
import { WIRE_ROWS } from '../support/kubeconfig/wire-rows.ts';
import { startWireWorld, type WireWorld } from '../support/kubeconfig/wire-world.ts';

const KUBECTL = goProgram(
  `kubernetes-${minorName(NEWEST_MINOR)}`,
  'kubectl',
  'nothing compares what is sent for a kubeconfig with what kubectl sends',
);

interface Ran {
  readonly code: number | null;
  readonly err: string;
}

/** `kubectl get --raw`, whose request is that of a list. */
async function listNodes(kubeconfig: string | undefined, env: Readonly<Record<string, string>>): Promise<Ran> {
  const named = kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig];
  const argv = [...named, '--request-timeout=5s', 'get', '--raw', '/api/v1/nodes'];
  const child = spawn(KUBECTL.path ?? '', argv, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let err = '';
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, err };
}

const WITHOUT_SCRIPT = without('script', ['--version'], 'nothing proves what a plugin may ask on a terminal');

/** A command on a terminal of its own: what it shows there. */
async function onTerminal(argv: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const words = argv.map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['-qec', words, '/dev/null'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  await once(child, 'close');
  return shown;
}

/** `test/reconciler/cluster/kube/kubeconfig.wire.test.ts` holds our own client to the same rows. */
describeOrSkip('a kubeconfig over the wire, by kubectl', { skip: KUBECTL.skip }, () => {
  const holds = async (row: WireRow, world: WireWorld): Promise<void> => {
    const { kubeconfig, env } = await prepareRow(row, world);
    const { code, err } = await listNodes(kubeconfig, env);
    const taken = await world.taken();
    if (row.kubectl === undefined) assert.equal(code === 0, row.refused === undefined, `${row.what}: ${err}`);
    assert.deepEqual(taken, row.kubectl ?? expectedOf(row), `${row.what}: ${err}`);
  };

  for (const [about, rowsOf] of WIRE_ROWS) {
    it(`has what is expected of ${about}`, async (t) => {
      const world = await startWireWorld(t);
      for (const row of rowsOf(world)) await t.test(row.what, () => holds(row, world));
    });
  }

  it('gives a plugin the terminal as kubectl does', { skip: WITHOUT_SCRIPT }, async (t) => {
    const world = await startWireWorld(t);
    const [kubectl, cli] = [
      [KUBECTL.path ?? '', 'get', '--raw', '/api/v1/nodes'],
      [process.execPath, resolve('cli/main.ts'), 'events'],
    ];
    for (const interactiveMode of ['Never', 'IfAvailable', 'Always']) {
      const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: './bin/plugin', interactiveMode };
      const { kubeconfig = '', env } = await prepareRow({ what: interactiveMode, user: { exec } }, world);
      const told: unknown[] = [];
      for (const argv of [kubectl, cli]) {
        const shown = await onTerminal([...argv, '--kubeconfig', kubeconfig], { ...env, SAYS: 'open the browser' });
        assert.match(shown, /open the browser/, 'it says what to do, while it waits');
        told.push((await world.taken()).filter((line) => /^(?:info|stdin|args)/.test(line)));
      }
      const isAsked = interactiveMode !== 'Never';
      const info = `info: ${JSON.stringify({ apiVersion: exec.apiVersion, kind: 'ExecCredential', spec: { interactive: isAsked } })}`;
      const expected = ['args: ', info, ...(isAsked ? ['stdin: terminal'] : [])];
      assert.deepEqual(told, [expected, expected], interactiveMode);
    }
  });
});
