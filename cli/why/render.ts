import type { Choice } from '#reconciler/assign/choose-pool.ts';
import type { Commit } from '#reconciler/git/source.ts';
import type { Paint } from '../paint.ts';
import type { Explanation } from './explain.ts';

export interface WholeExplanation extends Explanation {
  readonly node: string;
  readonly kubeletVersion: string;
  readonly choice: Choice;
  /** That brought the value of the last layer. */
  readonly commit: Commit | null;
  /** Why the kubelet could not be asked; null where it was, or nobody tried. */
  readonly unseen: string | null;
}

export function explanationAsText(whole: WholeExplanation, paint: Paint): string {
  const { field, node, kubeletVersion, layers, commit, running, unseen } = whole;
  const lines = [
    paint('strong', `${field} on ${node} (kubelet ${kubeletVersion === '' ? 'of unknown version' : kubeletVersion})`),
    `  ${poolLine(whole)}`,
    ...layers.map(({ file, line, value }, index) => {
      const isLast = index === layers.length - 1;
      const text = `  ${file}${line === undefined ? '' : `:${line}`}: ${value}`;
      return isLast ? text : paint('quiet', `${text} (overridden)`);
    }),
    ...(commit === null
      ? []
      : [
          `  since ${commit.oid.slice(0, 12)} "${commit.subject}", ${commit.author.name}, ${commit.author.at.slice(0, 10)}`,
        ]),
    ...sourceLines(whole),
    ...(running === undefined ? [] : [`  the kubelet runs ${running}`]),
    ...(unseen === null ? [] : [paint('quiet', `  what the kubelet runs is not known: ${unseen}`)]),
    ...(whole.shadowed
      ? [
          paint(
            'bad',
            '  which is not what the pool says: a flag on its command line shadows it, or it was not restarted since',
          ),
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

function poolLine({ choice }: WholeExplanation): string {
  switch (choice.choice) {
    case 'pool':
      return `pool ${choice.pool}`;
    case 'none':
      return 'no pool selects the node: it runs its local config';
    case 'conflict':
      return `${choice.pools.join(' and ')} select the node with the same priority: it stays as it is`;
    case 'opted-out':
      return 'the node is opted out: it stays as it is';
  }
}

function sourceLines({ source, default: usual, layers }: WholeExplanation): readonly string[] {
  const otherwise = usual === undefined ? '' : `, or else the default of this version, ${usual}`;
  switch (source) {
    case 'layer':
      return [];
    case 'not-known-to-this-version':
      return ['  kubelets of this version do not know the field'];
    case 'local-or-default':
      return [
        `  ${layers.length === 0 ? 'no layer sets it' : 'the layers take it back'}: it is what the node's local config says${otherwise}`,
      ];
  }
}
