package simulate

import (
	"capcli"
	"capcli/simulate/internal/sorted"
)

// Cursor walks over the jobs of a queue in the policy's order, as the queue was when the turn
// began. It also visits jobs started during the turn and jobs whose tenant is at its quota. Key,
// Milli and TimeLeft do not read the job itself.
type Cursor struct {
	list     *sorted.List[figures]
	chunk, i int32 // position of the current job
}

// Scan returns a cursor at the first job of the queue.
func (t *Turn) Scan() Cursor { return Cursor{list: &t.q.list} }

// CursorFrom returns a cursor at the first job whose Key is not below key.
func (t *Planning) CursorFrom(key int64) Cursor {
	chunk, i := t.q.list.Find(key, 0)
	return Cursor{&t.q.list, int32(chunk), int32(i)}
}

// HasMore reports whether the cursor is at a job. It is false at the end of the queue.
func (c *Cursor) HasMore() bool { return int(c.chunk) < len(c.list.Chunks) }

// Next moves the cursor to the next job.
func (c *Cursor) Next() {
	if c.i++; int(c.i) == len(c.list.Chunks[c.chunk]) {
		c.chunk, c.i = c.chunk+1, 0
	}
}

// Job returns the job that the cursor is at.
func (c *Cursor) Job() *Live { return c.entry().Value.job }

func (c *Cursor) entry() *entry { return &c.list.Chunks[c.chunk][c.i] }

// Key returns the job's Key.
func (c *Cursor) Key() int64 { return c.entry().Key }

// Milli returns the GPUs that the job wants, in thousandths.
func (c *Cursor) Milli() int64 { return c.entry().Value.milli }

// TimeLeft returns the job's LeftBelieved at the time it joined the queue; it does not change while
// the job waits.
func (c *Cursor) TimeLeft() capcli.Seconds { return c.entry().Value.est }
