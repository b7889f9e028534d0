-- A key says whether its prompts are marked for the caches of upstreams that need marks.
ALTER TABLE "agent_keys" ADD COLUMN "prompt_caching" text DEFAULT 'off' NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_keys" ADD CONSTRAINT "agent_keys_prompt_caching" CHECK ("agent_keys"."prompt_caching" in ('off', 'auto'));