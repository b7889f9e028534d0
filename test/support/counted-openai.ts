import OpenAI, { type ClientOptions } from 'openai';

/** The vendor's own client, with a count of what it really sends. */
export function countedOpenAi(options: ClientOptions) {
  const sent: string[] = [];
  const openai = new OpenAI({
    ...options,
    fetch: (input, init) => {
      sent.push(String(input));
      return fetch(input, init);
    },
  });
  return { openai, sent };
}

/** What a call threw. */
export async function thrownBy(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof OpenAI.APIError) return error;
  throw new Error('no error of the client was thrown', { cause: error });
}
