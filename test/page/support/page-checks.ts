import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tab } from './tab.ts';

const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

/** What axe-core has against the page as it is now, a line each. Also its best practices, not only WCAG. */
export async function accessibilityFaults(tab: Tab): Promise<readonly string[]> {
  await tab.evaluate(`${AXE}; undefined`);
  return tab.evaluate<string[]>(`axe.run(document).then(({ violations }) => violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary }) => id + ': ' + help + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`);
}

/** Whether the page can be moved sideways, and by what: the first element that sticks out. */
export const sticksOut = (tab: Tab): Promise<string> =>
  tab.evaluate<string>(`(() => {
    const wide = document.documentElement.scrollWidth - innerWidth;
    if (wide <= 0) return '';
    const out = [...document.querySelectorAll('body *')].find((each) => each.getBoundingClientRect().right > innerWidth + 1);
    return wide + ' px: ' + (out?.outerHTML.slice(0, 200) ?? '');
  })()`);

/** Keeps a picture of the page for a person to look at, where `PAGE_PICTURES` names a directory. */
export async function keepPicture(tab: Tab, name: string): Promise<void> {
  const directory = process.env['PAGE_PICTURES'];
  if (directory !== undefined) await tab.screenshot(join(directory, `${name}.png`));
}
