import type { CallToolResult, Tool as ListedTool } from '@modelcontextprotocol/server';
import { type ZodType, z } from 'zod';
import type { AnyRoute } from '../http/route/route.ts';
import type { Json } from '../kernel/json.ts';
import type { RouteAnswer } from './route-answer.ts';

/**
 * Sends a request to a route under the key of the tool call. Throws RouteRefused unless the route, or a vendor behind it, has
 * answered.
 */
export type AskTool = (
  route: AnyRoute,
  options?: {
    readonly body?: unknown;
    readonly query?: Readonly<Record<string, string>>;
    readonly maxBytes?: number;
  },
) => Promise<RouteAnswer>;

/** Thrown when a route refused a tool's request. */
export class RouteRefused extends Error {
  override readonly name = 'RouteRefused';
  readonly answer: RouteAnswer;

  constructor(answer: RouteAnswer) {
    super(`a route answered ${answer.status}`);
    this.answer = answer;
  }
}

type ToolSpec<I extends ZodType> = {
  readonly name: string;
  readonly title: string;
  /** For models: the tool's effect, cost and result. */
  readonly description: string;
  /** True when the tool changes nothing and costs nothing. */
  readonly isReadOnly: boolean;
  readonly input: I;
  call(args: z.output<I>, ask: AskTool): Promise<CallToolResult>;
};

export type Tool = ToolSpec<ZodType>;

/** Returns the members that have a value. A route's body is JSON, which has no undefined. */
export const present = (members: Json): Json =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** Declares a tool. The type of its input is known in `spec` alone. */
export const tool = <I extends ZodType>(spec: ToolSpec<I>): Tool => spec as unknown as Tool;

/** Returns a tool's entry in the list for clients. */
export function listedTool({ description, input, isReadOnly, name, title }: Tool): ListedTool {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input', unrepresentable: 'any' });
  return {
    name,
    title,
    description,
    inputSchema: { ...schema, type: 'object' } as ListedTool['inputSchema'],
    annotations: {
      title,
      readOnlyHint: isReadOnly,
      destructiveHint: false,
      // A tool that is not read-only buys from vendors outside.
      openWorldHint: !isReadOnly,
    },
  };
}
