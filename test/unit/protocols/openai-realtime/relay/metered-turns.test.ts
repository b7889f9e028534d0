import { expect, it } from 'vitest';
import type { FakeLedger } from '../../../../support/fake-ledger.ts';
import { usageOf } from '../../../../support/realtime-upstream.ts';
import { RecordedSpan } from '../../../../support/recorded-span.ts';
import { startRelaySession } from '../../../../support/relay-session-world.ts';
import { AGENT, settleAll } from '../../../../support/voice-world.ts';

const SOUND = { type: 'response.output_audio.delta', delta: 'A'.repeat(6_400) };

it('each turn of a relayed session is a span with its stages, tokens and price', async () => {
  const root = new RecordedSpan('handshake');
  const { clock, ledger, session, upstream } = await startRelaySession({ span: root });
  const began = clock.monotonicMs();
  upstream.say({ type: 'input_audio_buffer.speech_stopped' });
  clock.advance(200);
  upstream.begin('r1');
  clock.advance(100);
  upstream.say(SOUND);
  upstream.finish('r1', usageOf({ textIn: 4, audioIn: 6, audioOut: 30 }));
  await settleAll();
  upstream.begin('r2');
  upstream.say({
    type: 'response.done',
    response: { id: 'r2', status: 'cancelled', usage: usageOf({ audioOut: 1 }) },
  });
  await settleAll();
  upstream.begin('r3');
  upstream.leave(1011);
  await session.settled;

  const [spoken] = root.children;
  expect(spoken).toMatchObject({ name: 'realtime session', ended: { error: expect.any(String) } });
  expect(spoken?.attributes).toMatchObject({
    'gen_ai.provider.name': 'acme',
    'gen_ai.operation.name': 'realtime',
    'svc.cost_raw': Number(ledger.consumedRaw(AGENT)),
  });
  const [first, second, third, ...more] = spoken?.children ?? [];
  expect(more).toEqual([]);
  expect(first?.start.atMs).toBe(began);
  expect(first?.children.map(({ ended, name }) => [name, ended?.atMs])).toEqual([
    ['end_of_turn', began],
    ['transcript', began],
    ['first_frame', began + 300],
  ]);
  expect(first?.attributes).toMatchObject({
    'gen_ai.usage.input_tokens': 10,
    'gen_ai.usage.output_tokens': 30,
    'svc.answer.id': 'r1',
    'svc.turn.end': 'completed',
  });
  expect(second?.attributes['svc.turn.interrupted']).toBe(true);
  const costs = [first, second].map((turn) => Number(turn?.attributes['svc.cost_raw']));
  expect(costs.reduce((sum, cost) => sum + cost)).toBe(Number(ledger.consumedRaw(AGENT)));
  // The upstream broke down in the middle of it.
  expect(third?.ended).toBeDefined();
});

it.each([
  ['is lost to another process', async () => 'lost' as const],
  ['cannot be journaled', () => Promise.reject(new Error('the ledger is away'))],
])('the span of a relayed turn whose charge %s has no price', async (_, journal) => {
  const root = new RecordedSpan('handshake');
  const bind = (ledger: FakeLedger) => Object.assign(ledger, { journal });
  const { session, upstream } = await startRelaySession({ span: root, bind });
  upstream.begin('r1');
  upstream.finish('r1', usageOf({ textIn: 4, audioOut: 30 }));
  await settleAll();
  const turn = root.children[0]?.children[0];
  expect(turn?.ended).toBeDefined();
  expect(turn?.attributes).toMatchObject({ 'svc.answer.id': 'r1' });
  expect(turn?.attributes).not.toHaveProperty('svc.cost_raw');
  await session.settled;
});
