// Reads of an API server what an audit reads, as many at once, and does nothing with it but to parse it: the least that such a program takes.
import { Agent, get } from 'node:http';

const [url, atOnce] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(atOnce) });

/** The parsed answer; undefined where it is a refusal. */
const read = (path) =>
  new Promise((resolve, reject) => {
    get(`${url}${path}`, { agent }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const isGood = response.statusCode === 200;
        resolve(isGood ? JSON.parse(Buffer.concat(chunks).toString('utf8')) : undefined);
      });
    }).on('error', reject);
  });

const names = [];
let next = '';
do {
  const page = await read(`/api/v1/nodes?limit=500${next === '' ? '' : `&continue=${encodeURIComponent(next)}`}`);
  names.push(...page.items.map(({ metadata }) => metadata.name));
  next = page.metadata.continue ?? '';
} while (next !== '');

const left = names.values();
const work = async () => {
  for (const name of left) {
    const node = `/api/v1/nodes/${name}/proxy`;
    if ((await read(`${node}/configz`)) !== undefined) await read(`${node}/stats/summary?only_cpu_and_memory=true`);
  }
};
await Promise.all(Array.from({ length: Number(atOnce) }, work));
agent.destroy();
