/** Writes one event of a Messages stream. */
export const messageEvent = (type: string, more: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
