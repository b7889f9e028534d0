import type { EnginePlace, LocalEngines } from './engine.ts';

/** Returns the speech and answer engines for one agent: the agent's work waits in a queue of its own. */
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

/** Returns the engines for a session that has a slot at the recogniser. */
export function enginesAt<E extends Pick<LocalEngines, 'stt'>>(engines: E, place: EnginePlace): E {
  const { pocketsphinx } = engines.stt;
  const placed = {
    open: (options: Parameters<typeof pocketsphinx.open>[0]) =>
      pocketsphinx.open({ ...options, place }),
    takePlace: () => place,
    places: pocketsphinx.places,
  };
  return { ...engines, stt: { ...engines.stt, pocketsphinx: placed } };
}
