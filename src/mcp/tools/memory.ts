import { z } from 'zod';
import { type AnyRoute, type LostWork, route } from '../../http/route/route.ts';
import { parseObject } from '../../kernel/json/parse-json.ts';
import type { Memory } from '../../memory/memory.ts';
import { askMemory, isKeyed } from '../../routes/db/vectordb/ask-memory.ts';
import { MCP_LIMITS } from '../limits.ts';
import { present, type Tool, tool } from '../tool.ts';
import { costOf, toolResult } from '../tool-result.ts';

const {
  perCall: memoriesPerCall,
  queryChars: memoryQueryChars,
  textChars: memoryTextChars,
  recalled,
} = MCP_LIMITS.memory;

const namespace = z
  .string()
  .regex(/^[A-Za-z0-9_.:-]{1,64}$/)
  .optional()
  .describe('Keeps memories apart; without one, those without one');

/**
 * Creates the tools that store an agent's texts and find them by their meaning. Free, unless a paid model indexes or searches
 * the texts.
 */
export function createMemoryTools(memory: Memory): readonly Tool[] {
  const ingest = memoryRoute(memory, 'ingest');
  const query = memoryRoute(memory, 'query');
  return [
    tool({
      name: 'remember',
      title: 'Remember',
      description:
        'Keeps texts in the memory of this agent, which no other agent can read. They can be recalled a moment later. ' +
        'Free, unless this server indexes them with a model that is sold by the token.',
      isReadOnly: false,
      input: z.object({
        texts: z.array(z.string().min(1).max(memoryTextChars)).min(1).max(memoriesPerCall),
        infer: z.boolean().optional().describe('Keep the facts of a text, without its filler'),
        namespace,
      }),
      async call({ texts, infer, namespace: subTenantId }, ask) {
        const memories = texts.map((text) => present({ text, infer }));
        const body = present({ type: 'memory', memories, subTenantId });
        return toolResult(parseObject((await ask(ingest, { body })).bytes));
      },
    }),
    tool({
      name: 'recall',
      title: 'Recall',
      description:
        'Finds what this agent remembers about a question: the best match first, the text in `chunk_content`. ' +
        'Free, unless this server searches with a model that is sold by the token: then the result has its cost.',
      isReadOnly: true,
      input: z.object({
        query: z.string().min(1).max(memoryQueryChars),
        maxResults: z.number().int().min(1).max(recalled.most).default(recalled.usual),
        mode: z.enum(['hybrid', 'semantic', 'keyword']).optional(),
        namespace,
      }),
      async call({ namespace: subTenantId, ...rest }, ask) {
        const body = present({ ...rest, type: 'memory', subTenantId });
        const answer = await ask(query, { body });
        return toolResult({ ...parseObject(answer.bytes), ...costOf(answer) });
      },
    }),
  ];
}

const memoryRoute = (memory: Memory, op: 'ingest' | 'query'): AnyRoute =>
  route()({
    method: 'POST',
    path: `/v1/db/vectordb/${op}`,
    credential: 'agent',
    summary: `The memory's ${op}`,
    permission: op === 'query' ? 'read' : 'read_write',
    idempotent: isKeyed(op),
    ...(op === 'ingest' && {
      recall: ({ caller, workId }: LostWork<unknown, 'agent'>) =>
        memory.recall(caller.agentId, workId),
    }),
    body: z.unknown(),

    handle: (context) => askMemory(memory, op, context.body, context),
  });
