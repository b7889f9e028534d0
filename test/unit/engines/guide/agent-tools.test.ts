import { describe, expect, it } from 'vitest';
import { chooseTool } from '../../../../src/engines/guide/guide-tool.ts';
import { withoutAgentBlocks } from '../../../../src/engines/guide/without-agent-blocks.ts';

const REST =
  ' Use it for files, code, commands, questions, numbers, poems, words, tests and whatever the user asks to write, read, list or find.';

/** Tools as coding agents describe them: long, and with most words that a question has. */
const tools = (list: Readonly<Record<string, string>>) =>
  Object.entries(list).map(([name, first]) => ({ name, description: first + REST }));

const CLAUDE_CODE = tools({
  Task: 'Launch a new agent to handle complex, multi-step tasks autonomously.',
  Bash: 'Executes a given bash command in a persistent shell session.',
  Glob: 'Fast file pattern matching tool that works with any codebase size.',
  Grep: 'A powerful search tool built on ripgrep.',
  Read: 'Reads a file from the local filesystem.',
  Edit: 'Performs exact string replacements in files.',
  Write: 'Writes a file to the local filesystem.',
  NotebookEdit: 'Completely replaces the contents of a specific cell in a Jupyter notebook.',
  WebFetch: 'Fetches content from a specified URL and processes it using an AI model.',
  WebSearch: 'Allows searching the web and using the results to inform responses.',
  TodoWrite: 'Create and manage a structured task list for your current coding session.',
  AskUserQuestion: 'Ask the user questions during execution.',
  Skill: 'Execute a skill within the main conversation.',
});

const CODEX = tools({
  shell: 'Runs a shell command and returns its output.',
  exec_command:
    'Runs a command in a PTY, returning output or a session ID for ongoing interaction.',
  write_stdin: 'Writes characters to an existing unified exec session and returns recent output.',
  update_plan: 'Updates the task plan.',
  apply_patch: 'Use the `apply_patch` tool to edit files.',
  view_image: 'Attach a local image to the conversation context for this turn.',
});

describe('the guide among the tools of a coding agent', () => {
  it.each([
    'Write a haiku about the sea.',
    'What is 2 + 3?',
    'Reply with the single word: pong',
    'Say hello to the user.',
    'Read this aloud: good morning',
    'List three colours.',
    'What is my task budget?',
    'Write me a story about a local hero',
    'How do I search for words in a poem?',
    'Edit your answer and update the plan of the day',
    'Write a function that adds two numbers',
    'Which of the questions that I asked was the best?',
    'Tell me what my balance is.',
    'Ask me a question.',
    'Is there a new agent for the current session?',
  ])('the guide answers a coding agent’s "%s" in words', (question) => {
    expect(chooseTool(question, CLAUDE_CODE)?.name).toBeUndefined();
    expect(chooseTool(question, CODEX)?.name).toBeUndefined();
  });

  it.each([
    ['Write hello to the file notes.txt', CLAUDE_CODE, 'Write'],
    ['Read package.json', CLAUDE_CODE, 'Read'],
    ['Please use the Bash tool', CLAUDE_CODE, 'Bash'],
    ['Run a bash command that lists files', CLAUDE_CODE, 'Bash'],
    ['Search with WebSearch for news', CLAUDE_CODE, 'WebSearch'],
    ['Use `Grep`', CLAUDE_CODE, 'Grep'],
    ['Run a shell command', CODEX, 'shell'],
    ['Call update_plan now', CODEX, 'update_plan'],
    ['View the image', CODEX, 'view_image'],
  ] as const)(
    'the guide calls the coding agent’s tool that "%s" names, or whose subject it names',
    (question, list, name) => {
      expect(chooseTool(question, list)?.name).toBe(name);
    },
  );

  it('the guide calls one of a coding agent’s tools where it must call one', () => {
    expect(chooseTool('Write a haiku', CLAUDE_CODE, true)?.name).toBeDefined();
  });
});

describe('a question without the blocks of its agent', () => {
  it('a question without its agent’s blocks keeps the text around them, whole or cut off', () => {
    const block = '<system-reminder>Write a file. <b>x</b></system-reminder>';
    expect(withoutAgentBlocks(`${block}What is 2 + 3?`)).toBe('What is 2 + 3?');
    expect(withoutAgentBlocks(`What is 2 + 3?${block}${block}`)).toBe('What is 2 + 3?');
    expect(withoutAgentBlocks('the rest</system-reminder>What is 2?')).toBe('What is 2?');
    expect(withoutAgentBlocks('Is <my-tag> one?')).toBe('Is <my-tag> one?');
    expect(withoutAgentBlocks('a <b>bold</b> word')).toBe('a <b>bold</b> word');
    const long = `<environment_context>${'x'.repeat(100_000)}</environment_context>Why?`;
    expect(withoutAgentBlocks(long)).toBe('Why?');
  });
});
