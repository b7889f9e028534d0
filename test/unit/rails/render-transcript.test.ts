import { describe, expect, it } from 'vitest';
import { renderTranscript, textOf, usageOf } from '../../../src/rails/render-transcript.ts';

const whole = {
  segments: [
    { startMs: 0, endMs: 1_500, text: 'one two' },
    { startMs: 3_723_004, endMs: 3_725_999, text: 'three' },
  ],
  durationMs: 3_726_000,
  language: 'english',
};
const written = (format: Parameters<typeof renderTranscript>[1], of = whole) => {
  const { body, contentType } = renderTranscript(of, format);
  return [contentType.split(';')[0], body.toString()];
};

describe('a transcript in the format that was asked for', () => {
  it('is JSON with its text and its duration', () => {
    expect(textOf(whole)).toBe('one two three');
    expect(usageOf(whole)).toEqual({ type: 'duration', seconds: 3_726 });
    expect(written('json')).toEqual([
      'application/json',
      '{"text":"one two three","usage":{"type":"duration","seconds":3726}}',
    ]);
  });

  it('is JSON with its segments, in seconds', () => {
    const verbose: unknown = JSON.parse(written('verbose_json')[1] ?? '');
    expect(verbose).toMatchObject({
      ...{ task: 'transcribe', language: 'english', duration: 3_726, text: 'one two three' },
      segments: [
        { id: 0, start: 0, end: 1.5, text: 'one two' },
        { id: 1, start: 3_723.004, end: 3_725.999, text: 'three' },
      ],
    });
  });

  it('is plain text or subtitles', () => {
    expect(written('text')).toEqual(['text/plain', 'one two three\n']);
    expect(written('srt')).toEqual([
      'application/x-subrip',
      '1\n00:00:00,000 --> 00:00:01,500\none two\n\n2\n01:02:03,004 --> 01:02:05,999\nthree\n',
    ]);
    expect(written('vtt')).toEqual([
      'text/vtt',
      'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\none two\n\n01:02:03.004 --> 01:02:05.999\nthree\n',
    ]);
  });

  it('is empty where nothing was said', () => {
    const nothing = { ...whole, segments: [] };
    expect(written('text', nothing)[1]).toBe('\n');
    expect(written('srt', nothing)[1]).toBe('');
    expect(written('vtt', nothing)[1]).toBe('WEBVTT\n');
  });
});
