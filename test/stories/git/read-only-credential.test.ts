import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { startGitServer } from '#sandbox/git-server/server.ts';
import { noteProblems } from '../../support/note-schema.ts';
import { CONTROL_PLANE, quickFiles, settled, startWorld } from '../support.ts';

const WITHOUT_RIGHT = /^off: .*push|^off: .*credential|^off: .*may not/;

/** What a forge does to a token that may only read, before the git server; until `mayPush` says otherwise. */
async function startForge(url: string, mayPush: () => boolean): Promise<Server> {
  const { port } = new URL(url);
  const forge = createServer((asked, answer) => {
    if (asked.url?.includes('git-receive-pack') === true && !mayPush()) {
      answer.writeHead(403, { 'content-type': 'text/plain' }).end('You are not allowed to push code to this project.');
      return;
    }
    const { method, headers, url: path } = asked;
    const onward = request({ host: '127.0.0.1', port, method, headers, path }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    onward.on('error', () => answer.destroy());
    asked.pipe(onward);
  });
  forge.listen(0, '127.0.0.1');
  await once(forge, 'listening');
  return forge;
}

it('a credential that may only read costs the notes and nothing else, and one that may push later brings them back', async (t) => {
  const git = await startGitServer();
  let mayPush = false;
  const forge = await startForge(git.url, () => mayPush);
  const url = git.url.replace(/:\d+\//, `:${(forge.address() as AddressInfo).port}/`);
  const world = await startWorld({
    nodes: [{ name: 'control-1', labels: CONTROL_PLANE }],
    git: { ...git, url },
  });
  t.after(async () => {
    await world.stop();
    forge.closeAllConnections();
    forge.close();
    await git.stop();
  });
  const commit = await git.commit({
    files: await quickFiles(),
    message: 'Start',
  });
  await world.until(
    'all settled, without notes',
    (now) => now.source.commit === commit && settled(now) && WITHOUT_RIGHT.test(now.source.notes),
  );
  assert.match(await world.metrics(), /^kubelet_gitops_notes_working 0$/m);
  assert.equal((await git.readNotes(world.notesRef)).size, 0);

  mayPush = true;
  await world.until(
    'the note of that commit',
    async (now) =>
      now.source.notes === 'on' &&
      (await git.readNotes(world.notesRef)).get(commit)?.startsWith('demo: settled') === true,
  );
  assert.deepEqual(noteProblems((await git.readNoteData(world.notesRef)).get(commit) ?? ''), []);
});
