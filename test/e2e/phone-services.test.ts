import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { connectEarlier } from '../support/mcp-client.ts';
import { startToolWorld, type ToolWorld } from '../support/tool-world.ts';

let bench: ToolWorld;
beforeAll(async () => {
  bench = await startToolWorld();
});
afterAll(() => bench[Symbol.asyncDispose]());

const service = (name: string, more: object = {}) => ({ type: 'service', name, ...more });
const FREE = ['recall', 'remember', 'balance', 'estimate'].map((name) => service(name));

describe('the services of this server in a call', () => {
  it("services of this server are offered to a call's model with the schemas of their MCP tools, and give the same results", async () => {
    const call = await bench.talking('served', FREE);
    const left = await call.calls('c1', 'balance', {});
    expect(left).toMatchObject({ name: 'balance', outcome: 'done', costRaw: 0n });
    await using session = await connectEarlier({ url: bench.world.url, key: call.key });
    const asMcp = (await session.call('balance', {})).structuredContent as {
      balance: { spendable: string };
    };
    expect(Object.keys(JSON.parse(left.result ?? ''))).toEqual(Object.keys(asMcp));
    const listed = new Map(
      (await session.list()).map(({ inputSchema, name }) => [name, inputSchema]),
    );
    const offered = call.offered().filter(({ function: { name } }) => listed.has(name));
    expect(offered.map(({ function: { name } }) => name)).toEqual(FREE.map(({ name }) => name));
    for (const { function: one } of offered) expect(one.parameters).toEqual(listed.get(one.name));

    const usage = { model: 'acme/tooled', input_tokens: 1_000_000 };
    const price = await call.calls('c2', 'estimate', usage);
    expect(JSON.parse(price.result ?? '')).toMatchObject({ model: 'acme/tooled' });
    await call.hangsUp();
    expect(await checkInvariants(bench.world.sql)).toEqual([]);
  });

  it('the memory service in a call stores a text that a later call recalls, and no other agent can', async () => {
    const call = await bench.talking('remembering', FREE);
    const kept = await call.calls('c1', 'remember', { texts: ['Ann takes her tea with lemon.'] });
    expect(kept.outcome).toBe('done');
    await call.hangsUp();
    await bench
      .soon(async () => {
        const found = await call.ask('/v1/db/vectordb/query', {
          body: { type: 'memory', query: 'tea', mode: 'keyword' },
        });
        return JSON.stringify(found.body);
      })
      .toContain('lemon');
    const other = await bench.talking('stranger', FREE);
    const nothing = await other.calls('c1', 'recall', { query: 'tea', mode: 'keyword' });
    expect([nothing.outcome, nothing.result?.includes('lemon')]).toEqual(['done', false]);
    await other.hangsUp();
  });

  it('services in a call refuse the input of a hostile model with a sentence that the model reads, and the call goes on', async () => {
    const call = await bench.talking('hostile', FREE);
    const bad = [
      ['recall', { query: 7 }, /query/],
      ['recall', { query: 'x'.repeat(9_000) }, /8192/],
      ['remember', { texts: [] }, /texts/],
      ['estimate', { model: 'nobody/knows' }, /model/],
    ] as const;
    for (const [i, [tool, args, sentence]] of bad.entries()) {
      const made = await call.calls(`bad${i}`, tool, args);
      expect([tool, made.outcome, made.costRaw]).toEqual([tool, 'failed', 0n]);
      expect(made.result).toMatch(sentence);
    }
    await call.hangsUp();
    const { tools } = (await call.report()) as { tools: { name: string }[] };
    expect(tools).toHaveLength(bad.length);
    const other = await bench.talking('no json', FREE);
    await other.asks('no_object', 'balance', '[1]');
    await bench.soon(() => other.read().join()).toContain('no JSON object');
    await other.asks('nul', 'remember', { texts: ['a\u0000b'] });
    await bench.soon(() => other.read().join()).toContain('hold a NUL');
    expect((await other.calls('good', 'balance', {})).outcome).toBe('done');
    await other.hangsUp();
  });

  it('services in a call are refused to the model of a stopped agent, as on the HTTP routes', async () => {
    const call = await bench.talking('stopped', [service('balance')]);
    await bench.world.sql`update agents set status = 'suspended' where id = ${call.agentId}`;
    const made = await call.calls('c1', 'balance', {});
    expect(made).toMatchObject({ outcome: 'failed' });
    expect(made.result).toContain('suspended');
    await call.hangsUp();
  });
});
