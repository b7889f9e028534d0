import type { SessionConfig } from '../protocols/openai-realtime/session-config.ts';

type Choosing = Pick<SessionConfig, 'tools' | 'toolChoice'>;

/** The tools that an answer may call. */
export function offeredTools({ tools, toolChoice }: Choosing): SessionConfig['tools'] {
  if (toolChoice === 'none') return [];
  if (typeof toolChoice === 'string') return tools;
  return tools.filter(({ name }) => name === toolChoice.name);
}

/** Whether the client insists on a call, and has a tool that can be called. */
export const mustCall = (config: Choosing): boolean =>
  config.toolChoice !== 'auto' && offeredTools(config).length > 0;
