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

  it('knows what everything on it can come to: what it has, and the rest of what is expected', () => {
    const priced: Source = { ...source, rates: { character: 1_000_000n } };
    const tab = new Tab();
    tab.add({ source: priced, usage: { character: 3 } });
    const line = {
      isOver: false,
      chars: 4,
      bought: () => ({ source: priced, usage: { character: line.chars } }),
    };
    const [share, other] = [tab.expect(10n), tab.expect(100n)];
    expect(tab.unbilledRaw()).toBe(113n);
    tab.open(line);
    share.line = line;
    expect(tab.unbilledRaw()).toBe(113n);
    line.chars = 12;
    expect(tab.unbilledRaw()).toBe(115n);
    line.isOver = true;
    other.drop();
    expect(tab.unbilledRaw()).toBe(15n);
    tab.take();
    expect(tab.unbilledRaw()).toBe(0n);
  });
});
