import { expect } from 'vitest';
import { priceRaw } from '../../src/kernel/price.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { testDatabase } from './database.ts';
import { bearer, credentialsOf } from './edge.ts';
import { liveLedger } from './ledger-load.ts';
import { seedAgent } from './ledger-world.ts';
import { RawWebSocket } from './raw-web-socket.ts';
import { RealtimeClient } from './realtime-client.ts';
import { usageOf } from './realtime-upstream.ts';
import { type RelayWorld, relayWorld } from './relay-world.ts';
import { bytesOf, tone } from './voice-fakes.ts';

export const SOCKETS = {
  relayed: '/v1/realtime?model=acme/alone',
  local: '/v1/realtime?model=local/realtime',
  transcribed: '/v1/audio/transcriptions/stream?model=local/pocketsphinx',
  listened: '/v1/listen?model=local/pocketsphinx&encoding=linear16&sample_rate=16000',
} as const;
export type SocketName = keyof typeof SOCKETS;

const KEY = 'svc_abuser';
const CREDIT_RAW = 10_000_000n;
const RATE = 16_000;
/** Each of hundreds of sessions is waited for. */
const OFTEN = { interval: 2 };

export const USAGE = usageOf({ textIn: 100, audioIn: 200, textOut: 10, audioOut: 30 });
/** 10 + 200 + 2 + 60 micro-USD. */
export const TURN_COST_RAW = 272n;

/** What so many bytes of sound cost. */
export const soundRaw = (bytes: number): bigint =>
  priceRaw(
    { audio_second: Math.round((bytes / (2 * RATE)) * 1_000) / 1_000 },
    { audio_second: 10_000_000n },
    500,
  );

/** What events tell of the cost of local turns. */
export const toldCostRaw = (events: readonly object[]): bigint =>
  [...JSON.stringify(events).matchAll(/"cost_raw":"(\d+)"/g)].reduce(
    (sum, [, raw]) => sum + BigInt(raw ?? 0),
    0n,
  );

export type AbusedWorld = AsyncDisposable & {
  readonly relay: RelayWorld;
  /** Has `abuse` behind the upgrade of one of the sockets, and hangs up. */
  raw<T>(name: SocketName, abuse: (raw: RawWebSocket) => Promise<T>): Promise<T>;
  connect(name: SocketName): Promise<RealtimeClient>;
  /** Resolves when no session is left, to all that was charged until now. */
  chargedRaw(): Promise<bigint>;
  /** Has a session as it should be, which is told what it costs. Answers that. */
  serve(name: SocketName): Promise<bigint>;
  /** Nothing is held, this was journaled and charged in all, and the ledger is sound. */
  expectBooks(toldRaw: bigint): Promise<void>;
};

/** The voice sockets on the real ledger, for one agent whose client knows no manners. */
export async function abusedWorld(): Promise<AbusedWorld> {
  const database = await testDatabase();
  const ledger = liveLedger(database.sql, 'abused');
  const { agentId, keyId } = await seedAgent(database.sql);
  await ledger.credit({ agentId, amountRaw: CREDIT_RAW, reference: 'start' });
  const relay = await relayWorld({
    ledger,
    edge: {
      rateLimits: { gatewayPerMinute: 1_000_000, globalPerMinute: 1_000_000 },
      credentials: credentialsOf({ agentId, keyId }),
    },
  });
  const { edge, sessions, upstream } = relay;

  async function chargedRaw(): Promise<bigint> {
    await expect.poll(() => edge.server.openSockets, OFTEN).toBe(0);
    await expect.poll(() => sessions.size, OFTEN).toBe(0);
    const funds = await ledger.funds(agentId);
    expect(funds?.heldRaw).toBe(0n);
    return CREDIT_RAW - (funds?.spendableRaw ?? 0n);
  }

  async function connect(name: SocketName): Promise<RealtimeClient> {
    const url = `ws://127.0.0.1:${edge.port}${SOCKETS[name]}`;
    const client = new RealtimeClient(url, [], bearer(KEY));
    await client.opened();
    return client;
  }

  return {
    relay,
    chargedRaw,
    connect,
    async raw(name, abuse) {
      const raw = await RawWebSocket.open(edge.port, SOCKETS[name], KEY);
      try {
        return await abuse(raw);
      } finally {
        raw.socket.destroy();
      }
    },
    async serve(name) {
      const nth = upstream.peers.length;
      const client = await connect(name);
      if (name === 'transcribed' || name === 'listened') {
        const sound = bytesOf(tone(1_000, RATE));
        client.ws.send(sound);
        client.say({ type: 'CloseStream' });
        expect((await client.closed).code).toBe(1000);
        return soundRaw(sound.byteLength);
      }
      if (name === 'relayed') (await upstream.peer(nth)).finish('r1', USAGE);
      else client.say({ type: 'response.create', response: { output_modalities: ['text'] } });
      const done = await client.until(({ type }) => type === 'response.done');
      client.ws.close();
      await client.closed;
      return toldCostRaw([done]) || TURN_COST_RAW;
    },
    async expectBooks(toldRaw) {
      expect(await chargedRaw()).toBe(toldRaw);
      const [row] = await database.sql<{ charged: bigint; journaled: bigint; open: number }[]>`
        select (select coalesce(sum(cost_raw), 0)::bigint from charges) as charged,
          (select coalesce(sum(cost_raw), 0)::bigint from session_journal) as journaled,
          (select count(*)::int from sessions where ended_at is null)
            + (select count(*)::int from holds) as open`;
      expect(row).toEqual({ charged: toldRaw, journaled: toldRaw, open: 0 });
      expect(await checkInvariants(database.sql)).toEqual([]);
    },
    async [Symbol.asyncDispose]() {
      await relay[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}
