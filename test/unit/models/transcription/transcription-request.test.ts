import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { readTranscription } from '../../../../src/models/transcription/transcription-request.ts';

const file = {
  field: 'file',
  fileName: 'a.wav',
  contentType: 'audio/wav',
  bytes: Buffer.from('x'),
};
type Fields = readonly (readonly [string, string])[];
const read = (fields: Fields, of: Parameters<typeof readTranscription>[0]['file'] = file) =>
  readTranscription({ fields: [['model', 'acme/ears'], ...fields], file: of });

const paramOf = (fields: Fields, of?: typeof file) => {
  try {
    read(fields, of);
  } catch (error) {
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).status).toBe(400);
    return (error as ApiError).fields.param;
  }
  throw new Error('nothing was thrown');
};

describe('a form that asks for a transcript', () => {
  it('a transcription form is read with its defaults and keeps its fields for the upstream', () => {
    const fields: Fields = [
      ['timestamp_granularities[]', 'word'],
      ['timestamp_granularities[]', 'segment'],
      ['include[]', 'logprobs'],
      ['known_speaker_names[]', 'Ann'],
      ['known_speaker_names[]', 'Ben'],
      ['language', 'de'],
    ];
    expect(read(fields)).toEqual({
      model: 'acme/ears',
      format: 'json',
      stream: false,
      language: 'de',
      prompt: undefined,
      granularities: ['word', 'segment'],
      fields,
      file: { name: 'a.wav', contentType: 'audio/wav', bytes: file.bytes },
    });
    expect(read([['stream', 'true']]).stream).toBe(true);
    expect(read([], { ...file, fileName: '' }).file.name).toBe('sound');
  });

  it.each([
    ['response_format', 'docx'],
    ['temperature', 'warm'],
    ['temperature', '2'],
    ['stream', 'maybe'],
    ['language', ''],
    ['model', 'twice'],
    ['timestamp_granularities[]', 'letter'],
  ])('a transcription form is refused by name for a %s of %j', (name, value) => {
    expect(paramOf([[name, value]])).toBe(name);
  });

  it('a transcription form is refused without a model or a field named file', () => {
    expect(paramOf([], { ...file, field: 'sound' })).toBe('file');
    expect(() => readTranscription({ fields: [['model', 'x/y']], file: undefined })).toThrow(
      ApiError,
    );
    expect(() => readTranscription({ fields: [], file })).toThrow(ApiError);
  });
});
