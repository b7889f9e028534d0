import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createWebhookLlm } from '../../../src/phone/voice/webhook/webhook-llm.ts';
import { guardedClient } from '../../support/guarded.ts';
import {
  failureCode,
  responderRequest,
  wholeReply,
  wordsOf,
} from '../../support/responder-request.ts';
import { said } from '../../support/said.ts';
import { startVoiceWebhook } from '../../support/voice-webhook.ts';

const CALL = {
  callId: 'CA1',
  from: '+14155550100',
  to: '+14155550199',
  direction: 'inbound',
} as const;
const HI = [said('user', 'Hi')];

async function world({ answerMs = 5_000, allowLocalhost = true } = {}) {
  const webhook = await startVoiceWebhook();
  const client = guardedClient({ allowLocalhost });
  const deps = { client, clock: systemClock, answerMs };
  return {
    webhook,
    llm: createWebhookLlm(deps, { ...CALL, url: webhook.url }),
    responderAt: (url: string) => createWebhookLlm(deps, { ...CALL, url }),
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      await webhook[Symbol.asyncDispose]();
    },
  };
}

describe('a voice webhook as the responder of a call', () => {
  it('a voice webhook gets each utterance as one POST without credentials', async () => {
    await using w = await world();
    const reply = w.llm.reply(responderRequest(HI));
    const pieces = wholeReply(reply);
    const { body, request, response } = await w.webhook.next();
    response.end('{"text":"Hello there"}');
    expect(wordsOf(await pieces)).toBe('Hello there');
    expect([request.method, request.url]).toEqual(['POST', '/v1/hook?secret=s']);
    expect(request.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(request.headers).not.toHaveProperty('authorization');
    expect(body).toMatchObject({ type: 'agent.message', callId: 'CA1', text: 'Hi' });
    expect([reply.tokens, reply.cut]).toEqual([{ input: 0, cached: 0, output: 0 }, undefined]);
  });

  it("a voice webhook's answer is spoken from its first complete line, while the rest is still being written", async () => {
    await using w = await world();
    const reply = w.llm.reply(responderRequest(HI));
    const first = reply.next();
    const asked = await w.webhook.next();
    asked.say({ text: 'hm', interim: true }, { text: 'One moment.' });
    expect(await first).toEqual({ kind: 'text', text: 'One moment. ' });
    asked.say({ text: 'Done.', end: true });
    expect(await reply.next()).toEqual({ kind: 'text', text: 'Done.' });
    expect(await reply.next()).toMatchObject({ kind: 'call', name: 'end_call' });
    // The body is still open: what follows the end of the call is not waited for.
    expect(await reply.next()).toBeUndefined();
    await asked.gone;
  });

  it("a voice webhook's answer is decoded whole when a character is split over two chunks", async () => {
    await using w = await world();
    const reply = w.llm.reply(responderRequest(HI));
    const first = reply.next();
    const { response } = await w.webhook.next();
    const bytes = Buffer.from('{"text":"Grüße"}\r\n');
    response.writeHead(200).write(bytes.subarray(0, 12));
    await new Promise((resolve) => response.write('', resolve));
    response.end(bytes.subarray(12));
    expect(await first).toEqual({ kind: 'text', text: 'Grüße' });
  });

  it.each([
    ['a status that is no success', 500, '{"text":"Hello"}', 'status 500'],
    ['a redirect', 302, '{"text":"Hello"}', 'status 302'],
    ['an empty body', 200, '', 'nothing'],
    ['a body without a readable line', 200, '<html>\n</html>\n', 'nothing'],
  ])('a voice webhook refuses the call with %s', async (_, status, body, message) => {
    await using w = await world();
    const failure = failureCode(w.llm.reply(responderRequest(HI)));
    const { response } = await w.webhook.next();
    response.writeHead(status, { location: `${w.webhook.url}&again` }).end(body);
    expect(await failure).toMatch(new RegExp(`^llm_refused: .*${message}`));
    expect(w.webhook.asked).toHaveLength(1);
  });

  it('a voice webhook refuses the call when its answer takes too long to begin', async () => {
    await using w = await world({ answerMs: 60 });
    const failure = failureCode(w.llm.reply(responderRequest(HI)));
    const asked = await w.webhook.next();
    expect(await failure).toMatch(/^llm_refused: .*too long/);
    await asked.gone;
  });

  it('a voice webhook refuses the call when its answer trickles and does not end in time', async () => {
    await using w = await world({ answerMs: 150 });
    const failure = failureCode(w.llm.reply(responderRequest(HI)));
    const { response, gone } = await w.webhook.next();
    response.writeHead(200);
    const drip = setInterval(() => response.write('\n'), 20);
    expect(await failure).toMatch(/^llm_refused: .*too long/);
    await gone;
    clearInterval(drip);
  });

  it('a voice webhook whose connection breaks refuses the call, and gets no second request', async () => {
    await using w = await world();
    const failure = failureCode(w.llm.reply(responderRequest(HI)));
    const asked = await w.webhook.next();
    asked.say({ text: 'Hello' });
    asked.response.socket?.resetAndDestroy();
    expect(await failure).toMatch(/^llm_refused: .*connection/);
    expect(w.webhook.asked).toHaveLength(1);
  });

  it('a voice webhook refuses the call when nothing listens, and when its address is not allowed', async () => {
    await using w = await world();
    await using shut = await world({ allowLocalhost: false });
    const nowhere = w.responderAt('http://127.0.0.1:9/');
    const unused = w.responderAt('http://127.0.0.1:39999/');
    const local = shut.llm;
    for (const llm of [nowhere, unused, local]) {
      expect(await failureCode(llm.reply(responderRequest(HI)))).toMatch(/^llm_refused: /);
    }
    expect(shut.webhook.asked).toEqual([]);
  });

  it('the request to a voice webhook is aborted at once when the caller interrupts', async () => {
    await using w = await world();
    const stopping = new AbortController();
    const reply = w.llm.reply(responderRequest(HI, stopping.signal));
    const first = reply.next();
    const asked = await w.webhook.next();
    asked.say({ text: 'A long story begins.' });
    await first;
    const rest = reply.next();
    stopping.abort();
    expect(await rest).toBeUndefined();
    await asked.gone;
  });

  it("a voice webhook's endless answer is spoken up to its first 64 KiB", async () => {
    await using w = await world();
    const pieces = wholeReply(w.llm.reply(responderRequest(HI)));
    const { gone, response, say } = await w.webhook.next();
    say({ text: 'Hello' });
    response.write(' '.repeat(70_000));
    expect(wordsOf(await pieces)).toBe('Hello');
    await gone;
  });

  it('a voice webhook gets no request when the caller has said nothing new', async () => {
    await using w = await world();
    const silent = responderRequest([said('user', 'Hi'), said('assistant', 'Hello')]);
    expect(await wholeReply(w.llm.reply(silent))).toEqual([]);
    expect(w.webhook.asked).toEqual([]);
  });
});
