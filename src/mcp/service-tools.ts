import type { CallToolResult } from '@modelcontextprotocol/server';
import type { AskAs } from '../http/pipeline/ask-as.ts';
import type { AgentCaller } from '../http/route/caller.ts';
import type { AskRoute } from '../http/route/route.ts';
import type { Clock } from '../kernel/clock.ts';
import { isObject } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import { headOf, storableText } from '../kernel/storable.ts';
import type { Spender } from '../ledger/rules/requests.ts';
import type { Memory } from '../memory/memory.ts';
import { PHONE_LIMITS } from '../phone/limits.ts';
import type { ServiceCall, ServiceTools } from '../phone/tools/service-tools.ts';
import { failedTool, type ToolResult } from '../phone/tools/tool-result.ts';
import type { SpendStateReader } from '../spend/limits/spend-state.ts';
import { callTool } from './call-tool.ts';
import { createTools } from './mcp-server.ts';
import { createResultBudget } from './result-budget.ts';
import { listedTool } from './tool.ts';
import { costRawOf } from './tool-result.ts';

export type ServiceToolDeps = {
  readonly clock: Clock;
  readonly log: Log;
  readonly memory: Memory | undefined;
  readonly spendState: Pick<SpendStateReader, 'read'>;
  readonly askAs: AskAs;
};

/**
 * Creates the tools of MCP for the models of calls: the same names, schemas and routes, called for the agent of the phone call.
 */
export function createServiceTools(deps: ServiceToolDeps): ServiceTools {
  const tools = new Map(createTools(deps.memory).map((tool) => [tool.name, tool]));
  const offered = new Map(
    [...tools].map(([name, tool]) => {
      const { description = '', inputSchema } = listedTool(tool);
      return [name, { description, parameters: schemaForModels(inputSchema) }];
    }),
  );
  return {
    offered: (name) => offered.get(name),
    async call(call) {
      const over: (() => void)[] = [];
      try {
        const tool = tools.get(call.name);
        if (tool === undefined) return failedTool(`This server has no ${call.name}.`);
        const caller = await callerOf(deps, call.spender);
        if (caller === undefined) return failedTool('The agent of this call is unknown.');
        return await callFor(deps, call, { tool, caller, over });
      } catch (err) {
        deps.log.warn({ err, tool: call.name }, 'a service could not be asked for a call');
        return failedTool('The service could not be asked.');
      } finally {
        for (const callback of over) callback();
      }
    },
  };
}

type Asking = {
  readonly tool: Parameters<typeof callTool>[1]['tool'];
  readonly caller: AgentCaller;
  /** Called when the answer is read. */
  readonly over: (() => void)[];
};

async function callFor(
  { askAs, clock, log }: ServiceToolDeps,
  { args, signal, timeoutMs, workId }: ServiceCall,
  { caller, over, tool }: Asking,
): Promise<ToolResult> {
  let costRaw = 0n;
  const ask: AskRoute = async (request) => {
    const onOver = (callback: () => void) => over.push(callback);
    const told = await askAs({ ...request, caller, workId, onOver });
    costRaw += costRawOf(told.answer);
    return told;
  };
  const budget = createResultBudget();
  const result = await callTool(clock, {
    tool,
    args,
    key: workId,
    budget,
    ask,
    signal,
    log,
    callMs: timeoutMs,
  });
  const output = headOf(textOf(result), PHONE_LIMITS.tools.answerBytes);
  return { outcome: result.isError === true ? 'failed' : 'done', output, costRaw };
}

/** Returns the agent in its present state, as the caller of the tool; undefined when the agent does not exist. */
async function callerOf(
  { spendState }: Pick<ServiceToolDeps, 'spendState'>,
  spender: Spender,
): Promise<AgentCaller | undefined> {
  const { agentId, keyId = 0, keyRootId = keyId } = spender;
  const known = await spendState.read(agentId);
  if (known === undefined) return undefined;
  const { accountId, operatorExpirySec, status } = known.rules;
  return {
    kind: 'agent',
    agentId,
    accountId,
    keyId,
    keyRootId,
    permission: 'read_write',
    promptCaching: 'off',
    status,
    operatorExpiry: operatorExpirySec,
    spender,
  };
}

/** Returns a schema in the form for models. Vendors refuse a function whose object schema has no `properties`. */
function schemaForModels(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(schemaForModels);
  if (!isObject(schema)) return schema;
  const members = Object.fromEntries(
    Object.entries(schema).map(([name, value]) => [name, schemaForModels(value)]),
  );
  return schema.type === 'object' ? { properties: {}, ...members } : members;
}

/** Returns the texts of a result, for a model to read. */
const textOf = ({ content }: CallToolResult): string =>
  storableText(content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'));
