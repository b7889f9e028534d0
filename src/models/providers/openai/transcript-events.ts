/** The events of a streamed transcript, as the OpenAI dialect writes them. */
const event = (body: object): Buffer => Buffer.from(`data: ${JSON.stringify(body)}\n\n`);

/** Words that have been transcribed, to be put behind those before them. */
export const deltaEvent = (delta: string): Buffer =>
  event({ type: 'transcript.text.delta', delta });

/** All of it, once. */
export const doneEvent = (text: string, usage: unknown): Buffer =>
  event({ type: 'transcript.text.done', text, ...(usage === undefined ? {} : { usage }) });
