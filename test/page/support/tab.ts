import { writeFile } from 'node:fs/promises';
import type { DevTools, Fields } from './dev-tools.ts';

export interface TabOptions {
  /** Default 1280. */
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  /** As on paper, where it is `print`. */
  readonly media?: 'screen' | 'print';
  /** Whether the page's own scripts run. Ours (`evaluate`) run in any case. Default true. */
  readonly scripts?: boolean;
}

/** One page in the browser. */
export interface Tab {
  goto(url: string): Promise<void>;
  /** Resolves once the next page has come. */
  loads(): Promise<void>;
  resize(width: number): Promise<void>;
  /** The value of an expression in the page; promises are waited for. */
  evaluate<T>(expression: string): Promise<T>;
  /** Resolves once the expression is true in the page, which must not be left meanwhile. */
  until(expression: string): Promise<void>;
  press(key: 'Tab' | 'Enter'): Promise<void>;
  type(text: string): Promise<void>;
  /** What the console complained of, violations of the content security policy among it. */
  complaints(): readonly string[];
  screenshot(file: string): Promise<void>;
  close(): Promise<void>;
}

const KEYS = {
  Tab: { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 },
  Enter: { key: 'Enter', code: 'Enter', windowsVirtualKeyCode: 13, text: '\r' },
};
/** Ends a hang: a wait on a busy machine may be long. */
const PATIENCE_MS = 120_000;
const LOOK_EVERY_MS = 25;

export async function openTab(devTools: DevTools, url: string, options: TabOptions): Promise<Tab> {
  const { width = 1280, height = 900, scheme = 'light', media = 'screen', scripts = true } = options;
  const { targetId } = await devTools.send('Target.createTarget', { url: 'about:blank' });
  const attached = await devTools.send('Target.attachToTarget', { targetId, flatten: true });
  const session = String(attached['sessionId']);
  const send = (method: string, parameters?: Fields): Promise<Fields> => devTools.send(method, parameters, session);
  const complaints: string[] = [];
  devTools.on(session, 'Log.entryAdded', ({ entry }) => complaints.push((entry as { text: string }).text));
  devTools.on(session, 'Runtime.exceptionThrown', (parameters) => complaints.push(JSON.stringify(parameters)));
  for (const domain of ['Page', 'Runtime', 'Log']) await send(`${domain}.enable`);
  await send('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
  await send('Emulation.setScriptExecutionDisabled', { value: !scripts });
  const resize = async (to: number): Promise<void> => {
    await send('Emulation.setDeviceMetricsOverride', { width: to, height, deviceScaleFactor: 1, mobile: false });
  };
  await resize(width);
  // A page that nobody looks at does not keep itself up to date: several are looked at here at once.
  await send('Emulation.setFocusEmulationEnabled', { enabled: true });

  const evaluate = async <T>(expression: string): Promise<T> => {
    const answer = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (answer['exceptionDetails'] !== undefined) throw new Error(JSON.stringify(answer['exceptionDetails']));
    return (answer['result'] as { value: T }).value;
  };

  const loads = (): Promise<void> =>
    new Promise((resolve) => {
      const off = devTools.on(session, 'Page.loadEventFired', () => {
        off();
        resolve();
      });
    });

  const tab: Tab = {
    loads,
    async goto(address) {
      const loaded = loads();
      await send('Page.navigate', { url: address });
      await loaded;
    },
    resize,
    evaluate,
    async until(expression) {
      const isTrue = await evaluate<boolean>(`new Promise((resolve) => {
        const started = performance.now();
        const look = () => {
          const holds = Boolean(${expression});
          if (holds || performance.now() - started > ${PATIENCE_MS}) resolve(holds);
          else setTimeout(look, ${LOOK_EVERY_MS});
        };
        look();
      })`);
      if (!isTrue) throw new Error(`not within ${PATIENCE_MS} ms: ${expression}`);
    },
    async press(key) {
      await send('Input.dispatchKeyEvent', { type: 'keyDown', ...KEYS[key] });
      await send('Input.dispatchKeyEvent', { type: 'keyUp', ...KEYS[key] });
    },
    async type(text) {
      await send('Input.insertText', { text });
    },
    complaints: () => complaints,
    async screenshot(file) {
      const { data } = await send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true });
      await writeFile(file, Buffer.from(String(data), 'base64'));
    },
    async close() {
      await devTools.send('Target.closeTarget', { targetId });
    },
  };
  await tab.goto(url);
  return tab;
}
