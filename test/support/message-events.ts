/** One event of a Messages stream. */
export const messageEvent = (type: string, more: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
export const begun = { id: 'msg_1', role: 'assistant', model: 'claude-upstream', content: [] };
const START = messageEvent('message_start', {
  message: { ...begun, usage: { input_tokens: 1_200, output_tokens: 1 } },
});
export const delta = (text: string) =>
  messageEvent('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
export const STREAM = [
  START,
  messageEvent('ping'),
  messageEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  delta('Good '),
  delta('morning.'),
  messageEvent('content_block_stop', { index: 0 }),
  messageEvent('message_delta', {
    delta: { stop_reason: 'end_turn' },
    usage: { output_tokens: 400 },
  }),
  messageEvent('message_stop'),
];
export const streamed = (events: readonly string[]) => ({
  headers: { 'content-type': 'text/event-stream' },
  body: events.join(''),
});
