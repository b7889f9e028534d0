import { describe, expect, it } from 'vitest';
import type { TurnThresholds } from '../../../../../src/protocols/deepgram/flux/turn-thresholds.ts';
import { turnsDialect } from '../../../../../src/protocols/deepgram/flux/turns-dialect.ts';
import { DEEPGRAM_LIMITS } from '../../../../../src/protocols/deepgram/limits.ts';
import type { SentEvent } from '../../../../support/voice-world.ts';

const SOUND = new Uint8Array(2);
const USUAL: TurnThresholds = { eot_threshold: 0.7, eot_timeout_ms: 5_000 };
const HEARD = {
  heardMs: 1_000,
  latencyMs: 0,
  silentMs: 0,
  isCut: false,
  failed: false,
  asked: false,
};

function write(change: Partial<TurnThresholds> = {}) {
  const sent: SentEvent[] = [];
  const settings = { thresholds: { ...USUAL, ...change }, keyterms: [] };
  const dialect = turnsDialect(settings, { requestId: 'req' });
  const writer = dialect.writer((message) => sent.push(message as SentEvent));
  const turns = () => sent.filter(({ type }) => type === 'TurnInfo');
  const events = () =>
    turns()
      .map(({ event }) => event)
      .filter((event) => event !== 'Update');
  return {
    dialect,
    events,
    sent,
    turns,
    writer,
    /** Words from one instant to another, and the sound up to the second. */
    say(text: string, startMs: number, endMs: number, asked = false) {
      writer.began(startMs);
      writer.took(SOUND, endMs);
      writer.heard({ ...HEARD, text, tail: text, startMs, endMs, asked });
    },
    quietUntil: (nowMs: number) => writer.took(SOUND, nowMs),
  };
}

describe('turns', () => {
  it('Flux turns begin with the first words, end after a silence, and are counted', () => {
    const { events, quietUntil, say, sent, turns, writer } = write();
    writer.attached?.();
    say('one two', 500, 1_500);
    quietUntil(2_200);
    expect(events()).toEqual(['StartOfTurn']);
    quietUntil(2_230);
    say('three', 4_000, 4_500);
    quietUntil(6_000);
    expect(events()).toEqual(['StartOfTurn', 'EndOfTurn', 'StartOfTurn', 'EndOfTurn']);
    const ends = turns().filter(({ event }) => event === 'EndOfTurn');
    expect(ends).toMatchObject([
      {
        turn_index: 0,
        transcript: 'one two',
        trigger: 'model',
        audio_window_start: 0.5,
        audio_window_end: 2.23,
        words: [
          { word: 'one', start: 0.5, confidence: 1 },
          { word: 'two', end: 1.5 },
        ],
      },
      { turn_index: 1, transcript: 'three', audio_window_start: 4 },
    ]);
    expect(ends[0]?.end_of_turn_confidence).toBeGreaterThanOrEqual(0.7);
    expect(sent[0]).toMatchObject({ type: 'Connected', request_id: 'req' });
    expect(sent.map(({ sequence_id }) => sequence_id)).toEqual(sent.map((_, i) => i));
  });

  it('a Flux turn resumes when the caller goes on after an eager end, and its end has all words', () => {
    const { events, quietUntil, say, turns } = write({ eager_eot_threshold: 0.4 });
    say('one', 0, 1_000);
    quietUntil(1_400);
    expect(events()).toEqual(['StartOfTurn', 'EagerEndOfTurn']);
    say('two', 1_450, 2_000);
    expect(events()).toEqual(['StartOfTurn', 'EagerEndOfTurn', 'TurnResumed']);
    quietUntil(3_000);
    expect(events().slice(3)).toEqual(['EagerEndOfTurn', 'EndOfTurn']);
    const [eager, end] = turns()
      .filter(({ event }) => String(event).endsWith('EndOfTurn'))
      .slice(-2);
    expect(eager?.transcript).toBe('one two');
    expect(end?.transcript).toBe(eager?.transcript);
  });

  it('Flux turns send no event for speech without words', () => {
    const { events, quietUntil, say } = write();
    say('', 0, 1_000);
    quietUntil(9_000);
    expect(events()).toEqual([]);
  });

  it('a Flux turn whose confidence stays too low ends by timeout, and a client can end a turn at once', () => {
    const { events, quietUntil, say, turns, writer } = write({ eot_threshold: 1 });
    say('one', 0, 1_000);
    quietUntil(5_900);
    expect(events()).toEqual(['StartOfTurn']);
    quietUntil(6_000);
    expect(turns().at(-1)).toMatchObject({ event: 'EndOfTurn', trigger: 'timeout' });
    say('two', 7_000, 8_000, true);
    expect(turns().at(-1)).toMatchObject({ event: 'EndOfTurn', trigger: 'manual', turn_index: 1 });
    const before = turns().length;
    writer.nothingLeft(8_000);
    expect(turns()).toHaveLength(before);
    say('three', 9_000, 9_100);
    writer.nothingLeft(9_200);
    expect(turns().at(-1)).toMatchObject({ event: 'EndOfTurn', trigger: 'manual', turn_index: 2 });
  });

  it('a Flux turn sends interim words, and an update for every quarter of a second of audio', () => {
    const { turns, writer } = write();
    for (let nowMs = 100; nowMs <= 1_000; nowMs += 100) writer.took(SOUND, nowMs);
    expect(turns().map(({ event, transcript }) => [event, transcript])).toEqual([
      ['Update', ''],
      ['Update', ''],
      ['Update', ''],
    ]);
    writer.began(900);
    writer.segment({ text: 'one', isFinal: false, startMs: 900, endMs: 1_000 });
    expect(turns().at(-1)).toMatchObject({ event: 'StartOfTurn', transcript: 'one' });
    writer.segment({ text: 'one two', isFinal: false, startMs: 900, endMs: 1_200 });
    writer.took(SOUND, 1_300);
    expect(turns().at(-1)).toMatchObject({ event: 'Update', transcript: 'one two' });
    writer.segment({ text: 'one two', isFinal: true, startMs: 900, endMs: 1_200 });
    writer.heard({ ...HEARD, text: 'one two three', tail: 'three', startMs: 1_200, endMs: 1_500 });
    writer.took(SOUND, 1_600);
    expect(turns().at(-1)).toMatchObject({ event: 'Update', transcript: 'one two three' });
  });

  it('a Flux turn of endless speech ends at the word limit', () => {
    const { events, say } = write({ eot_threshold: 1 });
    const text = Array.from({ length: DEEPGRAM_LIMITS.turn.words }, () => 'x').join(' ');
    say(text, 0, 60_000);
    expect(events()).toEqual(['StartOfTurn', 'EndOfTurn']);
  });

  it('a Flux turn ends at the word limit also in the middle of speech without a pause', () => {
    const { events, turns, writer } = write({ eot_threshold: 1 });
    const text = Array.from({ length: DEEPGRAM_LIMITS.turn.words / 2 }, () => 'x').join(' ');
    writer.began(0);
    for (const startMs of [0, 30_000, 60_000]) {
      writer.segment({ text, isFinal: true, startMs, endMs: startMs + 30_000 });
    }
    expect(events()).toEqual(['StartOfTurn', 'EndOfTurn', 'StartOfTurn']);
    expect(turns().at(-1)).toMatchObject({ turn_index: 1, audio_window_start: 60 });
  });

  it('a Flux turn stays open when its stream ends, and the last message has all its words or the error', () => {
    const done = write();
    done.say('one', 0, 1_000);
    done.writer.ended({ code: 1000, reason: 'done' }, { seconds: 1 });
    expect(done.turns().at(-1)).toMatchObject({ event: 'Update', transcript: 'one' });
    expect(done.events()).toEqual(['StartOfTurn']);
    const broken = write();
    const error = { code: 'balance', message: 'It is spent.', unheardSeconds: 2 };
    broken.writer.ended({ code: 1008, reason: 'balance', error }, { seconds: 1 });
    expect(broken.sent).toMatchObject([
      { type: 'Error', code: 'balance', description: 'It is spent.', unheard_seconds: 2 },
    ]);
  });
});

describe('settings', () => {
  const configure = (message: object) => {
    const world = write();
    world.writer.message?.('Configure', JSON.stringify({ type: 'Configure', ...message }));
    return world;
  };

  it('a Flux Configure message changes, in the middle of a stream, only the settings that it names', () => {
    const { quietUntil, say, sent, turns, writer } = configure({
      thresholds: { eot_threshold: 0.9, eager_eot_threshold: 0.5 },
      keyterms: ['svc'],
    });
    expect(sent).toMatchObject([
      {
        type: 'ConfigureSuccess',
        request_id: 'req',
        sequence_id: 0,
        keyterms: ['svc'],
        thresholds: { eot_threshold: 0.9, eager_eot_threshold: 0.5, eot_timeout_ms: 5_000 },
      },
    ]);
    say('one', 0, 1_000);
    quietUntil(2_000);
    expect(turns().at(-1)?.event).toBe('EagerEndOfTurn');
    writer.message?.(
      'Configure',
      '{"thresholds":{"eager_eot_threshold":null,"eot_threshold":0.6}}',
    );
    expect(sent.at(-2)).toMatchObject({
      thresholds: { eot_threshold: 0.6, eot_timeout_ms: 5_000 },
      keyterms: ['svc'],
    });
    expect(turns().at(-1)?.event).toBe('EndOfTurn');
  });

  it.each([
    [{ thresholds: { eot_threshold: 0.2 } }],
    [{ thresholds: { eot_timeout_ms: 10 } }],
    [{ thresholds: { eager_eot_threshold: 0.8 } }],
    [{ thresholds: 'none' }],
    [{ keyterms: [1] }],
  ])('a Flux Configure message of %j fails and changes no settings', (message) => {
    const { quietUntil, say, sent, turns } = configure(message);
    expect(sent).toEqual([{ type: 'ConfigureFailure', request_id: 'req', sequence_id: 0 }]);
    say('one', 0, 1_000);
    quietUntil(1_730);
    expect(turns().at(-1)?.event).toBe('EndOfTurn');
  });

  it('a Flux Configure message that is no JSON fails, and another message is not read as Configure', () => {
    const { sent, writer } = write();
    writer.message?.('KeepAlive', '{}');
    expect(sent).toEqual([]);
    writer.message?.('Configure', 'nonsense');
    expect(sent).toMatchObject([{ type: 'ConfigureFailure' }]);
  });
});
