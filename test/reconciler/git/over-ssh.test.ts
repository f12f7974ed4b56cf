import { after } from 'node:test';
import { WITHOUT_GIT } from '../../support/needs.ts';
import { goOverSsh, localSsh } from './support/transport.ts';

// The same tests as over HTTP, but for those that look at HTTP requests or spoil them.
if (WITHOUT_GIT === false) {
  const ssh = await localSsh();
  after(() => ssh.remove());
  goOverSsh(ssh);
  for (const file of ['lineage', 'notes', 'notes-data', 'snapshot']) await import(`./${file}.test.ts`);
}
