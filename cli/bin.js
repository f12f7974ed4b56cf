#!/usr/bin/env node
// Starts the command line under a Node that can run it: this one, or the pinned one that npm ci installed beside it.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const able = major > 22 || (major === 22 && minor >= 19);
const main = fileURLToPath(new URL('main.ts', import.meta.url));
const pinned = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));

if (!able && !existsSync(pinned)) {
  console.error(
    `kubelet-gitops needs Node 22.19 or newer and found ${process.versions.node}; run npm ci in the checkout`,
  );
  process.exit(2);
}
// What was compiled once need not be again: half of the start. In a directory of the user's own, as nobody else may write there.
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'kubelet-gitops', 'compiled');
const { status, error } = spawnSync(able ? process.execPath : pinned, [main, ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? cache },
});
if (error) console.error(`kubelet-gitops could not be started: ${error.message}`);
process.exit(status ?? 2);
