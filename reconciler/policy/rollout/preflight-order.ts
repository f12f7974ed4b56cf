import type { KubeletNode, KubeletNodeSpec, PreflightOrder } from '#shared/contract/api/kubelet-node.ts';
import type { NodeVerdict } from './decide-group.ts';
import type { Member } from './membership.ts';
import { preflightAnswerOf } from './node-progress.ts';

/**
 * What a node has to say of a config before its pods are told to leave for it: a refusal must not cost a drain. null where it
 * has said yes, or cannot be asked.
 */
export function preflightBeforeDrain({ kubeletNode, target, forgive }: Member): NodeVerdict | null {
  const canBeAsked = (kubeletNode?.status?.preflight ?? null) !== null && kubeletNode?.spec?.configSource !== undefined;
  if (!canBeAsked || target === null) return null;
  const answer = preflightAnswerOf(kubeletNode, target);
  if (answer?.outcome === 'passed') return null;
  const asks = { verdict: 'drain', stage: 'preflight' } as const;
  if (answer?.outcome === 'unavailable') {
    return { ...asks, because: `its agent cannot check the config yet: ${(answer.message ?? '').slice(0, MOST_SAID)}` };
  }
  const again = forgive ? 'once more, ' : '';
  return { ...asks, because: `its agent checks the config ${again}before its pods are told to leave` };
}

/** Of what an agent says, in characters. */
const MOST_SAID = 400;

/** The node's spec with the question in it; null where it was asked already. Nothing else that it was told changes. */
export function withPreflightOrder(
  { spec = {} }: KubeletNode,
  { configSource, apply, allowFields, keepFields, tolerate }: KubeletNodeSpec,
  retry: string | undefined,
): KubeletNodeSpec | null {
  if (configSource === undefined) return null;
  const order: PreflightOrder = {
    configSource,
    ...(apply === undefined ? {} : { apply }),
    ...(allowFields === undefined ? {} : { allowFields }),
    ...(keepFields === undefined ? {} : { keepFields }),
    ...(tolerate === undefined ? {} : { tolerate }),
    ...(retry === undefined ? {} : { retry }),
  };
  return isTheSame(spec.preflight, order) ? null : { ...spec, preflight: order };
}

function isTheSame(asked: PreflightOrder | undefined, order: PreflightOrder): boolean {
  if (asked === undefined || asked.retry !== order.retry) return false;
  const [is, be] = [asked.configSource, order.configSource];
  return is.name === be.name && is.uid === be.uid && is.sha256 === be.sha256 && sameWords(asked, order);
}

const sameWords = (a: PreflightOrder, b: PreflightOrder): boolean =>
  (a.apply ?? 'overlay') === (b.apply ?? 'overlay') &&
  (['allowFields', 'keepFields', 'tolerate'] as const).every(
    (list) => (a[list] ?? []).join(' ') === (b[list] ?? []).join(' '),
  );
