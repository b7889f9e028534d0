import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deepgramAt } from '../support/deepgram-rest-client.ts';
import { LIBRIVOX, loadRecording, wordCount, wordErrors } from '../support/speech.ts';
import { type MarketWorld, startMarketWorld } from '../support/vendors/market-world.ts';
import { bytesOf, silence } from '../support/voice-fakes.ts';
import type { SentEvent } from '../support/voice-world.ts';
import { settledMoney } from '../support/whole-world.ts';

const RATE = 16_000;
const ONCE = { Authorization: '', reconnectAttempts: 0 } as const;

let market: MarketWorld;
beforeAll(async () => {
  market = await startMarketWorld();
});
afterAll(() => market[Symbol.asyncDispose]());

type Live = {
  on(event: 'message', callback: (message: never) => void): void;
  on(event: 'close', callback: (close: never) => void): void;
};

/** What a socket of the client was told, and how it ended. */
function told(socket: Live) {
  const events: SentEvent[] = [];
  const sound: Uint8Array[] = [];
  let waiting = Promise.resolve();
  socket.on('message', (message: SentEvent | Blob) => {
    if (!(message instanceof Blob)) {
      events.push(message);
      return;
    }
    waiting = waiting.then(async () => {
      sound.push(new Uint8Array(await message.arrayBuffer()));
    });
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.on('close', ({ code, reason }: { code: number; reason: string }) =>
      resolve({ code, reason }),
    );
  });
  const of = (type: string) => events.filter((event) => event.type === type);
  const bytes = async () => {
    await waiting;
    return Buffer.concat(sound);
  };
  return { events, of, closed, bytes };
}

async function open(name: string) {
  const shopper = await market.shopper(name);
  const client = deepgramAt({ url: market.world.url, apiKey: shopper.key });
  const charges = async () => {
    const money = await settledMoney(market.world.sql, shopper.agentId);
    expect(money.spendable).toBe(money.credited - money.charged);
    return market.world.sql<{ cost: bigint; usage: Record<string, number> }[]>`
      select cost_raw as cost, usage from charges where agent_id = ${shopper.agentId} order by id`;
  };
  return { client, shopper, charges };
}

describe("live speech by Deepgram's own client", () => {
  it("Deepgram's client on the live speech socket hears its text, is told of the end, and is charged the reported cost", async () => {
    const { charges, client } = await open('speaker');
    const connection = await client.speak.v1.connect({
      ...ONCE,
      model: 'local/flite',
      encoding: 'linear16',
      sample_rate: '16000',
    });
    const { bytes, closed, events, of } = told(connection as Live);
    connection.connect();
    await connection.waitForOpen();
    for (const word of ['The weather ', 'is fine. ', 'It may ', 'rain later']) {
      connection.sendText({ type: 'Speak', text: word });
    }
    connection.sendFlush({ type: 'Flush' });
    await expect.poll(() => of('Flushed').length, { timeout: 15_000 }).toBe(1);
    const first = (await bytes()).length;
    // Two sentences take more than two seconds.
    expect(first).toBeGreaterThan(2 * 2 * RATE);
    connection.sendText({ type: 'Speak', text: 'Good bye.' });
    connection.sendClose({ type: 'Close' });
    expect((await closed).code).toBe(1000);
    expect((await bytes()).length).toBeGreaterThan(first + RATE);
    expect(events[0]).toMatchObject({ type: 'Metadata', model_name: 'local/flite' });
    const paid = await charges();
    const chars = ['The weather is fine.', 'It may rain later', 'Good bye.'].map((t) => t.length);
    expect(paid.map(({ usage }) => usage.character)).toEqual(chars);
    expect(of('Flushed')).toMatchObject([
      {
        sequence_id: 0,
        characters: (chars[0] ?? 0) + (chars[1] ?? 0),
        cost_usdc: String((paid[0]?.cost ?? 0n) + (paid[1]?.cost ?? 0n)),
      },
    ]);
  });

  it("Deepgram's client on the live speech socket stops on Clear, and pays for no later sentence", async () => {
    const { charges, client } = await open('stopper');
    const connection = await client.speak.v1.connect({ ...ONCE, model: 'local/flite' });
    const { closed, of } = told(connection as Live);
    connection.connect();
    await connection.waitForOpen();
    const sentence = 'This is a rather long sentence that nobody wants to hear to its end. ';
    connection.sendText({ type: 'Speak', text: sentence.repeat(20) });
    connection.sendClear({ type: 'Clear' });
    await expect.poll(() => of('Cleared'), { timeout: 10_000 }).toMatchObject([{ sequence_id: 0 }]);
    connection.sendClose({ type: 'Close' });
    expect((await closed).code).toBe(1000);
    expect((await charges()).length).toBeLessThan(3);
  });

  it("Deepgram's client on the live speech socket can use a short-lived token", async () => {
    const { client } = await open('token');
    const { access_token: accessToken } = await client.auth.v1.tokens.grant({});
    const held = deepgramAt({ url: market.world.url, accessToken });
    const connection = await held.speak.v1.connect({ ...ONCE, model: 'local/flite' });
    const { closed, of } = told(connection as Live);
    connection.connect();
    await connection.waitForOpen();
    await expect.poll(() => of('Metadata').length).toBe(1);
    connection.sendClose({ type: 'Close' });
    expect((await closed).code).toBe(1000);
    const turns = await held.listen.v2.connect({ ...ONCE, model: 'local/pocketsphinx' as never });
    const heard = told(turns as Live);
    turns.connect();
    await turns.waitForOpen();
    await expect.poll(() => heard.of('Connected').length).toBe(1);
    turns.sendCloseStream({ type: 'CloseStream' });
    expect((await heard.closed).code).toBe(1000);
  });
});

describe("turns by Deepgram's own client", () => {
  it("Deepgram's client gets the turns of human speech, and pays for its seconds", async () => {
    const { charges, client } = await open('turns');
    const connection = await client.listen.v2.connect({
      ...ONCE,
      model: 'local/pocketsphinx' as never,
      encoding: 'linear16',
      sample_rate: RATE,
      eager_eot_threshold: 0.4,
      eot_threshold: 0.8,
    });
    const { closed, events, of } = told(connection as Live);
    connection.connect();
    await connection.waitForOpen();
    const [recording] = LIBRIVOX;
    const pcm = loadRecording(recording?.file ?? '');
    const sound = Buffer.concat([bytesOf(pcm), bytesOf(silence(2_500, RATE))]);
    const step = RATE / 5;
    for (let at = 0; at < sound.length; at += step) {
      // One that is closed by the server says why.
      if (connection.readyState !== 1) expect(await closed).toBe('open');
      connection.sendMedia(sound.subarray(at, at + step));
      const pause = new Promise<undefined>((resolve) => setTimeout(resolve, 50, undefined));
      expect(await Promise.race([closed, pause])).toBeUndefined();
    }
    const turns = () => of('TurnInfo');
    const ends = () => turns().filter(({ event }) => event === 'EndOfTurn');
    await expect.poll(() => ends().length, { timeout: 20_000 }).toBeGreaterThan(0);
    connection.sendCloseStream({ type: 'CloseStream' });
    expect((await closed).code).toBe(1000);
    expect(events.map(({ sequence_id }) => sequence_id)).toEqual(events.map((_, i) => i));
    expect(events[0]).toMatchObject({ type: 'Connected' });
    const said = ends()
      .map(({ transcript }) => transcript)
      .join(' ');
    const text = recording?.text ?? '';
    expect(wordErrors(text, said) / wordCount(text)).toBeLessThan(0.6);
    const order = turns().map(({ event }) => event);
    expect(order.indexOf('StartOfTurn')).toBeLessThan(order.indexOf('EagerEndOfTurn'));
    let eager: unknown;
    for (const { event, transcript } of turns()) {
      if (event === 'EagerEndOfTurn') eager = transcript;
      if (event === 'TurnResumed') eager = undefined;
      if (event === 'EndOfTurn') expect(transcript).toBe(eager);
    }
    const [charge, ...more] = await charges();
    expect(more).toEqual([]);
    expect(charge?.usage).toEqual({ audio_second: pcm.length / RATE + 2.5 });
  });
});
