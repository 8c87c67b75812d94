package simulate

import "capcli"

// Cursor goes through the jobs of a queue in the policy's order, as the queue was
// when the turn began: also those that were started since, and those whose tenant
// is at its quota. It tells what a scan looks at first without a look at the job.
type Cursor struct {
	chunk []entry   // from the present job on
	rest  [][]entry // the chunks after it
}

// Scan returns a cursor at the first job of the queue.
func (t *Turn) Scan() Cursor { return cursorOf(t.q.list.Chunks) }

// From returns a cursor at the first job whose Key is not below key.
func (t *Turn) From(key int64) Cursor {
	chunk, i := t.q.list.Find(key, 0)
	c := cursorOf(t.q.list.Chunks[chunk:])
	if len(c.chunk) > 0 {
		c.chunk = c.chunk[i:]
	}
	return c
}

func cursorOf(chunks [][]entry) Cursor {
	if len(chunks) == 0 {
		return Cursor{}
	}
	return Cursor{chunks[0], chunks[1:]}
}

// More reports whether the cursor is at a job; false at the end.
func (c *Cursor) More() bool { return len(c.chunk) > 0 }

// Next goes on to the next job.
func (c *Cursor) Next() {
	if c.chunk = c.chunk[1:]; len(c.chunk) == 0 {
		c.nextChunk()
	}
}

func (c *Cursor) nextChunk() {
	if len(c.rest) > 0 {
		c.chunk, c.rest = c.rest[0], c.rest[1:]
	}
}

// Job returns the job that the cursor is at.
func (c *Cursor) Job() *Live { return c.chunk[0].Value.job }

// Key returns the job's Key.
func (c *Cursor) Key() int64 { return c.chunk[0].Key }

// Milli returns what the job wants, in thousandths of GPUs.
func (c *Cursor) Milli() int64 { return c.chunk[0].Value.milli }

// Left returns the job's LeftBelieved when it joined the queue, which no wait
// changes.
func (c *Cursor) Left() capcli.Seconds { return c.chunk[0].Value.est }
