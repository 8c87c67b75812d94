package agents

import (
	"container/heap"
	"fmt"

	"capcli"
	"capcli/simulate/serving"
)

// Requests returns the calls of the tasks as requests, in order of arrival, where a call takes as long as
// took says, in microseconds, whatever else goes on. It is the load for a service that is not known yet, or
// that is planned to keep up: one that does not has its agents wait, and send later. Prefix is the number of
// the task, from 1. It fails where there are over limit calls.
func (w *Workload) Requests(seed capcli.Seed, took func(serving.Request) int64, limit int) ([]serving.Request, error) {
	p, err := newPlayer(w, seed)
	if err != nil {
		return nil, err
	}
	var out []serving.Request
	var flying pendingCalls // by the time at which they are done; call is the id of the request
	for {
		arrival, more := p.Peek()
		if len(flying) > 0 && (!more || flying[0].at <= arrival) {
			done := heap.Pop(&flying).(pendingCall)
			p.RequestDone(int(done.call), &serving.Served{}, done.at)
			continue
		}
		if !more {
			return out, nil
		}
		if len(out) == limit {
			return nil, &capcli.RequestError{Field: "agents", Text: fmt.Sprintf(": tasks make over %s calls, the most that are played", capcli.Grouped(int64(limit))), Hint: "lower tasks or max_calls"}
		}
		r := p.Next()
		r.Prefix = p.sent[len(out)].task + 1
		heap.Push(&flying, pendingCall{at: r.Arrival + max(1, took(r)), task: p.sent[len(out)].task, call: int32(len(out))})
		out = append(out, r)
	}
}
