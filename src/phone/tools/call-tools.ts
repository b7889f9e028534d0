import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { tryParseJson } from '../../kernel/json/parse-json.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { AgentTool } from './agent-tools.ts';
import { failedTool, type ToolResult } from './tool-result.ts';
import { beginToolCall, endToolCall } from './tool-store.ts';
import type { ToolItem, ToolTurns } from './tool-turns.ts';

const BOUNDS = PHONE_LIMITS.tools;
const FILLER = 'One moment, please.';
const MADE_BEFORE = failedTool('This call was made before. It is not made again.');
const GIVEN_UP = 'Sorry, I could not do that.';
/** A NUL in a text of JSON, which many receivers and every text of PostgreSQL refuse. */
const NUL = /\0|(?<!\\)(?:\\\\)*\\u0000/;
const RUNNING = JSON.stringify({ status: 'running' });

export type ToolCall = {
  readonly toolCallId: string;
  readonly tool: AgentTool;
  readonly args: unknown;
  readonly signal: AbortSignal;
};

export type CallToolsDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly sql: Sql;
  readonly callId: string;
  readonly tools: readonly AgentTool[];
  /** Reports the outcome of a tool to the readers of the call, without its arguments and its result. */
  readonly tell: (done: { name: string; outcome: string; costRaw: string; ms: number }) => void;
  /** Carries a tool out. Never rejects. */
  readonly run: (call: ToolCall) => Promise<ToolResult>;
  readonly call: {
    readonly tools: Pick<ToolTurns, 'output' | 'answer'>;
    say(text: string): void;
  };
};

/**
 * Carries out what the model of one call calls. Each tool call is written down before it is made and is made at most once,
 * whatever becomes of the process. The number of tool calls is bounded: at a time, a turn of the caller, and a call.
 */
export class CallTools {
  readonly #deps: CallToolsDeps;
  readonly #stopping = new AbortController();
  /** The calls under each id of the model. Some models begin anew with their ids in every answer. */
  readonly #known = new Map<string, string[]>();
  #running = 0;
  /** Answers with tool calls since the caller said something last. */
  #rounds = 0;
  #made = 0;
  #filler: TimerHandle | undefined;

  constructor(deps: CallToolsDeps) {
    this.#deps = deps;
  }

  /** True while a tool runs. The caller waits for the tool, and gets no prompt. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Resets the count of tool rounds, because the caller has spoken and the model may call tools again. */
  callerSpoke(): void {
    this.#rounds = 0;
  }

  /**
   * Runs a tool that the model calls. Actions of the call, and functions that are no tool of the agent, are handled elsewhere.
   */
  call(item: ToolItem): void {
    const tool = this.#deps.tools.find(({ name }) => name === item.name);
    if (this.#running === 0) this.#rounds++;
    this.#running++;
    this.#deps.call.tools.output(item, RUNNING, false);
    this.#fillLater(tool);
    const failed = (err: unknown) => {
      this.#deps.log.warn({ err, callId: this.#deps.callId }, 'a tool of a call failed');
      return failedTool('The tool failed.');
    };
    const made = this.#carryOut(item, tool).catch(failed);
    void made.then(({ output }) => this.#ended(item, output));
  }

  /** Ends tool calls with the call: aborts the running tools and starts no more. */
  close(): void {
    this.#stopping.abort();
    this.#stopFiller();
  }

  async #carryOut(item: ToolItem, tool: AgentTool | undefined): Promise<ToolResult> {
    const { callId, clock, run, sql } = this.#deps;
    const { arguments: argumentsJson, name } = item;
    if (item.problem !== undefined) return failedTool(item.problem);
    if (tool === undefined) return failedTool(`There is no function ${name}.`);
    if (
      this.#running > BOUNDS.running ||
      this.#rounds > BOUNDS.rounds ||
      this.#made >= BOUNDS.perCall
    ) {
      return failedTool('Too many functions were called. Answer without one.');
    }
    if (argumentsJson.length > BOUNDS.argumentChars) {
      return failedTool(`The arguments have more than ${BOUNDS.argumentChars} characters.`);
    }
    if (NUL.test(argumentsJson)) return failedTool('The arguments hold a NUL.');
    const args = argumentsJson.trim() === '' ? {} : tryParseJson(argumentsJson);
    if (!isObject(args) || Array.isArray(args))
      return failedTool('The arguments are no JSON object.');
    const toolCallId = this.#idOf(item);
    if (toolCallId === undefined) return MADE_BEFORE;
    this.#made++;
    if (!(await beginToolCall(sql, callId, { toolCallId, name, argumentsJson }))) {
      return MADE_BEFORE;
    }
    const beganMs = clock.monotonicMs();
    const result = await run({ toolCallId, tool, args, signal: this.#stopping.signal });
    const ms = clock.monotonicMs() - beganMs;
    const { costRaw, outcome, output } = result;
    this.#deps.tell({ name, outcome, costRaw: `${costRaw}`, ms: Math.round(ms) });
    await endToolCall(sql, callId, toolCallId, { outcome, result: output, costRaw, ms }).catch(
      (err: unknown) => this.#deps.log.warn({ err, callId }, 'the result of a tool was not kept'),
    );
    return result;
  }

  /** Returns the id for a tool call. Undefined when the model has made the same call under this id before. */
  #idOf({ arguments: argumentsJson, callId, name }: ToolItem): string | undefined {
    const calls = this.#known.get(callId) ?? [];
    const call = `${name} ${argumentsJson}`;
    if (calls.includes(call)) return undefined;
    this.#known.set(callId, [...calls, call]);
    return calls.length === 0 ? callId : `${callId}.${calls.length + 1}`;
  }

  #ended(item: ToolItem, output: string): void {
    this.#running--;
    if (this.#stopping.signal.aborted) return;
    this.#deps.call.tools.output(item, output, true);
    if (this.#running > 0) return;
    this.#stopFiller();
    if (this.#rounds > BOUNDS.rounds) {
      // Without a limit, a model that calls functions without permission would get requests for ever.
      this.#deps.call.say(GIVEN_UP);
      return;
    }
    this.#deps.call.tools.answer(this.#rounds < BOUNDS.rounds && this.#made < BOUNDS.perCall);
  }

  #fillLater(tool: AgentTool | undefined): void {
    const text = tool?.filler ?? FILLER;
    if (this.#filler !== undefined || text === '') return;
    this.#filler = this.#deps.clock.setTimeout(
      () => this.#deps.call.say(text),
      BOUNDS.fillerAfterMs,
    );
  }

  #stopFiller(): void {
    if (this.#filler !== undefined) this.#deps.clock.clearTimeout(this.#filler);
    this.#filler = undefined;
  }
}
