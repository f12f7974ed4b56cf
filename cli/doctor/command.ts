import { DEFAULT_NAMESPACE } from '#shared/contract/api/group.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import type { Command, ExitCode, Given } from '../command.ts';
import { connectWith, requireReachable } from '../connect-cluster.ts';
import type { Io } from '../io.ts';
import { CLUSTER_OPTIONS, wordOf } from '../options.ts';
import { paintFor } from '../paint.ts';
import { wrapFor } from '../wrap.ts';
import type { AuditSummary } from '#shared/contract/audit-summary.ts';
import { valueOr } from './facts.ts';
import { diagnose } from './diagnose/diagnose.ts';
import { readFacts } from './read/read-facts.ts';
import { doctorAsText } from './render.ts';

const FORMATS = ['text', 'json'] as const;

export const DOCTOR: Command = {
  name: 'doctor',
  summary: 'checks an installation, and says how to fix what is wrong',
  mostWords: 0,
  about: [
    'Checks CRDs, rights, pods, the Lease, the repository, pools and nodes, and changes nothing. It names what you may not\n' +
      'read, and goes on without it. Only an administrator can check the rights of both programs.',
    'Exit code 1 where there is an error or a warning; notes alone end with 0.',
  ],
  options: {
    ...CLUSTER_OPTIONS,
    output: { type: 'string', short: 'o', words: FORMATS, about: 'for people (the default) or for programs' },
  },
  examples: ['kubelet-gitops doctor', 'kubelet-gitops doctor --context prod -o json'],
  run: runDoctor,
};

async function runDoctor(given: Given, io: Io): Promise<ExitCode> {
  const format = wordOf(given, 'output', FORMATS, 'text');
  // By them the API server's clock is compared with the programs'.
  const { kube, transport } = await connectWith(given, io, { managedFields: true });
  await requireReachable(kube);
  const namespace = given.text('namespace') ?? DEFAULT_NAMESPACE;
  const facts = await readFacts(kube, transport, namespace, systemClock.now());
  const found = diagnose(facts);
  const audit = valueOr<AuditSummary | null | undefined>(facts.audit, undefined);
  if (format === 'json') io.out.write(`${JSON.stringify({ diagnoses: found, audit }, null, 2)}\n`);
  else io.out.write(wrapFor(io.out)(doctorAsText(found, paintFor(io.out, io.env), audit)));
  return found.some(({ severity }) => severity !== 'note') ? 1 : 0;
}
