import { MEASURES } from '#shared/contract/api/measures.ts';
import { DEFAULT_PROBATION, FULL_PROBATION } from '#shared/contract/api/probation.ts';
import type { Schema } from './schema-text.ts';
import {
  amount,
  described,
  duration,
  durationOr,
  enumeration,
  filled,
  flag,
  has,
  integer,
  line,
  listOfSome,
  list,
  map,
  narrowSelector,
  needed,
  number,
  positiveDuration,
  saying,
} from './schema-builders.ts';

const LONGEST_QUERY = 4096;

/** What is asked is written into logs and statuses: a password must not stand in it. */
const PROMETHEUS_URL = needed(
  {
    ...line('Such as http://prometheus.monitoring:9090', 1024, 'prometheus-url'),
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^@?#]+$',
  },
  'prometheus has no url',
  undefined,
  'missing-field',
  'url',
);

const QUERY_MEASURE: Schema = {
  ...map(
    'One measure; least for a number of each node, above or below for one number',
    {
      name: needed(
        {
          ...described('What messages call it; unique in the pool'),
          type: 'string',
          pattern: '^[A-Za-z][-A-Za-z0-9_.]{0,62}$',
          maxLength: 63,
          ...saying({
            any: [
              'bad-text',
              '{value} is not a valid name of a query',
              'write letters, digits, -, _ and ., at most 63, a letter first',
            ],
          }),
        },
        'a query has no name',
      ),
      query: needed(
        line('PromQL that has one number for each node, or one number', LONGEST_QUERY),
        'a query has no query',
      ),
      least: number('From which change on it counts, in the unit of the query', ' of more than 0', {
        exclusiveMinimum: 0,
      }),
      percent: integer('Of what it was before; counts where that is more than least', 0, 100_000),
      worse: enumeration('Which way is worse', ['up', 'down'], 'up'),
      above: number('It is worse above this number', ''),
      below: number('It is worse below this number', ''),
    },
    'object',
  ),
  oneOf: ['least', 'above', 'below'].map(has),
  dependencies: Object.fromEntries(
    ['percent', 'worse'].map((key) => [key, { anyOf: [{ properties: { [key]: { type: 'null' } } }, has('least')] }]),
  ),
  ...saying({
    oneOf: [
      'missing-field',
      'a query has none of least, above and below',
      'write least for a number of each node, above or below for one number',
    ],
    several: [
      'conflict',
      'a query has several of least, above and below',
      'write least for a number of each node, above or below for one number',
    ],
    percent: ['conflict', 'percent goes with least only', 'leave it out, or write least', 'percent'],
    worse: ['conflict', 'worse goes with least only', 'leave it out, or write least', 'worse'],
  }),
};

const MEASURES_SOURCE = map('Measures that a Prometheus keeps', {
  url: PROMETHEUS_URL,
  nodeLabel: {
    ...described('The label that names the node; :PORT at its end does not count'),
    type: ['string', 'null'],
    maxLength: 100,
    pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$',
    default: 'node',
    ...saying({ any: ['bad-label', '{value} is not a valid name of a label in Prometheus'] }),
  },
  // Each is asked twice in a minute while canaries are judged.
  queries: needed(
    {
      ...listOfSome('What is asked', QUERY_MEASURE, 10),
      ...saying({ maxItems: ['out-of-range', 'there are {count} queries, and at most 10 are asked'] }),
    },
    'prometheus has no queries',
    'write what it is asked, or leave it out',
  ),
});

const soak = duration('How long its nodes prove themselves before others follow; default: the soak of the rollout');

const pause = flag('When it is done, others wait until a person approves the config: kubelet-gitops approve POOL');

const CANARY: Schema = {
  ...map('The nodes that are changed first', {
    nodes: amount('How many', 1),
    perClass: flag('Of each class of machines so many, where values are computed'),
    selector: narrowSelector('Which; all requirements must hold'),
    soak,
    pause,
  }),
  oneOf: [{ type: 'null' }, has('nodes'), has('selector')],
  not: {
    type: 'object',
    required: ['perClass', 'selector'],
    properties: { perClass: { const: true }, selector: { type: 'object' } },
  },
  ...saying({
    oneOf: ['missing-field', 'canary says neither how many nodes nor which', 'write nodes: 1, or a selector'],
    several: ['conflict', 'canary says both how many nodes and which', 'keep nodes or selector'],
    not: ['conflict', 'canary names its nodes, and perClass counts nodes', 'write nodes: 1 instead of the selector'],
  }),
};

const threshold = (name: string): Schema =>
  map(`Of ${name}`, {
    least: number('In the unit of the measure', ' of at least 0', { minimum: 0 }),
    percent: integer('Of what it was before', 0, 100_000),
  });

const AT_LEAST_ONE = ['wrong-type', '{at} has to be a list of at least one', 'write one, or leave it out'] as const;

const ANALYSIS: Schema = {
  ...map('Compares the measures of the canaries before anybody else begins; needs canary', {
    measures: {
      ...list(
        'Which measures of agents are judged; all of them by default, none of them only beside prometheus',
        { enum: [...MEASURES] },
        16,
      ),
      ...saying({ type: AT_LEAST_ONE }),
    },
    prometheus: MEASURES_SOURCE,
    thresholds: map(
      'By measure, how much more than before counts, whichever is more',
      Object.fromEntries(MEASURES.map((name) => [name, threshold(name)])),
    ),
    timeout: filled(duration('For how long canaries that cannot be compared hold the rollout up', '30m')),
  }),
  anyOf: [{ type: 'null' }, has('prometheus'), { properties: { measures: { minItems: 1 } } }],
  ...saying({
    anyOf: [...AT_LEAST_ONE, 'measures'],
  }),
};

const HOW_STEP = 'write {nodes: "25%", soak: 30m}';
const STEP: Schema = {
  ...map(
    'A step',
    {
      nodes: needed(amount('How many, canaries included', 1), 'a step does not say how many nodes', HOW_STEP),
      soak,
      pause,
    },
    'object',
  ),
  ...saying({ type: ['wrong-type', '{at} has to be a map', HOW_STEP] }),
};

const HOW_WINDOW = 'write {cron: "0 2 * * 1-5", duration: 4h}';
const inWindow = (schema: Schema): Schema => needed(schema, 'a window needs cron and duration', HOW_WINDOW);

const WINDOW: Schema = {
  ...map(
    'A span of time that comes again',
    {
      cron: inWindow({
        ...line('When it begins: minute, hour, day of month, month, day of week, such as "0 2 * * 1-5"', 256, 'cron'),
        pattern: '^\\s*(?:\\S+\\s+){4}\\S+\\s*$',
      }),
      duration: inWindow({
        ...line('How long it lasts; such as 90m, 4h or 1h30m', 32, 'window-span'),
        pattern: duration('')['pattern'],
      }),
      timeZone: {
        ...line('Name of the IANA database, such as Europe/Berlin', 256, 'time-zone'),
        pattern: '^\\s*[A-Za-z][A-Za-z0-9_+/-]*\\s*$',
        default: 'UTC',
      },
    },
    'object',
  ),
  ...saying({ type: ['wrong-type', '{at} has to be a map', HOW_WINDOW] }),
};

export const WINDOWS = map('When changes may begin', {
  allow: filled(listOfSome('Only in one of these; none means always', WINDOW)),
  deny: filled(listOfSome('Never in one of these, whatever is allowed', WINDOW)),
  overrun: filled(
    enumeration(
      'When a window ends in the middle of a wave: start nothing more (stop), or finish the wave that began',
      ['stop', 'finish-wave'],
      'stop',
    ),
  ),
});

export const ROLLOUT = map('How a config spreads', {
  maxUnavailable: filled(amount('Nodes that change at the same time; 0 changes none', 0, 1)),
  maxUnavailablePerZone: amount('The same within each zone, of the nodes there', 0),
  maxOnTrial: amount(
    'Nodes that may run a config unproven, at most: begins with the canaries, and doubles with what they prove. Default 20%, or maxUnavailable where that is more',
    1,
  ),
  probation: {
    ...durationOr(FULL_PROBATION, positiveDuration('', DEFAULT_PROBATION)),
    ...described(
      'How long a node on trial is Ready and healthy before its place in maxUnavailable is another’s, such as 50s or 2m; full: for all of trial and soak',
    ),
  },
  notReadyNodes: enumeration(
    'Nodes that are not Ready: left alone until they are, or changed all the same',
    ['wait', 'change'],
    'wait',
  ),
  soak: filled(duration('How long a node keeps its place on trial after it has proven the config', '0s')),
  canary: CANARY,
  analysis: ANALYSIS,
  steps: listOfSome(
    'How many nodes are to run the config after each step, ascending; the rest is a step of its own',
    STEP,
  ),
  windows: WINDOWS,
  // Ends up in the history of the repository, as one line.
  emergency: line('Why the windows do not count now; it is written into the note on the commit', 500),
  onFailure: filled(
    map('When to stop', {
      threshold: filled(amount('Failed nodes that halt the pool', 1, 1)),
      action: filled(
        enumeration(
          '"halt" starts nothing new; "revert" also takes updated nodes back to the config before',
          ['halt', 'revert'],
          'halt',
        ),
      ),
    }),
  ),
});

export const DISRUPTION: Schema = {
  ...map('What a change may do to a node', {
    allow: filled({
      ...listOfSome('Classes of change; one that needs more waits', { enum: ['restart', 'drain', 'reboot'] }),
      contains: { const: 'restart' },
      default: ['restart'],
      ...saying({
        contains: [
          'missing-partner',
          'restart is not among them, and every change restarts the kubelet',
          'add restart; to change nothing, write suspend: true',
        ],
      }),
    }),
    drainTimeout: filled(
      positiveDuration('How long pods may take to leave a node before it is uncordoned again', '10m'),
    ),
    reboot: map('How machines are rebooted; needed where reboot is allowed', {
      by: needed(
        enumeration(
          '"systemd" is told by the agent; "sentinel": a reboot daemon, told by a file in the state directory',
          ['systemd', 'sentinel'],
        ),
        'reboot does not say who reboots machines',
        'write by: systemd, or by: sentinel',
      ),
      // kured looks at its sentinel once an hour by default; machines take minutes.
      timeout: filled(positiveDuration('How long a reboot may take to come before the change counts as failed', '1h')),
    }),
  }),
  anyOf: [
    {
      not: {
        type: 'object',
        required: ['allow'],
        properties: { allow: { type: 'array', contains: { const: 'reboot' } } },
      },
    },
    has('reboot'),
  ],
  ...saying({
    anyOf: [
      'missing-partner',
      'reboot is allowed, and nothing says how a node is rebooted',
      'write {by: systemd}, or {by: sentinel} for a reboot daemon',
      'reboot',
    ],
  }),
};

/** Names of alerts are label values that are put between quotes: what would end a quotation is refused. */
const ALERT: Schema = {
  type: 'string',
  minLength: 1,
  maxLength: 200,
  pattern: '^[^"\'\\\\\\p{Cc}]{1,200}$',
  ...saying({ any: ['bad-text', '{value} is not a valid name of an alert'] }),
};

const QUERY_OR_ALERTS = 'write a query that must have no result, or the names of alerts that must not fire';

export const BLOCKERS: Schema = {
  ...map('What must be quiet before a node is changed; what cannot be asked blocks', {
    prometheus: {
      ...map('A Prometheus, and what is asked there: a query or alerts', {
        url: PROMETHEUS_URL,
        query: line('Must have no result', LONGEST_QUERY),
        alerts: {
          ...listOfSome('Names of alerts that must not fire', ALERT, 100),
          uniqueItems: true,
          ...saying({ uniqueItems: ['duplicate-item', '{text} is among the alerts already'] }),
        },
      }),
      oneOf: [{ type: 'null' }, has('query'), has('alerts')],
      ...saying({
        oneOf: ['missing-field', 'prometheus has neither query nor alerts', QUERY_OR_ALERTS],
        several: ['conflict', 'prometheus has both query and alerts', QUERY_OR_ALERTS],
      }),
    },
    pods: map('Pods that must not run on a node when it is changed', {
      namespace: {
        ...described('Where these pods are; everywhere by default'),
        type: ['string', 'null'],
        maxLength: 63,
        pattern: '^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$',
        ...saying({ any: ['bad-label', '{value} is not a valid name of a namespace'] }),
      },
      selector: needed(
        narrowSelector('Labels of which all must hold'),
        'pods has no selector',
        'write the labels of the pods that must not run',
      ),
    }),
  }),
  anyOf: [{ type: 'null' }, has('prometheus'), has('pods')],
  ...saying({
    anyOf: ['missing-field', 'blockers names neither prometheus nor pods', 'leave it out for none'],
  }),
};
