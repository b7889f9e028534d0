import { describe, expect, it } from 'vitest';
import {
  readSession,
  updateConfig,
} from '../../../../src/protocols/openai-realtime/read-session-config.ts';
import { renderSession } from '../../../../src/protocols/openai-realtime/render-session.ts';
import { DEFAULT_CONFIG, isHeardOtherwise } from '../../../../src/voice/session/session-config.ts';
import {
  endpointingOf,
  SERVER_VAD,
  waitsOf,
} from '../../../../src/voice/session/turn-detection.ts';

const update = (session: unknown) => {
  const updated = updateConfig(DEFAULT_CONFIG, session);
  if ('problem' in updated) throw new Error(updated.problem.message);
  return updated.config;
};

describe('updateConfig', () => {
  it('updateConfig keeps the members that an update does not name', () => {
    expect(update({})).toEqual(DEFAULT_CONFIG);
    expect(update({ instructions: 'Be brief.' })).toEqual({
      ...DEFAULT_CONFIG,
      instructions: 'Be brief.',
    });
  });

  it('updateConfig takes null for an absent member, except where null turns something off', () => {
    const before = update({
      instructions: 'Be kind.',
      tools: [{ type: 'function', name: 'weather' }],
      output_modalities: ['text'],
      audio: { output: { speed: 1.2, voice: 'slt' } },
      max_output_tokens: 200,
    });
    const nothing = {
      type: null,
      instructions: null,
      output_modalities: null,
      modalities: null,
      input_audio_format: null,
      output_audio_format: null,
      voice: null,
      speed: null,
      tools: null,
      tool_choice: null,
      max_output_tokens: null,
      max_response_output_tokens: null,
      audio: { input: { format: null }, output: { format: null, voice: null, speed: null } },
    };
    for (const session of [nothing, { audio: null }, { audio: { input: null, output: null } }]) {
      expect(updateConfig(before, session)).toEqual({ config: before });
    }
    const threshold = { type: 'server_vad', threshold: null, create_response: null } as const;
    expect(update({ turn_detection: threshold }).turnDetection).toEqual(SERVER_VAD);
    expect(update({ turn_detection: null }).turnDetection).toBeNull();
    expect(update({ audio: { input: { transcription: null } } }).transcription).toBe(false);
  });

  it('updateConfig reads the flat form of early clients like the nested form', () => {
    const nested = update({
      output_modalities: ['text'],
      audio: {
        input: { format: { type: 'audio/pcmu' }, turn_detection: null, transcription: null },
        output: { format: { type: 'audio/pcma' }, voice: 'slt' },
      },
    });
    const flat = update({
      modalities: ['text'],
      input_audio_format: 'g711_ulaw',
      output_audio_format: 'g711_alaw',
      turn_detection: null,
      input_audio_transcription: null,
      voice: 'slt',
    });
    expect(flat).toEqual(nested);
    expect(update({ modalities: ['text', 'audio'] }).outputModality).toBe('audio');
  });

  it('updateConfig accepts the session object that the server sends', () => {
    const identity = { id: 'sess_1', model: 'local/realtime', transcriber: 'local/pocketsphinx' };
    const config = update({
      instructions: 'Be kind.',
      max_output_tokens: 200,
      tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' } }],
      audio: { input: { turn_detection: { type: 'server_vad', silence_duration_ms: 900 } } },
    });
    const again = update(renderSession(config, identity));
    // What is shown names who hears, whether or not the client did.
    expect(again).toEqual({ ...config, transcriptionModel: identity.transcriber });
  });

  it('updateConfig keeps the eagerness of semantic_vad, the idle timeout of server_vad, and the tool choice', () => {
    const semantic = { type: 'semantic_vad', eagerness: 'low', create_response: false };
    const timed = { type: 'server_vad', idle_timeout_ms: 6_000 };
    const choice = { type: 'function', name: 'weather' };
    const shown = (session: unknown) =>
      renderSession(update(session), { id: 'sess_1', model: undefined, transcriber: 'x' });
    expect(shown({ turn_detection: semantic, tool_choice: choice })).toMatchObject({
      tool_choice: choice,
      audio: { input: { turn_detection: { ...semantic, interrupt_response: true } } },
    });
    expect(shown({ turn_detection: timed })).toMatchObject({
      audio: { input: { turn_detection: timed } },
    });
  });

  it('updateConfig with semantic_vad sets longer waits for lower eagerness, longest while the words trail off', () => {
    const silences = ['high', 'medium', 'low'].map((eagerness) => {
      const config = update({ turn_detection: { type: 'semantic_vad', eagerness } });
      const waits = waitsOf(config.turnDetection);
      return [endpointingOf(config.turnDetection)?.silenceDurationMs, waits?.maxSilenceMs];
    });
    expect(silences).toEqual([
      [300, 2_000],
      [500, 4_000],
      [1_000, 8_000],
    ]);
  });

  it('updateConfig keeps the expected language and words, however they are written, and shows them', () => {
    const expected = { model: 'whisper-1', language: 'de', prompt: 'Grüezi, Frau Müller' };
    const nested = update({ audio: { input: { transcription: expected } } });
    expect(update({ input_audio_transcription: expected })).toEqual(nested);
    const shown = (config: typeof nested) =>
      renderSession(config, { id: 'sess_1', model: undefined, transcriber: 'x' });
    expect(shown(nested)).toMatchObject({
      audio: { input: { transcription: { ...expected, model: 'x' } } },
    });
    const input = (transcription: unknown) => {
      const updated = updateConfig(nested, { audio: { input: { transcription } } });
      if ('problem' in updated) throw new Error(updated.problem.message);
      return shown(updated.config).audio;
    };
    expect(input({ model: 'whisper-1' })).toMatchObject({
      input: { transcription: { language: 'de', prompt: expected.prompt } },
    });
    for (const nothing of [null, ''])
      expect(input({ language: nothing, prompt: nothing })).toMatchObject({
        input: { transcription: { language: null, prompt: null } },
      });
  });

  it('updateConfig changes the transcription when another language or other words are expected', () => {
    let before = DEFAULT_CONFIG;
    const changes = [{ language: 'de' }, { language: 'DE' }, { prompt: 'Müller' }, {}];
    const changed = changes.map((transcription) => {
      const updated = updateConfig(before, { input_audio_transcription: transcription });
      const after = 'config' in updated ? updated.config : before;
      const isOther = isHeardOtherwise(before, after, () => 'x');
      before = after;
      return isOther;
    });
    expect(changed).toEqual([true, false, true, false]);
  });

  it('a transcription session begins with that type, and updateConfig refuses to make it a realtime session', () => {
    const begun = readSession({ type: 'transcription' });
    if ('problem' in begun) throw new Error(begun.problem.message);
    const identity = { id: 'sess_1', model: 'local/realtime', transcriber: 'local/pocketsphinx' };
    expect(renderSession(begun.config, identity)).toEqual({
      type: 'transcription',
      object: 'realtime.transcription_session',
      id: 'sess_1',
      audio: { input: expect.objectContaining({ transcription: expect.anything() }) },
      include: null,
    });
    expect(updateConfig(begun.config, { type: 'realtime' })).toMatchObject({
      problem: { param: 'session.type' },
    });
  });

  it.each([
    [{ audio: { input: { format: { type: 'audio/pcm', rate: 16_000 } } } }, 'audio.input.format'],
    [{ tools: [{ type: 'function', name: '' }] }, 'tools.0.name'],
    [{ tools: Array(129).fill({ type: 'function', name: 'x' }) }, 'tools'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ audio: { output: { speed: 9 } } }, 'audio.output.speed'],
    [
      { turn_detection: { type: 'server_vad', idle_timeout_ms: 100 } },
      'turn_detection.idle_timeout_ms',
    ],
    [
      { turn_detection: { type: 'semantic_vad', idle_timeout_ms: 9_000 } },
      'turn_detection.idle_timeout_ms',
    ],
    [{ tools: [{ type: 'mcp', server_label: 'x' }] }, 'tools.0.type'],
    [
      { audio: { input: { transcription: { language: 'german' } } } },
      'audio.input.transcription.language',
    ],
    [
      { input_audio_transcription: { prompt: 'x'.repeat(16_385) } },
      'input_audio_transcription.prompt',
    ],
    ['loud', undefined],
  ])('updateConfig names the path of what it rejects: %j', (session, place) => {
    const updated = updateConfig(DEFAULT_CONFIG, session);
    const param = 'problem' in updated ? updated.problem.param : undefined;
    expect(param).toBe(place === undefined ? 'session' : `session.${place}`);
  });
});
