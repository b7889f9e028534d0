import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import { readTools } from '../../../../src/phone/tools/agent-tools.ts';
import { createDestinationGuard } from '../../../../src/platform/egress/destination-guard.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const guard = createDestinationGuard({
  resolve: async (host) => [host === 'inside.example' ? '10.0.0.1' : '93.184.216.34'],
  clock: new ManualClock(),
  allowLocalhost: false,
  domainAllowlist: [],
  needsTls: true,
});
const BOOK = {
  type: 'function',
  name: 'book_table',
  description: 'Books a table.',
  parameters: { type: 'object', properties: { people: { type: 'integer' } } },
  url: 'https://shop.example/book',
};

async function refusalOf(tools: unknown): Promise<string> {
  const read = readTools({ guard }, tools);
  const error = await read.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw new Error('the tools are refused');
  return `${error.error}: ${String(error.fields.detail ?? error.fields.message)}`;
}

describe('readTools', () => {
  it('readTools reads functions and services, and clears the tools on an empty list', async () => {
    const tools = [BOOK, { type: 'service', name: 'recall' }];
    expect(await readTools({ guard }, tools)).toEqual(tools);
    expect(await readTools({ guard }, [])).toEqual([]);
    expect(await readTools({ guard }, null)).toEqual([]);
  });

  it.each([
    [{ ...BOOK, name: 'book table' }, /^invalid_voice: .*tools\[0\]\.name/],
    [{ ...BOOK, name: 'end_call' }, /^invalid_voice: .*every call has/],
    [{ ...BOOK, parameters: { type: 'string' } }, /^invalid_voice: .*parameters/],
    [
      { ...BOOK, parameters: { type: 'object', description: 'x'.repeat(17_000) } },
      /^invalid_voice: .*16384/,
    ],
    [{ ...BOOK, timeoutMs: 60_000 }, /^invalid_voice: .*timeoutMs/],
    [{ ...BOOK, secret: 'x' }, /^invalid_voice: /],
    [{ ...BOOK, url: 'http://shop.example/book' }, /^invalid_webhook_url: /],
    [{ ...BOOK, url: 'wss://shop.example/book' }, /^invalid_webhook_url: .*https/],
    [{ ...BOOK, url: 'https://inside.example/book' }, /^invalid_webhook_url: /],
    [{ ...BOOK, url: 'https://127.0.0.1/book' }, /^invalid_webhook_url: /],
    [{ type: 'service', name: 'rob_bank' }, /^invalid_voice: /],
  ])('readTools refuses a tool that cannot be called or offered (%#)', async (tool, error) => {
    expect(await refusalOf([tool])).toMatch(error);
  });

  it('readTools normalizes the hosts of call_vendor as URLs do, and reads its limit', async () => {
    const vendor = { type: 'service', name: 'call_vendor', maxCostRaw: '50000' };
    const hosts = ['API.Example.com', 'bücher.example', '127.0.0.1'];
    expect(await readTools({ guard }, [{ ...vendor, hosts }])).toEqual([
      { ...vendor, hosts: ['api.example.com', 'xn--bcher-kva.example', '127.0.0.1'] },
    ]);
  });

  it.each([
    [{ hosts: ['api.example.com'] }, /maxCostRaw/],
    [{ hosts: ['api.example.com'], maxCostRaw: '0' }, /maxCostRaw.*above 0/],
    [{ hosts: ['api.example.com'], maxCostRaw: '1.5' }, /maxCostRaw/],
    [{ hosts: ['api.example.com'], maxCostRaw: 5 }, /maxCostRaw/],
    [{ maxCostRaw: '5' }, /hosts/],
    [{ hosts: [], maxCostRaw: '5' }, /hosts/],
    [{ hosts: Array.from({ length: 21 }, (_, i) => `h${i}.example`), maxCostRaw: '5' }, /hosts/],
    [{ hosts: ['a.example/path'], maxCostRaw: '5' }, /name of a host/],
    [{ hosts: ['a.example:8443'], maxCostRaw: '5' }, /name of a host/],
    [{ hosts: ['user@a.example'], maxCostRaw: '5' }, /name of a host/],
    [{ hosts: ['*.example'], maxCostRaw: '5' }, /name of a host/],
    [{ hosts: [''], maxCostRaw: '5' }, /name of a host/],
    [{ hosts: [`${'a'.repeat(260)}.example`], maxCostRaw: '5' }, /hosts/],
  ])(
    'readTools refuses a call_vendor without bounded hosts and a limit (%#)',
    async (members, error) => {
      const vendor = { type: 'service', name: 'call_vendor', ...members };
      expect(await refusalOf([vendor])).toMatch(error);
    },
  );

  it('readTools refuses duplicate names, and more tools than the limit', async () => {
    expect(await refusalOf([BOOK, BOOK])).toMatch(/different names/);
    const many = Array.from({ length: 33 }, (_, i) => ({ ...BOOK, name: `tool_${i}` }));
    expect(await refusalOf(many)).toMatch(/^invalid_voice: /);
  });
});
