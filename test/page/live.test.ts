import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { publishReport } from '#cli/audit/publish-report.ts';
import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { AUDIT_CONFIG_MAP } from '#shared/contract/audit-summary.ts';
import { CONFIG_MAPS } from '#shared/kube/kube.ts';
import { EXAMPLE } from '../cli/audit/render/support/example-report.ts';
import { rollingFleet, passResultIn, settledFleet } from '../reconciler/reporting/status-page/pass-results.ts';
import { freePorts } from '../cluster/support/free-ports.ts';
import { startScenario } from '../stories/support.ts';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { type Browser, startBrowser, WITHOUT_CHROMIUM } from './support/browser.ts';
import { accessibilityFaults } from './support/page-checks.ts';
import { proxyBelow } from './support/proxy.ts';
import { serve } from './support/served.ts';

/** How often the page has tried to follow. */
const LINES = 'performance.getEntriesByType("resource").filter(({ name }) => /events$/.test(name)).length';
/** For what comes back at the same address: none that the browser could take for a connection of its own meanwhile. */
async function fixedPort(): Promise<{ readonly port: number }> {
  const [port = 0] = await freePorts(1);
  return { port };
}
const IS_LIVE = 'document.querySelector("#live").textContent === "Live"';
const main = (said: string): string => `document.querySelector("main").innerText.includes(${JSON.stringify(said)})`;

describeOrSkip('the page while it is open', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser;
  before(async () => {
    browser = await startBrowser();
  });
  after(() => browser.close());

  it('follows a rollout in the sandbox from the commit to its end, without being loaded again', async () => {
    await using scenario = await startScenario();
    const url = (await scenario.world.pageUrl()) ?? '';
    const tab = await browser.open(url);
    await tab.evaluate('window.loadedOnce = true');
    await tab.until(main('Start'));
    await tab.until(`!${main('Rollouts in progress\n\ngeneral')} && ${main('All good: nothing needs attention')}`);
    const oid = await scenario.change('general', { maxPods: 150 }, 'Raise maxPods on general');
    await tab.until(main('Raise maxPods on general'));
    await tab.until(main(oid.slice(0, 12)));
    await scenario.settledOn(oid);
    await tab.until('document.querySelector("#commits ~ table tbody tr").innerText.includes("settled")');
    const { kube } = scenario.world;
    const metadata = { name: AUDIT_CONFIG_MAP, namespace: DEFAULT_NAMESPACE };
    await kube.create(
      { resource: CONFIG_MAPS, namespace: DEFAULT_NAMESPACE },
      { apiVersion: 'v1', kind: 'ConfigMap', metadata },
    );
    await publishReport(kube, DEFAULT_NAMESPACE, EXAMPLE);
    await tab.until(main('In the last audit'));
    assert.equal(await tab.evaluate('window.loadedOnce'), true);
    assert.deepEqual(await accessibilityFaults(tab), []);
    assert.deepEqual(tab.complaints(), []);
    await tab.close();
  });

  it('leaves the focus where it is, and what a person is typing', async () => {
    await using served = await serve();
    served.show(passResultIn(settledFleet(10)));
    const tab = await browser.open(`${served.url}pool?name=workers`);
    await tab.until(IS_LIVE);
    await tab.evaluate('document.querySelector("#node").focus()');
    await tab.type('work');
    served.show(passResultIn(rollingFleet()));
    await tab.until(main('rolling'));
    assert.equal(await tab.evaluate('document.activeElement.id'), 'node');
    assert.equal(await tab.evaluate('document.activeElement.value'), 'work');
    await tab.close();
  });

  it('reads out what needs attention to whoever does not see it appear', async () => {
    await using served = await serve();
    served.show(passResultIn(settledFleet(3)));
    const tab = await browser.open(served.url);
    await tab.until(IS_LIVE);
    served.show(
      passResultIn(settledFleet(3), { refusedCommit: 'd'.repeat(40), refusedBecause: 'it is signed by nobody' }),
    );
    await tab.until('document.querySelector("#news").textContent.includes("Commit dddddddddddd is refused")');
    await tab.close();
  });

  it('works below a path of a proxy, links and all', async () => {
    await using served = await serve();
    served.show(passResultIn(settledFleet(3)));
    await using proxy = await proxyBelow('/api/v1/namespaces/x/services/status/proxy', served.port);
    const tab = await browser.open(proxy.url);
    await tab.until(IS_LIVE);
    for (const link of ['nav a[href^=nodes]', '.states a', 'nav a']) {
      const loaded = tab.loads();
      await tab.evaluate(`document.querySelector(${JSON.stringify(link)}).click()`);
      await loaded;
      assert.ok((await tab.evaluate<string>('location.href')).startsWith(proxy.url));
      assert.match(await tab.evaluate<string>('document.title'), /kubelet-gitops$/);
    }
    assert.deepEqual(tab.complaints(), []);
    await tab.close();
  });

  it('says when the line is lost, and comes back by itself', async () => {
    const first = await serve(await fixedPort());
    first.show(passResultIn(settledFleet(3)));
    const tab = await browser.open(first.url);
    await tab.until(IS_LIVE);
    await first[Symbol.asyncDispose]();
    await tab.until('/Connection lost|cannot be reached/.test(document.querySelector("#live").textContent)');
    await using second = await serve({ port: first.port });
    second.show(passResultIn(rollingFleet()));
    await tab.until(`${IS_LIVE} && ${main('rolling')}`);
    await tab.close();
  });

  it('comes back by itself also where a proxy answers meanwhile, which browsers take for the end', async () => {
    const first = await serve(await fixedPort());
    first.show(passResultIn(settledFleet(3)));
    await using proxy = await proxyBelow('/status', first.port);
    const tab = await browser.open(proxy.url);
    await tab.until(IS_LIVE);
    await first[Symbol.asyncDispose]();
    await tab.until('/Connection lost|answers 502/.test(document.querySelector("#live").textContent)');
    await tab.until(`${LINES} > 1`);
    await using second = await serve({ port: first.port });
    second.show(passResultIn(rollingFleet()));
    await tab.until(`${IS_LIVE} && ${main('rolling')}`);
    await tab.close();
  });

  it('finds out that a line is dead although nobody hung up', async () => {
    await using served = await serve({ beatMs: 3_600_000 });
    served.show(passResultIn(settledFleet(3)));
    const tab = await browser.open(served.url);
    await tab.until(IS_LIVE);
    const before = await tab.evaluate<number>(LINES);
    // It says so for some seconds only, and is looked at from before that on.
    const lost = tab.until('document.querySelector("#live").textContent.startsWith("Connection lost")');
    // As if a minute had passed in which nothing came.
    await tab.evaluate('{ const now = Date.now; Date.now = () => now() + 61_000; }');
    await lost;
    await tab.until(`${IS_LIVE} && ${LINES} > ${before}`);
    await tab.close();
  });
});
