package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// queue lets so many requests work at once, and so many more wait for their turn.
type queue struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64
}

// errBusy says that the queue is full.
var errBusy = errors.New("the server has as many requests as it takes")

func newQueue(working, waiting int) *queue {
	return &queue{slots: make(chan struct{}, working), most: int64(waiting)}
}

// enter waits for a turn. The function that it returns ends the turn. It fails with errBusy at once if
// the queue is full, and with the cause of ctx.
func (q *queue) enter(ctx context.Context) (leave func(), err error) {
	leave = func() { <-q.slots }
	select {
	case q.slots <- struct{}{}:
		return leave, nil
	default:
	}
	if q.waiting.Add(1) > q.most {
		q.waiting.Add(-1)
		return nil, errBusy
	}
	defer q.waiting.Add(-1)
	select {
	case q.slots <- struct{}{}:
		return leave, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// counts counts the answers by operation and code.
type counts struct {
	mu  sync.Mutex
	all map[answered]int64
}

type answered struct {
	operation string
	code      int
}

func newCounts() *counts { return &counts{all: map[answered]int64{}} }

func (c *counts) add(operation string, code int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[answered{operation, code}]++
}

// openMetrics returns the counts as OpenMetrics text.
func (s *Server) openMetrics() string {
	var b strings.Builder
	b.WriteString("# TYPE capcli_serve_requests counter\n# HELP capcli_serve_requests Requests answered, by operation and HTTP status.\n")
	s.count.mu.Lock()
	keys := make([]answered, 0, len(s.count.all))
	for k := range s.count.all {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y answered) int {
		if d := strings.Compare(x.operation, y.operation); d != 0 {
			return d
		}
		return x.code - y.code
	})
	for _, k := range keys {
		fmt.Fprintf(&b, "capcli_serve_requests_total{operation=%q,code=\"%d\"} %d\n", k.operation, k.code, s.count.all[k])
	}
	s.count.mu.Unlock()
	for _, g := range []struct {
		name, help string
		value      int64
	}{
		{"capcli_serve_working", "Requests at work.", int64(len(s.queue.slots))},
		{"capcli_serve_waiting", "Requests in the queue.", s.queue.waiting.Load()},
	} {
		fmt.Fprintf(&b, "# TYPE %s gauge\n# HELP %s %s\n%s %d\n", g.name, g.name, g.help, g.name, g.value)
	}
	b.WriteString("# EOF\n")
	return b.String()
}
