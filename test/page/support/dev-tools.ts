/** What comes back of a command, or along with an event; what is in it the caller knows. */
export type Fields = Readonly<Record<string, unknown>>;

/** A connection to a browser by the DevTools protocol: commands with answers, and events, per session (tab). */
export interface DevTools {
  send(method: string, parameters?: Fields, session?: string): Promise<Fields>;
  /** Hears every event of that name in a session until the function that comes back is called. */
  on(session: string, method: string, hear: (parameters: Fields) => void): () => void;
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Fields;
  readonly result?: Fields;
  readonly error?: { readonly message: string };
  readonly sessionId?: string;
}

export async function connectDevTools(url: string): Promise<DevTools> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`no connection to ${url}`)));
  });
  let last = 0;
  const waiting = new Map<number, PromiseWithResolvers<Fields>>();
  const hearing = new Map<string, Set<(parameters: Fields) => void>>();

  socket.addEventListener('message', ({ data }) => {
    const { id, method, params = {}, result = {}, error, sessionId = '' } = JSON.parse(String(data)) as Message;
    if (id === undefined) {
      for (const hear of hearing.get(`${sessionId} ${method}`) ?? []) hear(params);
      return;
    }
    const answer = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) answer?.resolve(result);
    else answer?.reject(new Error(error.message));
  });
  let closed = false;
  socket.addEventListener('close', () => {
    closed = true;
    for (const { reject } of waiting.values()) reject(new Error('the browser is gone'));
  });

  return {
    send(method, params = {}, sessionId) {
      if (closed) return Promise.reject(new Error('the browser is gone'));
      last += 1;
      const answer = Promise.withResolvers<Fields>();
      waiting.set(last, answer);
      socket.send(JSON.stringify({ id: last, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      return answer.promise;
    },
    on(session, method, hear) {
      const key = `${session} ${method}`;
      const all = hearing.get(key) ?? new Set();
      hearing.set(key, all.add(hear));
      return () => void all.delete(hear);
    },
    close: () => socket.close(),
  };
}
