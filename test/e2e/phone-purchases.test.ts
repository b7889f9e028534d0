import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { startToolWorld, type ToolWorld } from '../support/tool-world.ts';
import { settledMoney } from '../support/whole-world.ts';

const DEPOSIT_RAW = 1_000_000n;
const PRICE_RAW = 10_000n;

let bench: ToolWorld;
beforeAll(async () => {
  bench = await startToolWorld();
});
afterAll(() => bench[Symbol.asyncDispose]());

const vendorTool = (more: object = {}) => ({
  type: 'service',
  name: 'call_vendor',
  hosts: ['127.0.0.1'],
  maxCostRaw: '20000',
  ...more,
});

const heldOf = async (agentId: number): Promise<bigint> => {
  const [row] = await bench.world.sql<{ raw: bigint }[]>`
    select held_raw as raw from agent_funds where agent_id = ${agentId}`;
  return row?.raw ?? -1n;
};

/** Nothing is held any more, and what the agent has left is its deposit without its charges. */
async function expectSettled(agentId: number): Promise<bigint> {
  const money = await settledMoney(bench.world.sql, agentId, 20_000);
  expect(money.spendable).toBe(DEPOSIT_RAW - money.charged);
  expect(await checkInvariants(bench.world.sql)).toEqual([]);
  return money.charged;
}

describe('a purchase by a tool of a call', () => {
  it("a purchase by a call's tool is paid once from the call's hold, even if the model repeats it, and is in the report", async () => {
    const call = await bench.talking('buys once', [vendorTool()]);
    const url = bench.vendor.sell({
      priceRaw: PRICE_RAW,
      paid: { settle: 'first', answer: { kind: 'answer', body: 'the weather is fine' } },
    });
    const bought = await call.calls('c1', 'call_vendor', { url });
    expect(bought).toMatchObject({ outcome: 'done', costRaw: PRICE_RAW });
    expect(bought.result).toContain('the weather is fine');
    await call.asks('c1', 'call_vendor', { url });
    await bench.soon(() => call.read().join()).toContain('made before');
    expect(bench.vendor.nonces(url)).toHaveLength(1);
    await call.hangsUp();
    expect(await expectSettled(call.agentId)).toBeGreaterThan(PRICE_RAW);
    const report = (await call.report()) as {
      tools: object[];
      receipt: Record<string, string>;
    };
    expect(report.tools).toMatchObject([
      { name: 'call_vendor', outcome: 'done', costRaw: `${PRICE_RAW}` },
    ]);
    expect(report.receipt.toolsRaw).toBe(`${PRICE_RAW}`);
  });

  it("a purchase by a call's tool at a host that is not on its list is refused without a connection", async () => {
    const call = await bench.talking('elsewhere', [vendorTool()]);
    const url = bench.vendor.sell({ priceRaw: PRICE_RAW });
    const other = url.replace('127.0.0.1', 'localhost');
    const disguised = url.replace('//127.0.0.1', '//127.0.0.1@localhost');
    for (const [i, wanted] of [other, disguised].entries()) {
      const made = await call.calls(`c${i}`, 'call_vendor', { url: wanted });
      expect(made).toMatchObject({ outcome: 'failed', costRaw: 0n });
      expect(made.result).toContain('Allowed: 127.0.0.1');
    }
    for (const [i, wanted] of ['no url', 7].entries()) {
      const made = await call.calls(`d${i}`, 'call_vendor', { url: wanted });
      expect(made.outcome).toBe('failed');
    }
    expect(bench.vendor.seen(url)).toEqual([]);
    await call.hangsUp();
    await expectSettled(call.agentId);
  });

  it("a purchase by a call's tool above its limit, above the call's hold or above a cap is refused, and holds nothing", async () => {
    const wide = vendorTool({ maxCostRaw: '900000' });
    const limited = await bench.talking('limited', [vendorTool()]);
    const dear = bench.vendor.sell({ priceRaw: 20_001n });
    const above = await limited.calls('c1', 'call_vendor', { url: dear });
    expect(above).toMatchObject({ outcome: 'failed', costRaw: 0n });
    expect(above.result).toContain('reserve_exceeded');
    expect(above.result).toContain('20001');

    const small = await bench.talking('small', [wide], { maxSpendRaw: 200_000n });
    const costly = bench.vendor.sell({ priceRaw: 300_000n });
    const beyond = await small.calls('c1', 'call_vendor', { url: costly });
    expect(beyond).toMatchObject({ outcome: 'failed', costRaw: 0n });
    expect(beyond.result).toContain('reserve_exceeded');
    expect(await heldOf(small.agentId)).toBe(200_000n);

    const made = await limited.ask('/v1/agents/policies', {
      body: {
        kind: 'api',
        matchKey: '127.0.0.1',
        windowKind: 'rolling',
        windowSeconds: 86_400,
        limitRaw: '5000',
      },
    });
    expect(made.status, JSON.stringify(made.body)).toBe(201);
    const cheap = bench.vendor.sell({ priceRaw: PRICE_RAW });
    const capped = await limited.calls('c2', 'call_vendor', { url: cheap });
    expect(capped).toMatchObject({ outcome: 'failed', costRaw: 0n });
    expect(capped.result).toContain('spend_limit_exceeded');
    for (const url of [dear, costly, cheap]) expect(bench.vendor.nonces(url)).toEqual([]);
    for (const call of [limited, small]) {
      await call.hangsUp();
      await expectSettled(call.agentId);
    }
  });

  it('a purchase under way when the caller hangs up is settled once and reported, and the caller hears a filler until then', async () => {
    const call = await bench.talking('leaves', [vendorTool({ filler: 'I ask the shop.' })]);
    const url = bench.vendor.sell({
      priceRaw: PRICE_RAW,
      paid: { settle: 'first', gated: true, answer: { kind: 'answer', body: 'late' } },
    });
    await call.asks('c1', 'call_vendor', { url });
    await bench.soon(() => bench.vendor.nonces(url).length).toBe(1);
    await bench
      .soon(async () => {
        const turns = await bench.world.sql<{ content: string }[]>`
        select content from call_turns where call_id = ${call.callId}`;
        return turns.map(({ content }) => content);
      })
      .toContain('I ask the shop.');
    call.leaves();
    await call.isOver();
    bench.vendor.release(url);
    await bench.soon(() => call.find('c1')).toMatchObject({ outcome: 'done', costRaw: PRICE_RAW });
    const charged = await expectSettled(call.agentId);
    expect(bench.vendor.nonces(url)).toHaveLength(1);
    const { receipt } = (await call.report()) as { receipt: Record<string, string> };
    expect([receipt.toolsRaw, receipt.totalRaw]).toEqual([`${PRICE_RAW}`, `${charged}`]);
  });

  it("a purchase of model text by a call's tool costs its tokens alone, and the rest returns to the call's hold", async () => {
    const tools = [{ type: 'service', name: 'think', maxCostRaw: '5000' }];
    const call = await bench.talking('thinks', tools);
    const before = await heldOf(call.agentId);
    const thought = await call.calls('c1', 'think', {
      prompt: 'What is 6 times 7?',
      model: 'acme/tooled',
      maxOutputTokens: 1_000,
    });
    expect(thought.outcome, thought.result ?? '').toBe('done');
    expect(thought.result).toContain('42');
    expect(thought.costRaw).toBeGreaterThan(0n);
    expect(await heldOf(call.agentId)).toBe(before - thought.costRaw);
    const asked = bench.model.seen.find(({ stream }) => stream !== true);
    expect(Number(asked?.max_completion_tokens)).toBeLessThan(500);
    const dear = await call.calls('c2', 'think', {
      prompt: 'word '.repeat(1_200),
      model: 'acme/tooled',
    });
    expect(dear).toMatchObject({ outcome: 'failed', costRaw: 0n });
    expect(dear.result).toContain('reserve_exceeded');
    await call.hangsUp();
    await expectSettled(call.agentId);
  });

  // The last test of this file: the chain's clock is ahead of the payments that come after it.
  it('a payment whose outcome is unknown is pending in the report of its call, and has its cost there once the chain has decided', async () => {
    const call = await bench.talking('doubts', [vendorTool()]);
    const lost = { kind: 'drop', after: 'request' } as const;
    const late = bench.vendor.sell({ priceRaw: 9_000n, paid: { settle: 'held', answer: lost } });
    const never = bench.vendor.sell({ priceRaw: 7_000n, paid: { settle: 'never', answer: lost } });
    for (const [id, url] of Object.entries({ c1: late, c2: never })) {
      const made = await call.calls(id, 'call_vendor', { url });
      expect(made).toMatchObject({ outcome: 'failed', costRaw: 0n });
      expect(made.result).toContain('upstream_paid_request_failed_ambiguous');
    }
    await call.hangsUp();
    const told = async () => {
      const { receipt, tools } = (await call.report()) as {
        receipt: Record<string, string>;
        tools: { costRaw: string; pendingRaw: string }[];
      };
      const { pendingRaw, toolsRaw, totalRaw } = receipt;
      const each = tools.map((tool) => [tool.costRaw, tool.pendingRaw]);
      return { each, pendingRaw, toolsRaw, totalRaw: BigInt(totalRaw ?? 0) };
    };
    const before = await told();
    expect(before).toMatchObject({ pendingRaw: '16000', toolsRaw: '0' });
    expect(before.each).toEqual([
      ['0', '9000'],
      ['0', '7000'],
    ]);
    await bench.vendor.settleHeld(late);
    await bench.soon(told).toMatchObject({ pendingRaw: '7000', toolsRaw: '9000' });
    await bench.chain.travel(120);
    await bench.soon(told).toMatchObject({ pendingRaw: '0', toolsRaw: '9000' });
    const after = await told();
    expect(after.each).toEqual([
      ['9000', '0'],
      ['0', '0'],
    ]);
    const charged = await expectSettled(call.agentId);
    expect(after.totalRaw).toBe(charged);
    expect(after.totalRaw).toBe(before.totalRaw + 9_000n);
  });
});
