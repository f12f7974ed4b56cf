import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { AuditReport } from '#cli/audit/audit-report.ts';
import { asHtml } from '#cli/audit/render/html.ts';
import { asJunit } from '#cli/audit/render/junit.ts';
import { anyReport, harmless } from '../cli/audit/render/support/any-report.ts';
import { EXAMPLE } from '../cli/audit/render/support/example-report.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { fc, SEED } from '../support/property.ts';
import { type Browser, startBrowser, WITHOUT_CHROMIUM } from './support/browser.ts';
import { accessibilityFaults, keepPicture, sticksOut } from './support/page-checks.ts';

const OPEN_ALL = "document.querySelectorAll('details').forEach((each) => (each.open = true))";

/** Keys of texts of a report that nodes and files fill. */
const LONG_WORDS: ReadonlySet<string> = new Set(
  'of title summary because right name labels field value others place how yaml version profile'.split(' '),
);

describeOrSkip('the page of an audit', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser;
  let directory: string;
  let url: string;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kubelet-gitops-audit-'));
    const file = join(directory, 'audit.html');
    await writeFile(file, asHtml(EXAMPLE));
    url = pathToFileURL(file).href;
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await rm(directory, { recursive: true, force: true });
  });

  for (const scheme of ['light', 'dark'] as const) {
    for (const width of [320, 800, 1400]) {
      it(`has nothing that axe-core could complain of, folded and unfolded: ${scheme}, ${width}`, async () => {
        const tab = await browser.open(url, { scheme, width });
        for (const state of ['folded', 'unfolded']) {
          if (state === 'unfolded') await tab.evaluate(OPEN_ALL);
          assert.deepEqual(await accessibilityFaults(tab), []);
          assert.deepEqual([tab.complaints(), await sticksOut(tab)], [[], '']);
          await keepPicture(tab, `audit-${scheme}-${width}-${state}`);
        }
        await tab.close();
      });
    }
  }

  it('is as wide as the screen, however long the words', async () => {
    const long = JSON.parse(JSON.stringify(EXAMPLE), (key, value: unknown) =>
      LONG_WORDS.has(key) ? 'x'.repeat(240) : value,
    ) as AuditReport;
    await writeFile(join(directory, 'long.html'), asHtml(long));
    for (const width of [320, 800, 1400]) {
      const tab = await browser.open(pathToFileURL(join(directory, 'long.html')).href, { width });
      await tab.evaluate(OPEN_ALL);
      assert.equal(await sticksOut(tab), '', `${width}`);
      await keepPicture(tab, `audit-long-${width}`);
      await tab.close();
    }
  });

  it('asks nobody for anything, not even for an icon, and keeps to its policy', async () => {
    const asked: string[] = [];
    const server = createServer(({ url: path = '' }, response) => {
      asked.push(path);
      response.setHeader('content-type', 'text/html').end(asHtml(EXAMPLE));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const tab = await browser.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    // Whatever comes after the page is one more element.
    await tab.evaluate("document.body.append(Object.assign(new Image(), { src: '/image.png' }))");
    await tab.until('document.images[0].complete');
    assert.deepEqual(asked, ['/']);
    assert.equal(tab.complaints().length, 1, 'the image was refused');
    await tab.close();
    server.close();
    server.closeAllConnections();
  });

  it('has to a browser the elements and attributes of the template alone, and so has the XML', async () => {
    const tab = await browser.open('about:blank');
    const outline = (text: string, type: string): Promise<readonly string[]> =>
      tab.evaluate(`[...new DOMParser().parseFromString(${JSON.stringify(text.toWellFormed())}, '${type}').querySelectorAll('*')]
        .map(({ localName, attributes }) => [localName, ...[...attributes].map(({ name }) => name)].join(' '))`);
    for (const report of fc.sample(anyReport(), { numRuns: 100, seed: SEED })) {
      for (const [render, type] of [
        [asHtml, 'text/html'],
        [asJunit, 'application/xml'],
      ] as const) {
        const [hostile, plain] = [await outline(render(report), type), await outline(render(harmless(report)), type)];
        assert.ok(!hostile.some((each) => each.startsWith('parsererror')), render(report));
        assert.deepEqual(hostile, plain);
      }
    }
    await tab.close();
  });

  it('is white on paper, with everything unfolded', async () => {
    const tab = await browser.open(url, { scheme: 'dark', media: 'print', width: 718 });
    const hidden = await tab.evaluate<readonly string[]>(`[...document.querySelectorAll('details > :not(summary)')]
      .filter((each) => !each.checkVisibility({ contentVisibilityAuto: true })).map((each) => each.outerHTML.slice(0, 200))`);
    assert.deepEqual(hidden, []);
    assert.equal(await tab.evaluate('getComputedStyle(document.body).backgroundColor'), 'rgb(255, 255, 255)');
    assert.equal(await sticksOut(tab), '');
    await keepPicture(tab, 'audit-print');
    await tab.close();
  });
});
