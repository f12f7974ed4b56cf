import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { minorName, NEWEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { goProgram } from '../support/go-program.ts';
import { startHttpProxy } from '../support/http-proxy.ts';
import { NO_PROXY_ROWS, ON_THIS_MACHINE } from '../support/no-proxy-rows.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { kubeconfigOf } from '../support/kubeconfig/one-cluster.ts';

const KUBECTL = goProgram(
  `kubernetes-${minorName(NEWEST_MINOR)}`,
  'kubectl',
  'nothing compares how NO_PROXY is read with how kubectl reads it',
);

describeOrSkip('NO_PROXY, by kubectl', { skip: KUBECTL.skip }, () => {
  it('lets past what it lets past here', async (t) => {
    const directory = temporaryDirectory(t);
    const rows = [...NO_PROXY_ROWS, ...ON_THIS_MACHINE.map((address) => ['', address, true] as const)];
    const isPast = async ([NO_PROXY, address]: (typeof rows)[number], index: number): Promise<boolean> => {
      const proxy = await startHttpProxy(t, { to: 1 });
      const server = new URL(address).origin;
      const kubeconfig = join(directory, `${index}`);
      await writeFile(kubeconfig, kubeconfigOf({ server }, { token: 'one' }));
      const env = { HTTPS_PROXY: proxy.host, HTTP_PROXY: proxy.host, NO_PROXY };
      // Where it goes by itself, there is nobody, or no network.
      const argv = ['--kubeconfig', kubeconfig, '--request-timeout=2s', 'get', '--raw', '/x'];
      await once(spawn(KUBECTL.path ?? '', argv, { env, stdio: 'ignore' }), 'close');
      return proxy.asked.length === 0;
    };
    const past: boolean[] = [];
    for (let from = 0; from < rows.length; from += 8)
      past.push(...(await Promise.all(rows.slice(from, from + 8).map((row, at) => isPast(row, from + at)))));
    assert.deepEqual(
      rows.map(([except, address], index) => [except, address, past[index]]),
      rows,
    );
  });
});
