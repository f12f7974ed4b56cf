// Puts each plan into the one comment on a pull or merge request that is about its cluster; a later run changes that comment.
//
//   node post-plan.mjs PLAN.md...
//
// Reads from the environment, on GitHub, Gitea and Forgejo: GITHUB_TOKEN, GITHUB_API_URL, GITHUB_REPOSITORY, PULL_REQUEST;
// on GitLab: COMMENT_TOKEN, CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID. Needs Node 20 or newer, and nothing else.
import { readFile } from 'node:fs/promises';

const NOTHING = 'Nothing changes on any node.';

const env = (name) => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new Error(`${name} is not set`);
  return value;
};

async function call(url, { method = 'GET', headers, body } = {}) {
  const response = await fetch(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json', 'user-agent': 'kubelet-gitops' },
    body: body === undefined ? undefined : JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  if (response.ok) return response.json();
  const text = (await response.text()).slice(0, 300);
  throw new Error(`${method} ${url.split('?')[0]} was answered with ${response.status}: ${text}`);
}

/** All pages, 100 at a time. */
async function* pages(url, headers) {
  for (let page = 1; ; page += 1) {
    const items = await call(`${url}?per_page=100&page=${page}`, { headers });
    yield* items;
    if (items.length < 100) return;
  }
}

const githubComments = () => {
  const repository = `${env('GITHUB_API_URL')}/repos/${env('GITHUB_REPOSITORY')}`;
  return { ofPull: `${repository}/issues/${env('PULL_REQUEST')}/comments`, all: `${repository}/issues/comments` };
};

function github() {
  const { ofPull, all } = githubComments();
  const headers = { authorization: `Bearer ${env('GITHUB_TOKEN')}`, accept: 'application/vnd.github+json' };
  return {
    list: () => pages(ofPull, headers),
    // Whoever else writes the marker writes a comment of their own.
    isOurs: ({ user }) => user?.login === 'github-actions[bot]',
    create: (body) => call(ofPull, { method: 'POST', headers, body: { body } }),
    update: ({ id }, body) => call(`${all}/${id}`, { method: 'PATCH', headers, body: { body } }),
  };
}

/** Gitea and Forgejo run GitHub's workflows, under a user of their own, and list all comments at once. */
async function gitea() {
  const { ofPull, all } = githubComments();
  const headers = { authorization: `Bearer ${env('GITHUB_TOKEN')}` };
  const { id: self } = await call(`${env('GITHUB_API_URL')}/user`, { headers });
  return {
    list: () => call(ofPull, { headers }),
    isOurs: ({ user }) => user?.id === self,
    create: (body) => call(ofPull, { method: 'POST', headers, body: { body } }),
    update: ({ id }, body) => call(`${all}/${id}`, { method: 'PATCH', headers, body: { body } }),
  };
}

async function gitlab() {
  const api = env('CI_API_V4_URL');
  const notes = `${api}/projects/${env('CI_PROJECT_ID')}/merge_requests/${env('CI_MERGE_REQUEST_IID')}/notes`;
  const headers = { 'private-token': env('COMMENT_TOKEN') };
  const { id: self } = await call(`${api}/user`, { headers });
  return {
    list: () => pages(notes, headers),
    isOurs: ({ author }) => author?.id === self,
    create: (body) => call(notes, { method: 'POST', headers, body: { body } }),
    update: ({ id }, body) => call(`${notes}/${id}`, { method: 'PUT', headers, body: { body } }),
  };
}

function forgeHere() {
  if (process.env['CI_API_V4_URL'] !== undefined) return gitlab;
  return process.env['GITEA_ACTIONS'] === 'true' || process.env['FORGEJO_ACTIONS'] === 'true' ? gitea : github;
}

async function post(path, forge) {
  const plan = await readFile(path, 'utf8');
  const [marker = ''] = plan.split('\n', 1);
  if (!marker.startsWith('<!-- kubelet-gitops plan: ')) throw new Error(`${path} is not a plan: its first line is ${marker}`);
  for await (const comment of await forge.list()) {
    if (!forge.isOurs(comment) || comment.body.split(/\r?\n/, 1)[0] !== marker) continue;
    if (comment.body.trimEnd() === plan.trimEnd()) return 'the comment says so already';
    await forge.update(comment, plan);
    return 'the comment was changed';
  }
  // A pull request that never touched a node is not worth a comment.
  if (plan.includes(NOTHING)) return 'nothing changes: no comment';
  await forge.create(plan);
  return 'the comment was made';
}

try {
  const paths = process.argv.slice(2);
  if (paths.length === 0) throw new Error('usage: node post-plan.mjs PLAN.md...');
  const forge = await forgeHere()();
  for (const path of paths) console.log(`post-plan: ${path}: ${await post(path, forge)}`);
} catch (error) {
  console.error(`post-plan: ${error.message}${error.cause === undefined ? '' : `: ${error.cause.message}`}`);
  process.exitCode = 2;
}
