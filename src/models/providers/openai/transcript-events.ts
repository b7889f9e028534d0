/** Writes an event of a streamed transcript in the OpenAI dialect. */
const event = (body: object): Buffer => Buffer.from(`data: ${JSON.stringify(body)}\n\n`);

/** Words that have been transcribed, to be put behind those before them. */
export const deltaEvent = (delta: string): Buffer =>
  event({ type: 'transcript.text.delta', delta });

/** Writes the last event, with the whole text. */
export const doneEvent = (text: string, usage: unknown): Buffer =>
  event({ type: 'transcript.text.done', text, ...(usage === undefined ? {} : { usage }) });
