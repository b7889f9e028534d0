import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  encodeVector,
  encodingOf,
  recodeVector,
} from '../../../../../src/models/providers/local/vector-encoding.ts';

describe('the encodings of a vector', () => {
  it('a base64 vector is its little-endian 32-bit floats', () => {
    expect(encodeVector([1, -0.5, 0.25])).toBe('AACAPwAAAL8AAIA+');
    expect(encodeVector(Float32Array.from([1]))).toBe('AACAPw==');
  });

  it('32-bit floats survive base64 and back without loss', () => {
    const float = fc.float({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(fc.array(float, { minLength: 1, maxLength: 50 }), (vector) => {
        const text = recodeVector(vector, 'base64');
        expect(recodeVector(text, 'float')).toEqual(vector);
      }),
    );
  });

  it('a vector in the requested encoding is returned unchanged', () => {
    const vector = [0.1];
    expect(recodeVector(vector, 'float')).toBe(vector);
    expect(recodeVector('AACAPw==', 'base64')).toBe('AACAPw==');
  });

  it('a value that is no vector is not recoded', () => {
    for (const none of [undefined, null, 7, {}, [1, 'a'], [null]]) {
      expect(recodeVector(none, 'base64')).toBeUndefined();
    }
    // No whole number of floats, no float at all, and one that JSON could not write.
    for (const none of ['AACAPwA=', '', 'AADAfw==']) {
      expect(recodeVector(none, 'float')).toBeUndefined();
    }
  });

  it('a vector’s encoding is recognized from its value', () => {
    expect(['AA==', [1], 7, undefined].map(encodingOf)).toEqual([
      'base64',
      'float',
      undefined,
      undefined,
    ]);
  });
});
