import { describe, expect, it } from 'vitest';
import type { Json } from '../../../../../src/kernel/json.ts';
import { StreamBroken } from '../../../../../src/models/providers/openai/answer-reader.ts';
import { RelayedResponse } from '../../../../../src/models/providers/responses/relayed-response.ts';
import { openedAnswer } from '../../../../support/opened-answer.ts';

const event = (type: string, more: Json = {}) => `data: ${JSON.stringify({ type, ...more })}\n\n`;
const last = event('response.completed', { response: { status: 'completed' } });
const created = event('response.created', { response: { id: 'r', status: 'in_progress' } });

const relayOf = (...events: readonly string[]) =>
  new RelayedResponse(openedAnswer(...events).answer, (response) => response);

async function relayed(...events: readonly string[]): Promise<string> {
  const relay = relayOf(...events);
  let text = '';
  for (let piece = await relay.next(); piece; piece = await relay.next()) {
    text += Buffer.from(piece).toString();
  }
  return text;
}

describe('a relayed stream of a response', () => {
  it.each([
    'response.x\n\nevent: response.completed',
    'response.x\n',
    'x\rdata: 1',
    '',
    'x'.repeat(65),
  ])(
    'a relayed Responses stream breaks at an event type that is no plain name: %j',
    async (type) => {
      for (const more of [{}, { response: { status: 'in_progress' } }]) {
        await expect(relayed(created, event(type, more), last)).rejects.toBeInstanceOf(
          StreamBroken,
        );
      }
    },
  );

  it('a relayed Responses stream names each event by its type, known or unknown', async () => {
    const kinds = ['response.mcp_call.arguments.delta', 'response.v2-x.done', 'keepalive'];
    const text = await relayed(created, ...kinds.map((kind) => event(kind)), last);
    expect([...text.matchAll(/^event: (.*)$/gm)].map(([, kind]) => kind)).toEqual([
      'response.created',
      ...kinds,
    ]);
  });

  it('a relayed Responses stream has not begun when only keepalives arrived before a failure', async () => {
    const failed = event('response.failed', { response: { status: 'failed' } });
    const alive = event('keepalive', { sequence_number: 2 });
    await expect(relayOf(created, alive, failed).begin()).rejects.toBeInstanceOf(StreamBroken);
    const added = event('response.output_item.added', { item: {} });
    await expect(relayOf(created, alive, added, failed).begin()).resolves.toBeUndefined();
  });

  it('a relayed Responses stream delivers what arrived in one piece with an error', async () => {
    const added = event('response.output_item.added', { item: {} });
    const error = event('error', { code: 'invalid_prompt', message: 'x', sequence_number: 3 });
    const relay = relayOf(created + added + error);
    await relay.begin();
    expect(String(await relay.next())).toContain('response.output_item.added');
    await expect(relay.next()).rejects.toMatchObject({ code: 'invalid_prompt' });
    await expect(relayOf(created + error).begin()).rejects.toMatchObject({
      error: { code: 'invalid_prompt', message: 'x' },
    });
  });
});
