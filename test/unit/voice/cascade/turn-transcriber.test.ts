import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { systemRandom } from '../../../../src/kernel/random.ts';
import type { Model, Source } from '../../../../src/models/catalogue/catalogue.ts';
import { createSourceRests } from '../../../../src/models/providers/circuit-breaker.ts';
import { failed } from '../../../../src/models/providers/outcome.ts';
import type {
  TurnEvent,
  TurnListener,
  TurnRail,
  TurnSocket,
} from '../../../../src/models/providers/turns/turn-rail.ts';
import { MAIN_HOLD } from '../../../../src/voice/billing/session-holds.ts';
import { NotHeld } from '../../../../src/voice/cascade/charges-by-hold.ts';
import { bindModel } from '../../../../src/voice/cascade/model-binding.ts';
import { createTurnTranscriber } from '../../../../src/voice/cascade/turn-transcriber.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import { createFallbackStt } from '../../../../src/voice/stt/fallback-stt.ts';
import { chargesOn } from '../../../support/charges-on.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { NO_OWN_KEYS } from '../../../support/own-keys.ts';
import { tone } from '../../../support/voice-fakes.ts';
import { settleAll } from '../../../support/voice-world.ts';

const RATE = 16_000;

/** A session of a double: what it was sent, and what a test lets it say. */
class Session implements TurnSocket {
  unsentBytes = 0;
  samples = 0;
  endings = 0;
  isClosed = false;
  /** What it answers to a demand to end the turn. */
  last: string | undefined = 'said at the end';
  #listener: TurnListener | undefined;

  listen(listener: TurnListener): void {
    this.#listener = listener;
  }

  send(pcm: Int16Array): void {
    this.samples += pcm.length;
  }

  endTurn(): void {
    this.endings++;
    if (this.last !== undefined) this.say('over', this.last);
  }

  close(): void {
    this.isClosed = true;
    this.#listener = undefined;
  }

  say(kind: TurnEvent['kind'], text: string): void {
    this.#listener?.event({ kind, text });
  }

  die(): void {
    this.#listener?.closed('closed with 1006');
  }
}

const sourceOf = (provider: string, perSecond: bigint): Source => ({
  rail: 'direct-account',
  provider,
  upstreamModel: 'm',
  marginBps: 0,
  rates: { audio_second: perSecond * 1_000_000n },
});

async function openTurns({
  bills = 'sound' as TurnRail['bills'],
  providers = ['one'],
  dead = [] as string[],
  balanceRaw = 1_000_000n,
} = {}) {
  const clock = new ManualClock();
  const sessions: Record<string, Session[]> = {};
  const asked: string[] = [];
  const railOf = ({ provider }: Source): TurnRail => ({
    bills,
    async connect() {
      asked.push(provider);
      if (dead.includes(provider)) return failed('unreachable', 'no route');
      const turns = new Session();
      sessions[provider] = [...(sessions[provider] ?? []), turns];
      return { kind: 'completed', status: 101, turns };
    },
  });
  const sources = providers.map((provider, at) => sourceOf(provider, BigInt(at + 1)));
  const model: Model = {
    id: 'a/b',
    modality: 'stt',
    contextWindow: null,
    maxOutputTokens: null,
    sources,
  };
  const afford = async (totalRaw: bigint) => {
    if (totalRaw > balanceRaw) throw new NotHeld('budget_exhausted', 'no');
  };
  const charges = chargesOn(afford);
  const { tab } = charges;
  const engine = createTurnTranscriber(
    {
      clock,
      log: silentLog,
      random: systemRandom,
      breaker: createSourceRests({ clock }),
      spender: { agentId: 7 },
      chargesOn: () => charges,
    },
    bindModel({ model, rails: { railOf }, ownKeys: NO_OWN_KEYS, holdNameOf: () => MAIN_HOLD }),
  );
  const said: string[] = [];
  const stream = await createFallbackStt({
    clock,
    log: silentLog,
    engines: Array(VOICE_LIMITS.turn.sessions).fill(engine),
    isFinal: (cause) => cause instanceof NotHeld,
  }).open({
    sampleRateHz: RATE,
    listener: {
      transcript: ({ isFinal, text }) => void said.push(`${isFinal ? 'final' : 'guess'}: ${text}`),
      turn: (sign) => void said.push(sign),
      failed: ({ message }) => void said.push(`failed: ${message}`),
    },
  });
  const session = (provider = 'one', at = -1): Session => {
    const found = sessions[provider]?.at(at);
    if (found === undefined) throw new Error(`no session at ${provider}`);
    return found;
  };
  const bill = () =>
    tab.take().map(({ source, usage }) => `${source.provider} ${usage.audio_second}`);
  return { asked, bill, clock, said, session, sessions, stream };
}

describe('a transcriber that finds the ends of turns', () => {
  it('an end-of-turn transcriber reports words and turns as they come, and charges the audio of the utterance once', async () => {
    const { bill, said, session, stream } = await openTurns();
    stream.push(tone(2_000, RATE));
    session().say('words', 'I would');
    session().say('likely_over', 'I would like');
    session().say('resumed', 'I would like');
    session().say('over', 'I would like tea');
    await stream.endUtterance();
    expect(said).toEqual([
      'guess: I would',
      'guess: I would like',
      'likely_over',
      'resumed',
      'final: I would like tea',
      'over',
    ]);
    expect(session().endings).toBe(0);
    expect(bill()).toEqual(['one 2']);
    expect(bill()).toEqual([]);
  });

  it('an end-of-turn transcriber ends a turn that its upstream has not ended', async () => {
    const { bill, said, session, stream } = await openTurns();
    stream.push(tone(500, RATE));
    await stream.endUtterance();
    expect([said, session().endings]).toEqual([['final: said at the end', 'over'], 1]);
    expect(bill()).toEqual(['one 0.5']);
  });

  it('an end-of-turn transcriber takes the interim words when its upstream never ends the turn, and closes that upstream', async () => {
    const { bill, clock, said, session, stream } = await openTurns();
    stream.push(tone(500, RATE));
    session().last = undefined;
    session().say('words', 'so far');
    const ended = stream.endUtterance();
    await settleAll();
    clock.advance(VOICE_LIMITS.turn.endMs);
    await ended;
    expect(said.at(-1)).toBe('final: so far');
    expect(session().isClosed).toBe(true);
    expect(bill()).toEqual(['one 0.5']);
  });

  it('an end-of-turn transcriber charges the time of the session when the upstream bills that', async () => {
    const { bill, clock, session, stream } = await openTurns({ bills: 'session' });
    clock.advance(1_000);
    stream.push(tone(500, RATE));
    clock.advance(2_000);
    await stream.endUtterance();
    clock.advance(1_500);
    stream.push(tone(500, RATE));
    clock.advance(500);
    session().say('over', 'yes');
    await stream.endUtterance();
    expect(bill()).toEqual(['one 3', 'one 2']);
  });

  it('an end-of-turn transcriber ends its upstream session without speech, and opens another for the next utterance', async () => {
    const { asked, clock, session, stream } = await openTurns();
    stream.push(tone(500, RATE));
    await stream.endUtterance();
    clock.advance(VOICE_LIMITS.turn.idleMs - 1);
    expect(session().isClosed).toBe(false);
    clock.advance(1);
    expect(session().isClosed).toBe(true);
    stream.push(tone(500, RATE));
    await stream.endUtterance();
    expect([asked.length, session().samples]).toEqual([2, RATE / 2]);
  });

  it('an end-of-turn transcriber replays the whole utterance to another source when one dies, and charges the other alone', async () => {
    const { bill, said, session, stream } = await openTurns({ providers: ['one', 'two'] });
    stream.push(tone(1_000, RATE));
    session('one').say('words', 'half');
    session('one').die();
    await settleAll();
    stream.push(tone(500, RATE));
    session('two').say('over', 'half and whole');
    await stream.endUtterance();
    expect(session('two').samples).toBe(1.5 * RATE);
    expect(said.filter((line) => line.startsWith('final'))).toEqual(['final: half and whole']);
    expect(bill()).toEqual(['two 1.5']);
  });

  it('an end-of-turn transcriber replaces a source that dies at the end of an utterance, or that takes no more audio', async () => {
    for (const way of ['dies', 'is full'] as const) {
      const { bill, session, stream } = await openTurns({ providers: ['one', 'two'] });
      stream.push(tone(1_000, RATE));
      session('one').last = undefined;
      if (way === 'is full') session('one').unsentBytes = VOICE_LIMITS.relay.untakenBytes + 1;
      stream.push(tone(100, RATE));
      const ended = stream.endUtterance();
      await settleAll();
      if (way === 'dies') session('one').die();
      await ended;
      expect(session('two').samples).toBe(1.1 * RATE);
      expect(bill()).toEqual(['two 1.1']);
    }
  });

  it('an end-of-turn transcriber calls a flapping upstream a bounded number of times in an utterance, and charges nothing', async () => {
    const { asked, bill, session, stream } = await openTurns();
    stream.push(tone(500, RATE));
    for (let time = 0; time < VOICE_LIMITS.turn.sessions; time++) {
      session().die();
      await settleAll();
    }
    stream.push(tone(500, RATE));
    await expect(stream.endUtterance()).rejects.toThrow('no recogniser is left');
    expect(asked).toHaveLength(VOICE_LIMITS.turn.sessions);
    expect(bill()).toEqual([]);
  });

  it('an end-of-turn transcriber does not open an upstream that cannot be reached when another can', async () => {
    const { asked, session, stream } = await openTurns({
      providers: ['one', 'two'],
      dead: ['one'],
    });
    stream.push(tone(500, RATE));
    await stream.endUtterance();
    expect([asked, session('two').samples]).toEqual([['one', 'two'], RATE / 2]);
  });

  it('an end-of-turn transcriber treats an upstream as lost that sends no words in two long utterances in a row', async () => {
    const { clock, session, stream, sessions } = await openTurns({ providers: ['one', 'two'] });
    for (let time = 0; time < VOICE_LIMITS.turn.mute.utterances; time++) {
      session('one').last = undefined;
      stream.push(tone(VOICE_LIMITS.turn.mute.leastMs, RATE));
      const ended = stream.endUtterance();
      await settleAll();
      clock.advance(VOICE_LIMITS.turn.wordsMs);
      await settleAll();
      await ended;
    }
    expect(session('one').isClosed).toBe(true);
    expect(sessions.two?.[0]?.samples).toBe((VOICE_LIMITS.turn.mute.leastMs / 1_000) * RATE);
  });

  it('an end-of-turn transcriber transcribes nothing that cannot be paid, and calls no other source', async () => {
    const { asked, session, stream } = await openTurns({
      providers: ['one', 'two'],
      balanceRaw: 120n,
    });
    stream.push(tone(130_000, RATE));
    await expect(stream.endUtterance()).rejects.toMatchObject({ code: 'budget_exhausted' });
    expect([asked, session('one').endings]).toEqual([['one'], 0]);
  });
});
