import { expect, it } from 'vitest';
import { PLAIN_DIALECT } from '../../../../src/protocols/transcript-events/plain-dialect.ts';

it('the plain dialect has two messages: transcripts, and the error of an ending', () => {
  const sent: unknown[] = [];
  const writer = PLAIN_DIALECT.writer((message) => sent.push(message));
  const at = { startMs: 0, endMs: 900 };
  writer.began(0);
  writer.took(new Uint8Array(2), 900);
  writer.segment({ text: 'one', isFinal: false, ...at });
  const counted = {
    heardMs: 900,
    latencyMs: 520,
    silentMs: 520,
    asked: false,
    isCut: false,
    failed: false,
  };
  writer.heard({ text: 'one two', tail: 'two', ...at, ...counted });
  writer.heard({ text: 'three', tail: 'three', ...at, ...counted, isCut: true });
  writer.nothingLeft(900);
  writer.misunderstood('what?');
  writer.ended({ code: 1000, reason: 'done' }, { seconds: 1 });
  const error = { code: 'insufficient_balance', message: 'No more.' };
  writer.ended({ code: 1008, reason: 'insufficient_balance', error }, { seconds: 1 });
  expect(sent).toEqual([
    { type: 'transcript', text: 'one', is_final: false, speech_final: false },
    { type: 'transcript', text: 'two', is_final: true, speech_final: true, latency_ms: 520 },
    { type: 'transcript', text: 'three', is_final: true, speech_final: false, latency_ms: 520 },
    { type: 'error', ...error },
  ]);
});
