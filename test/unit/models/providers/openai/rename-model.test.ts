import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renameModel } from '../../../../../src/models/providers/openai/rename-model.ts';
import { slowness, threadCpuMs } from '../../../../support/thread-cpu.ts';

const of = (json: string, depth?: number) =>
  renameModel(Buffer.from(json), 'acme/fast-1', depth).toString();

describe('the name of the model in an answer', () => {
  it('renaming the model in a response replaces the name and nothing else', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), (members, told) => {
        const { model: _, ...rest } = members;
        const json = JSON.stringify({ ...rest, model: told, later: { model: 'deep' } });
        expect(JSON.parse(of(json))).toEqual({
          ...(JSON.parse(json) as object),
          model: 'acme/fast-1',
        });
      }),
    );
  });

  it.each([
    ['an event', 'data: {"id":"1","model" : "gpt-x","choices":[]}\n\n', '"acme/fast-1"'],
    ['behind an object with the same key', '{"a":{"model":"x"},"model":"y"}', '{"a":{"model":"x"}'],
    ['escapes', '{"a":"\\"model\\":\\"x\\"","model":"y\\"z"}', '"model":"acme/fast-1"}'],
  ])('renaming the model finds the name in %s', (_what, json, part) => {
    expect(of(json)).toContain(part);
    expect(of(json)).toContain('acme/fast-1');
  });

  it.each([
    '{"a":1}',
    '{"model":null}',
    '{"model":{"model":"x"}}',
    '["model","x"]',
    'data: [DONE]\n\n',
    '{"model":',
    '{"text":"\\',
  ])('renaming the model changes nothing in a body without a model name: %s', (json) => {
    expect(of(json)).toBe(json);
  });

  it('renaming the model finds the name in the rest of an object that was cut inside a list', () => {
    expect(of('],"model":"x","usage":{}}', 2)).toBe('],"model":"acme/fast-1","usage":{}}');
  });

  it('renaming the model takes under 50 ms for eight megabytes', () => {
    const json = Buffer.from(JSON.stringify({ text: 'x'.repeat(8e6), model: 'y' }));
    const startedMs = threadCpuMs();
    for (let i = 0; i < 3; i++) renameModel(json, 'acme/fast-1');
    expect((threadCpuMs() - startedMs) / 3).toBeLessThan(50 * slowness());
  });
});
