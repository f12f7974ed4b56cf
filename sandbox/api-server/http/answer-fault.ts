import type { ServerResponse } from 'node:http';
import type { Fault } from '#sandbox/api-server/faults.ts';
import { answerRefusal } from '#sandbox/api-server/http/respond.ts';
import { Refusal } from '#sandbox/api-server/status/refusal.ts';

/**
 * Does what a fault wants instead of the right answer.
 *
 * @returns whether the request is done with
 */
export function answerFault(response: ServerResponse, { answer, retryAfter }: Fault): boolean {
  if (typeof answer === 'number') {
    answerRefusal(response, refusalFor(answer), retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) });
    return true;
  }
  if (answer === 'reset') response.destroy();
  return answer === 'reset' || answer === 'hang';
}

function refusalFor(code: 409 | 410 | 429 | 500 | 503): Refusal {
  switch (code) {
    case 409:
      return new Refusal(409, 'Conflict', 'Operation cannot be fulfilled: the object has been modified', {});
    case 410:
      return new Refusal(410, 'Expired', 'The resourceVersion for the provided watch is too old.');
    case 429:
      return new Refusal(429, 'TooManyRequests', 'Too many requests, please try again later.');
    case 500:
      return new Refusal(500, 'InternalError', 'Internal error occurred: the sandbox was told to fail');
    case 503:
      return new Refusal(503, 'ServiceUnavailable', 'the server is currently unable to handle the request');
  }
}
