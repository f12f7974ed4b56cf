/** One version of an object as etcd kept it; nothing that an API server wrote is missing, whatever became of that server. */
export interface Version<T> {
  /** Of the whole store: grows with every write of anything. */
  readonly revision: number;
  /** null where it was deleted. */
  readonly object: T | null;
  /** Key below the prefix. */
  readonly name: string;
}

interface WatchAnswer {
  readonly result?: {
    readonly events?: readonly {
      readonly type?: 'DELETE';
      readonly kv: { readonly key: string; readonly value?: string; readonly mod_revision: string };
    }[];
  };
}

const PATIENCE_MS = 5 * 60_000;
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const text = (encoded: string): string => Buffer.from(encoded, 'base64').toString();

/**
 * Every version of every custom resource below a prefix, in the order of the writes: a watch from the first revision on,
 * through etcd's gateway for JSON. The API server must not compact (`--etcd-compaction-interval=0`).
 *
 * @param prefix `/registry/kubelet-gitops.dev/kubeletnodes/`
 */
export async function readHistory<T>(etcdUrl: string, prefix: string): Promise<readonly Version<T>[]> {
  const range = { key: base64(prefix), range_end: base64(endOf(prefix)) };
  const last = await newestRevision(etcdUrl, range);
  const versions: Version<T>[] = [];
  const body = JSON.stringify({ create_request: { ...range, start_revision: '1' } });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const answer = await fetch(`${etcdUrl}/v3/watch`, { method: 'POST', body, signal });
  for await (const line of linesOf(answer)) {
    for (const { type, kv } of (JSON.parse(line) as WatchAnswer).result?.events ?? []) {
      const object = type === 'DELETE' ? null : (JSON.parse(text(kv.value ?? '')) as T);
      versions.push({ revision: Number(kv.mod_revision), name: text(kv.key).slice(prefix.length), object });
    }
    if ((versions.at(-1)?.revision ?? 0) >= last) break;
  }
  return versions;
}

async function newestRevision(etcdUrl: string, range: object): Promise<number> {
  const body = JSON.stringify({ ...range, keys_only: true, sort_order: 'DESCEND', sort_target: 'MOD', limit: '1' });
  const answer = await fetch(`${etcdUrl}/v3/kv/range`, { method: 'POST', body });
  const { kvs = [] } = (await answer.json()) as { readonly kvs?: readonly { readonly mod_revision: string }[] };
  if (kvs[0] === undefined) throw new Error('there is nothing of it in etcd');
  return Number(kvs[0].mod_revision);
}

/** The first key that does not begin with the prefix any more. */
function endOf(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

async function* linesOf({ body }: Response): AsyncGenerator<string> {
  if (body === null) throw new Error('etcd answered without a body');
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line !== '');
  }
}
