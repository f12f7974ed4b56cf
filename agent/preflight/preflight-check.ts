import type { Finding } from '#shared/contract/finding.ts';
import type { ConfigForHost, HostFacts } from './host-facts.ts';

/** One question about a config and a machine. Pure; silent where what it needs was not seen. */
export type Check = (candidate: ConfigForHost, facts: HostFacts) => readonly Finding[];

/** The kubelet would not start, the node would lose its pods, or the trial could not be judged: the config is refused. */
export const refuse = (code: string, field: string, message: string, suggestion?: string): Finding => ({
  code,
  severity: 'error',
  field,
  message,
  ...(suggestion === undefined ? {} : { suggestion }),
});

/** It is said, and the trial goes on. */
export const warn = (code: string, field: string, message: string, suggestion?: string): Finding => ({
  ...refuse(code, field, message, suggestion),
  severity: 'warning',
});
