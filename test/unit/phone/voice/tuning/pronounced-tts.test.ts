import { expect, it } from 'vitest';
import { pronouncedTts } from '../../../../../src/phone/voice/tuning/pronounced-tts.ts';
import type { SpeakRequest, Tts } from '../../../../../src/voice/session/voice-pipeline.ts';

/** A voice that says each text in one piece, and keeps what it was asked for. */
function plainVoice() {
  const asked: string[] = [];
  const voice: Tts = {
    async *speak({ text }: SpeakRequest) {
      asked.push(text);
      yield { pcm: new Int16Array(1), sampleRateHz: 16_000, text };
    },
  };
  return { asked, voice };
}

async function written(voice: Tts, text: string): Promise<string> {
  const texts: string[] = [];
  const { signal } = new AbortController();
  for await (const piece of voice.speak({ text, voice: 'rms', speed: 1, signal })) {
    texts.push(piece.text);
  }
  return texts.join(' ');
}

it('pronunciations replace whole words in speech, in any case, and the transcript keeps the written words', async () => {
  const { asked, voice } = plainVoice();
  const pronounced = pronouncedTts(voice, [
    { word: 'SQL', say: 'sequel' },
    { word: 'Dr. Ng', say: 'doctor Ing' },
    { word: 'C++', say: 'see plus plus' },
  ]);
  const text = 'SQL and C++, says Dr. Ng, not MySQL.';
  expect(await written(pronounced, text)).toBe(text);
  expect(await written(pronounced, 'We use sql.')).toBe('We use SQL.');
  expect(await written(pronounced, 'Nothing else.')).toBe('Nothing else.');
  expect(asked).toEqual([
    'sequel and see plus plus, says doctor Ing, not MySQL.',
    'We use sequel.',
    'Nothing else.',
  ]);
});

it('a synthesizer without pronunciations is not wrapped', () => {
  const { voice } = plainVoice();
  expect(pronouncedTts(voice, [])).toBe(voice);
});
