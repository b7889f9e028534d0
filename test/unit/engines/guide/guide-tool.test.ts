import { describe, expect, it } from 'vitest';
import { chooseTool } from '../../../../src/engines/guide/guide-tool.ts';

const weather = { name: 'get_weather', description: 'The weather of a city at this hour' };
const order = { name: 'cancelOrder', description: 'Cancels an order by its number' };

describe('guide tool', () => {
  it('the guide chooses the tool whose subject the question names', () => {
    expect(chooseTool('What is the weather in Paris?', [order, weather])).toBe(weather);
    expect(chooseTool('please cancel my order', [order, weather])).toBe(order);
  });

  it('the guide chooses no tool when none is clearly meant, or two are', () => {
    expect(chooseTool('what is my balance', [order, weather])).toBeUndefined();
    expect(chooseTool('where is my order', [order, weather])).toBeUndefined();
    expect(chooseTool('weather', [weather, { ...weather }])).toBeUndefined();
    expect(chooseTool('weather', [])).toBeUndefined();
  });

  it('the guide chooses the best-matching tool where it must call one, and the first of several equals', () => {
    expect(chooseTool('where is my order', [weather, order], true)).toBe(order);
    expect(chooseTool('what is my balance', [order, weather], true)).toBe(order);
    expect(chooseTool('weather', [], true)).toBeUndefined();
  });
});
