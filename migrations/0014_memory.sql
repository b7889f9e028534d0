-- Memories of agents: their stores and namespaces, what was ingested, and the pieces of it that are found.
CREATE TABLE "memory_chunks" (
	"id" bigserial PRIMARY KEY NOT NULL,
	"item_id" text COLLATE "C" NOT NULL,
	"space_id" integer NOT NULL,
	"type" text NOT NULL,
	"content" text NOT NULL,
	"words" "tsvector" GENERATED ALWAYS AS (to_tsvector('english', content) || array_to_tsvector(array['space ' || space_id::text])) STORED NOT NULL,
	"terms" text[] NOT NULL,
	"vector" "bytea" NOT NULL,
	"version" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "memory_items" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"seq" bigserial NOT NULL,
	"space_id" integer NOT NULL,
	"agent_id" integer NOT NULL,
	"type" text NOT NULL,
	"text" text NOT NULL,
	"infer" boolean NOT NULL,
	"metadata" jsonb NOT NULL,
	"title" text,
	"source_id" text,
	"status" text NOT NULL,
	"claim" text COLLATE "C",
	"due_at" timestamp with time zone,
	"attempts" smallint DEFAULT 0 NOT NULL,
	"bytes" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memory_items_type" CHECK ("memory_items"."type" in ('memory', 'knowledge')),
	CONSTRAINT "memory_items_status" CHECK ("memory_items"."status" in ('queued', 'processing', 'completed', 'failed'))
);
--> statement-breakpoint
CREATE TABLE "memory_removals" (
	"space_id" integer NOT NULL,
	"version" bigint NOT NULL,
	"chunk_ids" bigint[] NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memory_removals_space_id_version_pk" PRIMARY KEY("space_id","version")
);
--> statement-breakpoint
CREATE TABLE "memory_spaces" (
	"id" integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "memory_spaces_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 2147483647 START WITH 1 CACHE 1),
	"agent_id" integer NOT NULL,
	"sub_tenant" text COLLATE "C" NOT NULL,
	"schema" jsonb,
	"model" text NOT NULL,
	"dims" integer NOT NULL,
	"memories" integer DEFAULT 0 NOT NULL,
	"knowledge" integer DEFAULT 0 NOT NULL,
	"version" bigint DEFAULT 0 NOT NULL,
	"forgotten_version" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deleted_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "memory_tenants" (
	"agent_id" integer PRIMARY KEY NOT NULL,
	"spaces" integer DEFAULT 0 NOT NULL,
	"items" integer DEFAULT 0 NOT NULL,
	"bytes" bigint DEFAULT 0 NOT NULL,
	"knowledge" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "memory_chunks" ADD CONSTRAINT "memory_chunks_item_id_memory_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "public"."memory_items"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_items" ADD CONSTRAINT "memory_items_space_id_memory_spaces_id_fk" FOREIGN KEY ("space_id") REFERENCES "public"."memory_spaces"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_spaces" ADD CONSTRAINT "memory_spaces_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memory_tenants" ADD CONSTRAINT "memory_tenants_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "memory_chunks_space" ON "memory_chunks" USING btree ("space_id","version","id");--> statement-breakpoint
CREATE INDEX "memory_chunks_item" ON "memory_chunks" USING btree ("item_id");--> statement-breakpoint
CREATE INDEX "memory_chunks_words" ON "memory_chunks" USING gin ("words");--> statement-breakpoint
CREATE INDEX "memory_chunks_terms" ON "memory_chunks" USING gin ("terms");--> statement-breakpoint
CREATE INDEX "memory_items_space" ON "memory_items" USING btree ("space_id","seq");--> statement-breakpoint
CREATE INDEX "memory_items_due" ON "memory_items" USING btree ("agent_id","space_id","due_at") WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX "memory_removals_at" ON "memory_removals" USING btree ("at");--> statement-breakpoint
CREATE UNIQUE INDEX "memory_spaces_living" ON "memory_spaces" USING btree ("agent_id","sub_tenant") WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX "memory_spaces_deleted" ON "memory_spaces" USING btree ("id") WHERE deleted_at is not null;