import type { HttpResponse } from 'uWebSockets.js';

const EVERY_MS = 20;

/** Answers a request with what `answerOf` makes of its JSON: a text at once, or the pieces of a stream at a steady pace. */
export const pacedAnswer =
  <Asked>(answerOf: (asked: Asked) => string | readonly Buffer[]) =>
  (response: HttpResponse): void => {
    let isOpen = true;
    response.onAborted(() => {
      isOpen = false;
    });
    let body = '';
    response.onData((chunk, isLast) => {
      body += Buffer.from(chunk).toString();
      if (!isLast || !isOpen) return;
      const answer = answerOf(JSON.parse(body) as Asked);
      if (typeof answer === 'string') {
        response.writeHeader('content-type', 'application/json').end(answer);
      } else {
        write(response, answer, () => isOpen);
      }
    });
  };

/** Writes the pieces of a stream, the first of them at once. */
function write(response: HttpResponse, pieces: readonly Buffer[], isOpen: () => boolean): void {
  let written = 0;
  const writeNext = () => {
    if (!isOpen()) return clearInterval(timer);
    const piece = pieces[written++] ?? '';
    response.cork(() => {
      if (written < pieces.length) response.write(piece);
      else response.end(piece);
    });
    if (written >= pieces.length) clearInterval(timer);
  };
  response.cork(() => response.writeHeader('content-type', 'text/event-stream'));
  const timer = setInterval(writeNext, EVERY_MS);
  writeNext();
}
