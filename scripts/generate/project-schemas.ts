import { API_VERSION } from '#shared/contract/api/group.ts';
import { DEFAULT_TRIAL } from '#shared/contract/api/kubelet-node.ts';
import { FIELDS } from '#shared/contract/kubelet-config/fields/fields.ts';
import { minorName, NEWEST_MINOR, OLDEST_MINOR } from '#shared/contract/kubelet-config/minor.ts';
import { TOLERABLE_CODES } from '#shared/contract/kubelet-config/tolerance.ts';
import { BLOCKERS, DISRUPTION, ROLLOUT, WINDOWS } from './rollout-schema.ts';
import type { Schema } from './schema-text.ts';
import {
  amount,
  described,
  duration,
  enumeration,
  filled,
  flag,
  integer,
  list,
  listOfSome,
  map,
  needed,
  positiveDuration,
  saying,
  selector,
} from './schema-builders.ts';

/** Every field of the table, and whatever is below one: keys of maps are not known here. */
const POLICY_FIELDS: Schema = {
  type: 'string',
  maxLength: 256,
  anyOf: [
    { enum: [...FIELDS.keys()] },
    { pattern: `^(?:${[...FIELDS.keys()].filter((path) => !path.includes('.')).join('|')})\\.[^\\s,]+$` },
  ],
  'x-words': true,
  ...saying({ any: ['unknown-value', '{value} is not a field of a KubeletConfiguration'] }),
};

/** As many as there are fields, and some to spare: these words travel with every assignment. */
const MOST_FIELDS = 200;

const fieldList = (about: string): Schema =>
  filled({
    ...list(about, POLICY_FIELDS, MOST_FIELDS),
    ...saying({ any: ['wrong-type', `{key} has to be a list of at most ${MOST_FIELDS} fields`] }),
  });

const FIELD_POLICY = filled(
  map('Which fields may be set', {
    allow: fieldList('Allowed although they are denied by default'),
    deny: fieldList('Denied, even where another list allows them'),
  }),
);

const TOLERANCE = filled({
  ...list('What kubelets silently drop and validate only warns of', {
    enum: [...TOLERABLE_CODES],
    ...saying({
      any: ['unknown-value', '{value} is nothing that can be tolerated', `known are ${TOLERABLE_CODES.join(', ')}`],
    }),
  }),
  ...saying({ type: ['wrong-type', 'tolerate has to be a list of codes', 'write it as [unknown-field]'] }),
});

const INT32_MAX = 2 ** 31 - 1;

const LAYERS = filled({
  ...listOfSome('KubeletConfiguration files, later ones win. Without a slash or with ./ from this folder on', {
    type: 'string',
    minLength: 1,
    maxLength: 1024,
    pattern: '^[^/\\\\]',
    ...saying({ any: ['bad-path', '{value} is not the path of a file in this repository'] }),
  }),
  default: ['kubelet.yaml'],
  ...saying(
    Object.fromEntries(
      ['type', 'minItems'].map((keyword) => [
        keyword,
        ['wrong-type', 'layers has to be a list of at least one file', 'leave it out for kubelet.yaml beside it'],
      ]),
    ),
  ),
});

const POOL_SPEC = map(
  'The pool',
  {
    nodeSelector: needed(
      selector('Which nodes; all of it must hold. {} selects every node'),
      'a pool needs a nodeSelector',
      'name labels of its nodes; {} is every node',
      'missing-field',
      'nodeSelector',
    ),
    priority: filled(integer('The highest wins on a node; equal ones are a conflict', -INT32_MAX, INT32_MAX, 0)),
    layers: LAYERS,
    apply: filled(
      enumeration(
        'Over the config that the node was provisioned with, or instead of it',
        ['overlay', 'replace'],
        'overlay',
      ),
    ),
    rollout: filled(ROLLOUT),
    trial: filled(
      map('What a node has to prove', {
        duration: filled(positiveDuration('Healthy time after which a config counts as good', DEFAULT_TRIAL.duration)),
        durationAfterCanary: positiveDuration(
          'The same for nodes that begin after the canaries have proven it; never longer. Default three times the probation',
        ),
        startTimeout: filled(
          positiveDuration(
            'How long a kubelet may take from its start until it is healthy',
            DEFAULT_TRIAL.startTimeout,
          ),
        ),
        maxRestarts: filled(
          integer('Restarts that nobody asked for and that are forgiven', 0, 1000, DEFAULT_TRIAL.maxRestarts),
        ),
      }),
    ),
    drift: filled(
      enumeration(
        'When somebody else changes what the agent put there: put it back, or only say so',
        ['repair', 'report'],
        'repair',
      ),
    ),
    fields: FIELD_POLICY,
    suspend: flag('Nothing new is started while it is true'),
    disruption: DISRUPTION,
    blockers: BLOCKERS,
    tolerate: TOLERANCE,
  },
  'object',
);

const MINORS = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => minorName(OLDEST_MINOR + index));
const NOT_A_VERSION = `{value} is not a Kubernetes version from ${minorName(OLDEST_MINOR)} on`;

const CLUSTER_NAME: Schema = {
  type: 'string',
  maxLength: 63,
  pattern: '^[a-z0-9](?:[a-z0-9.-]{0,61}[a-z0-9])?$',
  ...saying({ any: ['bad-text', '{value} is not a valid name of a cluster', 'write what CLUSTER says there'] }),
};

/** An Ed25519 key in full: type and length stand in the text itself (RFC 8709). */
const SIGNER: Schema = {
  type: 'string',
  maxLength: 300,
  pattern: '^ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI[A-P][A-Za-z0-9+/]{42}(?: .*)?$',
  ...saying({
    any: ['bad-text', '{at} is not an Ed25519 public key', 'write what is in the .pub file: "ssh-ed25519 AAAA…"'],
  }),
};

const SIGNERS: Schema = {
  ...described('By cluster, the public keys that its notes have to be signed with'),
  type: ['object', 'null'],
  maxProperties: 8,
  propertyNames: CLUSTER_NAME,
  additionalProperties: listOfSome('Its keys: one, or two while one takes the place of the other', SIGNER, 8),
  ...saying({ type: ['wrong-type', '{key} has to be a map of clusters'] }),
};

const CLUSTER_SPEC = map('What holds for the cluster', {
  kubeletVersions: filled({
    ...list('Minor versions that every pool is checked for, besides those that its nodes run. In quotes', {
      type: 'string',
      maxLength: 64,
      anyOf: [{ enum: MINORS }, { pattern: '^v?1\\.(?:[2-9][0-9]|[1-9][0-9]{2})(?:$|[.+-])' }],
      ...saying({
        any: ['bad-version', NOT_A_VERSION, 'write it as "1.34"'],
        // 1.30 without quotes is the number 1.3.
        number: ['bad-version', NOT_A_VERSION, 'write the version in quotes, such as "1.30"'],
      }),
    }),
    ...saying({ type: ['wrong-type', 'kubeletVersions has to be a list', 'write it as ["1.33", "1.34"]'] }),
  }),
  maxUnassign: filled(
    amount('A commit that would send more nodes back to their local config does not come into force', 0, '20%'),
  ),
  maxChange: amount(
    'A commit that would give more of the nodes in pools another config does not come into force. Without it: all nodes of a single pool, or 80% of several',
    0,
  ),
  maxUnavailable: amount('Nodes of all pools together that may be unavailable at a time', 0),
  suspend: filled(flag('Nothing new is started in any pool while it is true')),
  follows: map('Which clusters have to settle a commit before it comes into force here', {
    clusters: needed(
      listOfSome('Their names; all of them have to', CLUSTER_NAME, 8),
      'follows names no clusters',
      'name at least one, or leave follows out',
      'missing-field',
      'clusters',
    ),
    settledFor: filled(duration('How long they have to call it settled', '24h')),
    signers: SIGNERS,
    require: {
      ...described('payloads: their nodes have to have proven what a commit changes here, unless a person approves it'),
      enum: ['payloads', null],
      ...saying({ any: ['unknown-value', '{at} is {value}', 'write payloads, or leave it out'] }),
    },
  }),
  windows: WINDOWS,
  trial: filled(
    map('How little pools may let a config prove', {
      minDuration: filled(positiveDuration('Shortest trial of a pool, also after its canaries', '1m')),
      maxStartTimeout: filled(positiveDuration('Longest startTimeout of a pool', '30m')),
    }),
  ),
  fields: FIELD_POLICY,
  tolerate: TOLERANCE,
});

/** Of a kind of ours: what stands in `apiVersion` and `kind`. */
export const typed = (kind: string): Schema =>
  Object.fromEntries(
    Object.entries({ apiVersion: API_VERSION, kind }).map(([key, value]) => {
      const advice = `write ${key}: ${value}`;
      const schema = { const: value, default: value, ...saying({ any: ['wrong-kind', '{at} is {value}', advice] }) };
      return [key, needed(schema, `${key} is missing`, advice, 'wrong-kind', key)];
    }),
  );

const document = (kind: string, about: string, spec: Schema): Schema => ({
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: `${kind} ${API_VERSION}`,
  ...filled(
    map(
      `${about}. Generated by kubelet-gitops. For editors; kubelet-gitops validate checks more.`,
      {
        ...typed(kind),
        metadata: map('May be left out: the path says the name', {
          name: {
            ...described('The name that the path says'),
            type: ['string', 'null'],
            maxLength: 253,
            ...saying({
              any: ['wrong-name', '{at} is {value}, and the path of the file says the name', 'leave it out'],
            }),
          },
        }),
        spec: filled(spec),
      },
      'object',
    ),
  ),
});

/** `pool.yaml`. */
export const poolSchema = (): Schema =>
  document(
    'KubeletPool',
    'A pool of nodes: which ones, which config, how fast it spreads',
    needed(POOL_SPEC, 'the pool has no spec'),
  );

/** `clusters/<cluster>.yaml`. */
export const clusterSchema = (): Schema => document('ClusterConfig', 'What holds for one cluster', CLUSTER_SPEC);
