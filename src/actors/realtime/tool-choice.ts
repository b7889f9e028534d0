import type { GuideReply } from '../../engines/engine.ts';
import type { SessionConfig } from './session-config.ts';

type Choosing = Pick<SessionConfig, 'tools' | 'toolChoice'>;

/** The tools that an answer may call. */
export function offeredTools({ tools, toolChoice }: Choosing): SessionConfig['tools'] {
  if (toolChoice === 'none') return [];
  if (typeof toolChoice === 'string') return tools;
  return tools.filter(({ name }) => name === toolChoice.name);
}

/** The call that the client insists on, for an answer that came without one. */
export function demandedCall(config: Choosing): GuideReply['toolCall'] {
  if (config.toolChoice === 'auto' || config.toolChoice === 'none') return undefined;
  const [tool] = offeredTools(config);
  return tool && { name: tool.name, argumentsJson: '{}' };
}
