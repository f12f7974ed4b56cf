import { fromTimestamp, type Millis } from '#shared/runtime/clock.ts';
import { type MessageContext, messageLines, runbookPlace } from './message.ts';
import type { Notification } from './notification.ts';

/** A chat shows when a message came, which is when it happened unless it came later than this. */
const LATE_MS: Millis = 5 * 60_000;

/** What an incoming webhook of Slack takes, and those of Mattermost, Rocket.Chat and others take as well. */
export interface SlackMessage {
  readonly text: string;
  readonly unfurl_links: false;
  readonly unfurl_media: false;
  readonly link_names: 0;
}

/**
 * The notification in Slack's mrkdwn. Of what others wrote, nothing takes effect: no mention, link, or format. Pure.
 *
 * @param told fitted: Slack cuts a text at 40,000 characters
 */
export function slackMessage(told: Notification, context: MessageContext, now: Millis): SlackMessage {
  const runbook = runbookPlace(told, context);
  const isLate = now - (fromTimestamp(told.at) ?? now) > LATE_MS;
  const lines = [
    `*[${told.severity}] ${escapeMrkdwn(context.cluster)}: ${escapeMrkdwn(told.title)}*`,
    ...(isLate ? [`• told late: it was so at ${escapeMrkdwn(told.at)}`] : []),
    ...messageLines(told).map((line) => `• ${escapeMrkdwn(line)}`),
    ...(runbook === undefined ? [] : [`• runbook: ${linkTo(runbook)}`]),
  ];
  return { text: lines.join('\n'), unfurl_links: false, unfurl_media: false, link_names: 0 };
}

/** An address that the operator gave is a link, and nothing else is. */
const linkTo = (place: string): string => (/^https?:/.test(place) ? `<${entities(place)}>` : escapeMrkdwn(place));

/** The three that Slack asks for (docs.slack.dev: formatting message text). */
const entities = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Shows nothing, and keeps the characters beside it from meaning something together. */
const APART = '\u200b';

/** `:tada:`, and what stands for line 100 between colons, which is the name of a picture as well: of mere digits, two are. */
const isPicture = (name: string): boolean => !/^:\d+$/.test(name) || name === ':100' || name === ':1234';

/**
 * Text that is shown as it is: without mentions (`<!here>`, and `@here` where names are looked up), links (`[a](b)` where Markdown is read,
 * and bare addresses, also without a scheme where they begin with www), pictures, code and emphasis. Within a word emphasis means nothing, so
 * that names can be copied.
 */
export const escapeMrkdwn = (text: string): string =>
  entities(text)
    .replaceAll('`', '\u02cb')
    .replaceAll(/:[+\w-]+(?=:)/g, (name) => (isPicture(name) ? `:${APART}${name.slice(1)}` : name))
    .replaceAll(/[@[\]]|(?<![\p{L}\p{N}])[*_~]|[*_~](?![\p{L}\p{N}])|:(?=\/\/)|www(?=\.)/giu, `$&${APART}`);
