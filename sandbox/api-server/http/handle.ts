import type { IncomingMessage, ServerResponse } from 'node:http';
import { requireRight, type Subject, subjectOf, type Tokens } from '#sandbox/api-server/access/subject.ts';
import { isForEverybody, isReview, review } from '#sandbox/api-server/access/review.ts';
import type { FaultSource } from '#sandbox/api-server/faults.ts';
import { answerFault } from '#sandbox/api-server/http/answer-fault.ts';
import { type ApiCall, readCall } from '#sandbox/api-server/request/api-call.ts';
import { discover } from '#sandbox/api-server/http/discovery.ts';
import { answerJson, answerRefusal, answerText } from '#sandbox/api-server/http/respond.ts';
import { type Served, serveResource } from '#sandbox/api-server/http/serve-resource.ts';
import { Refusal } from '#sandbox/api-server/status/refusal.ts';
import { noSuchPath } from '#sandbox/api-server/status/status-refusals.ts';

export interface Handling extends Served {
  readonly tokens: Tokens;
  readonly anonymous: Subject | undefined;
  readonly faults: FaultSource;
  /** Hears of every request before it is answered. */
  readonly onCall: ((call: ApiCall, subject: Subject) => void) | undefined;
}

/** Answers one request; never rejects. */
export async function handle(handling: Handling, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const call = readCall(request);
  try {
    const fault = handling.faults.next(call);
    if (fault?.latencyMs !== undefined) await handling.clock.sleep(fault.latencyMs);
    if (fault !== undefined && answerFault(response, fault)) return;
    if (fault?.answer === 'lost-answer') loseAnswer(response);
    await answer(handling, call, request, response);
  } catch (error) {
    if (response.destroyed || response.headersSent) {
      response.destroy();
    } else if (error instanceof Refusal) {
      answerRefusal(response, error);
    } else {
      const why = error instanceof Error ? (error.stack ?? error.message) : String(error);
      answerRefusal(response, new Refusal(500, 'InternalError', `Internal error occurred: ${why}`));
    }
  }
}

async function answer(
  handling: Handling,
  call: ApiCall,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { registry } = handling.api;
  const subject = subjectOf(request, handling.tokens, handling.anonymous);
  handling.onCall?.(call, subject);
  if (call.of === undefined || !isForEverybody(call.of)) requireRight(subject, call);
  const { of, path } = call;
  if (of !== undefined) {
    if (isReview(of)) return answerJson(request, response, 201, await review(request, handling, subject));
    const served = registry.find(of.group, of.version, of.resource);
    if (served !== undefined) return serveResource(handling, served, of, { request, response, call });
    if (of.group === '') throw noSuchPath();
    return answerText(response, 404, '404 page not found\n');
  }
  if (/^\/(healthz|livez|readyz)$/.test(path)) return answerText(response, 200, 'ok');
  const found = discover(path, registry);
  if (found !== undefined) return answerJson(request, response, 200, found);
  return answerText(response, 404, '404 page not found\n');
}

/** Whatever is answered, the client only sees the connection break. */
function loseAnswer(response: ServerResponse): void {
  response.end = () => response.destroy();
  response.write = () => {
    response.destroy();
    return false;
  };
}
