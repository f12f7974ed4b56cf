import { API_VERSION } from '#shared/contract/api/group.ts';
import { DEFAULT_TRIAL } from '#shared/contract/api/kubelet-node.ts';
import { DEFAULT_PROBATION } from '#shared/contract/api/probation.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { TOLERABLE_CODES } from '#shared/contract/kubelet-config/tolerance.ts';
import { DEFAULT_CLUSTER } from '#reconciler/policy/config-repo/read-cluster.ts';
import { BLOCKERS, DISRUPTION, ROLLOUT_WAVES, WINDOWS } from './rollout-schema.ts';
import type { Schema } from './schema-text.ts';
import { amount, described, duration, flag, line, map, number, SELECTOR, enumeration } from './schema-builders.ts';

const SPAN = duration('', DEFAULT_PROBATION);
const PROBATION: Schema = {
  ...SPAN,
  ...described(
    'How long a node on trial is Ready and healthy before its place in maxUnavailable is another’s, such as 50s or 2m; full: for all of trial and soak',
  ),
  pattern: `^full$|${String(SPAN['pattern'])}`,
};

/** What an editor knows of a `pool.yaml`. */
export function poolEditorSchema(): Schema {
  return document('KubeletPool', 'A pool of nodes: which ones, which config, how fast it spreads', ['spec'], {
    type: 'object',
    required: ['nodeSelector'],
    properties: {
      nodeSelector: map('Which nodes; all of it must hold. {} selects every node', SELECTOR, 'object'),
      priority: number('The highest wins on a node; equal ones are a conflict', -(2 ** 31) + 1, 2 ** 31 - 1, 0),
      layers: {
        ...described('KubeletConfiguration files, later ones win. Without a slash or with ./ from this folder on'),
        type: ['array', 'null'],
        minItems: 1,
        items: { type: 'string', pattern: '^[^/\\\\]' },
        default: ['kubelet.yaml'],
      },
      apply: enumeration('Over the config that the node was provisioned with, or instead of it', [
        'overlay',
        'replace',
      ]),
      rollout: map('How fast a config spreads', {
        maxUnavailable: amount('Nodes that change at the same time; 0 changes none', 0, 1),
        maxUnavailablePerZone: amount('The same within each zone, of the nodes there', 0),
        maxOnTrial: amount(
          'Nodes that may run a config unproven, at most: begins with the canaries, and doubles with what they prove. Default 20%, or maxUnavailable where that is more',
          1,
        ),
        probation: PROBATION,
        notReadyNodes: enumeration('Nodes that are not Ready: left alone until they are, or changed all the same', [
          'wait',
          'change',
        ]),
        soak: duration('How long a node keeps its place on trial after it has proven the config', '0s'),
        ...ROLLOUT_WAVES,
        windows: WINDOWS,
        emergency: line('Why the windows do not count now; it is written into the note on the commit', 500),
        onFailure: map('When to stop', {
          threshold: amount('Failed nodes that halt the pool', 1, 1),
          action: enumeration('halt: start nothing new. revert: also take updated nodes back to the config before', [
            'halt',
            'revert',
          ]),
        }),
      }),
      trial: map('What a node has to prove', {
        duration: duration('Healthy time after which a config counts as good', DEFAULT_TRIAL.duration),
        durationAfterCanary: duration(
          'The same for nodes that begin after the canaries have proven it; never longer. Default three times the probation',
        ),
        startTimeout: duration(
          'How long a kubelet may take from its start until it is healthy',
          DEFAULT_TRIAL.startTimeout,
        ),
        maxRestarts: number('Restarts that nobody asked for and that are forgiven', 0, 1000, DEFAULT_TRIAL.maxRestarts),
      }),
      drift: enumeration('When somebody else changes what the agent put there: put it back, or only say so', [
        'repair',
        'report',
      ]),
      fields: FIELD_POLICY,
      suspend: flag('Nothing new is started while it is true'),
      disruption: DISRUPTION,
      blockers: BLOCKERS,
      tolerate: TOLERANCE,
    },
  });
}

/** What an editor knows of a `clusters/<cluster>.yaml`. */
export function clusterEditorSchema(): Schema {
  const minors = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => minorName(OLDEST_MINOR + index));
  return document('ClusterConfig', 'What holds for one cluster', [], {
    type: ['object', 'null'],
    properties: {
      kubeletVersions: {
        ...described('Minor versions that every pool is checked for, besides those that its nodes run. In quotes'),
        type: ['array', 'null'],
        items: {
          type: 'string',
          anyOf: [{ enum: minors }, { pattern: '^v?1\\.(?:[2-9][0-9]|[1-9][0-9]{2})(?:$|[.+-])' }],
        },
      },
      maxUnassign: amount(
        'A commit that would send more nodes back to their local config does not come into force',
        0,
        DEFAULT_CLUSTER.maxUnassign,
      ),
      maxChange: amount(
        'A commit that would give more of the nodes in pools another config does not come into force. Without it: all nodes of a single pool, or 80% of several',
        0,
      ),
      maxUnavailable: amount('Nodes of all pools together that may be unavailable at a time', 0),
      suspend: flag('Nothing new is started in any pool while it is true'),
      windows: WINDOWS,
      fields: FIELD_POLICY,
      tolerate: TOLERANCE,
    },
  });
}

function document(kind: string, about: string, required: readonly string[], spec: Schema): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: `${kind} ${API_VERSION}`,
    description: `${about}. Generated by kubelet-gitops. For editors; kubelet-gitops validate checks more.`,
    type: 'object',
    required: ['apiVersion', 'kind', ...required],
    additionalProperties: false,
    properties: {
      apiVersion: { const: API_VERSION, default: API_VERSION },
      kind: { const: kind, default: kind },
      metadata: map('May be left out: the path says the name', { name: { type: ['string', 'null'] } }),
      spec: { ...spec, additionalProperties: false },
    },
  };
}

/** Every field of the table, and whatever is below one: keys of maps are not known here. */
const POLICY_FIELDS: Schema = {
  type: ['array', 'null'],
  maxItems: 200,
  items: {
    type: 'string',
    anyOf: [
      { enum: [...FIELDS.keys()] },
      { pattern: `^(?:${[...FIELDS.keys()].filter((path) => !path.includes('.')).join('|')})\\.` },
    ],
  },
};

const FIELD_POLICY: Schema = map('Which fields may be set', {
  allow: { ...described('Allowed although they are denied by default'), ...POLICY_FIELDS },
  deny: { ...described('Denied, whoever allows them'), ...POLICY_FIELDS },
});

const TOLERANCE: Schema = {
  ...described('What kubelets silently drop and validate only warns of'),
  type: ['array', 'null'],
  items: { enum: [...TOLERABLE_CODES] },
};
