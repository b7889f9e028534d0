import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ServerDeps } from '../../src/app/build/world.ts';
import { type PaymentWorld, startPaymentWorld } from './payment-world.ts';
import { QuietCallee, rentNumber } from './phone-world.ts';
import { writeCatalogue } from './process-place.ts';
import {
  DONE,
  streamUpstream,
  toolCallEvents,
  usageEvent,
  wholeAnswer,
  wordEvents,
} from './stream-upstream.ts';

const MODEL = 'acme/tooled';
const USAGE = usageEvent({ prompt_tokens: 30, completion_tokens: 9, total_tokens: 39 });

const ASKED_MS = 3_000;
const THOUGHT = { prompt_tokens: 12, completion_tokens: 4, total_tokens: 16 };

/** What the report and the database have of one tool call. */
export type MadeTool = {
  readonly id: string;
  readonly name: string;
  readonly outcome: string | null;
  readonly result: string | null;
  readonly costRaw: bigint;
};

/** A server that pays vendors on a local chain, with live calls whose model calls the tools that a test names. */
export async function startToolWorld(
  environment: Record<string, string> = {},
  deps: Partial<ServerDeps> = {},
) {
  const directory = mkdtempSync(join(tmpdir(), 'svc-call-tools-'));
  const model = await streamUpstream();
  /** By the prompt of the call: what its model calls next. */
  const wanted = new Map<string, { id: string; function: { name: string; arguments: string } }[]>();
  model.play(({ messages, stream }) => {
    // A thought is no answer of a call.
    if (stream !== true) return wholeAnswer({ content: '42' }, { usage: THOUGHT });
    const next = wanted.get(promptOf(messages))?.shift();
    const words = next === undefined ? wordEvents(['Fine.']) : toolCallEvents(next);
    return { pieces: [...words, USAGE, DONE] };
  });
  const callee = new Map<string, QuietCallee>();
  const bench = await startPaymentWorld(
    { CATALOG_FILE: writeCatalogue(directory, MODEL, model.baseUrl), ...environment },
    {
      calleeOf: async ({ from }) => {
        const one = new QuietCallee();
        callee.set(from, one);
        return one;
      },
      ...deps,
    },
  );
  const { sql } = bench.world;
  const soon = <T>(look: () => Promise<T> | T, timeout = 20_000) =>
    expect.poll(look, { timeout, interval: 50 });
  let numbers = 1_000;

  /** A live call of a new agent whose model may call these tools. */
  async function talking(
    name: string,
    tools: readonly object[],
    { depositRaw = 1_000_000n, maxSpendRaw = 600_000n } = {},
  ) {
    const agent = await bench.payer(name, depositRaw);
    const from = `+1415555${numbers++}`;
    await rentNumber(sql, agent.agentId, from);
    wanted.set(name, []);
    await sql`insert into voice_settings (agent_id, model, system_prompt, tools)
      values (${agent.agentId}, ${MODEL}, ${name}, ${sql.json(tools as never)})`;
    const body = { toNumber: '+14155550199', maxSpendRaw: `${maxSpendRaw}`, report: true };
    const placed = await agent.ask('/v1/calls', { body });
    expect(placed.status, JSON.stringify(placed.body)).toBe(201);
    const callId = String(placed.body.callId);
    const path = `/v1/calls/${callId}`;
    await soon(async () => (await agent.ask(path)).body).toMatchObject({ status: 'in_progress' });
    const made = async (): Promise<MadeTool[]> => [
      ...(await sql<MadeTool[]>`
        select tool_call_id as id, name, outcome, result, cost_raw as "costRaw" from call_tools
        where call_id = ${callId} order by at, tool_call_id`),
    ];
    /** Has the model call a tool. Its arguments may be text that is no JSON. */
    async function asks(id: string, tool: string, args: unknown): Promise<void> {
      const json = typeof args === 'string' ? args : JSON.stringify(args);
      const next = wanted.get(name) ?? [];
      next.push({ id, function: { name: tool, arguments: json } });
      for (let tries = 0; tries < 8 && next.length > 0; tries++) {
        const body = { text: 'Go on.', respond: true };
        const told = await agent.ask(`${path}/inject`, { body });
        expect(told.status, JSON.stringify(told.body)).toBe(202);
        // An answer that is being said takes no other one behind it: then the model is asked again.
        await soon(() => next, ASKED_MS)
          .toEqual([])
          .catch(() => {});
      }
      expect(next).toEqual([]);
    }
    const find = async (id: string) => (await made()).find((one) => one.id === id);
    return {
      ...agent,
      callId,
      made,
      asks,
      find,
      /** The same, and what has come of it. */
      async calls(id: string, tool: string, args: unknown): Promise<MadeTool> {
        await asks(id, tool, args);
        await soon(async () => (await find(id))?.outcome ?? null).not.toBeNull();
        return (await find(id)) as MadeTool;
      },
      /** The far side hangs up. */
      leaves(): void {
        const one = callee.get(from);
        if (one !== undefined) one.isGone = true;
      },
      async hangsUp(): Promise<void> {
        await agent.ask(`${path}/hangup`, { method: 'POST' });
        await soon(async () => (await agent.ask(path)).body).toMatchObject({ terminal: true });
      },
      isOver: () =>
        soon(async () => (await agent.ask(path)).body).toMatchObject({ terminal: true }),
      report: async () => (await agent.ask(`${path}/report`)).body,
      /** The text that the model has read last as the result of a tool. */
      read: () =>
        model.seen
          .filter(({ messages }) => promptOf(messages) === name)
          .flatMap(({ messages }) => messages as { role: string; content: unknown }[])
          .filter(({ role }) => role === 'tool')
          .map(({ content }) => String(content)),
      /** The names and schemas of the tools that the model was offered last. */
      offered: () =>
        (model.seen.at(-1)?.tools ?? []) as {
          function: { name: string; parameters: Record<string, unknown> };
        }[],
    };
  }

  return {
    ...bench,
    model,
    soon,
    talking,
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

type Message = { readonly role: string; readonly content: unknown };

const promptOf = (messages: unknown): string =>
  String((messages as Message[]).find(({ role }) => role === 'system')?.content).split('\n')[0] ??
  '';

export type ToolWorld = PaymentWorld & Awaited<ReturnType<typeof startToolWorld>>;
