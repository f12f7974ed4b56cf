import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../support/property.ts';
import { fitNotification } from '#reconciler/reporting/notifications/notification.ts';
import { escapeMrkdwn, slackMessage } from '#reconciler/reporting/notifications/slack-message.ts';
import { AT, COMMIT, notification, NOW } from './support.ts';

const context = { cluster: 'demo', runbooksUrl: 'https://git.example.com/a/b/' };
/** As it is read: what only keeps characters apart is not seen. */
const shown = (text: string): string => text.replaceAll('\u200b', '');

describe('a message for Slack', () => {
  it('says what happened first, then whether it can wait', () => {
    const { text, ...rest } = slackMessage(
      notification({
        severity: 'critical',
        canWait: { answer: 'no', because: 'pods are at risk' },
        commit: { commit: COMMIT, subject: 'Tune general', author: 'Ada' },
        runbook: 'docs/runbooks/KubeletGitopsPoolAtRisk.md',
      }),
      context,
      NOW,
    );
    assert.equal(
      text,
      [
        '*[critical] demo: Pool web is halted*',
        '• can this wait? no: pods are at risk',
        '• web-1 failed on a',
        '• commit c372e46f1b2a "Tune general" (Ada)',
        '• runbook: <https://git.example.com/a/b/KubeletGitopsPoolAtRisk.md>',
      ].join('\n'),
    );
    assert.deepEqual(rest, { unfurl_links: false, unfurl_media: false, link_names: 0 });
  });

  it('names the page where nobody says where it can be read', () => {
    const { text } = slackMessage(notification({ runbook: 'docs/runbooks/X.md' }), { cluster: 'demo' }, NOW);
    assert.match(text, /• runbook: docs\/runbooks\/X\.md$/);
  });

  it('shows a time that others may have written as it is written', () => {
    const at = '2026-11-21 (<!channel>)';
    assert.doesNotMatch(slackMessage(notification({ at }), context, NOW).text, /<!/);
  });

  it('says when it was where it is told later', () => {
    const after = (ms: number): string => slackMessage(notification(), context, NOW + ms).text;
    assert.match(after(5 * 60_000 + 1), new RegExp(`\n• told late: it was so at ${AT}\n`));
    assert.doesNotMatch(after(5 * 60_000), /told late/);
  });

  const HOSTILE = [
    '<!channel> look',
    '<!here|fine> <@U012AB3CD> <#C024BE7LR>',
    '@here @channel @all',
    '<https://evil.example|https://git.example.com>',
    '[a fix](https://evil.example)',
    'https://evil.example/x',
    '*bold* _it_ ~gone~ `code` ```block```',
    '&lt;!channel&gt;',
    'line\n• runbook: <https://evil.example>',
    'pools/web/kubelet.yaml:100:3: error',
    ':tada: :+1: :-1::8ball::1234: clusterDNS fd00:a:b::1',
    'a \u202e reversed \u2028 line',
  ];
  for (const subject of HOSTILE) {
    it(`shows this commit's subject, and does nothing it says: ${JSON.stringify(subject)}`, () => {
      const told = fitNotification(notification({ commit: { commit: COMMIT, subject }, lines: [subject] }));
      const { text } = slackMessage(told, context, NOW);
      const [first = '', ...rest] = text.split('\n');
      assert.equal(first, '*[warning] demo: Pool web is halted*');
      assert.equal(rest.length, 2, 'no line is added');
      for (const line of rest) assertInert(line);
    });
  }

  it('has nothing in it that takes effect, whatever is written', () => {
    const parts = [
      '<',
      '>',
      '&',
      '@',
      'here',
      '[',
      ']',
      '(',
      '*',
      '_',
      '~',
      '`',
      ':',
      '100',
      '1',
      '+',
      '//',
      'http',
      'wWw',
      '.',
      'a',
      ' ',
      '\u200b',
    ];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { maxLength: 20 }), (some) => {
        const text = some.join('');
        assertInert(escapeMrkdwn(text));
        const back = shown(escapeMrkdwn(text)).replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
        assert.equal(back.replaceAll('\u02cb', '`'), shown(text), 'nothing is lost');
      }),
      { numRuns: 2_000 },
    );
  });

  it('leaves names and times as they are, so that they can be copied', () => {
    const names = ['worker-1.example.com', 'node_1_a', 'maxPods: 110 → 250', 'KubeletGitopsPoolHalted'];
    for (const name of [...names, AT, 'pools/web/kubelet.yaml:12:3: error unknown-field: no']) {
      assert.equal(escapeMrkdwn(name), name);
    }
  });
});

/** Held to what Slack's page says takes effect, and Markdown in its place. */
function assertInert(text: string): void {
  assert.doesNotMatch(text, /[<>`]/, text);
  assert.doesNotMatch(text, /&(?!amp;|lt;|gt;)/, text);
  assert.doesNotMatch(text, /@(?!\u200b|$)/, text);
  assert.doesNotMatch(text, /\]\(|:\/\/|www\./i, text);
  assert.doesNotMatch(text, /(?:^|[^\p{L}\p{N}])[*_~](?!\u200b)/u, text);
  // A picture instead of a line number or an address.
  assert.doesNotMatch(text, /:(?:1234|100|[+\w-]*[^\W\d][+\w-]*|[+-]\w+):/, text);
}
