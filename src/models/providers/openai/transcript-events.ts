/** Writes an event of a streamed transcript in the OpenAI dialect. */
const event = (body: object): Buffer => Buffer.from(`data: ${JSON.stringify(body)}\n\n`);

/** Returns the event that adds words to the end of the transcript. */
export const deltaEvent = (delta: string): Buffer =>
  event({ type: 'transcript.text.delta', delta });

/** Writes the last event, with the whole text. */
export const doneEvent = (text: string, usage: unknown): Buffer =>
  event({ type: 'transcript.text.done', text, ...(usage === undefined ? {} : { usage }) });
