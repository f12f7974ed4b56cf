// Stands for a kubelet as far as a service manager and a health probe can tell: `node stub-kubelet.js CONFIG`.
// Reads its config once, and is healthy until it is ended.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { parse } from 'yaml';

const { healthzPort } = parse(readFileSync(process.argv[2], 'utf8'));
createServer((_, response) => response.end('ok')).listen(healthzPort, '127.0.0.1');
