import { describe, expect, it } from 'vitest';
import { Tab } from '../../../../src/actors/cascade/tab.ts';
import type { Source } from '../../../../src/gateway/catalogue.ts';

const source: Source = {
  ...{ rail: 'self-host', provider: 'p', upstreamModel: 'm', rates: {}, marginBps: 0 },
};

describe('Tab', () => {
  it('bills everything once, and nothing that goes on', () => {
    const tab = new Tab();
    const line = {
      isOver: false,
      chars: 1,
      bought: () => ({ source, usage: { character: line.chars } }),
    };
    tab.open(line);
    tab.add({ source, usage: { audio_second: 2 } });
    tab.open({ isOver: true, bought: () => undefined });
    expect(tab.take()).toEqual([{ source, usage: { audio_second: 2 } }]);
    line.chars = 5;
    line.isOver = true;
    expect(tab.take()).toEqual([{ source, usage: { character: 5 } }]);
    expect(tab.take()).toEqual([]);
  });
});
