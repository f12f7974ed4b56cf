import type { KubeletNode } from '#shared/contract/api/kubelet-node.ts';
import type { KubeletPool } from '#shared/contract/api/kubelet-pool.ts';
import type { StatusView } from '#cli/status/render.ts';
import type { Paint } from '#cli/paint.ts';

/** What changed between two looks at the cluster, a sentence a change. */
export function describeChanges(before: StatusView | null, now: StatusView, paint: Paint): readonly string[] {
  return [...commitNews(before, now, paint), ...nodeNews(before, now, paint), ...poolNews(before, now, paint)];
}

function commitNews(before: StatusView | null, { source }: StatusView, paint: Paint): readonly string[] {
  const news: string[] = [];
  if (source.commit !== '' && source.commit !== before?.source.commit) {
    news.push(`${paint('strong', 'reconciler')}  takes up commit ${source.commit.slice(0, 8)} "${source.subject}"`);
  }
  return news;
}

function nodeNews(before: StatusView | null, now: StatusView, paint: Paint): readonly string[] {
  const last = new Map(before?.nodes.map((node) => [node.metadata.name, node]));
  return now.nodes.flatMap((node) => {
    const sentence = nodeSentence(last.get(node.metadata.name), node, paint);
    return sentence === null ? [] : [`${paint('strong', node.metadata.name.padEnd(10))}  ${sentence}`];
  });
}

function nodeSentence(before: KubeletNode | undefined, now: KubeletNode, paint: Paint): string | null {
  const phase = now.status?.phase;
  const active = now.status?.active?.name ?? 'local';
  if (before === undefined || phase === undefined) return null;
  const failed = now.status?.error;
  // What its kubelet never heard of may be refused between two looks, so that no phase tells of it.
  if (failed?.reason === 'PreflightFailed' && before.status?.error?.message !== failed.message)
    return paint('bad', `preflight: ${failed.message}`);
  if (before.spec?.configSource?.name !== now.spec?.configSource?.name && before.status?.phase === phase) {
    return `is assigned ${now.spec?.configSource?.name ?? 'its local config'}`;
  }
  if (before.status?.phase === phase) return null;
  if (phase === 'Trial')
    return paint('busy', `restarts its kubelet with ${now.spec?.configSource?.name ?? 'local'}: on trial`);
  if (phase === 'FallingBack')
    return paint('bad', `takes it back: ${now.status?.error?.message ?? 'the kubelet failed'}`);
  if (phase === 'Broken') return paint('bad', 'is broken: not even its local config runs');
  if (phase !== 'Idle') return null;
  if (failed?.reason === 'PreflightFailed') return null;
  if (failed !== undefined && failed !== null) return paint('bad', `runs ${active} again; rejected: ${failed.reason}`);
  return before.status?.phase === 'Trial' ? paint('good', `${active} proved itself: last known good`) : null;
}

function poolNews(before: StatusView | null, now: StatusView, paint: Paint): readonly string[] {
  const last = new Map(before?.pools.map((pool) => [pool.metadata.name, pool]));
  return now.pools.flatMap((pool) => {
    const sentence = poolSentence(last.get(pool.metadata.name), pool, paint);
    return sentence === null ? [] : [`${paint('strong', `pool ${pool.metadata.name}`)}  ${sentence}`];
  });
}

function poolSentence(before: KubeletPool | undefined, { status }: KubeletPool, paint: Paint): string | null {
  const refused = (pool: KubeletPool['status']): boolean =>
    pool?.conditions?.some(({ type, status: is }) => type === 'ConfigValid' && is === 'False') === true;
  if (refused(status) && !refused(before?.status))
    return paint('bad', 'is invalid in this commit and keeps what it had');
  const phase = status?.phase;
  if (phase === before?.status?.phase) return null;
  if (phase === 'Settled') return paint('good', `settled: ${status?.message ?? ''}`);
  if (phase === 'Halted') return paint('bad', `HALTED: ${status?.message ?? ''}`);
  return null;
}
