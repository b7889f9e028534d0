import { describe, expect, it } from 'vitest';
import type { Usage } from '../../../src/kernel/price.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import type { RealtimeClient } from '../../support/realtime-client.ts';
import { type UpstreamPeer, usageOf } from '../../support/realtime-upstream.ts';
import { LEAST_TURN_RAW, relayWorld, TURN_RAW } from '../../support/relay-world.ts';
import { settled } from '../../support/settled.ts';

const AGENT = 7;

/** 100 of text, half of it cached, 200 of sound, half of it cached; 10 and 30 out: 174.5, rounded up. */
const USAGE = usageOf({
  textIn: 100,
  cachedText: 50,
  audioIn: 200,
  cachedAudio: 100,
  textOut: 10,
  audioOut: 30,
});
const COST = 175n;
const UNITS: Usage = {
  text_input_token: 50,
  audio_input_token: 100,
  cached_input_token: 150,
  text_output_token: 10,
  audio_output_token: 30,
};

const heard = (item: string, usage: object) => ({
  type: 'conversation.item.input_audio_transcription.completed',
  item_id: item,
  content_index: 0,
  transcript: 'hello',
  usage,
});
const TOLD_BY_TOKEN = {
  type: 'tokens',
  total_tokens: 70,
  input_tokens: 60,
  output_tokens: 10,
  input_token_details: { text_tokens: 10, audio_tokens: 50 },
};

type Case = {
  readonly name: string;
  readonly upstream: (peer: UpstreamPeer, client: RealtimeClient) => unknown;
  readonly costRaw: bigint;
  /** Of the one row; none where nothing was charged. */
  readonly usage?: Readonly<Record<string, unknown>>;
};

const CASES: Case[] = [
  {
    name: 'a turn is priced by text, sound and what was cached, in and out',
    upstream: (peer) => {
      peer.begin('r1');
      peer.finish('r1', USAGE);
    },
    costRaw: COST,
    usage: { ...UNITS, estimated: undefined },
  },
  {
    name: 'turns add up in one row',
    upstream: (peer) => {
      for (const id of ['r1', 'r2', 'r3']) {
        peer.begin(id);
        peer.finish(id, USAGE);
      }
    },
    costRaw: 3n * COST,
    usage: { text_output_token: 30, audio_output_token: 90 },
  },
  {
    name: 'usage that comes twice for one response counts once',
    upstream: (peer) => {
      peer.begin('r1');
      peer.finish('r1', USAGE);
      peer.finish('r1', USAGE);
      peer.finish('r1', usageOf({ audioOut: 500 }));
    },
    costRaw: COST,
    usage: UNITS,
  },
  {
    name: 'a turn counts whose beginning was never reported',
    upstream: (peer) => peer.finish('r9', USAGE),
    costRaw: COST,
    usage: UNITS,
  },
  {
    name: 'a turn counts however its event is written',
    upstream: (peer) =>
      peer.say(
        `{ "response" : ${JSON.stringify({ id: 'r1', usage: USAGE })} ,\n "type" : "response.done" }`,
      ),
    costRaw: COST,
    usage: UNITS,
  },
  {
    name: 'an event that only contains the words of another one is not that one',
    upstream: (peer) => {
      const words = JSON.stringify({ type: 'response.done', response: { id: 'x', usage: USAGE } });
      peer.say({ type: 'response.output_text.delta', delta: words });
      peer.say({ delta: 'response.done', item: { type: 'response.done' }, type: 'made.up' });
      peer.ws.send(Buffer.from(words));
    },
    costRaw: 0n,
  },
  {
    name: 'a cancelled turn is charged for its usage, once, whatever is reported after',
    upstream: async (peer, client) => {
      peer.begin('r1');
      client.say({ type: 'response.cancel' });
      await peer.until('response.cancel');
      peer.say({ type: 'response.output_audio.delta', delta: 'AAAA' });
      peer.finish('r1', usageOf({ audioOut: 5 }), { status: 'cancelled' });
      peer.finish('r1', usageOf({ audioOut: 50 }));
    },
    costRaw: 10n,
    usage: { audio_output_token: 5 },
  },
  {
    name: 'a turn without a report is estimated by the sound that was carried, and marked',
    upstream: (peer) => {
      peer.begin('r1');
      peer.say({ type: 'response.output_audio.delta', delta: 'A'.repeat(64_000) });
      peer.finish('r1', undefined);
    },
    // A second of sound and a little around it is 21 tokens.
    costRaw: 42n,
    usage: { audio_output_token: 21, estimated: 1 },
  },
  {
    name: 'an estimate is never above the hold of the turn',
    upstream: (peer) => {
      peer.begin('r1');
      for (let n = 0; n < 20; n++) {
        peer.say({ type: 'response.output_audio.delta', delta: 'A'.repeat(1_000_000) });
      }
      peer.finish('r1', undefined);
    },
    costRaw: TURN_RAW,
    usage: { estimated: 1 },
  },
  {
    name: 'usage that is impossible is ignored',
    upstream: (peer) => {
      peer.begin('r1');
      peer.finish('r1', { input_tokens: -5, output_tokens: 1e15, total_tokens: 'many' });
    },
    costRaw: 2n,
    usage: { estimated: 1 },
  },
  {
    name: 'a turn that failed without a report costs nothing',
    upstream: (peer) => {
      peer.begin('r1');
      peer.finish('r1', undefined, { status: 'failed' });
    },
    costRaw: 0n,
  },
  {
    name: 'an upstream that dies in the middle of a turn is not paid for it, but for those before',
    upstream: (peer) => {
      peer.begin('r1');
      peer.finish('r1', USAGE);
      peer.begin('r2');
      peer.say({ type: 'response.output_audio.delta', delta: 'A'.repeat(64_000) });
      setImmediate(() => peer.ws.terminate());
    },
    costRaw: COST,
    usage: UNITS,
  },
  {
    name: 'a turn is charged when its upstream closes right after it',
    upstream: (peer) => {
      peer.begin('r1');
      peer.finish('r1', USAGE);
      peer.ws.close(1000);
    },
    costRaw: COST,
    usage: UNITS,
  },
  {
    name: 'a client that vanishes in the middle of a turn is charged for its usage until then',
    upstream: async (peer, client) => {
      peer.begin('r1');
      await client.until(({ type }) => type === 'response.created');
      client.ws.terminate();
      await peer.until('response.cancel');
      peer.finish('r1', usageOf({ audioOut: 7 }), { status: 'cancelled' });
    },
    costRaw: 14n,
    usage: { audio_output_token: 7 },
  },
  {
    name: 'transcripts are charged beside the turns, once each, by the token or the second',
    upstream: (peer) => {
      peer.say(heard('item_1', TOLD_BY_TOKEN));
      peer.say(heard('item_1', TOLD_BY_TOKEN));
      peer.say(heard('item_2', { type: 'duration', seconds: 2.5 }));
      peer.finish('r1', USAGE);
    },
    // 10 and 50 in, 10 out are 53; two and a half seconds are 25 tokens.
    costRaw: 53n + 25n + COST,
    usage: { audio_input_token: 175, text_output_token: 20 },
  },
];

describe('the metering of a relayed session', () => {
  it.each(CASES)(
    'metering of a relayed realtime session: $name',
    async ({ upstream, costRaw, usage }) => {
      await using world = await relayWorld();
      const client = await world.connect();
      const peer = await world.upstream.peer();
      await client.until(({ type }) => type === 'session.created');
      await upstream(peer, client);
      if (peer.ws.readyState === peer.ws.OPEN && client.ws.readyState === client.ws.OPEN) {
        peer.say({ type: 'the.last' });
        await Promise.race([client.until(({ type }) => type === 'the.last'), client.closed]);
      }
      client.ws.close();
      await client.closed;
      await settled(world.ledger);
      expect(world.ledger.consumedRaw(AGENT)).toBe(costRaw);
      expect(world.ledger.charges).toHaveLength(costRaw === 0n ? 0 : 1);
      if (usage !== undefined) {
        expect(world.ledger.charges[0]?.usage).toMatchObject(definedOf(usage));
        if ('estimated' in usage && usage.estimated === undefined) {
          expect(world.ledger.charges[0]?.usage).not.toHaveProperty('estimated');
        }
      }
      expect([...world.ledger.shortfalls.values()]).toEqual([]);
    },
  );

  it('a relayed session ends with the documented error when the next turn is not covered, the last turn sent and paid', async () => {
    await using world = await relayWorld({ creditRaw: LEAST_TURN_RAW + COST - 1n });
    const client = await world.connect('acme/alone');
    const peer = await world.upstream.peer();
    peer.begin('r1');
    peer.finish('r1', USAGE);
    expect(await client.closed).toEqual({ code: 1008, reason: 'budget_exhausted' });
    expect(client.types().slice(-2)).toEqual(['response.done', 'error']);
    expect(client.of('error')[0]).toMatchObject({
      error: {
        type: 'insufficient_quota',
        code: 'budget_exhausted',
        message: 'The balance does not cover another turn.',
      },
    });
    await peer.closed;
    await settled(world.ledger);
    expect(world.ledger.consumedRaw(AGENT)).toBe(COST);
  });

  it('a relayed session holds money for every response in progress', async () => {
    await using world = await relayWorld({ creditRaw: 3n * TURN_RAW });
    await world.connect('acme/alone');
    const peer = await world.upstream.peer();
    peer.begin('r1');
    peer.begin('r2');
    await expect.poll(async () => (await world.ledger.funds(AGENT))?.heldRaw).toBe(2n * TURN_RAW);
  });

  it('a relayed session cancels all responses in progress when the balance cannot cover even small ones side by side', async () => {
    await using world = await relayWorld({ creditRaw: 3n * LEAST_TURN_RAW - 1n });
    const client = await world.connect('acme/alone');
    const peer = await world.upstream.peer();
    peer.begin('r1');
    peer.begin('r2');
    await client.until(({ id, type }) => type === 'response.created' && id === undefined);
    peer.begin('r3');
    await peer.until('response.cancel');
    expect((await client.closed).reason).toBe('budget_exhausted');
    for (const id of ['r1', 'r2', 'r3']) {
      peer.finish(id, usageOf({ audioOut: 10 }), { status: 'cancelled' });
    }
    await settled(world.ledger);
    expect(world.ledger.consumedRaw(AGENT)).toBe(60n);
  });

  it('a relayed session charges no more of a turn than is possible, and books the rest as a shortfall of its upstream', async () => {
    const chargedRaw = 128n;
    for (const creditRaw of [60_000n, 10_000n]) {
      await using world = await relayWorld({ creditRaw });
      const client = await world.connect('acme/alone');
      const peer = await world.upstream.peer();
      peer.begin('r1');
      peer.finish('r1', usageOf({ audioOut: 10_000 }));
      await client.until(({ type }) => type === 'response.done');
      client.ws.close();
      await settled(world.ledger);
      expect(world.ledger.consumedRaw(AGENT)).toBe(chargedRaw);
      expect((await world.ledger.funds(AGENT))?.spendableRaw).toBe(creditRaw - chargedRaw);
      expect([...world.ledger.shortfalls.values()]).toEqual([20_000n - chargedRaw]);
    }
  });

  it('a relayed session journals a turn before the client receives its end, and later events wait in order', async () => {
    const ledger = createFakeLedger();
    await ledger.credit({ agentId: AGENT, amountRaw: 1_000_000n, reference: 'start' });
    let commit: (() => void) | undefined;
    const journal: typeof ledger.journal = async (...entry) => {
      await new Promise<void>((resolve) => {
        commit = resolve;
      });
      return ledger.journal(...entry);
    };
    await using world = await relayWorld({ ledger: { ...ledger, journal } });
    const client = await world.connect();
    const peer = await world.upstream.peer();
    peer.begin('r1');
    peer.finish('r1', USAGE);
    peer.say({ type: 'after.one' });
    peer.begin('r2');
    peer.say({ type: 'after.two' });
    await expect.poll(() => commit).toBeDefined();
    expect(client.types()).toEqual(['session.created', 'response.created']);
    commit?.();
    await client.until(({ type }) => type === 'after.two');
    expect(client.types().slice(2)).toEqual([
      'response.done',
      'after.one',
      'response.created',
      'after.two',
    ]);
  });
});

const definedOf = (usage: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== undefined));
