import { describe, expect, it } from 'vitest';
import { openSession } from '../../../support/realtime-session.ts';
import { settleAll } from '../../../support/voice-world.ts';

const TOOLS = ['weather', 'time'].map((name) => ({ type: 'function', name, parameters: {} }));

async function ask(toolChoice: unknown) {
  const { engines, send, socket } = await openSession();
  send({ type: 'session.update', session: { tools: TOOLS } });
  send({ type: 'response.create', response: { tool_choice: toolChoice } });
  await settleAll();
  const [item] = socket.of('response.output_item.done').map((event) => event.item);
  const offered = engines.guide.asked[0]?.tools?.map(({ name }) => name);
  return { offered, item };
}

describe('tool_choice', () => {
  it('tool_choice none offers no tool, and auto leaves the choice to the model', async () => {
    expect(await ask('none')).toMatchObject({ offered: [], item: { type: 'message' } });
    expect(await ask('auto')).toMatchObject({
      offered: ['weather', 'time'],
      item: { type: 'message' },
    });
  });

  it('tool_choice calls the function that is named, and some function when one is required', async () => {
    const call = { type: 'function_call', status: 'completed', arguments: '{}' };
    expect(await ask({ type: 'function', name: 'time' })).toMatchObject({
      offered: ['time'],
      item: { ...call, name: 'time' },
    });
    expect(await ask('required')).toMatchObject({ item: { ...call, name: 'weather' } });
  });

  it('tool_choice requires no call of a tool that does not exist', async () => {
    expect(await ask({ type: 'function', name: 'tide' })).toMatchObject({
      offered: [],
      item: { type: 'message' },
    });
  });
});
