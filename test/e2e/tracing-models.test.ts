import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { STREAM, streamed } from '../support/message-events.ts';
import { SHORT_USAGE } from '../support/openai-upstream.ts';
import { childrenOf } from '../support/otlp-collector.ts';
import { DONE, usageEvent, wordEvents } from '../support/stream-upstream.ts';
import { startTracingWorld, type TracingWorld } from '../support/tracing-world.ts';

const SECRET_WORDS = 'the vault opens at noon';
const messages = [{ role: 'user', content: SECRET_WORDS }];
const recording = readFileSync(new URL('../vectors/speech/librivox-0880.wav', import.meta.url));

let bench: TracingWorld;
let agent: FundedAgent;
beforeAll(async () => {
  bench = await startTracingWorld();
  bench.whole.usage = SHORT_USAGE;
  agent = await bench.world.fund('traced', 5_000_000n);
});
afterAll(() => bench[Symbol.asyncDispose]());

type Row = {
  readonly cost: bigint;
  readonly model: string | null;
  readonly rail: string;
  readonly posting: string;
};

/** The latest line of the agent's history. */
async function latestCharge(): Promise<Row> {
  const [row] = await bench.world.sql<Row[]>`
    select cost_raw as cost, model, rail, posting_id as posting from charges
    where agent_id = ${agent.agentId} order by id desc limit 1`;
  if (row === undefined) throw new Error('nothing was charged');
  return row;
}

/** The only attempt below a request, whose cost is what the ledger has. */
async function onlyAttempt({ server }: Awaited<ReturnType<TracingWorld['traced']>>) {
  const attempts = childrenOf(bench.collector.spans, server);
  expect(attempts).toHaveLength(1);
  const [attempt] = attempts;
  if (attempt === undefined) throw new Error('no attempt');
  const { cost, model, rail } = await latestCharge();
  expect(attempt.attributes).toMatchObject({
    'svc.cost_raw': Number(cost),
    'svc.model': model,
    'svc.rail': rail,
    'svc.agent.id': agent.agentId,
  });
  expect(attempt.kind).toBe('client');
  expect(attempt.endNs).toBeGreaterThan(attempt.startNs);
  return attempt;
}

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  bench.traced(agent.agentKey, path, { body, headers });

describe('the trace of a purchase', () => {
  it('the trace of a chat has its tokens, its finish reason and its cost', async () => {
    const traced = await post('/v1/chat/completions', {
      model: 'acme/whole',
      messages,
      max_tokens: 16,
    });
    expect(traced.answer.status).toBe(200);
    expect(traced.server).toMatchObject({
      name: 'POST /v1/chat/completions',
      kind: 'server',
      parentId: undefined,
      isError: false,
      service: 'agent-voice-spend-server',
      attributes: { 'http.response.status_code': 200, 'svc.agent.id': agent.agentId },
    });
    const attempt = await onlyAttempt(traced);
    expect(attempt.name).toBe('chat whole-1');
    expect(attempt.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'whole',
      'gen_ai.request.model': 'whole-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 9,
      'gen_ai.usage.output_tokens': 12,
      'svc.attempt': 1,
      'svc.usage.text_input_token': 9,
      'svc.usage.text_output_token': 12,
    });
    const header = traced.answer.headers.get('x-svc-cost-usdc');
    expect(String(attempt.attributes['svc.cost_raw'])).toBe(header);
    expect((await latestCharge()).posting).toContain(attempt.attributes['svc.hold.id']);
  });

  it('the trace of a streamed chat has its cached tokens and its first chunk, and ends with the last chunk', async () => {
    const usage = {
      prompt_tokens: 20,
      completion_tokens: 8,
      total_tokens: 28,
      prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
    };
    const pieces = [...wordEvents(['All', ' is', ' well.']), usageEvent(usage), DONE];
    bench.streams.play({ pieces, everyMs: 20 });
    const traced = await post('/v1/chat/completions', {
      model: 'acme/streams',
      messages,
      stream: true,
    });
    const attempt = await onlyAttempt(traced);
    expect(attempt.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'vendor',
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.cache_read.input_tokens': 5,
      'gen_ai.usage.cache_creation.input_tokens': 3,
      'gen_ai.usage.output_tokens': 8,
      'gen_ai.response.finish_reasons': ['stop'],
    });
    const firstSeconds = Number(attempt.attributes['gen_ai.response.time_to_first_chunk']);
    const lastSeconds = Number(attempt.endNs - attempt.startNs) / 1e9;
    expect(firstSeconds).toBeGreaterThan(0);
    expect(lastSeconds).toBeGreaterThan(firstSeconds + 0.05);
  });

  it('the trace of a purchase has an attempt for each source called, the failed one with its failure', async () => {
    bench.bad.faults.push({ kind: 'status', status: 503 });
    const traced = await post('/v1/chat/completions', {
      model: 'acme/fallback',
      messages,
      max_tokens: 16,
    });
    const [failed, delivered, ...more] = childrenOf(bench.collector.spans, traced.server);
    expect(more).toEqual([]);
    expect(failed).toMatchObject({
      name: 'chat bad-1',
      isError: true,
      attributes: { 'error.type': 'broken', 'http.response.status_code': 503, 'svc.attempt': 1 },
    });
    expect(failed?.attributes).not.toHaveProperty('svc.cost_raw');
    expect(delivered).toMatchObject({
      name: 'chat whole-1',
      isError: false,
      attributes: { 'svc.attempt': 2, 'svc.cost_raw': Number((await latestCharge()).cost) },
    });
    expect(failed?.attributes['svc.hold.id']).toBe(delivered?.attributes['svc.hold.id']);
  });

  it('the trace of a purchase is the same behind the Messages dialect, whole and streamed', async () => {
    const body = { model: 'acme/claude', messages, max_tokens: 2_000 };
    const whole = await onlyAttempt(await post('/v1/messages', body));
    expect(whole.attributes).toMatchObject({
      'gen_ai.provider.name': 'claude',
      'gen_ai.response.model': 'claude-upstream',
      'gen_ai.usage.input_tokens': 1_200,
      'gen_ai.usage.output_tokens': 400,
      'gen_ai.response.finish_reasons': ['end_turn'],
    });
    bench.claude.replies.push(streamed(STREAM));
    const stream = await onlyAttempt(await post('/v1/messages', { ...body, stream: true }));
    expect(stream.attributes).toMatchObject({
      'gen_ai.request.stream': true,
      'gen_ai.response.model': 'claude-upstream',
      'gen_ai.response.finish_reasons': ['end_turn'],
    });
    const chat = await onlyAttempt(await post('/v1/chat/completions', body));
    expect(chat.attributes['gen_ai.response.finish_reasons']).toEqual(['stop']);
  });

  it('the trace of a purchase is the same behind the Responses dialect', async () => {
    const attempt = await onlyAttempt(
      await post('/v1/responses', { model: 'acme/responses', input: SECRET_WORDS }),
    );
    expect(attempt.attributes).toMatchObject({
      'gen_ai.usage.input_tokens': 1_200,
      'gen_ai.usage.output_tokens': 400,
      'gen_ai.response.finish_reasons': ['completed'],
    });
  });

  it('the trace of a purchase has the units of speech, transcription and embeddings', async () => {
    const speech = await onlyAttempt(
      await post('/v1/audio/speech', { model: 'acme/voice', input: SECRET_WORDS, voice: 'alloy' }),
    );
    expect(speech).toMatchObject({
      name: 'text_to_speech speech-1',
      attributes: { 'svc.usage.character': SECRET_WORDS.length, 'gen_ai.request.stream': true },
    });
    const form = new FormData();
    form.set('model', 'acme/ears');
    form.set('file', new Blob([new Uint8Array(recording)]), 'said.wav');
    const request = new Request('http://of.a.form', { method: 'POST', body: form });
    const heard = await onlyAttempt(
      await bench.traced(agent.agentKey, '/v1/audio/transcriptions', {
        body: new Uint8Array(await request.clone().arrayBuffer()),
        headers: { 'content-type': request.headers.get('content-type') ?? '' },
      }),
    );
    expect(heard.name).toBe('transcription ears-1');
    expect(heard.attributes['svc.usage.audio_second']).toBeGreaterThan(0);
    const vectors = await onlyAttempt(
      await post('/v1/embeddings', { model: 'acme/vectors', input: SECRET_WORDS }),
    );
    expect(vectors).toMatchObject({
      name: 'embeddings whole-1',
      attributes: { 'gen_ai.operation.name': 'embeddings' },
    });
  });

  it('the trace of a refused call has the status, and no attempt', async () => {
    const poor = await bench.world.fund('poor', 1n);
    const { answer, server } = await bench.traced(poor.agentKey, '/v1/chat/completions', {
      body: { model: 'acme/whole', messages },
    });
    expect(answer.status).toBe(402);
    expect(server.attributes['http.response.status_code']).toBe(402);
    expect(childrenOf(bench.collector.spans, server)).toEqual([]);
  });
});

describe('the context of a trace', () => {
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const parent = `00-${traceId}-00f067aa0ba902b7-01`;
  const body = { model: 'acme/whole', messages, max_tokens: 16 };

  it('the trace context is that of the caller, with its state, and goes to no upstream', async () => {
    const { answer, server } = await post('/v1/chat/completions', body, {
      traceparent: parent,
      tracestate: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    });
    expect(server).toMatchObject({
      traceId,
      parentId: '00f067aa0ba902b7',
      traceState: 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    });
    expect(answer.headers.get('traceresponse')).toBe(`00-${traceId}-${server.spanId}-01`);
    expect(bench.whole.seen.at(-1)?.headers).not.toHaveProperty('traceparent');
  });

  it('the trace context of an unsampled caller is followed: no span is recorded or named', async () => {
    const { headers, status } = await fetch(`${bench.world.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${agent.agentKey}`,
        'content-type': 'application/json',
        traceparent: parent.replace(traceId, 'ab'.repeat(16)).replace(/01$/, '00'),
      },
      body: JSON.stringify(body),
    });
    expect(status).toBe(200);
    expect(headers.get('traceresponse')).toBeNull();
    await post('/v1/chat/completions', body);
    expect(bench.collector.spans.filter((span) => span.traceId === 'ab'.repeat(16))).toEqual([]);
  });

  it('a malformed trace context starts a new trace, and the request is served', async () => {
    for (const traceparent of [
      '00-short',
      `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`,
      'x'.repeat(4_000),
    ]) {
      const { answer, server } = await post('/v1/chat/completions', body, { traceparent });
      expect(answer.status).toBe(200);
      expect(server.parentId).toBeUndefined();
    }
  });
});

it('no span contains words, keys or addresses of a caller', async () => {
  const kept = JSON.stringify(bench.collector.spans, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  );
  expect(bench.collector.spans.length).toBeGreaterThan(20);
  expect(kept).not.toContain(SECRET_WORDS);
  expect(kept).not.toContain(agent.agentKey);
  expect(kept).not.toContain('sk-ant-upstream');
  expect(kept).not.toContain('127.0.0.1');
});
