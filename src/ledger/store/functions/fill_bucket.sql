-- Adds to a bucket, or to the newest one where that is later.
CREATE OR REPLACE FUNCTION fill_bucket(buckets bigint[], head bigint, bucket bigint, amount bigint) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  place CONSTANT integer := greatest(head, bucket) % cardinality(buckets) + 1;
BEGIN
  buckets := roll_buckets(buckets, head, bucket);
  buckets[place] := buckets[place] + amount;
  RETURN buckets;
END $$;
