import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { describeOrSkip } from '../support/describe-or-skip.ts';
import { commit, NOW, validPool } from '../support/fleet.ts';
import { type Moment, rolloutInTime } from '../support/rollout/rollout-in-time.ts';
import { FOLLOWED } from '../support/followed.ts';
import {
  rollingFleet,
  passResultIn,
  passResultOf,
  settledFleet,
} from '../reconciler/reporting/status-page/pass-results.ts';
import { type Browser, startBrowser, WITHOUT_CHROMIUM } from './support/browser.ts';
import { accessibilityFaults, keepPicture, sticksOut } from './support/page-checks.ts';
import { type Served, serve } from './support/served.ts';
import type { TabOptions } from './support/tab.ts';

const PAGES = ['', 'nodes', 'nodes?state=failed', 'pool?name=workers', 'pool?name=gpu'];
const WIDTHS = [320, 480, 768, 1024, 1440];

/** A pool in the middle of a rollout, another that is halted, a refused commit, and words of strangers. */
function troubledRound() {
  const simulation = rollingFleet();
  const deadly = validPool('gpu', 9_999, {
    rollout: { maxUnavailable: 2, probation: 'full', soak: '0s', onFailure: { threshold: 1, action: 'halt' } },
  });
  simulation.deadly.add(deadly.sha256);
  const workers = simulation.inForce?.repo.pools.find(({ name }) => name === 'workers');
  simulation.inForce = commit('c'.repeat(40), ...(workers === undefined ? [] : [workers]), deadly);
  for (let step = 0; step < 5; step += 1) {
    simulation.reconcile();
    for (const name of ['gpu-1', 'gpu-2']) simulation.agentStep(name);
  }
  const past = { oid: 'a'.repeat(40), author: 'Ada', at: '2026-11-21T11:00:00Z', outcome: 'settled' };
  return passResultIn(simulation, {
    refusedCommit: 'd'.repeat(40),
    refusedBecause: 'it is signed by nobody whose key is trusted: <img src=x onerror=alert(1)>',
    history: JSON.stringify([{ ...past, subject: '<script>document.title = "broken into"</script>' }]),
    url: 'https://github.com/acme/config',
    findings: `${'pools/a-rather-long-name/'.repeat(6)}kubelet.yaml:3:1: error unknown-field: no such field`,
  });
}

const inTime = rolloutInTime(60, { maxUnavailable: 4 });
const failing = rolloutInTime(60, { maxUnavailable: 4 }, (node) => (node === 'n17' ? 5_000 : null));
const PACED = {
  rolling: momentAt(inTime, 0.6),
  canary: momentAt(inTime, 0.1),
  halted: momentAt(failing, 1),
} as const;

/** Of the time that a rollout takes. */
function momentAt(moments: readonly Moment[], share: number): Moment {
  const found = moments.at(Math.round(share * (moments.length - 1)));
  if (found === undefined) throw new Error('nothing happened');
  return found;
}

describeOrSkip('the page in a browser', { skip: WITHOUT_CHROMIUM }, () => {
  let browser: Browser;
  let served: Served;
  const open = (path: string, options: TabOptions = {}) => browser.open(`${served.url}${path}`, options);

  before(async () => {
    [browser, served] = await Promise.all([startBrowser(), serve()]);
    served.show(troubledRound());
  });
  after(async () => {
    await browser.close();
    await served[Symbol.asyncDispose]();
  });

  for (const leader of ['kubelet-gitops-reconciler-6c9f7d8b5-x2x7q_0c7d1f5e-9a0b-4a55-b7f1-1f2e3d4c5b6a', '']) {
    it(`says who leads where that is ${leader === '' ? 'nobody' : 'another'}, and is as good to read`, async () => {
      await using waiting = await serve({ leader });
      waiting.show(troubledRound());
      for (const scheme of ['light', 'dark'] as const) {
        for (const width of [320, 1280]) {
          const tab = await browser.open(waiting.url, { scheme, width });
          assert.deepEqual(await accessibilityFaults(tab), []);
          assert.deepEqual([tab.complaints(), await sticksOut(tab)], [[], '']);
          await keepPicture(tab, `waiting-${leader === '' ? 'nobody' : 'other'}-${scheme}-${width}`);
          await tab.close();
        }
      }
    });
  }

  for (const scheme of ['light', 'dark'] as const) {
    for (const path of PAGES) {
      it(`has nothing that axe-core could complain of: /${path}, ${scheme}`, async () => {
        for (const width of [320, 1280]) {
          const tab = await open(path, { scheme, width });
          assert.deepEqual(await accessibilityFaults(tab), []);
          assert.deepEqual(tab.complaints(), []);
          await keepPicture(tab, `${path.replaceAll(/\W/g, '-')}-${scheme}-${width}`);
          await tab.close();
        }
      });
    }
  }

  for (const [name, moment] of Object.entries(PACED)) {
    it(`shows generations and the time that is left of a rollout, as good to read: ${name}`, async () => {
      await using paced = await serve({ now: moment.now });
      paced.show(passResultOf({ fleet: moment.fleet, inForce: moment.inForce, at: moment.now }));
      for (const path of ['', 'pool?name=w']) {
        for (const scheme of ['light', 'dark'] as const) {
          for (const width of [320, 1280]) {
            const tab = await browser.open(`${paced.url}${path}`, { scheme, width });
            assert.deepEqual(await accessibilityFaults(tab), []);
            assert.deepEqual([tab.complaints(), await sticksOut(tab)], [[], '']);
            await keepPicture(tab, `paced-${name}-${path === '' ? 'all' : 'pool'}-${scheme}-${width}`);
            await tab.close();
          }
        }
      }
    });
  }

  it('shows what each cluster says of the newest commits, as good to read', async () => {
    await using following = await serve({ now: NOW });
    following.show(passResultIn(settledFleet(3), FOLLOWED));
    for (const scheme of ['light', 'dark'] as const) {
      for (const width of [320, 390, 1300]) {
        const tab = await browser.open(following.url, { scheme, width });
        assert.deepEqual(await accessibilityFaults(tab), []);
        assert.deepEqual([tab.complaints(), await sticksOut(tab)], [[], '']);
        await keepPicture(tab, `clusters-${scheme}-${width}`);
        await tab.close();
      }
    }
    const tab = await browser.open(following.url);
    const rows = await tab.evaluate<readonly string[]>(
      '[...document.querySelectorAll("#clusters ~ table tbody tr")].map((each) => each.innerText.replaceAll(/\\s+/g, " "))',
    );
    assert.deepEqual(rows, [
      'dddddddddddd ○ waits ✕ halted 15m ? silent 30m Limit open <files>',
      'cccccccccccc ○ waits – superseded 30m ↻ under way 1h Raise maxPods',
      'bbbbbbbbbbbb ○ waits in 21h ✓ settled 9h ✓ settled 3h Tune general',
      'aaaaaaaaaaaa ✓ settled 25h ✓ settled 50h ? a-newer-word 49h Begin',
    ]);
    const moments = await tab.evaluate<readonly string[]>(
      '[...document.querySelectorAll("#clusters ~ table time")].map((each) => each.dateTime)',
    );
    assert.ok(moments.includes('2026-11-22T09:00:00Z'), moments.join());
    await tab.close();
  });

  it('tells programs that read aloud how far a rollout is, in the words that are seen', async () => {
    const { now, fleet, inForce } = PACED.rolling;
    await using paced = await serve({ now });
    paced.show(passResultOf({ fleet, inForce, at: now }));
    const tab = await browser.open(paced.url, {});
    const bar = (name: string) =>
      tab.evaluate<string>(`document.querySelector('[role="progressbar"]').getAttribute('aria-${name}')`);
    const seen = await tab.evaluate<string>('document.querySelector(".progress p").innerText');
    assert.deepEqual([await bar('valuemin'), await bar('valuemax'), await bar('label')], ['0', '60', 'Rollout of w']);
    assert.match(seen, new RegExp(`^${await bar('valuenow')} of 60 nodes up to date\\. About .* left`));
    assert.equal(await bar('valuetext'), seen);
    await tab.close();
  });

  it('is as wide as the screen, from 320 pixels to 1440', async () => {
    for (const path of PAGES) {
      const tab = await open(path);
      for (const width of WIDTHS) {
        await tab.resize(width);
        await tab.until(`innerWidth === ${width}`);
        assert.equal(await sticksOut(tab), '', `/${path} at ${width}`);
      }
      await tab.close();
    }
  });

  it('reads the same without JavaScript', async () => {
    const tab = await open('', { scripts: false });
    const text = await tab.evaluate<string>('document.querySelector("main").innerText');
    for (const said of ['Pool gpu is halted', 'kubelet-gitops release gpu', 'maxUnavailable', 'CrashLoop', 'rest']) {
      assert.match(text, new RegExp(said), said);
    }
    assert.equal(await tab.evaluate('document.querySelector("#live").textContent'), '');
    await tab.goto(`${served.url}nodes?state=waiting&node=workers-`);
    const names = await tab.evaluate<string[]>(
      '[...document.querySelectorAll("tbody th")].map((each) => each.innerText)',
    );
    assert.ok(names.length > 0 && names.every((name) => name.includes('workers-')), names.join());
    await tab.close();
  });

  it('runs nothing that came from strangers', async () => {
    const tab = await open('');
    await tab.until('document.querySelector("#live").textContent === "Live"');
    assert.match(await tab.evaluate<string>('document.title'), /^Overview/);
    assert.equal(await tab.evaluate('document.querySelectorAll("main img, main script").length'), 0);
    await tab.close();
  });

  it('is reached in all its parts by keyboard, and shows where one is', async () => {
    const tab = await open('pool?name=workers');
    const focused = (what: string) => tab.evaluate<string>(`document.activeElement.${what}`);
    await tab.press('Tab');
    assert.equal(await focused('innerText'), 'Skip to the content');
    const reached = new Set<string>();
    const all = await tab.evaluate<number>(
      'document.querySelectorAll("a, button, select, input:not([type=hidden])").length',
    );
    for (let times = 0; times < all; times += 1) {
      reached.add(await focused('outerHTML'));
      assert.notEqual(await tab.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'none');
      await tab.press('Tab');
    }
    assert.equal(reached.size, all);
    await tab.close();
  });

  it('skips to the content, and from there on', async () => {
    const tab = await open('');
    await tab.press('Tab');
    await tab.press('Enter');
    await tab.until('document.activeElement.id === "main"');
    await tab.press('Tab');
    await tab.until(
      'document.activeElement.id !== "main" && document.querySelector("main").contains(document.activeElement)',
    );
    await tab.close();
  });

  it('chooses nodes by keyboard alone', async () => {
    const tab = await open('nodes');
    await tab.evaluate('document.querySelector("#node").focus()');
    await tab.type('gpu-2');
    const loaded = tab.loads();
    await tab.press('Enter');
    await loaded;
    assert.equal(await tab.evaluate('document.querySelector("#node").value'), 'gpu-2');
    assert.equal(await tab.evaluate('document.querySelectorAll("tbody tr").length'), 1);
    await tab.close();
  });
});
