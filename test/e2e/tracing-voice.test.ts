import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { done } from '../support/cascade-steps.ts';
import { answer, RATE, speak } from '../support/cascade-world.ts';
import { bearer } from '../support/edge.ts';
import { childrenOf } from '../support/otlp-collector.ts';
import type { CollectedSpan } from '../support/otlp-protobuf.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { startTracingWorld, type TracingWorld } from '../support/tracing-world.ts';
import { jsonAnswer } from '../support/transcription-upstream.ts';
import { bytesOf, tone } from '../support/voice-fakes.ts';
import { askingCallees, webhookCall } from '../support/webhook-call.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

let bench: TracingWorld;
/** The headers of what the responder of a call was asked with. */
const asked: IncomingHttpHeaders[] = [];
const responder = createServer((request, response) => {
  asked.push(request.headers);
  request.resume();
  response.setHeader('content-type', 'application/x-ndjson');
  response.end('{"text":"A lot."}\n{"text":" Goodbye.","end":true}\n');
});
beforeAll(async () => {
  responder.listen(0, '127.0.0.1');
  bench = await startTracingWorld({}, await askingCallees());
  bench.speech.sound = Buffer.from(bytesOf(tone(300, RATE)));
  bench.speech.contentType = 'audio/pcm';
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  responder.close();
});

/** Each stage begins where the one before it ended, within the turn. */
function expectChain(turn: CollectedSpan, stages: readonly CollectedSpan[]): void {
  let fromNs = turn.startNs;
  for (const stage of stages) {
    expect(stage.startNs).toBe(fromNs);
    expect(stage.endNs).toBeGreaterThanOrEqual(stage.startNs);
    fromNs = stage.endNs;
  }
}

const isStage = ({ kind, name }: CollectedSpan) => kind === 'internal' && name !== 'voice turn';

describe('the trace of a cascade', () => {
  it('the trace of a cascade has the session, its turn, the stages of the turn and the purchase of each stage', async () => {
    const { collector, ears, streams, world } = bench;
    ears.script.push(jsonAnswer({ text: 'how are you' }));
    streams.play({ pieces: answer(['All is well.']), everyMs: 10 });
    const agent = await world.fund('talks', 5_000_000n);
    const query = { model: 'acme/streams', stt_model: 'acme/ears', tts_model: 'acme/voice' };
    const client = new RealtimeClient(
      `${world.wsUrl}/v1/realtime?${new URLSearchParams(query)}`,
      [],
      { ...bearer(agent.agentKey), traceparent: `00-${TRACE}-00f067aa0ba902b7-01` },
    );
    await client.opened();
    speak(client);
    const turnEvent = await done(client);
    client.ws.close();
    const session = await collector.awaited(({ name }) => name === 'realtime session');
    const handshake = await collector.awaited(({ name }) => name === 'GET /v1/realtime');
    expect(handshake).toMatchObject({
      traceId: TRACE,
      parentId: '00f067aa0ba902b7',
      kind: 'server',
      attributes: { 'http.response.status_code': 101 },
    });
    expect(session.parentId).toBe(handshake.spanId);

    const turn = await collector.awaited(({ name }) => name === 'voice turn');
    expect(turn.parentId).toBe(session.spanId);
    const costRaw = Number(turnEvent.metadata.cost_raw);
    expect(costRaw).toBeGreaterThan(0);
    expect(turn.attributes).toMatchObject({
      'svc.cost_raw': costRaw,
      'svc.turn.end': 'completed',
      'svc.turn.interrupted': false,
      'gen_ai.usage.input_tokens': 20,
      'gen_ai.usage.output_tokens': 8,
    });
    const children = childrenOf(collector.spans, turn);
    const stages = children.filter(isStage);
    expect(stages.map(({ name }) => name)).toEqual([
      'end_of_turn',
      'transcript',
      'first_token',
      'first_sound',
      'first_frame',
    ]);
    expectChain(turn, stages);
    const bought = children.filter(({ kind }) => kind === 'client').map(({ name }) => name);
    expect(bought.sort()).toEqual(['chat streams-1', 'text_to_speech speech-1']);
    const heard = childrenOf(collector.spans, session).filter(({ kind }) => kind === 'client');
    expect(heard.map(({ name }) => name)).toEqual(['transcription ears-1']);

    const [row] = await world.sql<{ cost: bigint }[]>`
      select sum(cost_raw)::bigint as cost from charges where agent_id = ${agent.agentId}`;
    expect(session.attributes).toMatchObject({
      'svc.cost_raw': Number(row?.cost),
      'svc.session.turns': 1,
      'svc.agent.id': agent.agentId,
    });
  });
});

describe('the trace of a phone call', () => {
  it('the trace of a phone call has the call above its turns, and its webhook may continue the trace', async () => {
    const { collector, world } = bench;
    const before = collector.spans.length;
    const { port } = responder.address() as AddressInfo;
    const webhookUrl = `http://127.0.0.1:${port}/responder`;
    const placed = await webhookCall(world, { name: 'calls', webhookUrl, withinMs: 50_000 });
    const { agent, callId } = placed;
    const call = await collector.awaited(({ name }) => name === 'call');
    expect(call.attributes).toMatchObject({
      'svc.call.id': callId,
      'svc.call.direction': 'outbound',
      'svc.agent.id': agent.agentId,
    });
    const [row] = await world.sql<{ cost: bigint }[]>`
      select sum(cost_raw)::bigint as cost from charges where agent_id = ${agent.agentId}`;
    expect(call.attributes['svc.cost_raw']).toBe(Number(row?.cost));
    const turns = childrenOf(collector.spans.slice(before), call).filter(
      ({ name }) => name === 'voice turn',
    );
    const answered = turns.find((turn) =>
      childrenOf(collector.spans, turn).some(({ name }) => name === 'end_of_turn'),
    );
    if (answered === undefined) throw new Error('no turn answers the callee');
    const stages = childrenOf(collector.spans, answered).filter(isStage);
    expect(stages.at(-1)?.name).toBe('first_frame');
    expectChain(answered, stages);
    const [, traceId, spanId] = String(asked[0]?.traceparent).split('-');
    expect({ traceId, spanId }).toEqual({ traceId: call.traceId, spanId: answered.spanId });
    expect(JSON.stringify(call.attributes)).not.toContain('+1415');
  });
});
