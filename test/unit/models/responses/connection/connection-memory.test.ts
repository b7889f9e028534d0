import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../../../src/kernel/limits.ts';
import {
  ConnectionBytes,
  ConnectionMemory,
} from '../../../../../src/models/responses/connection/connection-memory.ts';

const { connectionBytes, connectionsBytes } = LIMITS.responses;
const said = (bytes: number) => ({ bytes, items: [{ type: 'message' }] });

describe('what a connection remembers', () => {
  it('is the conversation up to its last response alone', () => {
    const memory = new ConnectionMemory(new ConnectionBytes());
    memory.remember('a', said(10));
    expect(memory.find('a')).toMatchObject(said(10));
    memory.remember('b', said(20));
    expect([memory.find('a'), memory.find('b')]).toMatchObject([undefined, said(20)]);
  });

  it('is no longer than one connection may have, and nothing in place of what is too long', () => {
    const memory = new ConnectionMemory(new ConnectionBytes());
    memory.remember('a', said(connectionBytes));
    expect(memory.find('a')).toBeDefined();
    memory.remember('b', said(connectionBytes + 1));
    expect([memory.find('a'), memory.find('b')]).toEqual([undefined, undefined]);
  });

  it('has the room that all connections of the process leave, and gives it back when they close', () => {
    const all = new ConnectionBytes();
    const most = connectionsBytes / connectionBytes;
    const memories = Array.from({ length: most + 1 }, () => new ConnectionMemory(all));
    for (const memory of memories) memory.remember('a', said(connectionBytes));
    const remembering = () => memories.filter((memory) => memory.find('a') !== undefined).length;
    expect(remembering()).toBe(most);
    for (const memory of memories) memory.close();
    // A response that ends behind its connection takes no room for ever.
    for (const memory of memories) memory.remember('a', said(connectionBytes));
    expect([remembering(), all.take(connectionsBytes)]).toEqual([0, true]);
  });
});
