import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { COMMANDS } from '#cli/commands.ts';
import { bashCompletion } from '#cli/completion/scripts.ts';
import { run } from '../support/run.ts';

/** What bash offers after these words, from what stands in the script. */
function offered(...words: readonly string[]): readonly string[] {
  const line = words.map((word) => JSON.stringify(word)).join(' ');
  const script = `${bashCompletion(COMMANDS.filter(({ name }) => name !== 'completion'))}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _kubelet_gitops; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, status, stderr } = spawnSync('bash', ['--norc', '-c', script], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout.split('\n').filter(Boolean);
}

describe('completion', () => {
  it('in bash offers commands, and the options of the one that was chosen', () => {
    assert.deepEqual(offered('kubelet-gitops', 'val'), ['validate']);
    assert.deepEqual(offered('kubelet-gitops', 'validate', '--kube'), ['--kubelet-version']);
    assert.deepEqual(offered('kubelet-gitops', 'completion', 'z'), ['zsh']);
  });

  it('offers the words of an option that takes no others', async () => {
    assert.deepEqual(offered('kubelet-gitops', 'plan', '--output', ''), ['text', 'markdown', 'json']);
    assert.deepEqual(offered('kubelet-gitops', 'status', '-o', 'j'), ['json']);
    assert.match((await run('completion', 'fish')).out, /from status' -s o -l output -x -a 'text wide json yaml' -d /);
  });

  it('is there for each shell that it names, and for no other', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { code, out } = await run('completion', shell);
      assert.equal(code, 0);
      assert.match(out, /validate/);
    }
    assert.match((await run('completion', 'kubectl')).out, /^#!\/bin\/sh\n/);
    assert.equal((await run('completion', 'csh')).code, 2);
  });
});
