#!/usr/bin/env node
// The command line as a package of its own: one bundle, which needs nothing but a Node from 20 on.
import { homedir } from 'node:os';
import { join } from 'node:path';
import module from 'node:module';

const [major = 0] = process.versions.node.split('.').map(Number);
if (major < 20) {
  console.error(`kubelet-gitops needs Node 20 or newer and found ${process.versions.node}`);
  process.exit(2);
}
// What was compiled once need not be again. In a directory of the user's own, which other users cannot write.
const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
module.enableCompileCache?.(process.env.NODE_COMPILE_CACHE ?? join(cache, 'kubelet-gitops', 'compiled'));
await import('./node-20.js');
await import('./main.js');
