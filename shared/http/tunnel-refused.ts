/** A proxy that answered, and did not open the tunnel. */
export class TunnelRefused extends Error {
  /** `status 407`, for a message that names the proxy. */
  readonly answer: string;

  constructor(answer: string) {
    super(`the proxy answers with ${answer}`);
    this.answer = answer;
  }
}
