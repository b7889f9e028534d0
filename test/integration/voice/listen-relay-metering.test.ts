import { describe, expect, it } from 'vitest';
import { VOICE_LIMITS } from '../../../src/voice/limits.ts';
import { type ListenScript, resultOf, totalOf } from '../../support/listen-upstream.ts';
import { LISTEN, type ListenWorld, listenWorld, RATE, STREAM } from '../../support/listen-world.ts';
import type { RealtimeClient } from '../../support/realtime-client.ts';
import type { UpstreamPeer } from '../../support/realtime-upstream.ts';
import { settled } from '../../support/settled.ts';
import { bytesOf, tone } from '../../support/voice-fakes.ts';
import { AGENT } from '../../support/voice-world.ts';

const PATHS = [`${LISTEN}alone`, `${STREAM}deepgram/alone`];
/** Raw units a second. */
const RATE_RAW = 10;
const CREDIT_RAW = 1_000_000n;
const sound = (seconds: number) => bytesOf(tone(seconds * 1_000, RATE));

type Scene = {
  readonly client: RealtimeClient;
  readonly peer: UpstreamPeer;
  readonly script: ListenScript;
};
type Case = {
  readonly name: string;
  /** Everything up to the end of the socket, which it does not wait for. */
  readonly play: (scene: Scene) => unknown;
  /** What is billed; 0 leaves no row. */
  readonly seconds: number;
  /** What is not billed. */
  readonly beyondSeconds?: number;
  readonly code?: number;
};

const finish = (client: RealtimeClient) => client.ws.send('{"type":"CloseStream"}');

/** Until the upstream has said that it heard so much, and the client knows. */
const heard = (client: RealtimeClient, seconds: number) =>
  client.until(() => client.texts.some((text) => text.includes(`w${seconds * 2}`)));

const CASES: readonly Case[] = [
  {
    name: 'sound in many slices is billed to the millisecond',
    play: ({ client }) => {
      for (let n = 0; n < 8; n++) client.ws.send(sound(4.321));
      finish(client);
    },
    seconds: 34.568,
  },
  {
    name: 'an upstream that never reports a total has heard all that it was sent',
    play: ({ client, script }) => {
      script.totals = () => [];
      client.ws.send(sound(12));
      finish(client);
    },
    seconds: 12,
  },
  {
    name: 'a total that is reported twice counts once',
    play: ({ client, script }) => {
      script.totals = (seconds) => [seconds, seconds];
      client.ws.send(sound(12));
      finish(client);
    },
    seconds: 12,
  },
  {
    name: 'a total above what was sent counts up to that, and the rest is a shortfall of its upstream',
    play: ({ client, script }) => {
      script.totals = () => [86_400];
      client.ws.send(sound(3));
      finish(client);
    },
    seconds: 3,
    beyondSeconds: 86_397,
  },
  {
    name: 'a total below what was sent is what is billed',
    play: ({ client, script }) => {
      script.heard = () => {};
      script.lastWord = () => {};
      script.totals = () => [1.25];
      client.ws.send(sound(25));
      finish(client);
    },
    seconds: 1.25,
  },
  {
    name: 'a total below the earlier results takes nothing of them back',
    play: ({ client, script }) => {
      script.totals = () => [1.25];
      client.ws.send(sound(25));
      finish(client);
    },
    seconds: 25,
  },
  {
    name: 'a total that is no number is ignored',
    play: ({ client, script }) => {
      script.totals = () => [-4, 'many', null];
      client.ws.send(sound(3));
      finish(client);
    },
    seconds: 3,
  },
  {
    name: 'a total in the middle does not cover what comes after it',
    play: async ({ client, peer, script }) => {
      script.totals = () => [];
      client.ws.send(sound(2));
      await heard(client, 2);
      peer.say(totalOf(0.5));
      peer.say(resultOf(0, { speech_final: true }));
      await client.until(({ speech_final }) => speech_final === true);
      client.ws.send(sound(2));
      finish(client);
    },
    seconds: 4,
  },
  {
    name: 'what is sent after the total still arrives, and is billed once',
    play: ({ client, peer, script }) => {
      script.closeCode = null;
      script.totals = (seconds) => {
        setImmediate(() => {
          peer.say(resultOf(seconds, { is_final: true, speech_final: true }));
          peer.ws.close(1000);
        });
        return [seconds];
      };
      client.ws.send(sound(5));
      finish(client);
    },
    seconds: 5,
  },
  {
    name: 'an upstream that dies is paid for what it has reported, and for nothing after that',
    play: async ({ client, peer, script }) => {
      script.heard = (_, seconds) => {
        if (seconds <= 11) peer.say(resultOf(seconds, {}));
      };
      client.ws.send(sound(15));
      await heard(client, 11);
      peer.ws.terminate();
    },
    seconds: 11,
    code: 1011,
  },
  {
    name: 'an upstream that dies before it has reported anything is not paid',
    play: async ({ client, peer, script }) => {
      script.heard = (_, seconds) => {
        if (seconds === 5) peer.ws.terminate();
      };
      client.ws.send(sound(5));
    },
    seconds: 0,
    code: 1011,
  },
  {
    name: 'an upstream that dies after the end of the audio is paid for what it has reported',
    play: ({ client, script }) => {
      script.totals = () => [];
      script.closeCode = 1011;
      client.ws.send(sound(5));
      finish(client);
    },
    seconds: 5,
    code: 1011,
  },
  {
    name: 'a client that vanishes pays for what its upstream then reports',
    play: async ({ client, script }) => {
      script.heard = (peer, seconds) => {
        if (seconds === 3) peer.say(resultOf(1, {}));
      };
      client.ws.send(sound(3));
      await heard(client, 1);
      client.ws.terminate();
    },
    seconds: 3,
    code: 1006,
  },
  {
    name: 'a client that closes in order pays the same',
    play: async ({ client }) => {
      client.ws.send(sound(3));
      await heard(client, 3);
      client.ws.close(1000);
    },
    seconds: 3,
  },
  {
    name: 'a client that has sent nothing pays nothing',
    play: ({ client }) => {
      client.ws.send(new Uint8Array());
      finish(client);
    },
    seconds: 0,
  },
];

async function open(path: string, options: Parameters<typeof listenWorld>[0] = {}) {
  const world = await listenWorld(options);
  const client = await world.connect(path);
  const peer = await world.upstream.peer();
  return { world, client, peer, script: world.upstream.script };
}

async function books(
  { ledger }: ListenWorld,
  seconds: number,
  { beyondSeconds = 0, creditRaw = CREDIT_RAW } = {},
) {
  await settled(ledger);
  const costRaw = BigInt(Math.ceil(seconds * RATE_RAW));
  expect(ledger.charges.map((row) => [row.costRaw, row.usage.audio_second])).toEqual(
    seconds === 0 ? [] : [[costRaw, seconds]],
  );
  expect(await ledger.funds(AGENT)).toMatchObject({
    heldRaw: 0n,
    spendableRaw: creditRaw - costRaw,
  });
  const beyondRaw = [...ledger.shortfalls.values()].reduce((sum, raw) => sum + raw, 0n);
  expect([ledger.consumedRaw(AGENT), beyondRaw]).toEqual([
    costRaw,
    BigInt(beyondSeconds * RATE_RAW),
  ]);
}

describe.each(PATHS)('the metering of a stream at an upstream, on %s', (path) => {
  it.each(CASES)(
    'metering of a live transcription at an upstream: $name',
    async ({ beyondSeconds = 0, code = 1000, play, seconds }) => {
      const { world, ...scene } = await open(path);
      await using _world = world;
      await play(scene);
      expect((await scene.client.closed).code).toBe(code);
      await books(world, seconds, { beyondSeconds });
    },
  );

  it('a live transcription at an upstream sends the audio that the balance covers, then the reason, and closes 1008', async () => {
    const creditRaw = 250n;
    const { client, peer, world } = await open(path, { creditRaw });
    await using _world = world;
    client.ws.send(sound(30));
    expect(await client.closed).toEqual({ code: 1008, reason: 'insufficient_balance' });
    const bytes = peer.frames.reduce(
      (sum, frame) => sum + (frame.isBinary ? frame.bytes.length : 0),
      0,
    );
    expect(bytes).toBe(25 * 2 * RATE);
    expect(client.texts.some((text) => text.includes('w50'))).toBe(true);
    expect(client.texts.at(-1)).toContain('insufficient_balance');
    await books(world, 25, { creditRaw });
  });

  it('a live transcription at an upstream goes on when money comes in time, however slow the ledger is', async () => {
    let extensions = 0;
    const { client, world } = await open(path, {
      creditRaw: 100n,
      change: (ledger) => ({
        async extend(claim, byRaw) {
          extensions++;
          await new Promise((resolve) => setTimeout(resolve, 50));
          if (extensions === 1) {
            await ledger.credit({ agentId: AGENT, amountRaw: 900n, reference: 'late' });
          }
          return ledger.extend(claim, byRaw);
        },
      }),
    });
    await using _world = world;
    for (const seconds of [20, 15]) client.ws.send(sound(seconds));
    client.ws.send('{"type":"KeepAlive"}');
    finish(client);
    expect((await client.closed).code).toBe(1000);
    await books(world, 35, { creditRaw: 1_000n });
  });

  it('a live transcription disconnects a client that sends too far ahead of real time, and charges the audio it passed on', async () => {
    const { client, world } = await open(path);
    await using _world = world;
    for (let n = 0; n < 5; n++) client.ws.send(sound(VOICE_LIMITS.audioAheadSeconds / 4));
    expect((await client.closed).code).toBe(1008);
    expect(client.texts.at(-1)).toContain('audio_too_fast');
    await settled(world.ledger);
    expect(world.ledger.consumedRaw(AGENT)).toBeLessThanOrEqual(
      BigInt(VOICE_LIMITS.audioAheadSeconds * RATE_RAW),
    );
  });

  it('a live transcription that another process has settled is not settled again', async () => {
    const { client, world } = await open(path, {
      change: () => ({
        journal: async () => 'lost',
        closeSession: async () => ({ kind: 'already_resolved' }),
      }),
    });
    await using _world = world;
    client.ws.send(sound(12));
    expect(await client.closed).toEqual({ code: 1011, reason: 'settled elsewhere' });
    expect(world.ledger.charges).toEqual([]);
    await expect.poll(() => world.sessions.size).toBe(0);
  });
});

describe('the end of a client of /v1/listen', () => {
  it('a client of /v1/listen gets one total at the end, from this server if its upstream had none', async () => {
    for (const totals of [() => [], (seconds: number) => [seconds]]) {
      const { client, script, world } = await open(`${LISTEN}alone`);
      await using _world = world;
      script.totals = totals;
      client.ws.send(sound(2));
      finish(client);
      await client.closed;
      expect(client.of('Metadata')).toMatchObject([{ duration: 2, channels: 1 }]);
      await books(world, 2);
    }
  });

  it('a client of /v1/listen gets the close code and reason of its upstream', async () => {
    const { client, peer, world } = await open(`${LISTEN}alone`);
    await using _world = world;
    peer.ws.close(1011, 'NET-0001');
    expect(await client.closed).toEqual({ code: 1011, reason: 'NET-0001' });
    expect(client.of('Metadata')).toMatchObject([{ duration: 0 }]);
    await books(world, 0);
  });

  it('a client of /v1/listen gets the reason when it is closed for a flood of messages', async () => {
    const { client, world } = await open(`${LISTEN}alone`);
    await using _world = world;
    for (let n = 0; n < 2 * VOICE_LIMITS.realtime.eventBurst; n++)
      client.say({ type: 'KeepAlive' });
    const { code, reason } = await client.closed;
    expect(code).toBe(1008);
    // On a busy machine the budget of processing time may end before the budget of messages.
    expect(reason).toMatch(/^(?:rate_limit_exceeded$|messages take the server more than )/);
    await books(world, 0);
  });
});
