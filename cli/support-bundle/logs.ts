import { PODS } from '#shared/kube/kube.ts';
import type { Transport } from '#shared/kube/transport.ts';
import { reasonOf } from '#shared/runtime/errors.ts';
import { redact } from './redact.ts';

/** A kubelet that does not answer must not hold up the rest. */
const LIMIT_MS = 30_000;

export interface LogQuestion {
  readonly namespace: string;
  readonly pod: string;
  /** Of the container before the last restart. */
  readonly previous: boolean;
  /** The last so many. */
  readonly lines: number;
}

export type ReadLog = { readonly text: string } | { readonly why: string };

/** What a pod of ours wrote, without anything that looks like a credential. Never rejects. */
export async function readLog(transport: Transport, question: LogQuestion): Promise<ReadLog> {
  const { namespace, pod, previous, lines } = question;
  const query = { tailLines: String(lines), timestamps: 'true', ...(previous ? { previous: 'true' } : {}) };
  const call = { verb: 'get', resource: PODS, namespace, name: pod, subresource: 'log', query } as const;
  const read: string[] = [];
  try {
    for await (const line of transport.lines(call, LIMIT_MS, new AbortController().signal)) read.push(line);
  } catch (error) {
    if (read.length === 0) return { why: redact(reasonOf(error)) };
    read.push(`(cut: ${reasonOf(error)})`);
  }
  return { text: redact(read.map((line) => `${line}\n`).join('')) };
}
