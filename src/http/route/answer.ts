/** Complete answer of a request, of which nothing has been written yet. */
export type HttpAnswer = {
  readonly status: number;
  /** Headers with names in lower case, `content-type` among them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Further headers, in their order; a name may come more than once. */
  readonly lines?: readonly HeaderLine[];
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** `X-Request-Id` of the first request, for an answer that is kept for replays. */
  readonly requestId?: string | undefined;
};

export const JSON_TYPE = 'application/json';

/** Headers of an answer that has no header other than its type. */
export const JSON_HEADERS = { 'content-type': JSON_TYPE } as const;

/** One header. Lists of lines are written in order, since merging objects for each request costs more than writing them. */
export type HeaderLine = readonly [name: string, value: string];

export const isStream = (body: unknown): body is AsyncIterable<Uint8Array> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
