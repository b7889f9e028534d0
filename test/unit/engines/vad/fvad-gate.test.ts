import { describe, expect, it } from 'vitest';
import { HEARING_FRAME, HEARING_HZ } from '../../../../media/hearing.ts';
import { Resampler } from '../../../../media/resample.ts';
import {
  type FvadModule,
  loadSpeechGates,
  type SpeechGate,
} from '../../../../src/engines/vad/fvad-gate.ts';
import { noise } from '../../media/noise.ts';
import { recording } from '../asr/speech-scene.ts';

const gates = await loadSpeechGates();

function verdicts(gate: SpeechGate, pcm: Int16Array, frame = HEARING_FRAME): boolean[] {
  return Array.from({ length: Math.floor(pcm.length / frame) }, (_, i) =>
    gate.isSpeech(pcm.subarray(i * frame, (i + 1) * frame)),
  );
}

function atTelephoneRate(pcm: Int16Array): Int16Array {
  const resampler = new Resampler(HEARING_HZ, 8_000);
  const line = new Int16Array(resampler.outputSamples(pcm.length));
  resampler.push(pcm, line);
  return line;
}

const share = (values: boolean[]) => values.filter(Boolean).length / values.length;

describe('the gate', () => {
  it('the speech gate opens for recorded human speech', () => {
    for (const name of ['librivox-0870', 'librivox-0930', 'goforward']) {
      const gate = gates.open();
      expect(share(verdicts(gate, recording(name))), name).toBeGreaterThan(0.5);
      gate.close();
    }
  });

  it('the speech gate judges telephone sound as it does the same sound at 16 kHz', () => {
    for (const name of ['librivox-0870', 'librivox-0930', 'goforward']) {
      const wide = gates.open();
      const telephone = gates.open(8_000);
      const expected = verdicts(wide, recording(name));
      const heard = verdicts(telephone, atTelephoneRate(recording(name)), HEARING_FRAME / 2);
      const same = heard.map((isSpeech, i) => isSpeech === expected[i]);
      expect(share(same), name).toBeGreaterThan(0.95);
      for (const gate of [wide, telephone]) gate.close();
    }
  });

  it('the speech gate stays shut on silence and on the hiss of a line', () => {
    const gate = gates.open();
    expect(share(verdicts(gate, new Int16Array(5 * 16_000)))).toBe(0);
    expect(share(verdicts(gate, noise(5 * 16_000, 40)))).toBeLessThan(0.05);
    gate.close();
  });

  it('the speech gate judges every listener separately', () => {
    const speech = recording('librivox-0880');
    const alone = gates.open();
    const expected = verdicts(alone, speech);
    const one = gates.open();
    const other = gates.open();
    const mixed = expected.map((_, i) => {
      other.isSpeech(noise(HEARING_FRAME, 5_000, i));
      return one.isSpeech(speech.subarray(i * HEARING_FRAME, (i + 1) * HEARING_FRAME));
    });
    expect(mixed).toEqual(expected);
    for (const gate of [alone, one, other]) gate.close();
  });

  it('a speech gate can be opened and closed 20,000 times, may be closed twice, and then stays shut', () => {
    for (let i = 0; i < 20_000; i++) gates.open().close();
    const gate = gates.open();
    gate.close();
    gate.close();
    expect(share(verdicts(gate, recording('librivox-0880')))).toBe(0);
    expect(() => gates.open().isSpeech(new Int16Array(160))).toThrow(/320/);
  });

  it('the speech gate passes all sound when its module traps, and works again for later listeners', async () => {
    let started = 0;
    const moduleOf = (isBroken: boolean): FvadModule => ({
      HEAP16: new Int16Array(2 * HEARING_FRAME),
      _malloc: () => 2,
      _fvad_new: () => 1,
      _fvad_free: () => {},
      _fvad_set_mode: () => 0,
      _fvad_set_sample_rate: () => 0,
      _fvad_process() {
        if (isBroken) throw Object.assign(new Error('unreachable'), { name: 'RuntimeError' });
        return 0;
      },
    });
    const trapping = await loadSpeechGates(async () => moduleOf(started++ === 0));
    const frame = new Int16Array(HEARING_FRAME);
    const [first, second] = [trapping.open(), trapping.open()];
    expect([first.isSpeech(frame), second.isSpeech(frame)]).toEqual([true, true]);
    first.close();
    trapping.open().close();
    await expect.poll(() => trapping.open().isSpeech(frame)).toBe(false);
    expect([started, second.isSpeech(frame)]).toEqual([2, true]);
  });
});
