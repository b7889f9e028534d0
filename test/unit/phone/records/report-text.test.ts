import { describe, expect, it } from 'vitest';
import { isStorable } from '../../../../src/kernel/storable.ts';
import { PHONE_LIMITS } from '../../../../src/phone/limits.ts';
import type { StoredTurn } from '../../../../src/phone/records/call-summary.ts';
import { summaryText, transcriptText } from '../../../../src/phone/records/report-text.ts';

const CALL = {
  direction: 'inbound',
  from: '+14155550101',
  to: '+14155550199',
  durationSeconds: 10,
  endReason: 'call_ended',
} as const;

const said = (content: string, role: StoredTurn['role'] = 'user'): StoredTurn => ({
  role,
  content,
  heard: null,
  latency: null,
  at: new Date(0),
});

describe('a text of a report that is cut', () => {
  it('a report text that is cut ends with a whole character in the summary', () => {
    const long = `${'a'.repeat(199)}🔑 and more`;
    const text = summaryText(CALL, null, [said(long), said(long, 'assistant')]);
    expect(isStorable(text)).toBe(true);
    expect(text).toContain(`began with: "${'a'.repeat(199)}…"`);
    expect(text).toContain(`ended with: "${'a'.repeat(199)}…"`);
  });

  it('a report text that is cut ends with a whole character in the transcript', () => {
    const chars = PHONE_LIMITS.report.textChars - 'Caller: '.length - 1;
    const text = transcriptText([said(`${'a'.repeat(chars)}🔑`)]);
    expect(text).toBe(`Caller: ${'a'.repeat(chars)}…`);
  });
});
