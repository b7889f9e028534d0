/** An event of a stream of Server-Sent Events. */
export type SentEvent = {
  readonly id?: string;
  readonly type: string;
  readonly data: Record<string, unknown>;
};

/** Reads a stream of Server-Sent Events in the background. */
export async function readEvents(
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<
  AsyncDisposable & {
    readonly events: SentEvent[];
    readonly ended: Promise<void>;
    of(type: string): SentEvent[];
  }
> {
  const leaving = new AbortController();
  const answer = await fetch(url, { headers, signal: leaving.signal });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  const events: SentEvent[] = [];
  const ended = (async () => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const bytes of answer.body as ReadableStream<Uint8Array>) {
      const parts = (text + decoder.decode(bytes, { stream: true })).split('\n\n');
      text = parts.pop() ?? '';
      events.push(...parts.flatMap(eventOf));
    }
  })();
  ended.catch(() => {});
  return {
    events,
    ended,
    of: (type) => events.filter((event) => event.type === type),
    async [Symbol.asyncDispose]() {
      leaving.abort();
      await ended.catch(() => {});
    },
  };
}

function eventOf(text: string): SentEvent[] {
  const fields = Object.fromEntries(text.split('\n').map((line) => line.split(/: (.*)/s)));
  if (fields.event === undefined) return [];
  const id = fields.id === undefined ? {} : { id: fields.id };
  return [{ ...id, type: fields.event, data: JSON.parse(fields.data) }];
}
