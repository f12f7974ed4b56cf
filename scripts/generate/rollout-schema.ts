import { MEASURES } from '#shared/contract/api/measures.ts';
import type { Schema } from './schema-text.ts';
import { amount, described, duration, flag, line, map, SELECTOR, enumeration } from './schema-builders.ts';

/** A selector that names at least one label. */
const NARROW_SELECTOR: Schema = {
  ...map('Labels of which all must hold', SELECTOR, 'object'),
  anyOf: [
    { required: ['matchLabels'], properties: { matchLabels: { type: 'object', minProperties: 1 } } },
    { required: ['matchExpressions'], properties: { matchExpressions: { type: 'array', minItems: 1 } } },
  ],
};

const required = (schema: Schema, ...keys: readonly string[]): Schema => ({ ...schema, required: keys });
/** Written, and not as null. */
const has = (key: string): Schema => ({ required: [key], properties: { [key]: { not: { type: 'null' } } } });
const listOf = (about: string, items: Schema): Schema => ({
  ...described(about),
  type: ['array', 'null'],
  minItems: 1,
  items,
});
const notNull = (schema: Schema, type: string | readonly string[]): Schema => ({ ...schema, type });

const PROMETHEUS_URL: Schema = {
  ...described('Such as http://prometheus.monitoring:9090'),
  type: 'string',
  pattern: '^https?://[^@?#]+$',
};

const limit = (about: string): Schema => ({ ...described(about), type: ['number', 'null'] });

/** Nothing about a change goes with it. */
const ofOneNumber = (key: string): Schema => ({
  required: [key],
  properties: { [key]: { not: { type: 'null' } }, percent: { type: 'null' }, worse: { type: 'null' } },
});

const QUERY_MEASURE: Schema = {
  ...required(
    map(
      'One measure; least for a number of each node, above or below for one number',
      {
        name: {
          ...described('What messages call it'),
          type: 'string',
          pattern: '^[A-Za-z][-A-Za-z0-9_.]{0,62}$',
        },
        query: notNull(line('PromQL that has one number for each node, or one number', 4096), 'string'),
        least: {
          ...described('From which change on it counts, in the unit of the query'),
          type: ['number', 'null'],
          exclusiveMinimum: 0,
        },
        percent: {
          ...described('Of what it was before; counts where that is more than least'),
          type: ['integer', 'null'],
          minimum: 0,
          maximum: 100_000,
        },
        worse: enumeration('Which way is worse', ['up', 'down']),
        above: limit('It is worse above this number'),
        below: limit('It is worse below this number'),
      },
      'object',
    ),
    'name',
    'query',
  ),
  oneOf: [has('least'), ofOneNumber('above'), ofOneNumber('below')],
};

const MEASURES_SOURCE: Schema = required(
  map('Measures that a Prometheus keeps', {
    url: PROMETHEUS_URL,
    nodeLabel: {
      ...described('The label that names the node; :PORT at its end does not count'),
      type: ['string', 'null'],
      pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$',
      default: 'node',
    },
    queries: { ...notNull(listOf('What is asked', QUERY_MEASURE), 'array'), maxItems: 10 },
  }),
  'url',
  'queries',
);

const soak = duration('How long its nodes prove themselves before others follow; default: the soak of the rollout');

export const ROLLOUT_WAVES: Schema = {
  canary: {
    ...map('The nodes that are changed first', {
      nodes: notNull(amount('How many', 1), ['integer', 'string']),
      perClass: flag('Of each class of machines so many, where values are computed'),
      selector: NARROW_SELECTOR,
      soak,
    }),
    oneOf: [{ type: 'null' }, has('nodes'), has('selector')],
  },
  analysis: {
    ...map('Compares the measures of the canaries before anybody else begins', {
      measures: {
        ...described(
          'Which measures of agents are judged; all of them by default, none of them only beside prometheus',
        ),
        type: ['array', 'null'],
        items: { enum: [...MEASURES] },
      },
      prometheus: MEASURES_SOURCE,
      thresholds: map(
        'By measure, how much more than before counts, whichever is more',
        Object.fromEntries(
          MEASURES.map((name) => [
            name,
            map('Of this measure', {
              least: { ...described('In the unit of the measure'), type: ['number', 'null'], minimum: 0 },
              percent: {
                ...described('Of what it was before'),
                type: ['integer', 'null'],
                minimum: 0,
                maximum: 100_000,
              },
            }),
          ]),
        ),
      ),
      timeout: duration('For how long canaries that cannot be compared hold the rollout up', '30m'),
    }),
    anyOf: [{ type: 'null' }, has('prometheus'), { properties: { measures: { minItems: 1 } } }],
  },
  steps: listOf(
    'How many nodes are to run the config after each step, ascending; the rest is a step of its own',
    required(
      map(
        'A step',
        { nodes: notNull(amount('How many, canaries included', 1), ['integer', 'string']), soak },
        'object',
      ),
      'nodes',
    ),
  ),
};

const WINDOW: Schema = required(
  map(
    'A span of time that comes again',
    {
      cron: {
        ...described('When it begins: minute, hour, day of month, month, day of week, such as "0 2 * * 1-5"'),
        type: 'string',
        pattern: '^\\s*(?:\\S+\\s+){4}\\S+\\s*$',
        maxLength: 256,
      },
      duration: notNull(duration('How long it lasts'), 'string'),
      timeZone: {
        ...described('Name of the IANA database, such as Europe/Berlin'),
        type: ['string', 'null'],
        pattern: '^[A-Za-z][A-Za-z0-9_+/-]*$',
        default: 'UTC',
      },
    },
    'object',
  ),
  'cron',
  'duration',
);

export const WINDOWS: Schema = map('When changes may begin', {
  allow: listOf('Only in one of these; none means always', WINDOW),
  deny: listOf('Never in one of these, whatever is allowed', WINDOW),
  overrun: enumeration('When a window ends in a wave: stop starts nothing more, finish-wave finishes the wave', [
    'stop',
    'finish-wave',
  ]),
});

export const DISRUPTION: Schema = {
  ...map('What a change may do to a node', {
    allow: {
      ...listOf('Classes of change; one that needs more waits', { enum: ['restart', 'drain', 'reboot'] }),
      contains: { const: 'restart' },
      default: ['restart'],
    },
    drainTimeout: duration('How long pods may take to leave a node before it is uncordoned again', '10m'),
    reboot: required(
      map('How machines are rebooted; needed where reboot is allowed', {
        by: {
          enum: ['systemd', 'sentinel'],
          description: 'systemd: told by the agent. sentinel: a reboot daemon, told by a file in the state directory',
        },
        timeout: duration('How long a reboot may take to come before the change counts as failed', '1h'),
      }),
      'by',
    ),
  }),
  anyOf: [
    { not: { required: ['allow'], properties: { allow: { type: 'array', contains: { const: 'reboot' } } } } },
    { required: ['reboot'], properties: { reboot: { type: 'object' } } },
  ],
};

export const BLOCKERS: Schema = {
  ...map('What must be quiet before a node is changed; what cannot be asked blocks', {
    prometheus: {
      ...required(
        map('A Prometheus, and what is asked there: a query or alerts', {
          url: PROMETHEUS_URL,
          query: line('Must have no result', 4096),
          alerts: listOf('Names of alerts that must not fire', { type: 'string', pattern: '^[^"\'\\\\]{1,200}$' }),
        }),
        'url',
      ),
      oneOf: [{ type: 'null' }, has('query'), has('alerts')],
    },
    pods: required(
      map('Pods that must not run on a node when it is changed', {
        namespace: { type: ['string', 'null'], pattern: '^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$' },
        selector: NARROW_SELECTOR,
      }),
      'selector',
    ),
  }),
  anyOf: [{ type: 'null' }, has('prometheus'), has('pods')],
};
