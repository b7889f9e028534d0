import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { BatchOrder } from '../../../src/phone/batches/batch.ts';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
import {
  type BatchAgent,
  numbered,
  PLAIN_ORDER,
  startBatchWorld,
} from '../../support/call-batches.ts';
import { addPolicy } from '../../support/policies.ts';

type World = Awaited<ReturnType<typeof startBatchWorld>>;

let world: World;
let agent: BatchAgent;
beforeAll(async () => {
  world = await startBatchWorld();
});
beforeEach(async () => {
  agent = await world.agent();
});
afterAll(() => world[Symbol.asyncDispose]());

/** The refusal of a batch, of which nothing is written and nobody is called. */
async function refusalOf(order: Partial<BatchOrder>, of = agent): Promise<Record<string, unknown>> {
  const refused = await world.order(of, order).then(
    () => ({ error: 'none' }),
    (error: unknown) => error as { status: number; error: string; fields: object },
  );
  await world.turn();
  expect(world.dialled).toEqual([]);
  expect(await world.sql`select 1 from call_batches where agent_id = ${of.agentId}`).toEqual([]);
  const { heldRaw } = (await world.main.ledger.funds(of.agentId)) ?? { heldRaw: -1n };
  expect(heldRaw).toBe(0n);
  return refused as Record<string, unknown>;
}

const [one = { to: '' }, two = { to: '' }, three = { to: '' }] = numbered(3);

describe('a batch with recipients that cannot be called is refused whole, and its error', () => {
  it('a batch is refused whole, and its error names each recipient whose number is invalid or not allowed', async () => {
    const { accountId } = agent;
    await world.sql`
      insert into do_not_call (account_id, phone_number) values (${accountId}, ${two.to})`;
    const tos = ['911', one.to, '+442079460958', '+19005551234', two.to, '+14150000000'];
    expect(await refusalOf({ recipients: tos.map((to) => ({ to })) })).toMatchObject({
      status: 400,
      error: 'recipients_refused',
      fields: {
        refused: 5,
        message: expect.stringMatching(
          /^5 of the recipients .* at index 0: to: must be a number .*\. Nobody/,
        ),
        recipients: [
          { index: 0, to: '911', error: 'invalid_to_number' },
          { index: 2, to: '+442079460958', message: 'to: numbers of GB are not called.' },
          { index: 3, to: '+19005551234', message: expect.stringContaining('only ordinary') },
          { index: 4, to: two.to, message: expect.stringContaining('do-not-call') },
          { index: 5, to: '+14150000000' },
        ],
      },
    });
  });

  it('a batch is refused whole, and its error names each recipient whose number is a duplicate', async () => {
    expect(await refusalOf({ recipients: [one, two, one] })).toMatchObject({
      fields: {
        recipients: [
          {
            index: 2,
            to: one.to,
            error: 'duplicate_recipient',
            message: 'to: the recipient at index 0 has the same number.',
          },
        ],
      },
    });
  });

  it('a batch is refused whole, and its error names each recipient that lacks a variable, even one without any variables', async () => {
    const overrides = { ...PLAIN_ORDER.overrides, texts: { beginMessage: 'Hello {{name}}.' } };
    const refused = await refusalOf({
      shared: { ...PLAIN_ORDER, overrides },
      recipients: [
        { ...one, variables: { name: 'Ann' } },
        two,
        { ...three, variables: { nam: 'x' } },
      ],
    });
    const error = 'invalid_voice';
    const message = 'beginMessage: "name" has no value in variables.';
    expect(refused.fields).toMatchObject({
      refused: 2,
      recipients: [
        { index: 1, to: two.to, error, message },
        { index: 2, to: three.to, error, message },
      ],
    });
  });

  it('a batch is refused whole, and its error names recipients of a wrong shape or with unknown settings', async () => {
    const recipients = [
      one,
      { to: 7 },
      'x',
      { ...two, model: 'no/such' },
      { ...three, language: 5 },
    ];
    expect((await refusalOf({ recipients })).fields).toMatchObject({
      recipients: [
        { index: 1, to: null, error: 'invalid_recipient', message: expect.stringMatching(/^to: /) },
        { index: 2, to: null, error: 'invalid_recipient' },
        { index: 3, to: two.to, error: 'invalid_model' },
        {
          index: 4,
          to: three.to,
          error: 'invalid_voice',
          message: expect.stringMatching(/^language/),
        },
      ],
    });
  });

  it('a batch is refused whole, and its error names recipients for whom its calling hours leave no allowed hour', async () => {
    const callingHours = { from: 8, until: 9 };
    const own = world.processOf({
      dialling: { countries: ['US'], callingHours: { from: 9, until: 21 } },
    });
    await expect(
      own.batches.order(world.ordered(agent, { recipients: [one], callingHours })),
    ).rejects.toMatchObject({
      error: 'recipients_refused',
      fields: { recipients: [{ index: 0, error: 'no_calling_hours' }] },
    });
  });

  it('the error of a refused batch names at most the first hundred recipients', async () => {
    const recipients = Array.from({ length: 1_000 }, (_, n) => ({ to: `${n}` }));
    const { fields } = (await refusalOf({ recipients })) as {
      fields: { refused: number; recipients: { index: number }[] };
    };
    expect([fields.refused, fields.recipients.length]).toEqual([1_000, 100]);
    expect(fields.recipients.at(-1)?.index).toBe(99);
  });
});

describe('a batch is refused', () => {
  it('a batch is refused for more concurrent calls than its agent may have', async () => {
    expect(await refusalOf({ maxConcurrent: 4 })).toMatchObject({
      status: 400,
      error: 'max_concurrent_too_high',
      fields: { limit: 3 },
    });
  });

  it('a batch is refused for calls under a minute, and for a start more than thirty days ahead', async () => {
    const shared = { ...PLAIN_ORDER, maxSpendRaw: 10n };
    expect(await refusalOf({ shared })).toMatchObject({ error: 'max_spend_too_low' });
    const startAtMs = Date.now() + 31 * 86_400_000;
    expect(await refusalOf({ startAtMs })).toMatchObject({ status: 400, error: 'invalid_start' });
  });

  it('a batch is refused when its agent has no number, or its phone service is suspended', async () => {
    await world.sql`
      update phone_numbers set status = 'released' where agent_id = ${agent.agentId}`;
    expect(await refusalOf({})).toMatchObject({ status: 409, error: 'number_required' });
    await world.sql`
      insert into telephony_suspensions (account_id, reason) values (${agent.accountId}, 'x')`;
    expect(await refusalOf({})).toMatchObject({ status: 403, error: 'telephony_suspended' });
  });

  it('a batch is refused when the balance does not cover the holds of its first calls together', async () => {
    const poor = await world.agent(250_000n);
    const recipients = numbered(3);
    expect(await refusalOf({ recipients }, poor)).toMatchObject({
      status: 403,
      error: 'insufficient_balance',
    });
    expect(await world.order(poor, { recipients, maxConcurrent: 2 })).toMatch(/^batch_/);
    await world.batches.cancel(
      poor,
      (await world.batches.list(poor, { after: undefined, limit: 1 })).batches[0]?.batchId ?? '',
      { hangUp: true },
    );
  });

  it('a batch is refused when a cap does not cover its holds, and a kill-switch cap does not suspend the agent for this', async () => {
    const cap = { accountId: agent.accountId, agentId: agent.agentId, kind: 'session' } as const;
    await addPolicy(world.sql, { ...cap, limitRaw: 250_000n, action: 'suspend_agent' });
    expect(await refusalOf({ recipients: numbered(3) })).toMatchObject({
      status: 403,
      error: 'policy_exceeded',
    });
    const [row] = await world.sql`select status from agents where id = ${agent.agentId}`;
    expect(row).toEqual({ status: 'active' });
  });

  it('a batch is refused while its agent already has twenty unfinished batches', async () => {
    const startAtMs = Date.now() + 3_600_000;
    const [first] = await Promise.all(
      Array.from({ length: PHONE_LIMITS.batch.openPerAgent }, () =>
        world.order(agent, { startAtMs }),
      ),
    );
    await expect(world.order(agent, { startAtMs })).rejects.toMatchObject({
      status: 429,
      error: 'batch_limit',
      fields: { limit: 20 },
    });
    await world.batches.cancel(agent, first ?? '', { hangUp: false });
    await world.turn();
    expect(await world.order(agent, { startAtMs })).toMatch(/^batch_/);
  });
});

describe('a batch under an Idempotency-Key', () => {
  it('a batch under an Idempotency-Key is found by its key, and a second write under the same key is refused', async () => {
    const startAtMs = Date.now() + 3_600_000;
    const workId = `work ${agent.agentId}`;
    const batchId = await world.order(agent, { startAtMs, workId });
    expect(await world.batches.findOrdered(agent.agentId, workId)).toMatchObject({ batchId });
    expect(await world.batches.findOrdered(agent.agentId + 1, workId)).toBeUndefined();
    await expect(world.order(agent, { startAtMs, workId })).rejects.toMatchObject({
      error: 'batch_stopped',
    });
    expect(await world.faults()).toEqual([]);
  });
});

describe('batches of others', () => {
  it('a batch of another account reads as absent', async () => {
    const batchId = await world.order(agent, { startAtMs: Date.now() + 3_600_000 });
    const strangers = [{ agentId: agent.agentId + 1 }, { accountId: 'acct_other' }];
    const absent = { status: 404, error: 'not_found' };
    for (const owner of strangers) {
      const asked = [
        () => world.batches.read(owner, batchId),
        () => world.batches.recipients(owner, batchId, { after: -1, limit: 1 }),
        () => world.batches.cancel(owner, batchId, { hangUp: true }),
        () => world.batches.pause(owner, batchId),
        () => world.batches.resume(owner, batchId, undefined),
        () => world.batches.read(owner, 'batch_\0'),
      ];
      for (const each of asked) await expect(each()).rejects.toMatchObject(absent);
      expect((await world.batches.list(owner, { after: undefined, limit: 10 })).batches).toEqual(
        [],
      );
    }
    const mine = await world.batches.read({ accountId: agent.accountId }, batchId);
    expect(mine).toMatchObject({ batchId, status: 'running' });
  });
});

describe('lists of batches', () => {
  it('lists of batches and of recipients have each item once, page by page', async () => {
    const startAtMs = Date.now() + 3_600_000;
    const made: string[] = [];
    for (let n = 0; n < 5; n++) {
      made.push(await world.order(agent, { startAtMs, recipients: numbered(5) }));
    }
    const listed: string[] = [];
    let after: Awaited<ReturnType<World['batches']['list']>>['next'];
    do {
      const page = await world.batches.list(agent, { after, limit: 2 });
      listed.push(...page.batches.map(({ batchId }) => batchId));
      after = page.next;
    } while (after !== undefined);
    expect(listed).toEqual(made.toReversed());
    const [batchId = ''] = made;
    const first = await world.batches.recipients(agent, batchId, { after: -1, limit: 3 });
    const second = await world.batches.recipients(agent, batchId, {
      after: first.next ?? 9,
      limit: 3,
    });
    expect([...first.recipients, ...second.recipients].map(({ to }) => to)).toEqual(
      numbered(5).map(({ to }) => to),
    );
    expect([first.next, second.next]).toEqual([2, undefined]);
  });
});
