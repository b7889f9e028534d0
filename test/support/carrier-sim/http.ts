import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RestAnswer } from './rest.ts';

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export function reply(response: ServerResponse, answer: RestAnswer): void {
  if (answer === 'lost') {
    response.destroy();
    return;
  }
  if (answer.bytes !== undefined) {
    response.writeHead(answer.status, { 'content-type': 'audio/x-wav' });
    response.end(answer.bytes);
    return;
  }
  response.writeHead(answer.status, { 'content-type': 'application/json' });
  response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
}
