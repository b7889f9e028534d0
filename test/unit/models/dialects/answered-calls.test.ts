import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AnsweredCalls, type HeardCall } from '../../../../src/models/dialects/answered-calls.ts';
import { readChat } from '../../../../src/models/dialects/chat-reader.ts';
import { MessageWriter } from '../../../../src/models/dialects/message-writer.ts';
import { WrittenStream } from '../../../../src/models/dialects/written-stream.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { TranslatedResponse } from '../../../../src/models/responses/translate/translated-response.ts';
import { ChatPieces } from '../../../../src/voice/cascade/chat-pieces.ts';
import { BARE_HEAD, chatStreamOf } from '../../../support/chat-answer.ts';
import { deltaEvent, finishEvent } from '../../../support/stream-upstream.ts';

type Told = { readonly id: string; readonly name: string; text: string };

/** The calls of an answer whose chunks have these lists of deltas. */
function heard(lists: readonly unknown[], waitsForSignature = false): Told[] {
  const calls = new AnsweredCalls({ waitsForSignature });
  const told = new Map<object, Told>();
  const note = (pieces: Iterable<HeardCall>) => {
    for (const { call, text } of pieces) {
      const known = told.get(call) ?? { id: call.id, name: call.name, text: '' };
      known.text += text;
      told.set(call, known);
    }
  };
  for (const list of lists) note(calls.hear(list));
  note(calls.release());
  return [...told.values()];
}

const call = (name: string | undefined, text: string, more: object = {}) => ({
  ...more,
  function: { ...(name !== undefined && { name }), arguments: text },
});
const A = { id: '', name: 'a', text: '{"x":1}' };
const B = { id: '', name: 'b', text: '{"y":2}' };

describe('the calls of an answer', () => {
  it.each([
    ['numbered alike and without ids', { index: 0, id: '' }],
    ['neither numbered nor with ids', {}],
    ['numbered', undefined],
  ])('two tool calls that are %s are read as two', (_, more) => {
    const lists = [
      [call('a', A.text, more ?? { index: 0 })],
      [call('b', B.text, more ?? { index: 1 })],
    ];
    expect(heard(lists)).toEqual([A, B]);
  });

  it('two tool calls of one function that arrive whole one after the other are read as two', () => {
    expect(heard([[call('a', '{"x":1}')], [call('a', '{"y":2}')]])).toMatchObject([
      { text: '{"x":1}' },
      { text: '{"y":2}' },
    ]);
  });

  it('two tool calls are told apart by their names when the first has no arguments', () => {
    for (const more of [{ index: 0 }, {}]) {
      expect(heard([[call('a', '', more)], [call('b', B.text, more)]])).toEqual([
        { ...A, text: '' },
        B,
      ]);
    }
  });

  it('two tool calls of one function are told apart when the second begins with its name alone', () => {
    const more = { index: 0 };
    const lists = [
      [call('a', '{}', more)],
      [call('a', '', more)],
      [call(undefined, '{"z":3}', more)],
    ];
    expect(heard(lists).map(({ name, text }) => name + text)).toEqual(['a{}', 'a{"z":3}']);
  });

  it('a tool call whose id arrives after its first piece is read as one call', () => {
    for (const more of [{ index: 0 }, {}]) {
      const lists = [[call('a', '{"x"', more)], [call(undefined, ':1}', { ...more, id: 'late' })]];
      expect(heard(lists)).toEqual([A]);
    }
  });

  it('a tool call whose name arrives after its id is read as one call', () => {
    expect(heard([[{ id: 'i' }], [call('a', A.text)]])).toEqual([{ ...A, id: 'i' }]);
    expect(heard([[{ id: 'i', index: 0 }]])).toEqual([]);
  });

  it('a tool call whose pieces all repeat the id and the name is read as one call', () => {
    for (const more of [{ index: 0, id: 'i' }, { id: 'i' }, { index: 0 }]) {
      const lists = ['{"x"', ':1}', ''].map((text) => [call('a', text, more)]);
      expect(heard(lists)).toMatchObject([{ name: 'a', text: A.text }]);
    }
  });

  it('tool calls without numbers keep the order of their list, wherever their arguments are cut', () => {
    const lists = [
      [call('a', '{"x"'), call('b', '{"y"')],
      [call(undefined, ':1}'), call(undefined, ':2}')],
    ];
    expect(heard(lists)).toEqual([A, B]);
    const again = lists.map((list) => list.map((piece, at) => ({ ...piece, id: `${at}` })));
    expect(heard(again.map((list) => list.toReversed()))).toMatchObject([
      { name: 'b' },
      { name: 'a' },
    ]);
  });

  it('tool calls beyond the limit per answer are refused', () => {
    const many = Array.from({ length: MODEL_LIMITS.chat.toolCalls }, (_, index) =>
      call('a', '{}', { index }),
    );
    expect(heard([many])).toHaveLength(many.length);
    expect(() => heard([[...many, call('a', '{}', { index: many.length })]])).toThrow('tool calls');
  });

  it('tool calls wait for the signature of the first call, which may arrive after it or before it', () => {
    const extra_content = { google: { thought_signature: 'sig' } };
    const calls = new AnsweredCalls({ waitsForSignature: true });
    expect([...calls.hear([call('a', '{"x"', { id: 'i' })])]).toEqual([]);
    expect([...calls.hear([call(undefined, ':1}')])]).toEqual([]);
    expect([...calls.hear([{ extra_content }])]).toMatchObject([
      { call: { id: 'i', name: 'a', signature: 'sig' }, text: A.text },
    ]);
    expect(calls.release()).toEqual([]);
    const signedFirst = new AnsweredCalls({ waitsForSignature: true });
    expect([...signedFirst.hear([{ extra_content }])]).toEqual([]);
    expect([...signedFirst.hear([call('a', '{}')])]).toMatchObject([
      { call: { signature: 'sig' } },
    ]);
  });

  it('tool calls that wait for a signature are passed on when another call begins, and are held up to a limit', () => {
    const calls = new AnsweredCalls({ waitsForSignature: true });
    expect([...calls.hear([call('a', '{}', { index: 0 })])]).toEqual([]);
    expect([...calls.hear([call('b', '{}', { index: 1 })])]).toMatchObject([
      { call: { name: 'a' }, text: '{}' },
      { call: { name: 'b' }, text: '{}' },
    ]);
    const long = call('a', 'x'.repeat(MODEL_LIMITS.chat.heldCallChars + 1));
    expect(() => heard([[long]], true)).toThrow('held');
  });
});

type Style = {
  readonly numbers: 'own' | 'alike' | 'none';
  readonly ids: 'first' | 'every' | 'late' | 'none';
  readonly repeatsNames: boolean;
};
type Given = { readonly name: string; readonly text: string; readonly cuts: readonly number[] };

const given = fc.record<Given>({
  name: fc.constantFrom('a', 'b', 'c'),
  text: fc
    .option(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), { nil: '' })
    .map((value) => (value === '' ? '' : JSON.stringify(value))),
  cuts: fc.array(fc.nat(80), { maxLength: 4 }),
});
const style = fc.record<Style>({
  numbers: fc.constantFrom('own', 'alike', 'none'),
  ids: fc.constantFrom('first', 'every', 'late', 'none'),
  repeatsNames: fc.boolean(),
});

/** The deltas of each call, in the style of an upstream. */
const deltasOf = (calls: readonly Given[], { ids, numbers, repeatsNames }: Style): object[][] =>
  calls.map(({ cuts, name, text }, at) => {
    const ends = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].toSorted(
      (a, b) => a - b,
    );
    return ends.slice(1).map((end, part) => {
      const hasId =
        ids === 'every' || (ids === 'first' && part === 0) || (ids === 'late' && part > 0);
      const index = numbers === 'none' ? {} : { index: numbers === 'own' ? at : 0 };
      const named = part === 0 || repeatsNames ? name : undefined;
      return call(named, text.slice(ends[part], end), {
        ...index,
        ...(hasId && { id: `id${at}` }),
      });
    });
  });

/** Nothing but their names parts two calls of one function, one of which has no arguments. */
const isAmbiguous = (calls: readonly Given[], { ids, numbers }: Style): boolean =>
  numbers !== 'own' &&
  (ids === 'none' || ids === 'late') &&
  calls.some(({ name, text }, at) => {
    const next = calls[at + 1];
    return next?.name === name && (text === '' || next.text === '');
  });

/** Deltas of different calls between each other, where each tells which call it is of. */
function mixed(
  deltas: readonly object[][],
  { ids, numbers }: Style,
  turns: readonly number[],
): object[] {
  const left = deltas.map((pieces) => [...pieces]);
  if (numbers !== 'own' && ids !== 'every') return left.flat();
  const heads = left.flatMap((pieces) => pieces.splice(0, 1));
  const order = turns.flatMap((turn) => left[turn % left.length]?.splice(0, 1) ?? []);
  return [...heads, ...order, ...left.flat()];
}

async function textOf(stream: { next(): Promise<Uint8Array | undefined> }): Promise<string> {
  let text = '';
  for (let piece = await stream.next(); piece; piece = await stream.next()) {
    text += Buffer.from(piece).toString();
  }
  return text;
}

async function inMessages(events: readonly string[]): Promise<Told[]> {
  const tokensOf = () => ({ inputTokens: 1, cachedTokens: 0, outputTokens: 1 });
  const reading = { spareId: 'spare', wantsThoughts: false };
  const writer = new MessageWriter(reading, { promptTokens: 1, tokensOf });
  const stream = new WrittenStream(readChat(chatStreamOf(events)), writer);
  const calls: Told[] = [];
  for (const [, json = ''] of (await textOf(stream)).matchAll(/^data: (.*)$/gm)) {
    const { content_block: block, delta } = JSON.parse(json);
    if (block?.type === 'tool_use') calls.push({ id: block.id, name: block.name, text: '' });
    const last = calls.at(-1);
    if (last !== undefined) last.text += delta?.partial_json ?? '';
  }
  return calls.map((told) => ({ ...told, text: told.text.trim() || '{}' }));
}

async function inResponses(events: readonly string[]): Promise<Told[]> {
  let made = 0;
  const stream = new TranslatedResponse(readChat(chatStreamOf(events)), {
    head: BARE_HEAD,
    model: 'm',
    names: new Map(),
    newItemId: (prefix) => `${prefix}${++made}`,
    estimate: () => ({ inputTokens: 1, cachedTokens: 0, outputTokens: 1 }),
  });
  const deltas = new Map<string, string>();
  for (const [, json = ''] of (await textOf(stream)).matchAll(/^data: (.*)$/gm)) {
    const { delta, item_id: id, type } = JSON.parse(json);
    if (!type.endsWith('arguments.delta')) continue;
    deltas.set(id, (deltas.get(id) ?? '') + delta);
  }
  const { output } = stream.response() as { output: Record<string, string>[] };
  return output.flatMap(({ arguments: text = '', call_id, id, name = '', type }) => {
    if (type !== 'function_call') return [];
    expect(deltas.get(id ?? '')).toBe(text);
    return [{ id: call_id ?? '', name, text }];
  });
}

function inVoice(events: readonly string[]): object[] {
  const pieces = new ChatPieces();
  pieces.push(Buffer.from(events.join('')));
  return pieces.end();
}

it('tool calls read the same in every dialect, however an upstream cuts them into deltas', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(given, { minLength: 1, maxLength: 4 }),
      style,
      fc.array(fc.nat(30), { maxLength: 12 }),
      async (calls, how, turns) => {
        fc.pre(!isAmbiguous(calls, how));
        const deltas = mixed(deltasOf(calls, how), how, turns);
        const events = [
          ...deltas.map((delta) => deltaEvent({ tool_calls: [delta] })),
          finishEvent('tool_calls'),
        ];
        const hasIds = how.ids === 'first' || how.ids === 'every';
        const expected = calls.map(({ name, text }, at) => ({
          name,
          text: text || '{}',
          id: hasIds ? `id${at}` : expect.any(String),
        }));
        expect(await inMessages(events)).toEqual(expected);
        expect(await inResponses(events)).toEqual(expected);
        expect(inVoice(events)).toMatchObject(
          expected.map(({ name, text }) => ({ name, argumentsJson: text })),
        );
      },
    ),
    { numRuns: 300 },
  );
});
