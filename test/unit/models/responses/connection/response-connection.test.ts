import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../../../src/kernel/api-error.ts';
import { silentLog } from '../../../../../src/kernel/log.ts';
import { relayStream } from '../../../../../src/models/purchase/relay-stream.ts';
import { ConnectionBytes } from '../../../../../src/models/responses/connection/connection-memory.ts';
import { ResponseConnection } from '../../../../../src/models/responses/connection/response-connection.ts';
import { RESPONSES_LIMITS } from '../../../../../src/models/responses/limits.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const {
  lifeMs: connectionMs,
  stallMs: connectionStallMs,
  unsentBytes: connectionUnsentBytes,
  waiting: connectionWaiting,
  waitingChars: connectionWaitingChars,
} = RESPONSES_LIMITS.connection;
type ConnectionDeps = ConstructorParameters<typeof ResponseConnection>[0];

const DELTA = Buffer.from('data: {"type":"delta"}\n\n');

/** A connection whose answers have so many pieces, each of which comes when it is let through. */
function connected(pieces: number, more: Partial<ConnectionDeps> = {}) {
  const clock = new ManualClock();
  const ends: string[] = [];
  const sent: string[] = [];
  const closed: unknown[][] = [];
  const socket = {
    bufferedAmount: 0,
    send: (data: string | Uint8Array) => sent.push(String(data)) > 0,
    close: (...why: unknown[]) => void closed.push(why),
  };
  let letThrough: (() => void) | undefined;
  const answer = () => {
    let left = pieces;
    const source = {
      async next() {
        if (left-- <= 0) return undefined;
        await new Promise<void>((resolve) => {
          letThrough = resolve;
        });
        return DELTA;
      },
      stop() {},
    };
    const told = async (how: string) => {
      ends.push(how);
      return Buffer.from(`data: {"type":"${how}"}\n\n`);
    };
    return relayStream(source, {
      piece: (bytes) => bytes,
      end: () => told('end'),
      broken: () => told('broken'),
      left: async () => void (await told('left')),
    });
  };
  const connection = new ResponseConnection(
    {
      clock,
      log: silentLog,
      remembered: new ConnectionBytes(),
      admit: () => undefined,
      responses: {
        create: async () => ({ status: 200, headers: {}, upstreamMs: 0, body: answer() }),
      },
      read: async (text) => ({ body: { model: text }, tellsCost: false, preferences: undefined }),
      refusedEvent: (thrown) => `refused ${(thrown as { error?: string }).error}`,
      declinedEvent: () => 'declined',
      ...more,
    },
    {
      spender: { agentId: 1 },
      accountId: 'a',
      providerKey: undefined,
      admitPooled: () => undefined,
    } as unknown as ConstructorParameters<typeof ResponseConnection>[1],
  );
  connection.opened(socket);
  return {
    clock,
    closed,
    connection,
    ends,
    sent,
    socket,
    async piece() {
      while (letThrough === undefined) await turn();
      letThrough();
      letThrough = undefined;
      await turn();
    },
  };
}

describe('a connection of responses', () => {
  it('a Responses connection that reaches its time limit closes after the response under way', async () => {
    const { clock, closed, connection, piece, sent } = connected(1);
    connection.message('a');
    clock.advance(connectionMs);
    connection.message('b');
    expect([sent, closed]).toEqual([[], []]);
    await piece();
    const refused = 'refused websocket_connection_limit_reached';
    expect(sent).toEqual(['{"type":"delta"}', '{"type":"end"}', refused]);
    expect(closed).toEqual([[1000, 'open for 60 minutes']]);
  });

  it('an idle Responses connection that reaches its time limit closes with the reason', async () => {
    const { clock, closed, sent } = connected(1);
    clock.advance(connectionMs);
    await turn();
    expect(sent).toEqual(['refused websocket_connection_limit_reached']);
    expect(closed).toEqual([[1000, 'open for 60 minutes']]);
  });

  it('a Responses connection that reaches its time limit refuses queued requests after the response under way', async () => {
    const { clock, closed, connection, piece, sent } = connected(1);
    for (const text of ['a', 'b', 'c']) connection.message(text);
    clock.advance(connectionMs);
    connection.message('d');
    expect(sent).toEqual([]);
    await piece();
    await turn();
    const refused = 'refused websocket_connection_limit_reached';
    expect(sent).toEqual(['{"type":"delta"}', '{"type":"end"}', refused, refused]);
    expect(closed).toEqual([[1000, 'open for 60 minutes']]);
  });

  it('a Responses connection continues when its client has caught up, and closes with 1013 when the client stalls', async () => {
    const { clock, closed, connection, ends, piece, sent, socket } = connected(3);
    connection.message('a');
    socket.bufferedAmount = connectionUnsentBytes + 1;
    await piece();
    clock.advance(connectionStallMs - 1);
    connection.drained();
    await turn();
    expect(sent).toHaveLength(1);
    socket.bufferedAmount = connectionUnsentBytes;
    connection.drained();
    socket.bufferedAmount++;
    await piece();
    expect(sent).toHaveLength(2);
    clock.advance(connectionStallMs);
    await turn();
    expect(closed).toEqual([[1013, 'the client reads too slowly']]);
    // It pays for what came until then, once.
    expect(ends).toEqual(['left']);
  });

  it('a Responses connection whose client leaves stops the response under way and sends nothing more', async () => {
    const { connection, ends, piece, sent } = connected(3);
    connection.message('a');
    connection.message('b');
    await piece();
    connection.closed();
    await turn();
    expect([ends, sent]).toEqual([['left'], ['{"type":"delta"}']]);
  });

  it('a Responses connection releases a finished response, so that idle connections hold none in memory', async () => {
    let returned = 0;
    const body = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: true as const, value: undefined }),
        async return() {
          returned++;
          return { done: true as const, value: undefined };
        },
      }),
    };
    let asked: AbortSignal | undefined;
    const { connection } = connected(0, {
      responses: {
        async create({ buyer }) {
          asked = buyer.signal as AbortSignal;
          return { status: 200, headers: {}, upstreamMs: 0, body };
        },
      },
    });
    connection.message('a');
    await turn();
    connection.closed();
    await turn();
    expect([asked?.aborted, returned]).toEqual([false, 0]);
  });

  it('a Responses connection counts each message at the rate limit before reading it', async () => {
    const seen: string[] = [];
    const { connection, sent } = connected(0, {
      async admit() {
        seen.push('admit');
        if (seen.length > 2) throw Object.assign(new Error(), { error: 'rate_limited' });
      },
      async read(text) {
        seen.push(text);
        throw Object.assign(new Error(), { error: 'invalid' });
      },
    });
    for (const text of ['a', 'b', 'c']) connection.message(text);
    await turn();
    expect(seen).toEqual(['admit', 'a', 'admit', 'admit']);
    expect(sent).toEqual(['refused invalid', 'refused rate_limited', 'refused rate_limited']);
  });

  it('a Responses connection refuses requests beyond its queue and names both limits', async () => {
    const { connection, sent } = connected(1, {
      refusedEvent: (thrown) => String((thrown as ApiError).fields.message),
    });
    connection.message('a');
    for (let at = 0; at <= connectionWaiting; at++) connection.message('b');
    expect(sent).toEqual([expect.stringContaining(`${connectionWaiting} more`)]);
    expect(sent).toEqual([expect.stringContaining(`${connectionWaitingChars} characters`)]);
  });

  it('a Responses connection refuses queued requests when the server stops, after the response under way', async () => {
    const { closed, connection, piece, sent } = connected(1);
    for (const text of ['a', 'b', 'c']) connection.message(text);
    connection.drain();
    await piece();
    await turn();
    expect(sent).toEqual([
      '{"type":"delta"}',
      '{"type":"end"}',
      'refused server_draining',
      'refused server_draining',
    ]);
    expect(closed).toMatchObject([[1012, expect.any(String)]]);
  });

  it('an idle Responses connection closes at once when the server stops', async () => {
    const { closed, connection } = connected(1);
    connection.drain();
    await turn();
    expect(closed).toMatchObject([[1012, expect.any(String)]]);
  });
});
