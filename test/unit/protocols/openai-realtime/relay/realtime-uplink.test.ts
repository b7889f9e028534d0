import { describe, expect, it } from 'vitest';
import { judgePooledEvent } from '../../../../../src/protocols/openai-realtime/relay/realtime-uplink.ts';

const judge = (text: string) => {
  const judged = judgePooledEvent(Buffer.from(text));
  return 'problem' in judged ? judged.problem : Buffer.from(judged.bytes).toString();
};
const update = (session: object) => JSON.stringify({ type: 'session.update', session });
const SEARCH = { type: 'web_search' };

describe('judgePooledEvent', () => {
  it('judgePooledEvent refuses tools that the upstream runs, in the settings of a session and of a response', () => {
    const own = { type: 'function', name: 'look' };
    expect(judge(update({ tools: [own, SEARCH] }))).toMatchObject({
      code: 'unsupported_parameter',
      message:
        'The built-in tool "web_search" (session.tools[1]) runs at the provider, which bills each call: that has no price here. Leave it out, or store your own key at a provider that serves it with PUT /v1/developer/provider-keys/{provider}.',
      param: 'session.tools[1]',
    });
    const response = { tools: [{ type: 'x_search' }] };
    expect(
      judge(JSON.stringify({ type: 'response.create', event_id: 'e', response })),
    ).toMatchObject({ param: 'response.tools[0]', eventId: 'e' });
  });

  it('judgePooledEvent refuses a prompt that is kept in the account of this server', () => {
    expect(judge(update({ prompt: { id: 'pmpt_1' } }))).toMatchObject({
      message:
        'session.prompt names a prompt of the account that pays. Leave it out, or store your own key at a provider that serves it with PUT /v1/developer/provider-keys/{provider}.',
      param: 'session.prompt',
    });
  });

  it('judgePooledEvent refuses tools of the upstream behind escapes, blanks and duplicate members', () => {
    const attacks = [
      update({ tools: [SEARCH] }).replace('tools', '\\u0074ools'),
      ` ${update({ tools: [SEARCH] })}`.replace('session.update', 'session\\u002eupdate'),
      update({ tools: [SEARCH] }).replace(
        '{',
        '{"type":"input_audio_buffer.append","audio":"AAAA",',
      ),
    ];
    expect(attacks.map(judge)).toEqual(
      attacks.map(() => expect.objectContaining({ param: 'session.tools[0]' })),
    );
  });

  it('judgePooledEvent rewrites an event, so that the upstream cannot read another member than was judged', () => {
    const twice = '{"session":{"tools":[{"type":"web_search"}]},"session":{"tools":[]}}';
    expect(judge(twice)).toBe('{"session":{"tools":[]}}');
  });

  it.for([
    update({ tools: [{ type: 'function', name: 'look' }, { type: 'mcp' }], prompt: null }),
    '{"type":"conversation.item.create","item":{"text":"your tools and my prompt"}}',
    '{"type":"input_audio_buffer.append","audio":"toolspro"}',
    'no JSON',
  ])('judgePooledEvent passes %s', (text) => {
    expect(judge(text)).toBe(text);
  });

  it('judgePooledEvent refuses invalid JSON that names tools', () => {
    expect(judge('{"tools":')).toMatchObject({ code: 'invalid_json' });
  });
});
