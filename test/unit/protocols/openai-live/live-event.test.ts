import { describe, expect, it } from 'vitest';
import { readLiveEvent, spokenBytes } from '../../../../src/protocols/openai-live/live-event.ts';

const read = (text: string) => readLiveEvent(Buffer.from(text));

describe('readLiveEvent', () => {
  it('readLiveEvent reads session and usage events, however their JSON is written', () => {
    const usage = { seconds: 1.5 };
    const written = [
      JSON.stringify({ type: 'session.usage.updated', usage }),
      ` { "usage" : {"seconds":1.5}, "type" : "session.usage.updated" }`,
    ];
    for (const text of written) {
      expect(read(text)).toMatchObject({ type: 'session.usage.updated', seconds: 1.5 });
    }
  });

  it('readLiveEvent ignores seconds that are negative or no number', () => {
    const counts = ['-1', '"5"', 'null', '{}'];
    for (const seconds of counts) {
      const text = `{"type":"session.closed","usage":{"seconds":${seconds}}}`;
      expect(read(text)).toMatchObject({ type: 'session.closed', seconds: undefined });
    }
    expect(read('{"type":"session.closed"}')?.seconds).toBeUndefined();
  });

  it('readLiveEvent limits the seconds to the largest number that can be priced', () => {
    for (const seconds of ['10000000', '1e300', '1e999']) {
      const text = `{"type":"session.closed","usage":{"seconds":${seconds}}}`;
      expect(read(text)?.seconds).toBe(1_000_000);
    }
  });

  it('readLiveEvent parses no other frame, nor one that only quotes such a type', () => {
    expect(read('{"type":"session.output_audio.delta","delta":"AAAA"}')).toBeUndefined();
    expect(read('{"note":"session.closed","type":"info"}')).toBeUndefined();
    expect(read('no JSON "session.closed"')).toBeUndefined();
  });
});

describe('spokenBytes', () => {
  it('spokenBytes is the number of audio bytes in an audio frame', () => {
    const frame = Buffer.from('{"type":"session.output_audio.delta","delta":"AAAAAAAA"}');
    expect(spokenBytes('session.output_audio.delta', frame)).toBe(6);
    expect(spokenBytes('info', frame)).toBe(0);
    expect(spokenBytes('session.output_audio.delta', Buffer.from('{}'))).toBe(0);
  });
});
