import { describe, expect, it } from 'vitest';
import { ObjectEnd } from '../../../../src/models/dialects/object-end.ts';

/** Whether a text is whole behind each of its characters, as they come one by one. */
function wholeAt(text: string): number[] {
  const end = new ObjectEnd();
  return [...text].flatMap((char, at) => {
    end.push(char);
    return end.isWhole ? [at] : [];
  });
}

describe('the end of an object in pieces', () => {
  it.each(['{}', ' \n{"a":{"b":"}"},"c":[{}]}', '{"\\"}":1}'])(
    'the JSON object reader finds the end of the object at the last character of %j',
    (text) => {
      expect(wholeAt(text)).toEqual([text.length - 1]);
      const end = new ObjectEnd();
      end.push(text);
      expect(end.isWhole).toBe(true);
    },
  );

  it.each(['[{"a":1},{}]', ' [{}]', '1{}', '"{}"', '}{}', 'null', ''])(
    'the JSON object reader finds no end of an object in %j',
    (text) => {
      expect(wholeAt(text)).toEqual([]);
      const end = new ObjectEnd();
      end.push(text);
      expect(end.isWhole).toBe(false);
    },
  );
});
