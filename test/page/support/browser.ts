import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { without } from '../../support/required-tools.ts';
import { connectDevTools, type DevTools } from './dev-tools.ts';
import { openTab, type Tab, type TabOptions } from './tab.ts';

export const WITHOUT_CHROMIUM = without(
  'chromium',
  ['--version'],
  'nothing proves that the status page can be read, followed and operated in a browser',
);

/** A headless Chromium of this test's own, with a profile that it leaves behind nowhere. */
export interface Browser {
  open(url: string, options?: TabOptions): Promise<Tab>;
  close(): Promise<void>;
}

const ARGUMENTS = [
  '--headless=new',
  '--remote-debugging-port=0',
  '--no-first-run',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-background-networking',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
];

export async function startBrowser(): Promise<Browser> {
  const profile = await mkdtemp(join(tmpdir(), 'kubelet-gitops-browser-'));
  // In a container, root cannot make the namespaces of the sandbox.
  const asRoot = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawn('chromium', [...ARGUMENTS, ...asRoot, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const devTools = await connectDevTools(await addressOf(child));
  return {
    open: (url, options = {}) => openTab(devTools, url, options),
    async close() {
      await endBrowser(devTools, child);
      await exited;
      await rm(profile, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

/** Chromium says on stderr where it listens. */
async function addressOf(child: ChildProcess): Promise<string> {
  if (child.stderr === null) throw new Error('chromium has no stderr');
  const said: string[] = [];
  try {
    for await (const line of createInterface(child.stderr)) {
      const found = /^DevTools listening on (ws:\S+)/.exec(line)?.[1];
      if (found !== undefined) return found;
      said.push(line);
    }
  } finally {
    // Whoever stops to read lines pauses what they come from, and Chromium would wait with what it says next.
    child.stderr.resume();
  }
  throw new Error(`chromium ended before it listened: ${said.slice(-5).join('\n')}`);
}

async function endBrowser(devTools: DevTools, child: ChildProcess): Promise<void> {
  await devTools.send('Browser.close').catch(() => child.kill('SIGKILL'));
  devTools.close();
}
