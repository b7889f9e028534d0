import type { EnginePlace, LocalEngines } from './engine.ts';

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

/** The engines as a session uses them that has a place at the recogniser. */
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
