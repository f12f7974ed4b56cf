import { after } from 'node:test';
import { WITHOUT_GIT } from '../../../support/required-tools.ts';
import { goOverSsh, localSsh } from '../support/transport.ts';

// The same tests as over HTTP, but for those that look at HTTP requests or spoil them.
if (WITHOUT_GIT === false) {
  const ssh = await localSsh();
  after(() => ssh.remove());
  goOverSsh(ssh);
  const files = [
    'snapshot/lineage',
    'notes/notes-annotator',
    'notes/notes-annotator.data',
    'git-source.snapshot',
    'git-source.earlier',
  ];
  for (const file of files) await import(`../${file}.test.ts`);
}
