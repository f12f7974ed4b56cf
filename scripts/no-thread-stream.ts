/** In place of pino's worker threads, in a program that never asks for one: its log goes to standard output. */
export default class NoThreadStream {
  constructor() {
    throw new Error('this program writes its log itself, without a worker thread');
  }
}
