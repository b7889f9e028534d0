import { describe, expect, it } from 'vitest';
import { createSeededRandom } from '../../../../../src/kernel/random.ts';
import { DEEPGRAM_LIMITS } from '../../../../../src/protocols/deepgram/limits.ts';
import { FluxDialect } from '../../../../../src/protocols/deepgram/speak/flux-dialect.ts';
import { speakWorld } from '../../../../support/speak-world.ts';
import { settleAll } from '../../../../support/voice-world.ts';

const { flushes, chars: speakChars, turnChars: speakTurnChars } = DEEPGRAM_LIMITS.speak;
const { messageChars } = DEEPGRAM_LIMITS;

const world = speakWorld(
  (controls) =>
    new FluxDialect(controls, {
      random: createSeededRandom(new Uint8Array(32)),
      format: { encoding: 'linear16', sampleRateHz: 24_000 },
      speed: undefined,
      connected: { type: 'Connected' },
    }),
);

const NO_CONTROLS = { pronunciations_applied: 0, breaks_applied: 0, pronunciation_warnings: 0 };

/** Holds pieces up until it is told to go on. */
function gate() {
  let open = () => {};
  const held = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { held, open };
}

const interruptAt = (value: number) => ({
  type: 'Interrupt',
  playback_offset: { type: 'time_ms', value },
});

describe('a turn', () => {
  it('a Flux turn begins with its first text and ends after the audio of its flush', async () => {
    const { client, say, speak, texts } = world();
    expect(client.said).toEqual([{ type: 'Connected' }]);
    speak('One is here. Two fol');
    expect(client.said.map(({ type }) => type)).toEqual(['Connected', 'SpeechStarted']);
    speak('lows');
    await settleAll();
    expect(texts()).toEqual(['One is here.']);
    say({ type: 'Flush' });
    await settleAll();
    const [started] = client.of('SpeechStarted');
    expect(started?.speech_id).toMatch(/^dg_sp_[0-9a-f]{12}$/);
    const speech_id = started?.speech_id;
    expect(client.of('Flushed')).toEqual([{ type: 'Flushed', speech_id }]);
    // Four pieces of 100 ms.
    expect(
      Math.abs(client.sound.reduce((sum, { length }) => sum + length, 0) - 19_200),
    ).toBeLessThan(9);
    expect(client.said.at(-1)).toEqual({
      type: 'SpeechMetadata',
      speech_id,
      audio_duration_ms: 400,
      input_character_count: 24,
      billable_character_count: 23,
      controls_applied: NO_CONTROLS,
      cost_usdc: '23',
    });
  });

  it('a Flux turn waits for the turn before it, whose audio comes first', async () => {
    const { client, say, speak } = world();
    for (const text of ['One', 'Two']) {
      speak(text);
      say({ type: 'Flush' });
    }
    await settleAll();
    expect(client.said.map(({ type }) => type)).toEqual([
      'Connected',
      'SpeechStarted',
      'Flushed',
      'Flushed',
      'SpeechMetadata',
      'SpeechStarted',
      'SpeechMetadata',
    ]);
    const ids = client.of('SpeechMetadata').map(({ speech_id }) => speech_id);
    expect(new Set(ids).size).toBe(2);
    expect(client.of('Flushed').map(({ speech_id }) => speech_id)).toEqual(ids);
  });

  it('a Flux turn without a letter has no audio and costs nothing, and a flush without text starts no turn', async () => {
    const { client, say, speak, texts } = world();
    say({ type: 'Flush' });
    expect(client.of('Warning')).toMatchObject([{ code: 'NO_ACTIVE_SPEECH' }]);
    speak(' … ');
    say({ type: 'Flush' });
    await settleAll();
    expect(client.of('Warning')[1]).toMatchObject({ code: 'NO_SYNTHESIZABLE_TEXT' });
    expect(client.of('SpeechMetadata')).toMatchObject([
      { audio_duration_ms: 0, billable_character_count: 0, cost_usdc: '0' },
    ]);
    expect(texts()).toEqual([]);
  });

  it('a Flux turn is spoken to its end before the session closes, and the session reports its totals', async () => {
    const { client, say, speak, texts } = world();
    speak('Good day.');
    say({ type: 'Flush' });
    speak('Good bye');
    say({ type: 'Close' });
    speak('One more.');
    await settleAll();
    expect(texts()).toEqual(['Good day.', 'Good bye']);
    expect(client.of('SpeechMetadata')).toHaveLength(2);
    expect(client.said.at(-1)).toEqual({
      type: 'SessionMetadata',
      total_audio_duration_ms: 400,
      total_input_character_count: 17,
      total_billable_character_count: 17,
      cost_usdc: '17',
    });
    expect(client.closed).toEqual({ code: 1000, reason: 'done' });
  });

  it('a Flux turn is spoken to its end when the server shuts down', async () => {
    const { client, session, speak, texts } = world();
    speak('All of it');
    session.drain();
    await settleAll();
    expect([texts(), client.closed?.code]).toEqual([['All of it'], 1012]);
    expect(client.said.at(-1)?.type).toBe('SessionMetadata');
  });
});

describe('an interrupt', () => {
  it('a Flux interrupt stops in mid-sentence, buys no later sentence, and is confirmed when the turn has stopped', async () => {
    const { held, open } = gate();
    const { bought, client, given, say, speak, texts } = world([
      { pieces: 3 },
      { pieces: 9, held },
    ]);
    speak('One word. Two words. Three. ');
    await settleAll();
    say({ type: 'Interrupt' });
    expect(bought[1]?.signal.aborted).toBe(true);
    // What comes meanwhile is of the next turn, which begins behind the end of this one.
    speak('Four');
    say({ type: 'Flush' });
    open();
    await settleAll();
    expect([texts(), given[1]?.isStopped]).toEqual([['One word.', 'Two words.', 'Four'], true]);
    expect(client.said.map(({ type }) => type)).toEqual([
      'Connected',
      'SpeechStarted',
      'Flushed',
      'SpeechInterrupted',
      'SpeechStarted',
      'SpeechMetadata',
    ]);
    const [interrupted] = client.of('SpeechInterrupted');
    expect(interrupted).toMatchObject({
      audio_played_ms: 300,
      metadata: { audio_duration_ms: 300, billable_character_count: 19, cost_usdc: '19' },
    });
    expect(interrupted).not.toHaveProperty('text_spoken');
  });

  it('a Flux interrupt reports the spoken and remaining text of the turn at its offset, even of a finished turn', async () => {
    const { client, say, speak } = world([{ pieces: 10 }, { pieces: 10 }, { pieces: 10 }]);
    for (const text of ['One two three four. Five six.', 'Seven']) {
      speak(text);
      say({ type: 'Flush' });
    }
    await settleAll();
    const [first] = client.of('SpeechMetadata');
    say(interruptAt(600));
    await settleAll();
    expect(client.of('SpeechInterrupted')).toMatchObject([
      {
        audio_played_ms: 600,
        text_spoken: 'One two ',
        text_remaining: 'three four. Five six.',
        metadata: { speech_id: first?.speech_id, audio_duration_ms: 2_000 },
      },
    ]);
    // The sound of the session goes on where its client has stopped to play.
    speak('Eight nine');
    say({ type: 'Close' });
    await settleAll();
    expect(client.of('SessionMetadata')).toMatchObject([{ total_audio_duration_ms: 800 }]);
  });

  it('a Flux interrupt is ignored without audio, during another interrupt, and when its offset does not advance', async () => {
    const { held, open } = gate();
    const { client, say, speak } = world([{ pieces: 4 }, { held }]);
    const warned = () => client.of('Warning').at(-1)?.code;
    speak('One. ');
    say({ type: 'Interrupt' });
    expect(warned()).toBe('NO_AUDIO_GENERATED');
    await settleAll();
    speak('Two. ');
    await settleAll();
    say(interruptAt(200));
    say(interruptAt(300));
    expect(warned()).toBe('INTERRUPT_IN_PROGRESS');
    open();
    await settleAll();
    say(interruptAt(200));
    expect(warned()).toBe('INVALID_INTERRUPT_OFFSET');
    say(interruptAt(201));
    expect(warned()).toBe('NO_ACTIVE_SPEECH');
    expect(client.of('SpeechInterrupted')).toHaveLength(1);
    expect(client.isOpen).toBe(true);
  });

  it('a Flux interrupt counts at most the audio that was sent as played, whatever offset the client names', async () => {
    const { client, say, speak } = world();
    speak('One.');
    say({ type: 'Flush' });
    await settleAll();
    say(interruptAt(1e300));
    await settleAll();
    expect(client.of('SpeechInterrupted')).toMatchObject([
      { audio_played_ms: 200, text_spoken: 'One.', text_remaining: '' },
    ]);
  });

  it('a Flux interrupt reports no text of a turn that is no longer kept', async () => {
    const { client, clock, say, speak } = world();
    const part = `${'word '.repeat(speakChars / 5 - 1)}end.`;
    for (let sent = 0; sent <= speakTurnChars; sent += part.length) {
      speak(part);
      say({ type: 'Flush' });
      await settleAll();
      clock.advance(flushes.windowMs / flushes.most);
    }
    say(interruptAt(1));
    await settleAll();
    const [interrupted] = client.of('SpeechInterrupted');
    expect(interrupted).toMatchObject({ audio_played_ms: 1 });
    expect(interrupted).not.toHaveProperty('text_spoken');
  });
});

describe('a change of settings', () => {
  it('a Flux Configure message sets the speed of the next sentence', async () => {
    const { bought, client, say, speak } = world();
    say({ type: 'Configure' });
    expect(client.of('ConfigureSuccess')).toEqual([{ type: 'ConfigureSuccess', applied: {} }]);
    speak('One. ');
    await settleAll();
    say({ type: 'Configure', speed: 1.15 });
    expect(client.of('ConfigureSuccess')[1]).toEqual({
      type: 'ConfigureSuccess',
      applied: { speed: 1.15 },
    });
    speak('Two. ');
    await settleAll();
    expect(bought.map(({ speed }) => speed)).toEqual([undefined, 1.15]);
  });

  it.each([
    [{ speed: 1.55 }, { code: 'SPEED_OUT_OF_RANGE', field: 'speed', value: 1.55 }],
    [{ speed: -1 }, { code: 'SPEED_OUT_OF_RANGE', field: 'speed', value: -1 }],
    [{ speed: 1.02 }, { code: 'SPEED_INCREMENT_INVALID', field: 'speed', value: 1.02 }],
    [{ speed: '1' }, { code: 'SPEED_OUT_OF_RANGE', field: 'speed' }],
    [{ speed: null }, { code: 'SPEED_OUT_OF_RANGE', field: 'speed' }],
    [{ expressivity: 1 }, { code: 'FIELD_NOT_CONFIGURABLE' }],
    [{ speed: 1.1, encoding: 'mulaw' }, { code: 'FIELD_NOT_CONFIGURABLE' }],
  ])(
    'an invalid Flux Configure message is reported and changes nothing: %j',
    async (change, failure) => {
      const { bought, client, say, speak } = world();
      say({ type: 'Configure', ...change });
      const description = expect.any(String);
      expect(client.of('ConfigureFailure')).toEqual([
        { type: 'ConfigureFailure', ...failure, description },
      ]);
      speak('One. ');
      await settleAll();
      expect([client.isOpen, bought[0]?.speed]).toEqual([true, undefined]);
    },
  );

  it('a Flux Configure message accepts every step of the speed range', () => {
    const { client, say } = world();
    for (let step = 10; step <= 30; step++) say({ type: 'Configure', speed: step / 20 });
    expect([client.of('ConfigureSuccess').length, client.of('ConfigureFailure')]).toEqual([21, []]);
  });
});

describe('a message that is none', () => {
  it.each([
    [new Uint8Array(3), 'MESSAGE-0000', 1008],
    ['nonsense', 'DATA-0000', 1008],
    ['[]', 'DATA-0000', 1008],
    ['{"type":"Clear"}', 'DATA-0000', 1008],
    [JSON.stringify({ type: 'Interrupt', playback_offset: 5 }), 'DATA-0000', 1008],
    [JSON.stringify(interruptAt(-1)), 'DATA-0000', 1008],
    ['{"type":"Interrupt","playback_offset":{"type":"bytes","value":5}}', 'DATA-0000', 1008],
    [`{"type":"Speak","text":"${'x'.repeat(messageChars)}"}`, 'BIG-0000', 1009],
  ])(
    'an invalid Flux message ends the session with the vendor’s code (%#)',
    async (message, code, closeCode) => {
      const { bought, client, session, speak } = world();
      session.message(message);
      speak('One. ');
      await settleAll();
      expect(client.said.slice(1)).toEqual([
        { type: 'Error', code, description: expect.any(String) },
      ]);
      expect([client.closed, bought]).toEqual([{ code: closeCode, reason: code }, []]);
    },
  );

  it.each([
    ['', 'INVALID_TEXT'],
    [5, 'INVALID_TEXT'],
    [undefined, 'INVALID_TEXT'],
    ['x'.repeat(speakChars + 1), 'TEXT_TOO_LONG'],
  ])(
    'an invalid Flux text is refused with a warning and begins no turn (%#)',
    async (text, code) => {
      const { client, say } = world();
      say({ type: 'Speak', text });
      expect(client.said.slice(1)).toEqual([
        { type: 'Warning', code, description: expect.any(String) },
      ]);
    },
  );

  it('a text beyond the size of a Flux turn is refused with a warning, and the turn then ends as usual', async () => {
    const { client, say, speak } = world();
    const part = `${'word '.repeat(speakChars / 5 - 1)}end. `;
    for (let sent = 0; sent <= speakTurnChars; sent += part.length) {
      speak(part);
      await settleAll();
    }
    expect(client.of('Warning')).toMatchObject([{ code: 'TURN_TOO_LONG' }]);
    say({ type: 'Flush' });
    await settleAll();
    const [ended] = client.of('SpeechMetadata');
    expect(Number(ended?.input_character_count)).toBeLessThanOrEqual(speakTurnChars);
  });

  it('a flush beyond the Flux rate limit is refused with a warning and leaves its turn open', async () => {
    const { client, clock, say, speak } = world();
    for (let i = 0; i <= flushes.most; i++) {
      speak('One');
      say({ type: 'Flush' });
    }
    await settleAll();
    expect(client.of('Flushed')).toHaveLength(flushes.most);
    expect(client.of('Warning')).toMatchObject([{ code: 'FLUSH_LIMIT' }]);
    clock.advance(flushes.windowMs);
    say({ type: 'Flush' });
    await settleAll();
    expect(client.of('SpeechMetadata')).toHaveLength(flushes.most + 1);
  });
});
