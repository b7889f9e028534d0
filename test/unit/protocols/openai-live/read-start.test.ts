import { describe, expect, it } from 'vitest';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { LIVE_LIMITS } from '../../../../src/protocols/openai-live/limits.ts';
import { readStart } from '../../../../src/protocols/openai-live/read-start.ts';
import { REALTIME_LIMITS } from '../../../../src/protocols/openai-realtime/limits.ts';

const read = (session: unknown) => readStart(session, null);
const problem = (more: object) => {
  const result = read({ model: 'm', ...more });
  return 'problem' in result ? [result.problem.code, result.problem.param] : undefined;
};
const config = (more: object) => {
  const result = read({ model: 'm', ...more });
  return 'config' in result ? result.config : undefined;
};

describe('readStart', () => {
  it('readStart uses one audio format both ways, 24 kHz PCM by default', () => {
    const formats = [
      [undefined, { encoding: 'linear16', sampleRateHz: 24_000 }],
      [
        { type: 'audio/pcm', rate: 16_000 },
        { encoding: 'linear16', sampleRateHz: 16_000 },
      ],
      [
        { type: 'audio/pcmu', rate: 8_000 },
        { encoding: 'mulaw', sampleRateHz: 8_000 },
      ],
      [{ type: 'audio/pcma' }, { encoding: 'alaw', sampleRateHz: 8_000 }],
    ] as const;
    for (const [format, wanted] of formats) {
      const audio = format && { audio: { format } };
      expect(config({ ...audio })).toMatchObject({ inputFormat: wanted, outputFormat: wanted });
    }
    const wrong = [
      { type: 'audio/pcm', rate: 44_100 },
      { type: 'audio/pcmu', rate: 16_000 },
      { type: 'audio/opus' },
    ];
    for (const format of wrong) expect(problem({ audio: { format } })?.[0]).toBe('invalid_value');
  });

  it('readStart gives the model of the session the tools of its backend, and the instructions of both', () => {
    const tool = { type: 'function', name: 'weather' };
    const responses = {
      model: 'm',
      instructions: 'Use tools.',
      tools: [tool],
      tool_choice: 'required',
    };
    expect(
      config({
        instructions: 'Be brief.',
        delegation: { type: 'responses', responses: { ...responses, max_output_tokens: 64 } },
      }),
    ).toMatchObject({
      instructions: 'Be brief.\n\nUse tools.',
      maxOutputTokens: 64,
      toolChoice: 'required',
      tools: [{ name: 'weather', description: '', parameters: { type: 'object' } }],
    });
  });

  it('readStart gives the model a delegation tool when the application does the work', () => {
    expect(config({})?.tools.map(({ name }) => name)).toEqual(['delegate_task']);
    expect(config({ delegation: null })?.tools).toHaveLength(1);
  });

  it('readStart refuses unknown members and unsupported values by their path', () => {
    const message = { role: 'user', content: [{ text: 'hi' }] };
    expect(problem({ speed: 2 })).toEqual(['unknown_parameter', 'session.speed']);
    expect(problem({ audio: { input: {} } })).toEqual(['unknown_parameter', 'session.audio.input']);
    expect(problem({ store: true })).toEqual(['invalid_value', 'session.store']);
    expect(problem({ triggers: [{}] })).toEqual(['invalid_value', 'session.triggers']);
    expect(problem({ delegation: { type: 'decisions' } })).toEqual([
      'invalid_value',
      'session.delegation.type',
    ]);
    const responses = { model: 'm', tools: [{ type: 'web_search' }] };
    expect(problem({ delegation: { type: 'responses', responses } })).toEqual([
      'invalid_value',
      'session.delegation.responses.tools.0.type',
    ]);
    expect(problem({ input: [{ ...message, content: [] }] })?.[1]).toMatch(/^session\.input\.0/);
  });

  it('readStart bounds the history, the instructions and the tools that a session begins with', () => {
    const of = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] });
    const many = Array.from({ length: LIVE_LIMITS.items + 1 }, () => of('x'));
    const long = Array.from({ length: 4 }, () => of('x'.repeat(MODEL_LIMITS.link.itemChars)));
    const tool = {
      type: 'function',
      name: 'a',
      description: 'x'.repeat(REALTIME_LIMITS.toolsChars),
    };
    const bounded = [
      { input: many },
      { input: long },
      { instructions: 'x'.repeat(REALTIME_LIMITS.instructionsChars + 1) },
      { delegation: { type: 'responses', responses: { model: 'm', tools: [tool] } } },
      { model: 'x'.repeat(MODEL_LIMITS.idChars + 1) },
    ];
    for (const more of bounded) expect(problem(more)?.[0]).toBe('invalid_value');
    expect(problem({ input: many.slice(1) })).toBeUndefined();
  });
});
