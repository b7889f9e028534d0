-- What is bought to index memories is written down before it is charged; items say what they cost, and why they wait.
CREATE TABLE "memory_purchases" (
	"item_id" text COLLATE "C" NOT NULL,
	"kind" text NOT NULL,
	"work_id" text COLLATE "C" NOT NULL,
	"model" text NOT NULL,
	"result" "bytea",
	CONSTRAINT "memory_purchases_item_id_kind_pk" PRIMARY KEY("item_id","kind"),
	CONSTRAINT "memory_purchases_kind" CHECK ("memory_purchases"."kind" in ('facts', 'vectors'))
);
--> statement-breakpoint
ALTER TABLE "memory_items" ADD COLUMN "spender" jsonb;--> statement-breakpoint
ALTER TABLE "memory_items" ADD COLUMN "cost_raw" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "memory_items" ADD COLUMN "reason" text;--> statement-breakpoint
ALTER TABLE "memory_items" ADD COLUMN "needs_raw" bigint;--> statement-breakpoint
ALTER TABLE "memory_items" ADD COLUMN "waits" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "memory_items" ADD COLUMN "inferred_by" text;--> statement-breakpoint
ALTER TABLE "memory_items" ADD COLUMN "infer_error" text;--> statement-breakpoint
ALTER TABLE "memory_purchases" ADD CONSTRAINT "memory_purchases_item_id_memory_items_id_fk" FOREIGN KEY ("item_id") REFERENCES "public"."memory_items"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "memory_items_unpaid" ON "memory_items" USING btree ("agent_id") WHERE needs_raw is not null;