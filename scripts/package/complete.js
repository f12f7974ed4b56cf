#!/usr/bin/env node
// kubectl runs this to complete "kubectl kubelet-gitops", with the words behind that name.
process.argv.splice(2, 0, '__complete');
await import('./bin.js');
