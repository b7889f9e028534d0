import { describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { systemClock } from '../../../src/kernel/clock.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { createAssemblyAiRail } from '../../../src/models/providers/turns/assemblyai-turns.ts';
import type { TurnCall, TurnRail } from '../../../src/models/providers/turns/turn-rail.ts';
import { MessageQueue } from '../../../src/platform/messages/message-queue.ts';
import { createFluxRail } from '../../../src/protocols/deepgram/flux/flux-rail.ts';
import { assemblyUpstream, fluxUpstream, type TurnUpstream } from '../../support/turn-upstreams.ts';
import { silence, tone } from '../../support/voice-fakes.ts';

const RATE = 16_000;

type Kind = {
  readonly name: string;
  readonly model: string;
  readonly version: string;
  readonly peer: () => Promise<TurnUpstream>;
  readonly rail: typeof createFluxRail;
};

const KINDS: readonly Kind[] = [
  {
    name: 'Flux',
    model: 'flux-general-en',
    version: 'v1',
    peer: fluxUpstream,
    rail: createFluxRail,
  },
  {
    name: 'AssemblyAI',
    model: 'universal-streaming-english',
    version: 'v3',
    peer: assemblyUpstream,
    rail: createAssemblyAiRail,
  },
];

async function openRail({ model, peer, rail: create, version }: Kind, apiKey = 'sk-server') {
  const upstream = await peer();
  const { baseUrl } = upstream;
  const address = `${baseUrl.replace(/\/v1$/, '')}/${version}`;
  const line = new MessageQueue(systemClock);
  const shared = { clock: systemClock, line, random: systemRandom };
  const rail = create({ ...shared, upstream: { baseUrl: address, apiKey } });
  const call: TurnCall = {
    agentId: 1,
    model,
    language: undefined,
    leastSilenceMs: 300,
    mostSilenceMs: 1_800,
    isEager: true,
  };
  return {
    upstream,
    rail,
    connect: (change: Partial<TurnCall> = {}) => connected(rail, { ...call, ...change }),
    async [Symbol.asyncDispose]() {
      await rail[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

/** An open session with what it says, and a wait for the first event that is told as this. */
async function connected(rail: TurnRail, call: TurnCall) {
  const outcome = await rail.connect(call, new AbortController().signal);
  if (outcome.kind !== 'completed') return { outcome };
  const said: string[] = [];
  let look = () => {};
  outcome.turns.listen({
    event: ({ kind, text }) => {
      said.push(`${kind}: ${text}`);
      look();
    },
    closed: () => {
      said.push('closed');
      look();
    },
  });
  const until = async (event: string) => {
    while (!said.includes(event)) await new Promise<void>((resolve) => (look = resolve));
  };
  return { outcome, turns: outcome.turns, said, until };
}

async function opened(kind: Kind, change: Partial<TurnCall> = {}) {
  const world = await openRail(kind);
  const session = await world.connect(change);
  if (session.turns === undefined) throw new Error('it was refused');
  return { ...world, ...session, dispose: world[Symbol.asyncDispose] };
}

describe.each(KINDS)('the rail of $name', (kind) => {
  it('the adapter of a turn-detecting upstream reports words, a likely end, its resumption and the end of a turn', async () => {
    const { dispose, said, turns, until } = await opened(kind);
    turns.send(tone(1_000, RATE));
    turns.send(silence(250, RATE));
    await until('likely_over: w1 w2');
    turns.send(tone(550, RATE));
    turns.send(silence(700, RATE));
    await until('over: w1 w2 w3');
    expect(said.filter((event) => !event.startsWith('words'))).toEqual([
      'likely_over: w1 w2',
      'resumed: w1 w2',
      'likely_over: w1 w2 w3',
      'over: w1 w2 w3',
    ]);
    await dispose();
  });

  it('the adapter of a turn-detecting upstream reports no likely end when the session does not want one', async () => {
    const { dispose, said, turns, until } = await opened(kind, { isEager: false });
    turns.send(tone(1_000, RATE));
    turns.send(silence(700, RATE));
    await until('over: w1 w2');
    expect(said.some((event) => event.startsWith('likely_over'))).toBe(false);
    await dispose();
  });

  it('the adapter of a turn-detecting upstream ends a turn on demand, with audio of any length before it', async () => {
    const { dispose, turns, until } = await opened(kind);
    turns.send(tone(610, RATE));
    turns.endTurn();
    await until('over: w1');
    turns.send(tone(1_033, RATE));
    turns.endTurn();
    await until('over: w1 w2');
    await dispose();
  });

  it('the adapter of a turn-detecting upstream ends the session at the upstream, which bills it until then', async () => {
    const { dispose, turns, upstream } = await opened(kind);
    const peer = await upstream.peer();
    turns.send(tone(200, RATE));
    turns.close();
    await expect(peer.closed).resolves.toMatchObject({ code: 1000 });
    const last = peer.frames.at(-1)?.bytes.toString();
    expect(JSON.parse(last ?? '')).toMatchObject({
      type: kind.name === 'Flux' ? 'CloseStream' : 'Terminate',
    });
    await dispose();
  });

  it('the adapter of a turn-detecting upstream reports that the upstream closed the socket', async () => {
    const { dispose, until, upstream } = await opened(kind);
    (await upstream.peer()).ws.terminate();
    await until('closed');
    await dispose();
  });

  it('the adapter of a turn-detecting upstream fails on a wrong credential and on an unknown model', async () => {
    for (const [key, model] of [
      ['wrong', kind.model],
      ['sk-server', 'unknown'],
    ] as const) {
      const world = await openRail(kind, key);
      const { outcome } = await world.connect({ model });
      expect(outcome.kind).not.toBe('completed');
      await world[Symbol.asyncDispose]();
    }
  });
});

describe('the peers of these tests', () => {
  it.each([
    ['JSON in place of sound', Buffer.from('{"audio_data":"AAAA"}'), false, KINDS[1], 3005],
    ['a frame of 20 ms', Buffer.alloc(640), true, KINDS[1], 3007],
    ['a frame of 2 s', Buffer.alloc(64_000), true, KINDS[1], 3007],
    ['an unknown message', Buffer.from('{"type":"Finalize"}'), false, KINDS[0], 1008],
    ['half a sample', Buffer.alloc(641), true, KINDS[0], 1008],
  ] as const)(
    'the test peers of turn-detecting upstreams refuse %s',
    async (_, frame, isBinary, kind, code) => {
      if (kind === undefined) throw new Error('there are two');
      const upstream = await kind.peer();
      const query = new URLSearchParams(
        kind.name === 'Flux'
          ? { model: kind.model, encoding: 'linear16', sample_rate: '16000' }
          : { speech_model: kind.model, sample_rate: '16000' },
      );
      const path = kind.name === 'Flux' ? '/v2/listen' : '/v3/ws';
      const url = `${upstream.baseUrl.replace(/^http/, 'ws').replace(/\/v1$/, '')}${path}?${query}`;
      const authorization = kind.name === 'Flux' ? 'Token sk-server' : 'sk-server';
      const ws = new WebSocket(url, { headers: { authorization } });
      const closed = new Promise<number>((resolve) => ws.on('close', resolve));
      ws.on('open', () => ws.send(frame, { binary: isBinary }));
      expect(await closed).toBe(code);
      await upstream[Symbol.asyncDispose]();
    },
  );
});
