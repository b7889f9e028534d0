import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeVector,
  encodingOf,
  recodeVector,
} from '../../../../../src/models/providers/local/vector-encoding.ts';

describe('the encodings of a vector', () => {
  it('are little-endian 32-bit floats in base64', () => {
    expect(encodeVector([1, -0.5, 0.25])).toBe('AACAPwAAAL8AAIA+');
    expect(encodeVector(Float32Array.from([1]))).toBe('AACAPw==');
  });

  it('lose nothing of 32-bit floats on the way there and back', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.array(float, { minLength: 1, maxLength: 50 }), (vector) => {
        const text = recodeVector(vector, 'base64');
        expect(recodeVector(text, 'float')).toEqual(vector);
      }),
    );
  });

  it('leave a vector alone that is written as it was asked for', () => {
    const vector = [0.1];
    expect(recodeVector(vector, 'float')).toBe(vector);
    expect(recodeVector('AACAPw==', 'base64')).toBe('AACAPw==');
  });

  it('take nothing for a vector that is none', () => {
    for (const none of [undefined, null, 7, {}, [1, 'a'], [null]]) {
      expect(recodeVector(none, 'base64')).toBeUndefined();
    }
    // No whole number of floats, no float at all, and one that JSON could not write.
    for (const none of ['AACAPwA=', '', 'AADAfw==']) {
      expect(recodeVector(none, 'float')).toBeUndefined();
    }
  });

  it('are told apart by what is written', () => {
    expect(['AA==', [1], 7, undefined].map(encodingOf)).toEqual([
      'base64',
      'float',
      undefined,
      undefined,
    ]);
  });
});
