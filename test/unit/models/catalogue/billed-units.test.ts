import { describe, expect, it } from 'vitest';
import type { Unit } from '../../../../src/kernel/price.ts';
import {
  billedUnits,
  isByTheCall,
  missingRates,
} from '../../../../src/models/catalogue/billed-units.ts';
import {
  MODALITIES,
  type Modality,
  type Rail,
} from '../../../../src/models/catalogue/catalogue.ts';

const lacks = (modality: Modality, units: string, rail: Rail = 'direct-account') => {
  const rates = Object.fromEntries(units.split(' ').map((unit) => [unit as Unit, '1']));
  return missingRates(modality, { rail, rates });
};

describe('missingRates', () => {
  it.each<[Modality, string]>([
    ['text', 'text_input_token text_output_token'],
    ['text', 'text_input_token text_output_token cached_input_token request'],
    ['embedding', 'text_input_token'],
    ['tts', 'character'],
    ['tts', 'text_input_token audio_output_token'],
    ['stt', 'audio_second'],
    ['stt', 'audio_input_token text_output_token'],
    ['realtime', 'audio_second'],
    ['realtime', 'text_input_token text_output_token audio_input_token audio_output_token'],
  ])('missingRates finds no missing rate of a %s source with %s', (modality, units) => {
    expect(lacks(modality, units)).toEqual([]);
  });

  it.each<[Modality, string, Unit[]]>([
    ['text', 'text_input_token', ['text_output_token']],
    ['text', 'text_output_token cached_input_token', ['text_input_token']],
    ['text', 'text_input_token request', ['text_output_token']],
    ['text', 'character', ['text_input_token', 'text_output_token']],
    ['embedding', 'text_output_token', ['text_input_token']],
    ['tts', 'audio_output_token', ['character']],
    ['tts', 'audio_second', ['character']],
    ['stt', 'text_output_token', ['audio_second']],
    ['realtime', 'text_input_token text_output_token audio_input_token', ['audio_second']],
  ])('missingRates names the missing rates of a %s source with %s', (modality, units, missing) => {
    expect(lacks(modality, units)).toEqual(missing);
  });

  it('missingRates requires no rates on the free and byok rails, nor of a source that bills per call', () => {
    for (const modality of MODALITIES) {
      for (const rail of ['free', 'byok'] as const) {
        expect(missingRates(modality, { rail, rates: {} })).toEqual([]);
      }
      expect(lacks(modality, 'request')).toEqual([]);
      expect(missingRates(modality, { rail: 'aggregator', rates: {} })).not.toEqual([]);
    }
  });
});

describe('billedUnits', () => {
  it('billedUnits contains every unit of every way to bill, and the units contained in another unit', () => {
    expect([...billedUnits('text').units]).toEqual([
      'text_input_token',
      'text_output_token',
      'cached_input_token',
    ]);
    for (const modality of MODALITIES) {
      const { ways, units } = billedUnits(modality);
      expect(ways.flat().every((unit) => units.has(unit))).toBe(true);
      expect(units.has('request')).toBe(false);
    }
  });
});

describe('isByTheCall', () => {
  it('isByTheCall is true only when the call is the sole unit with a rate', () => {
    expect(isByTheCall({ request: '1' })).toBe(true);
    expect(isByTheCall({ request: '1', character: '1' })).toBe(false);
    expect(isByTheCall({})).toBe(false);
  });
});
