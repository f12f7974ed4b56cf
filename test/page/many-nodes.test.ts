import assert from 'node:assert/strict';
import { after, before, it, type TestContext } from 'node:test';
import { largePassResult } from '../reconciler/reporting/status-page/pass-results.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { type Browser, startBrowser, WITHOUT_CHROMIUM } from './support/browser.ts';
import { accessibilityFaults, keepPicture, sticksOut } from './support/page-checks.ts';
import { type Served, serve } from './support/served.ts';

const NODES = 5_000;
/** What is painted at once is small; how long it takes is for bench/. */
const MOST_KIB = 200;

/** From the click to the first thing on the screen, and to the end of loading, by the browser's own account. */
const TIMES = `(() => {
  const [load] = performance.getEntriesByType('navigation');
  const [paint] = performance.getEntriesByName('first-contentful-paint');
  return { paintMs: Math.round(paint?.startTime ?? -1), loadMs: Math.round(load.loadEventEnd), kiB: Math.round(load.encodedBodySize / 1024) };
})()`;

describeOrSkip('the page of five thousand nodes', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser;
  let served: Served;
  before(async () => {
    [browser, served] = await Promise.all([startBrowser(), serve()]);
    served.show(largePassResult(NODES));
  });
  after(async () => {
    await browser.close();
    await served[Symbol.asyncDispose]();
  });

  for (const path of ['', 'nodes', 'pool?name=zone-a-workers']) {
    it(`is painted at once: /${path}`, async (t: TestContext) => {
      const tab = await browser.open(`${served.url}${path}`);
      await tab.until('performance.getEntriesByName("first-contentful-paint").length > 0');
      const times = await tab.evaluate<{ paintMs: number; loadMs: number; kiB: number }>(TIMES);
      t.diagnostic(`first paint ${times.paintMs} ms, loaded ${times.loadMs} ms, ${times.kiB} KiB`);
      assert.ok(times.paintMs > 0 && times.kiB > 0 && times.kiB < MOST_KIB, JSON.stringify(times));
      assert.deepEqual(await accessibilityFaults(tab), []);
      assert.equal(await sticksOut(tab), '');
      await keepPicture(tab, `many-${path.replaceAll(/\W/g, '-')}`);
      await tab.close();
    });
  }

  it('shows a hundred nodes at a time, and every node on one of its pages', async () => {
    const tab = await browser.open(`${served.url}nodes?state=failed`);
    const names = new Set<string>();
    for (let page = 1; page < 100; page += 1) {
      const shown = await tab.evaluate<string[]>(
        '[...document.querySelectorAll("tbody th")].map((each) => each.innerText)',
      );
      assert.ok(shown.length <= 100);
      for (const name of shown) names.add(name);
      const next = await tab.evaluate<string>('document.querySelector("a[rel=next]")?.href ?? ""');
      if (next === '') break;
      await tab.goto(next);
    }
    assert.equal(names.size, NODES / 100);
    await tab.goto(`${served.url}nodes?page=50`);
    assert.match(
      await tab.evaluate<string>('document.querySelector("caption").innerText'),
      /^5,000 nodes; these are 4901 to 5000$/,
    );
    await tab.close();
  });
});
