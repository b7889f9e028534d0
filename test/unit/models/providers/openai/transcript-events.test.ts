import { expect, it } from 'vitest';
import {
  deltaEvent,
  doneEvent,
} from '../../../../../src/models/providers/openai/transcript-events.ts';

it('transcript events are written in OpenAI’s format, each with its blank line', () => {
  expect(String(deltaEvent('a\nb'))).toBe(
    'data: {"type":"transcript.text.delta","delta":"a\\nb"}\n\n',
  );
  expect(String(doneEvent('ab', { seconds: 1 }))).toBe(
    'data: {"type":"transcript.text.done","text":"ab","usage":{"seconds":1}}\n\n',
  );
  expect(String(doneEvent('', undefined))).not.toContain('usage');
});
