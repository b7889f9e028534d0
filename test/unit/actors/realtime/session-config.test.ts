import { describe, expect, it } from 'vitest';
import {
  DEFAULT_CONFIG,
  renderSession,
  updateConfig,
} from '../../../../src/actors/realtime/session-config.ts';

const update = (session: unknown) => {
  const updated = updateConfig(DEFAULT_CONFIG, session);
  if ('problem' in updated) throw new Error(updated.problem.message);
  return updated.config;
};

describe('updateConfig', () => {
  it('leaves alone what an update does not name', () => {
    expect(update({})).toEqual(DEFAULT_CONFIG);
    expect(update({ instructions: 'Be brief.' })).toEqual({
      ...DEFAULT_CONFIG,
      instructions: 'Be brief.',
    });
  });

  it('reads the flat spelling of the first clients like the nested one of today', () => {
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

  it('comes back as it was sent', () => {
    const identity = { id: 'sess_1', model: 'local/realtime', transcriber: 'local/pocketsphinx' };
    const config = update({
      instructions: 'Be kind.',
      max_output_tokens: 200,
      tools: [{ type: 'function', name: 'weather', parameters: { type: 'object' } }],
      audio: { input: { turn_detection: { type: 'server_vad', silence_duration_ms: 900 } } },
    });
    const again = update(renderSession(config, identity));
    expect(again).toEqual(config);
  });

  it.each([
    [{ audio: { input: { format: { type: 'audio/pcm', rate: 16_000 } } } }, 'audio.input.format'],
    [{ tools: [{ type: 'function', name: '' }] }, 'tools.0.name'],
    [{ tools: Array(65).fill({ type: 'function', name: 'x' }) }, 'tools'],
    [{ max_output_tokens: 0 }, 'max_output_tokens'],
    [{ audio: { output: { speed: 9 } } }, 'audio.output.speed'],
    ['loud', undefined],
  ])('names the place of what cannot be: %j', (session, place) => {
    const updated = updateConfig(DEFAULT_CONFIG, session);
    const param = 'problem' in updated ? updated.problem.param : undefined;
    expect(param).toBe(place === undefined ? 'session' : `session.${place}`);
  });
});
