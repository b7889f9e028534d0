import type { ResponseCreateParams } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { BUILTIN_PROVIDERS } from '../../../../../src/models/catalogue/builtin/providers.ts';
import { CHAT_MEMBERS } from '../../../../../src/models/providers/chat-members.ts';
import type { ResponsesRequest } from '../../../../../src/models/responses/responses-request.ts';
import { Misfits } from '../../../../../src/models/responses/translate/misfit.ts';
import {
  noteMembers,
  withTakenMembers,
} from '../../../../../src/models/responses/translate/request-members.ts';
import { translateRequest } from '../../../../../src/models/responses/translate/translate-request.ts';

/** Every member that the client of OpenAI knows, with a value that asks for something, and whether chat can do without. */
const MEMBERS: Readonly<
  Record<keyof ResponseCreateParams, readonly ['served' | 'left out' | 'refused', unknown]>
> = {
  background: ['served', false],
  context_management: ['refused', [{ type: 'compaction' }]],
  conversation: ['served', 'conv_1'],
  include: ['served', ['reasoning.encrypted_content']],
  input: ['served', 'x'],
  instructions: ['served', 'x'],
  max_output_tokens: ['served', 9],
  metadata: ['left out', { a: 'b' }],
  model: ['served', 'm'],
  moderation: ['refused', { model: 'omni-moderation-latest' }],
  parallel_tool_calls: ['served', false],
  previous_response_id: ['served', 'resp_1'],
  prompt: ['refused', { id: 'pmpt_1' }],
  prompt_cache_key: ['served', 'x'],
  prompt_cache_options: ['left out', { mode: 'explicit' }],
  prompt_cache_retention: ['left out', '24h'],
  reasoning: ['served', { effort: 'low', summary: 'auto', context: 'all_turns' }],
  safety_identifier: ['served', 'x'],
  service_tier: ['served', 'flex'],
  store: ['served', true],
  stream: ['served', true],
  stream_options: ['left out', { include_obfuscation: false }],
  temperature: ['served', 1],
  text: ['served', { verbosity: 'low' }],
  tool_choice: ['served', 'auto'],
  tools: ['served', []],
  top_logprobs: ['served', 1],
  top_p: ['served', 1],
  truncation: ['refused', 'auto'],
  user: ['served', 'x'],
};

it.each(Object.entries(MEMBERS))(
  'the Responses member %s is refused only when chat cannot keep what the member promises',
  (name, how) => {
    const [fate, value] = how;
    const noted = (member: unknown) => {
      const misfits = new Misfits();
      noteMembers({ model: 'm', [name]: member } as ResponsesRequest, misfits);
      return misfits.first?.param;
    };
    expect(noted(value)).toBe(fate === 'refused' ? name : undefined);
    expect(noted(null)).toBeUndefined();
  },
);

it('the Responses members client_metadata and max_tool_calls are dropped in chat', () => {
  const misfits = new Misfits();
  noteMembers({ model: 'm', client_metadata: { a: 'b' }, max_tool_calls: 3 }, misfits);
  expect(misfits.first).toBeUndefined();
});

describe('the members of a chat that only some vendors take', () => {
  const given = Object.fromEntries(CHAT_MEMBERS.map((member) => [member, 'x']));
  const request = { model: 'm', ...given, text: { verbosity: 'low' } } as ResponsesRequest;
  const { chat, weighed } = translateRequest(request, [{ role: 'user', content: 'x' }]);
  const sent = (taken?: Parameters<typeof withTakenMembers>[1]) =>
    Object.keys(JSON.parse(JSON.stringify(withTakenMembers(chat, taken))));

  it('the optional chat members are sent only to providers whose catalogue entry names them', () => {
    expect(sent()).toEqual(['model', 'messages']);
    expect(sent(['user'])).toEqual(['model', 'messages', 'user']);
    expect(sent(CHAT_MEMBERS).sort()).toEqual(['messages', 'model', ...CHAT_MEMBERS].sort());
  });

  it('the optional chat members stay in the request that is priced, and a chat that loses none is not copied', () => {
    withTakenMembers(chat);
    expect(weighed.prompt_cache_key).toBe('x');
    expect(withTakenMembers(chat, CHAT_MEMBERS)).toBe(chat);
    const { chat: bare } = translateRequest({ model: 'm' }, [{ role: 'user', content: 'x' }]);
    expect(withTakenMembers(bare)).toBe(bare);
  });

  it('the catalogue names no optional chat members for Google, and no prompt_cache_key for Groq', () => {
    expect(BUILTIN_PROVIDERS.google?.chatMembers).toBeUndefined();
    expect(BUILTIN_PROVIDERS.groq?.chatMembers).not.toContain('prompt_cache_key');
  });
});
