import { expect, it } from 'vitest';
import { offeredTools } from '../../../../src/phone/tools/offered-tool.ts';
import type { ServiceTools } from '../../../../src/phone/tools/service-tools.ts';

const services: Pick<ServiceTools, 'offered'> = {
  offered: (name) =>
    name === 'recall' ? { description: 'Recalls.', parameters: { type: 'object' } } : undefined,
};

it('a model is offered the name, description and schema of a function, but not its address', () => {
  const tool = {
    type: 'function',
    name: 'book',
    description: 'Books.',
    parameters: { type: 'object' },
    url: 'https://shop.example/book',
  } as const;
  expect(offeredTools(services, [tool])).toEqual([
    { type: 'function', name: 'book', description: 'Books.', parameters: { type: 'object' } },
  ]);
});

it('a model is offered a service as its MCP tool describes it, and no service that this server does not have', () => {
  const tools = [
    { type: 'service', name: 'recall' },
    { type: 'service', name: 'estimate' },
  ] as const;
  expect(offeredTools(services, tools)).toEqual([
    {
      type: 'function',
      name: 'recall',
      description: 'Recalls.',
      parameters: { type: 'object' },
    },
  ]);
});
