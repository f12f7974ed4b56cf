import type { IncomingMessage, ServerResponse } from 'node:http';
import { reasonOf } from '#shared/runtime/errors.ts';
import type { GitCredential } from './access.ts';
import { judgeAccess } from './access.ts';
import type { GitService } from '#sandbox/git-server/protocol/advertise.ts';
import { advertise, versionOf } from '#sandbox/git-server/protocol/advertise.ts';
import { GitServerError } from '#sandbox/git-server/errors.ts';
import type { GitFault, GitStep } from './fault.ts';
import { answerFaulty, strikes } from './fault.ts';
import type { PackLimits } from '#sandbox/git-server/pack/pack-entries.ts';
import { answerReceivePack } from '#sandbox/git-server/protocol/receive-pack.ts';
import type { RefPolicy } from '#sandbox/git-server/repository/ref-rules.ts';
import type { Repository } from '#sandbox/git-server/repository/repository.ts';
import { readBody } from './request-body.ts';
import { answerUploadPack } from '#sandbox/git-server/protocol/upload-pack.ts';

/** Where the repository lies under the server's address. */
export const REPOSITORY_PATH = '/config.git';

export interface Served {
  readonly repository: Repository;
  readonly credentials: readonly GitCredential[];
  readonly policy: RefPolicy;
  readonly limits: PackLimits & { readonly maxRequestBytes: number };
  /** What is wrong with the server just now. */
  readonly fault: () => GitFault | null;
}

/** Answers one request of git's smart HTTP protocol (gitprotocol-http). Never rejects. */
export async function serve(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await route(served, request, response);
  } catch (error) {
    if (response.headersSent) response.destroy();
    else refuse(response, statusOf(error), reasonOf(error));
  }
}

async function route(served: Served, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = readRoute(request);
  if (asked === undefined) return refuse(response, 404, `only ${REPOSITORY_PATH} is here, for git clients`);
  const fault = served.fault();
  const failing = strikes(fault, asked.step) ? fault : null;
  if (failing !== null && failing.kind !== 'cut') return answerFaulty(failing, response, Buffer.alloc(0));

  const access = judgeAccess(request.headers.authorization, asked.service, served.credentials);
  if (access === 'unknown') {
    return refuse(response, 401, 'credentials needed', { 'WWW-Authenticate': 'Basic realm="kubelet-gitops sandbox"' });
  }
  if (access === 'forbidden') return refuse(response, 403, 'these credentials may fetch and not push');

  const answer = await answerTo(served, asked, request);
  const kind = asked.step === 'advertisement' ? 'advertisement' : 'result';
  response.setHeader('Content-Type', `application/x-${asked.service}-${kind}`);
  response.setHeader('Cache-Control', 'no-cache');
  if (failing !== null) return answerFaulty(failing, response, answer);
  response.setHeader('Content-Length', answer.length).end(answer);
}

interface Route {
  readonly step: GitStep;
  readonly service: GitService;
}

function readRoute(request: IncomingMessage): Route | undefined {
  const url = new URL(request.url ?? '/', 'http://sandbox');
  const route = `${request.method} ${url.pathname}`;
  if (route === `POST ${REPOSITORY_PATH}/git-upload-pack`) return { step: 'fetch', service: 'git-upload-pack' };
  if (route === `POST ${REPOSITORY_PATH}/git-receive-pack`) return { step: 'push', service: 'git-receive-pack' };
  const service = url.searchParams.get('service');
  if (route !== `GET ${REPOSITORY_PATH}/info/refs`) return undefined;
  if (service !== 'git-upload-pack' && service !== 'git-receive-pack') return undefined;
  return { step: 'advertisement', service };
}

async function answerTo(served: Served, asked: Route, request: IncomingMessage): Promise<Buffer> {
  const header = request.headers['git-protocol'];
  const version = versionOf(Array.isArray(header) ? header.join(':') : header);
  if (asked.step === 'advertisement') return advertise(served.repository, asked.service, version);
  const body = await readBody(request, served.limits.maxRequestBytes);
  if (asked.step === 'fetch') return answerUploadPack(served.repository, body, version);
  return answerReceivePack(served.repository, body, served);
}

function statusOf(error: unknown): number {
  if (!(error instanceof GitServerError)) return 500;
  return error.code === 'GIT_REQUEST_TOO_LARGE' ? 413 : 400;
}

function refuse(response: ServerResponse, status: number, message: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', ...headers }).end(`${message}\n`);
}
