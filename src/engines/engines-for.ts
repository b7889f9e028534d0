import type { LocalEngines } from './engine.ts';

/** The engines that speak and answer, as one agent uses them: what it asks for waits in its own line. */
export function enginesFor<E extends Pick<LocalEngines, 'tts' | 'guide'>>(
  engines: E,
  agentId: number,
): E {
  const { guide, tts } = engines;
  return {
    ...engines,
    tts: { flite: { speak: (request) => tts.flite.speak({ ...request, agentId }) } },
    guide: { reply: (request) => guide.reply({ ...request, agentId }) },
  };
}
