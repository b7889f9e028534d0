import { expect, it } from 'vitest';
import {
  deltaEvent,
  doneEvent,
} from '../../../../../src/models/providers/openai/transcript-events.ts';

it('writes events that a reader of the dialect knows, each with its blank line', () => {
  expect(String(deltaEvent('a\nb'))).toBe(
    'data: {"type":"transcript.text.delta","delta":"a\\nb"}\n\n',
  );
  expect(String(doneEvent('ab', { seconds: 1 }))).toBe(
    'data: {"type":"transcript.text.done","text":"ab","usage":{"seconds":1}}\n\n',
  );
  expect(String(doneEvent('', undefined))).not.toContain('usage');
});
