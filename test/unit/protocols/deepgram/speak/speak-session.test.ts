import { afterEach, describe, expect, it, vi } from 'vitest';
import { gatewayErrors } from '../../../../../src/models/errors.ts';
import { DEEPGRAM_LIMITS } from '../../../../../src/protocols/deepgram/limits.ts';
import { AuraDialect } from '../../../../../src/protocols/deepgram/speak/aura-dialect.ts';
import { rateErrors } from '../../../../../src/rate-limit/errors.ts';
import { speakWorld } from '../../../../support/speak-world.ts';
import { settleAll } from '../../../../support/voice-world.ts';

const {
  flushes,
  admitEveryMs: speakAdmitEveryMs,
  admitMs: speakAdmitMs,
  chars: speakChars,
  idleMs: speakIdleMs,
  stallMs: speakStallMs,
  waitingChars: speakWaitingChars,
} = DEEPGRAM_LIMITS.speak;

const world = speakWorld((controls) => new AuraDialect(controls, { type: 'Metadata' }));

afterEach(() => vi.restoreAllMocks());

describe('live speech', () => {
  it('live speech buys a whole sentence at once and the rest at the flush, one after another', async () => {
    const { client, say, speak, texts } = world();
    expect(client.said).toEqual([{ type: 'Metadata' }]);
    speak('One is ');
    speak('here. Two fol');
    await settleAll();
    expect(texts()).toEqual(['One is here.']);
    speak('lows');
    say({ type: 'Flush' });
    await settleAll();
    expect(texts()).toEqual(['One is here.', 'Two follows']);
    expect(client.sound).toHaveLength(4);
    expect(client.of('Flushed')).toEqual([
      { type: 'Flushed', sequence_id: 0, characters: 23, cost_usdc: '23' },
    ]);
    say({ type: 'Flush' });
    await settleAll();
    expect(client.of('Flushed').at(-1)).toEqual({
      type: 'Flushed',
      sequence_id: 1,
      characters: 0,
      cost_usdc: '0',
    });
  });

  it('live speech speaks the remaining text before it closes, and ignores later messages', async () => {
    const { client, say, speak, texts } = world();
    speak('Good bye');
    say({ type: 'Close' });
    speak('One more.');
    await settleAll();
    expect(texts()).toEqual(['Good bye']);
    expect(client.closed).toEqual({ code: 1000, reason: 'done' });
  });

  it('live speech finishes the text that it has when the server shuts down', async () => {
    const { client, session, speak, texts } = world();
    speak('All of it');
    session.drain();
    await settleAll();
    expect([texts(), client.closed?.code]).toEqual([['All of it'], 1012]);
  });

  it('live speech stops in mid-sentence on a clear, buys no later sentence, and goes on with new text', async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { bought, client, given, say, speak, texts } = world([{ pieces: 9, held }]);
    speak('One. Two. Three. ');
    await settleAll();
    say({ type: 'Clear' });
    expect(bought[0]?.signal.aborted).toBe(true);
    goOn();
    await settleAll();
    expect([texts(), given[0]?.isStopped]).toEqual([['One.'], true]);
    expect(client.of('Cleared')).toEqual([{ type: 'Cleared', sequence_id: 0 }]);
    const before = client.sound.length;
    speak('Four');
    say({ type: 'Flush' });
    await settleAll();
    expect(texts()).toEqual(['One.', 'Four']);
    expect(client.sound).toHaveLength(before + 2);
    expect(client.of('Flushed')).toMatchObject([{ sequence_id: 1 }]);
  });

  it('live speech buys nothing more for a client that is gone', async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { bought, client, given, session, speak } = world([{ pieces: 9, held }]);
    speak('One. Two. Three. ');
    await settleAll();
    session.closed();
    goOn();
    await settleAll();
    expect(bought).toHaveLength(1);
    expect([bought[0]?.signal.aborted, given[0]?.isStopped]).toEqual([true, true]);
    expect(client.said).toHaveLength(1);
  });

  it('live speech waits for a slow reader, and disconnects the reader after the stall timeout', async () => {
    const { client, clock, given, session, speak, texts } = world([{ pieces: 9 }, { pieces: 9 }]);
    client.bufferedAmount = DEEPGRAM_LIMITS.speak.unsentBytes + 1;
    speak('One. Two. Three.');
    await settleAll();
    expect([client.sound.length, texts().length]).toEqual([1, 1]);
    session.drained();
    await settleAll();
    // The reader has taken a part only.
    expect(client.sound).toHaveLength(1);
    clock.advance(speakStallMs);
    await settleAll();
    expect(client.closed).toEqual({ code: 1013, reason: 'the client reads too slowly' });
    expect([given[0]?.isStopped, texts()]).toEqual([true, ['One.']]);
  });

  it('live speech goes on once a slow reader has read', async () => {
    const { client, session, speak } = world([{ pieces: 3 }, { pieces: 3 }]);
    client.bufferedAmount = DEEPGRAM_LIMITS.speak.unsentBytes + 1;
    speak('One. Two. ');
    await settleAll();
    expect(client.sound).toHaveLength(1);
    client.bufferedAmount = 0;
    session.drained();
    await settleAll();
    expect(client.sound).toHaveLength(6);
  });

  it('live speech that cannot buy a sentence speaks the sentences before it, then ends with the reason', async () => {
    const refusal = gatewayErrors.budgetExhausted({ available: '0' });
    const { client, speak, texts } = world([{}, { failure: refusal }]);
    speak('One. Two. Three. ');
    await settleAll();
    expect(texts()).toEqual(['One.', 'Two.']);
    expect(client.of('Error')).toEqual([
      {
        type: 'Error',
        code: 'budget_exhausted',
        description: 'The balance does not cover this request.',
      },
    ]);
    expect(client.closed).toEqual({ code: 1008, reason: 'budget_exhausted' });
  });

  it('live speech ends when the upstream audio breaks off in mid-sentence', async () => {
    const { client, speak, texts } = world([{ breaksAfter: 1 }]);
    speak('One. Two. ');
    await settleAll();
    expect([client.sound.length, texts()]).toEqual([1, ['One.']]);
    expect(client.closed).toEqual({ code: 1011, reason: 'upstream_broke_off' });
  });
});

describe('a sentence over the rate limit', () => {
  const limited = rateErrors.gatewayLimited({
    retryAfterSeconds: 1,
    limitPerMinute: 300,
    resetAtSec: 60,
  });

  it.each(['admit', 'admitPooled'])(
    'a sentence of live speech over the rate limit waits until the limit allows it at %s',
    async (limit) => {
      let asked = 0;
      const count = async () => {
        asked++;
        if (asked === 2 || asked === 3) throw limited;
      };
      const { clock, client, speak, texts } = world([], { [limit]: count });
      speak('One. Two. ');
      await settleAll();
      expect([texts(), asked]).toEqual([['One.'], 2]);
      for (let waited = 0; waited < 2; waited++) {
        clock.advance(speakAdmitEveryMs);
        await settleAll();
      }
      expect([texts(), asked, client.isOpen]).toEqual([['One.', 'Two.'], 4, true]);
    },
  );

  it('a sentence over the rate limit ends the socket when its wait is too long, and a clear drops the sentence', async () => {
    let asked = 0;
    const admit = async () => {
      asked++;
      throw limited;
    };
    const { bought, clock, client, say, speak } = world([], { admit });
    speak('One. Two. ');
    await settleAll();
    say({ type: 'Clear' });
    await settleAll();
    clock.advance(speakAdmitMs);
    await settleAll();
    expect([asked, client.isOpen]).toEqual([1, true]);
    speak('Three. Four. ');
    await settleAll();
    for (let waited = 0; waited < speakAdmitMs; waited += speakAdmitEveryMs) {
      clock.advance(speakAdmitEveryMs);
      await settleAll();
    }
    expect([client.closed, bought]).toEqual([{ code: 1008, reason: 'rate_limited' }, []]);
  });
});

describe('a message that is none', () => {
  it.each([
    ['{"type":"Sing"}', 'UNPARSABLE_CLIENT_MESSAGE'],
    ['nonsense', 'UNPARSABLE_CLIENT_MESSAGE'],
    ['[]', 'UNPARSABLE_CLIENT_MESSAGE'],
    [new Uint8Array(3), 'UNPARSABLE_CLIENT_MESSAGE'],
    [`{"type":"Speak","text":"${'x'.repeat(20_000)}"}`, 'UNPARSABLE_CLIENT_MESSAGE'],
    [`{"type":"Speak","text":"${'x'.repeat(speakChars + 1)}"}`, 'TEXT_TOO_LONG'],
    ['{"type":"Speak"}', 'INVALID_TEXT'],
    ['{"type":"Speak","text":""}', 'INVALID_TEXT'],
  ])(
    'live speech answers an invalid message with a warning and goes on (%#)',
    async (message, code) => {
      const { bought, client, session, speak, say } = world();
      session.message(message);
      await settleAll();
      expect(client.of('Warning')).toMatchObject([{ code, description: expect.any(String) }]);
      expect(bought).toEqual([]);
      speak('Well');
      say({ type: 'Flush' });
      await settleAll();
      expect(client.of('Flushed')).toHaveLength(1);
    },
  );

  it('live speech refuses text beyond its limit of queued characters with a warning', async () => {
    const held = new Promise<void>(() => {});
    const { client, speak } = world([{ held }]);
    const text = `${'word '.repeat(speakChars / 5 - 1)}end.`;
    for (let sent = 0; sent <= speakWaitingChars; sent += text.length) speak(text);
    expect(client.of('Warning')).toMatchObject([{ code: 'TOO_MUCH_TEXT' }]);
  });

  it('live speech refuses a flush over its rate limit until time has passed', async () => {
    const { client, clock, say } = world();
    for (let i = 0; i < flushes.most + 1; i++) say({ type: 'Flush' });
    await settleAll();
    expect(client.of('Flushed')).toHaveLength(flushes.most);
    expect(client.of('Warning')).toMatchObject([{ code: 'FLUSH_LIMIT' }]);
    clock.advance(flushes.windowMs);
    say({ type: 'Flush' });
    await settleAll();
    expect(client.of('Flushed')).toHaveLength(flushes.most + 1);
  });

  it('live speech without new messages stays open while a sentence lasts, and closes only when idle afterwards', async () => {
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { client, clock, speak } = world([{ held }]);
    speak('One. Two');
    await settleAll();
    clock.advance(2 * speakIdleMs);
    expect(client.closed).toBeUndefined();
    goOn();
    await settleAll();
    clock.advance(speakIdleMs);
    expect(client.closed).toMatchObject({ code: 1011 });
  });

  it('live speech closes after a quarter of an hour without a message', async () => {
    const { client, clock, say } = world();
    clock.advance(speakIdleMs - 1);
    say({ type: 'Flush' });
    await settleAll();
    clock.advance(speakIdleMs - 1);
    expect(client.closed).toBeUndefined();
    clock.advance(1);
    expect(client.closed).toMatchObject({ code: 1011 });
  });
});
