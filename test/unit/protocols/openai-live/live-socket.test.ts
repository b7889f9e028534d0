import { describe, expect, it } from 'vitest';
import type { SocketConnection, SocketHandler } from '../../../../src/http/route/socket-route.ts';
import { silentLog } from '../../../../src/kernel/log.ts';
import { LIVE_LIMITS } from '../../../../src/protocols/openai-live/limits.ts';
import { createLiveSocket } from '../../../../src/protocols/openai-live/live-socket.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { RecordedSpan } from '../../../support/recorded-span.ts';
import { AGENT, createVoiceWorld, FakeSocket, settleAll } from '../../../support/voice-world.ts';

const START = { type: 'session.start', session: { model: 'local/realtime' } };

type Opening = { readonly creditRaw?: bigint; readonly span?: RecordedSpan };

/** The handler of one socket, over fakes and a clock that stands still. */
async function openHandler({ creditRaw = 10_000_000n, span }: Opening = {}) {
  const clock = new ManualClock();
  const world = await createVoiceWorld({ clock, creditRaw });
  const caller = { kind: 'agent', agentId: AGENT, keyId: 70, accountId: 1 };
  const context = {
    caller,
    headers: new Map(),
    query: {},
    log: silentLog,
    span,
    signal: new AbortController().signal,
  };
  const route = createLiveSocket(world.deps);
  const handler: SocketHandler = await route.open(context as never);
  const socket = new FakeSocket();
  handler.opened(socket as unknown as SocketConnection);
  const send = (event: object) => handler.frame?.(Buffer.from(JSON.stringify(event)), false);
  return { ...world, clock, handler, send, socket };
}

describe('a socket of live sessions', () => {
  it('a live socket is closed when no session.start comes in time, and stays open once session.start has come', async () => {
    const { clock, socket } = await openHandler();
    clock.advance(LIVE_LIMITS.startMs - 1);
    expect(socket.closed).toBeUndefined();
    clock.advance(1);
    expect(socket.of('error')).toMatchObject([{ error: { code: 'session_not_started' } }]);
    expect(socket.closed?.code).toBe(1008);

    const started = await openHandler();
    started.send(START);
    await settleAll();
    started.clock.advance(LIVE_LIMITS.startMs);
    expect(started.socket.types()).toEqual(['session.started']);
  });

  it('a live socket closes with 1012 when the server shuts down before its session has started', async () => {
    const { handler, socket } = await openHandler();
    handler.draining?.();
    expect(socket.closed?.code).toBe(1012);
  });

  it('a live session that was opening when the server shut down is drained', async () => {
    const { handler, ledger, send, socket } = await openHandler();
    send(START);
    handler.draining?.();
    await settleAll();
    expect(socket.types()).toEqual(['session.started', 'session.closed']);
    expect([socket.closed?.code, ledger.openHolds()]).toEqual([1012, 0]);
  });

  it('a live session whose client left while it was opening is settled', async () => {
    const { deps, handler, ledger, send, socket } = await openHandler();
    send(START);
    handler.closed(1006, '');
    await settleAll();
    expect([ledger.openHolds(), deps.sessions.size, socket.events]).toEqual([0, 0, []]);
  });

  it('a live session that the balance does not cover is refused with the required and the available amount', async () => {
    const { send, socket } = await openHandler({ creditRaw: 1n });
    send({ ...START, event_id: 'start-1' });
    await settleAll();
    expect(socket.of('error')).toMatchObject([
      { error: { client_event_id: 'start-1', available: '1', required: expect.any(String) } },
    ]);
    expect(socket.closed?.code).toBe(1008);
  });

  it('the span of a live session is a child of the span of its handshake', async () => {
    const span = new RecordedSpan('handshake');
    const { handler, send } = await openHandler({ span });
    send(START);
    await settleAll();
    handler.closed(1000, '');
    await settleAll();
    expect(span.children.map(({ name, ended }) => [name, ended !== undefined])).toEqual([
      ['realtime session', true],
    ]);
  });

  it('a live socket refuses a session beyond the limit of the process, and names the reason', async () => {
    const { deps, send, socket } = await openHandler();
    await deps.sessions.drain(0);
    send(START);
    await settleAll();
    expect(socket.of('error')).toMatchObject([
      { error: { retry_after_seconds: expect.any(Number) } },
    ]);
    expect(socket.closed?.code).toBe(1011);
  });
});
