import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { QuietCallee, rentNumber } from '../support/phone-world.ts';
import { ask, settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const NOBODY_ELSE = '+14155550199';

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld({}, { calleeOf: async () => new QuietCallee() });
});
afterAll(() => world[Symbol.asyncDispose]());

async function caller(name: string) {
  const agent = await world.fund(name, 5_000_000n);
  const { agentId, developerKey } = agent;
  await rentNumber(world.sql, agentId, `+1415555${String(1_000 + agentId).slice(0, 4)}`);
  const keys = `${world.url}/v1/developer/agents/${agentId}/keys`;
  const owner = { authorization: `Bearer ${developerKey}` };
  return {
    agentId,
    agentKey: agent.agentKey,
    /** A key with a budget, after a rotation: its heir, which has the budget of the line. */
    async rotatedKey(budgetRaw: bigint): Promise<string> {
      const minted = await ask(keys, { headers: owner, body: { budgetRaw: String(budgetRaw) } });
      const { keyId } = minted.body;
      const rotated = await ask(`${keys}/${keyId}/rotate`, { headers: owner, body: {} });
      expect([minted.status, rotated.status]).toEqual([201, 201]);
      return String(rotated.body.key);
    },
    async spentOfBudget(): Promise<string | undefined> {
      const listed = await ask(keys, { headers: owner });
      const { keys: found } = listed.body as {
        keys: { budget: { spentRaw: string } | null }[];
      };
      return found.find(({ budget }) => budget !== null)?.budget?.spentRaw;
    },
  };
}

/** Places a call and answers its id. */
async function place(
  key: string,
  maxSpendRaw: bigint,
  headers: Record<string, string> = {},
): Promise<string> {
  const placed = await ask(`${world.url}/v1/calls`, {
    headers: { authorization: `Bearer ${key}`, ...headers },
    body: { toNumber: NOBODY_ELSE, maxSpendRaw: String(maxSpendRaw) },
  });
  expect(placed.status, JSON.stringify(placed.body)).toBe(201);
  return String(placed.body.callId);
}

const until = (key: string, callId: string, state: object) =>
  expect
    .poll(
      async () => {
        const headers = { authorization: `Bearer ${key}` };
        return (await ask(`${world.url}/v1/calls/${callId}`, { headers })).body;
      },
      { timeout: 20_000, interval: 50 },
    )
    .toMatchObject(state);

const reasonOf = async (callId: string): Promise<unknown> => {
  const [row] = await world.sql<{ reason: string }[]>`
    select payload ->> 'reason' as reason from events
    where correlation_id = ${callId} and name = 'call.ended'`;
  return row?.reason;
};

describe('a call of a key that was rotated', () => {
  it("a call of a rotated key is refused at its answer when its hold exceeds the budget of the key's rotations", async () => {
    const agent = await caller('rotated');
    const key = await agent.rotatedKey(100_000n);
    const callId = await place(key, 2_000_000n);
    await until(key, callId, { status: 'failed', terminal: true });
    expect(await reasonOf(callId)).toBe('budget_exhausted');
    expect((await settledMoney(world.sql, agent.agentId)).charged).toBe(0n);
  });

  it("a call of a rotated key counts its whole cost against the budget of the key's rotations", async () => {
    const agent = await caller('counted');
    const key = await agent.rotatedKey(100_000n);
    const callId = await place(key, 60_000n);
    await until(key, callId, { status: 'in_progress' });
    const headers = { authorization: `Bearer ${key}` };
    await ask(`${world.url}/v1/calls/${callId}/hangup`, { method: 'POST', headers });
    await until(key, callId, { status: 'completed', terminal: true });
    const { charged } = await settledMoney(world.sql, agent.agentId);
    expect(charged).toBeGreaterThan(0n);
    expect(await agent.spentOfBudget()).toBe(String(charged));
  });
});

it('a call has the cap that the value of its task gives it', async () => {
  const agent = await caller('valued');
  const made = await ask(`${world.url}/v1/agents/policies`, {
    headers: { authorization: `Bearer ${agent.agentKey}` },
    body: {
      kind: 'task',
      matchKey: 'errand',
      windowKind: 'once',
      limitRaw: '1500000',
      limitCeilingRaw: '3000000',
    },
  });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  const callId = await place(agent.agentKey, 2_000_000n, {
    'x-svc-task-id': 'errand',
    'x-svc-task-value': '20000',
  });
  await until(agent.agentKey, callId, { status: 'in_progress' });
});
