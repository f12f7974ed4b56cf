import assert from 'node:assert/strict';
import { it } from 'node:test';
import { fileCredentials } from '#reconciler/git/git-credentials.ts';
import { createAnnotator } from '#reconciler/git/notes/notes-annotator.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { started } from '../../../sandbox/git-server/support/started.ts';
import { PATIENT, soon } from '../support/start.ts';

it('what pushes leave in memory is let go after two hundred of them: then the ref is read again', async (t) => {
  const server = await started(t);
  const oid = await server.commit({ message: 'change\n', files: { 'base/a.yaml': 'a: 1\n' } });
  const annotator = createAnnotator({
    url: server.url,
    ref: 'refs/notes/kubelet-gitops/demo',
    credentials: fileCredentials(undefined),
    limits: PATIENT,
    clock: systemClock,
    random: Math.random,
  });
  const reading: number[] = [];
  for (let push = 0; push <= 200; push += 1) {
    const before = server.requests();
    const { written } = await annotator.annotate(new Map([[oid, `progressing ${push}`]]), soon());
    assert.equal(written, true);
    // One for the greeting, one for the push.
    if (server.requests() - before > 2) reading.push(push);
  }
  assert.deepEqual(reading, [0, 200]);
});
