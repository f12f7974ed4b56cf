#!/usr/bin/env node
// Starts the command line under a Node that can run it: this one, or the pinned one that npm ci installed beside it.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const able = major > 22 || (major === 22 && minor >= 19);
const main = new URL('main.ts', import.meta.url);
const pinned = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url));
// What was compiled once need not be again: half of the start. In a directory of the user's own, which other users cannot write.
const cache =
  process.env.NODE_COMPILE_CACHE ??
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'kubelet-gitops', 'compiled');

if (able) {
  // In this process, so that a signal to it ends everything.
  module.enableCompileCache?.(cache);
  await import(main.href);
} else if (existsSync(pinned)) {
  runPinned();
} else {
  console.error(
    `kubelet-gitops needs Node 22.19 or newer and found ${process.versions.node}; run npm ci in the checkout`,
  );
  process.exit(2);
}

function runPinned() {
  // The channel closes when this process ends, however it does: then the other one ends as well.
  const child = spawn(pinned, [fileURLToPath(main), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`kubelet-gitops could not be started: ${error.message}`);
    process.exit(2);
  });
  child.on('exit', (status) => process.exit(status ?? 2));
}
