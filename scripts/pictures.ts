import { mkdir, writeFile } from 'node:fs/promises';
import { startBrowser } from '../test/page/support/browser.ts';
import { serve } from '../test/page/support/served.ts';
import { NOW } from '../test/support/fleet.ts';
import { drawProfileCurves } from './pictures/draw-curves.ts';
import { drawPage } from './pictures/draw-page.ts';
import { drawTerminal } from './pictures/draw-terminal.ts';
import { exampleRollout } from './pictures/rollout-example.ts';
import { readDemoOutput } from './pictures/demo-output.ts';

/**
 * Draws the pictures of the documentation again, as text: the status page as Chromium lays it out, what the demo says, and what the
 * profiles reserve. The first two change with every run (commits have times), so that no check holds them to the source.
 */
const DIRECTORY = 'docs/pictures';
const WIDTH = 1080;

async function drawStatusPage(): Promise<void> {
  await using served = await serve({ now: NOW, cluster: 'prod-eu' });
  served.show(exampleRollout());
  const browser = await startBrowser();
  try {
    for (const [scheme, file] of [
      ['light', 'status-page.svg'],
      ['dark', 'status-page-dark.svg'],
    ] as const) {
      const tab = await browser.open(served.url, { scheme, width: WIDTH });
      await tab.until('document.querySelector("#live").textContent === "Live"');
      await writeFile(`${DIRECTORY}/${file}`, await drawPage(tab, 'The status page in the middle of a rollout'));
      await tab.close();
    }
  } finally {
    await browser.close();
  }
}

await mkdir(DIRECTORY, { recursive: true });
await writeFile(`${DIRECTORY}/profiles.svg`, drawProfileCurves('light'));
await writeFile(`${DIRECTORY}/profiles-dark.svg`, drawProfileCurves('dark'));
await drawStatusPage();
const story = await readDemoOutput(/^3\. /, /^7\. /);
await writeFile(`${DIRECTORY}/demo.svg`, drawTerminal(story, 'The demo: a config that kills kubelets is taken back'));
