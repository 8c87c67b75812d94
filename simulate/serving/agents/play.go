package agents

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// Workload is tasks over time.
type Workload struct {
	Params Params
	Seed   uint64 // of the first tree; tree j has Seed + j
	Tasks  int64
	// Rate is the tasks that begin in a second, as a Poisson process. Where it is 0, Workflows tasks are at
	// work at once: as one ends, the next begins.
	Rate      float64
	Workflows int64
	Ramp      float64 // seconds over which the first of Workflows tasks begin, at even distances
	Reuses    bool    // whether a prefix cache supplies what a call's agent sent and got the turn before, and the system's prompt
}

// Check returns an error that names the first wrong field.
func (w *Workload) Check() error {
	if err := w.Params.Check(); err != nil {
		return err
	}
	if w.Tasks < 1 || w.Tasks > MaxTasks {
		return &capcli.RequestError{Field: "tasks", Text: fmt.Sprintf("wants a number of tasks between 1 and %d, found %d", MaxTasks, w.Tasks)}
	}
	switch {
	case !(w.Rate >= 0 && w.Rate <= 1e6):
		return &capcli.RequestError{Field: "rate", Text: fmt.Sprintf("wants tasks a second, above 0 and up to a million, found %v", w.Rate)}
	case w.Rate > 0 && w.Workflows > 0:
		return &capcli.RequestError{Field: "rate", Text: "and workflows are both given", Hint: "rate has tasks come whether others have ended or not; workflows keeps a number of them at work"}
	case !(w.Ramp >= 0 && w.Ramp <= 1e9):
		return &capcli.RequestError{Field: "ramp", Text: fmt.Sprintf("wants seconds, 0 or more, found %v", w.Ramp)}
	case w.Rate == 0 && w.Workflows < 1:
		return &capcli.RequestError{Field: "workflows", Text: fmt.Sprintf("wants 1 task or more at work at once, found %d", w.Workflows), Hint: "or give rate, the tasks that begin in a second"}
	}
	return nil
}

// Player gives the calls of tasks as requests, in the order in which their agents make them: a call arrives
// its tool's time after the last of those that it waits for is done. It is a serving.Follower.
type Player struct {
	load    *Workload
	arrive  func() float64 // time between tasks, of mean 1
	begun   int64          // tasks
	next    int64          // when the next task begins; never where none does by itself
	slots   int64          // without a rate: tasks at once that are still to begin by themselves
	open    map[int64]*openTask
	pending capcli.Heap[pendingCall]
	sent    []sentCall // by the id of the request
	done    []Task
}

// Task is what became of a task. Times are microseconds; Finish is -1 where it was not finished.
type Task struct {
	Number  int64 `json:"task"`
	Arrival int64 `json:"arrival_us"`
	Finish  int64 `json:"finish_us"`
	Calls   int64 `json:"calls"` // that were sent
	In      int64 `json:"tokens_in"`
	Cached  int64 `json:"cached"` // of In
	Out     int64 `json:"tokens_out"`
	Failed  bool  `json:"failed"` // a call was rejected: too long for the model or the cache
}

// openTask is a task with calls to come.
type openTask struct {
	Task
	calls []Call
	left  []int32   // calls that each call waits for
	known [][]int32 // calls that wait for each call
	prior []int32   // the call of the same agent before each; -1 is none
	ended int       // calls that are done
	out   int       // calls in flight or waiting for a tool
}

type sentCall struct {
	task int64
	call int32
}

// pendingCall is a call that arrives at a time.
type pendingCall struct {
	at, task int64
	call     int32
}

// Precedes orders by time, task and call.
func (c pendingCall) Precedes(d pendingCall) bool {
	return cmp.Or(cmp.Compare(c.at, d.at), cmp.Compare(c.task, d.task), cmp.Compare(c.call, d.call)) < 0
}

const never = math.MaxInt64

// newPlayer returns a player of w. Tasks with a rate arrive by chance of seed.
func newPlayer(w *Workload, seed capcli.Seed) (*Player, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	p := &Player{load: w, open: map[int64]*openTask{}, next: never, arrive: seed.Stream("tasks").ExpFloat64}
	if w.Rate > 0 {
		p.next = p.interval()
		return p, nil
	}
	p.next, p.slots = 0, min(w.Workflows, w.Tasks)
	return p, nil
}

// follow sets when the task after one that began at t begins by itself.
func (p *Player) follow(t int64) {
	p.next = never
	switch {
	case p.load.Rate > 0 && p.begun < p.load.Tasks:
		p.next = t + p.interval()
	case p.slots > 1:
		p.slots--
		first := min(p.load.Workflows, p.load.Tasks) - p.slots
		p.next = max(t, int64(p.load.Ramp*1e6*float64(first)/float64(p.load.Workflows)))
	default:
		p.slots = 0
	}
}

// interval returns the microseconds until the next task.
func (p *Player) interval() int64 { return int64(p.arrive() / p.load.Rate * 1e6) }

// begin begins the next task at time t.
func (p *Player) begin(t int64) {
	o := &openTask{calls: p.load.Params.Tree(p.load.Seed + uint64(p.begun))}
	o.Task = Task{Number: p.begun, Arrival: t, Finish: -1}
	o.link()
	p.open[p.begun] = o
	p.begun++
	p.send(o, 0, t)
}

// link notes which calls wait for which.
func (o *openTask) link() {
	n := len(o.calls)
	o.left, o.known, o.prior = make([]int32, n), make([][]int32, n), make([]int32, n)
	turns := map[agentID]int32{}
	for i := range o.calls {
		c := &o.calls[i]
		if c.After[0] >= 0 {
			o.left[i] = int32(len(c.After))
			for _, a := range c.After {
				o.known[a] = append(o.known[a], int32(i))
			}
		}
		o.prior[i] = -1
		if c.Turn > 0 { // the turns of agents side by side do not mix: the last one at this depth is its own
			o.prior[i] = turns[agentID{c.Parent, c.Depth}]
		}
		turns[agentID{c.Parent, c.Depth}] = int32(i)
	}
}

// agentID names the agent whose turns come one after another under a parent.
type agentID struct{ parent, depth int32 }

// send has a call of a task arrive at time t.
func (p *Player) send(o *openTask, call int32, t int64) {
	o.out++
	heap.Push(&p.pending, pendingCall{t, o.Number, call})
}

// Peek implements serving.Source.
func (p *Player) Peek() (int64, bool) {
	t := p.next
	if len(p.pending) > 0 {
		t = min(t, p.pending[0].at)
	}
	return t, t < never
}

// Next implements serving.Source.
func (p *Player) Next() serving.Request {
	for len(p.pending) == 0 || p.next <= p.pending[0].at {
		t := p.next
		p.begin(t)
		p.follow(t)
	}
	at := heap.Pop(&p.pending).(pendingCall)
	o := p.open[at.task]
	c := &o.calls[at.call]
	r := serving.Request{Arrival: at.at, In: c.In, Out: c.Out, Cached: o.cached(at.call, &p.load.Params, p.load.Reuses)}
	p.sent = append(p.sent, sentCall{at.task, at.call})
	o.Calls++
	o.In, o.Cached, o.Out = o.In+r.In, o.Cached+r.Cached, o.Out+r.Out
	return r
}

// cached returns the tokens of a call's prompt that a prefix cache supplies: the prompt and the answer of
// the turn before, or the system's prompt in an agent's first turn.
func (o *openTask) cached(call int32, p *Params, reuses bool) int64 {
	c := &o.calls[call]
	switch prior := o.prior[call]; {
	case !reuses:
		return 0
	case prior < 0:
		return min(p.SystemTokens, c.In-1)
	default:
		return min(o.calls[prior].In+o.calls[prior].Out, c.In-1)
	}
}

// RequestDone implements serving.Follower.
func (p *Player) RequestDone(id int, s *serving.Served, t int64) {
	sent := p.sent[id]
	o := p.open[sent.task]
	o.out--
	o.ended++
	if s.Status == serving.Rejected {
		o.Failed = true
	}
	if !o.Failed {
		for _, next := range o.known[sent.call] {
			if o.left[next]--; o.left[next] == 0 {
				p.send(o, next, t+o.calls[next].ToolMS*1000)
			}
		}
	}
	if o.out > 0 {
		return
	}
	if !o.Failed {
		o.Finish = t
	}
	p.done = append(p.done, o.Task)
	delete(p.open, sent.task)
	if p.load.Rate == 0 && p.begun+p.slots < p.load.Tasks {
		p.begin(t)
	}
}

// Tasks returns what became of the tasks that began, by number.
func (p *Player) Tasks() []Task {
	tasks := slices.Clone(p.done)
	for _, o := range p.open {
		tasks = append(tasks, o.Task)
	}
	slices.SortFunc(tasks, func(a, b Task) int { return cmp.Compare(a.Number, b.Number) })
	return tasks
}

// Played is what a service made of tasks. Times are microseconds; null is a figure of no task.
type Played struct {
	Tasks      int64         `json:"tasks"` // that began
	Finished   int64         `json:"finished"`
	Failed     int64         `json:"failed"`
	Calls      int64         `json:"calls"`
	TokensIn   int64         `json:"tokens_in"`
	Cached     int64         `json:"cached"` // of TokensIn
	TokensOut  int64         `json:"tokens_out"`
	TaskMean   capcli.Figure `json:"task_mean"` // from the start of a task to the end of its last call
	TaskP50    capcli.Figure `json:"task_p50"`
	TaskP90    capcli.Figure `json:"task_p90"`
	TaskP99    capcli.Figure `json:"task_p99"`
	CallsMean  capcli.Figure `json:"calls_at_once_mean"` // that wait or run
	CallsPeak  int64         `json:"calls_at_once_peak"`
	TasksMean  capcli.Figure `json:"tasks_at_once_mean"`
	TasksPeak  int64         `json:"tasks_at_once_peak"`
	USDPerTask capcli.Figure `json:"usd_per_task"` // finished
}

// Play plays w on a service. It returns the tasks, what was made of them, and the replay of their calls.
func Play(ctx context.Context, c *serving.Config, w *Workload, seed capcli.Seed) ([]Task, *Played, *serving.Result, error) {
	p, err := newPlayer(w, seed)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := serving.ReplaySource(ctx, c, p)
	if err != nil {
		return nil, nil, nil, err
	}
	tasks := p.Tasks()
	return tasks, sumUp(tasks, r), r, nil
}

func sumUp(tasks []Task, r *serving.Result) *Played {
	out := &Played{Tasks: int64(len(tasks)), Calls: int64(len(r.Served))}
	var took []int64
	calls, spans := make([]span, 0, len(r.Served)), make([]span, 0, len(tasks))
	for i := range r.Served {
		s := &r.Served[i]
		if s.Status != serving.Rejected {
			calls = append(calls, span{s.Arrival, s.Finish})
		}
	}
	total := int64(0)
	for i := range tasks {
		t := &tasks[i]
		out.TokensIn, out.Cached, out.TokensOut = out.TokensIn+t.In, out.Cached+t.Cached, out.TokensOut+t.Out
		switch {
		case t.Failed:
			out.Failed++
		case t.Finish >= 0:
			out.Finished++
			took = append(took, t.Finish-t.Arrival)
			total += t.Finish - t.Arrival
		}
		spans = append(spans, span{t.Arrival, t.Finish})
	}
	slices.Sort(took)
	none := capcli.Figure(math.NaN())
	out.TaskMean, out.TaskP50, out.TaskP90, out.TaskP99, out.USDPerTask = none, none, none, none, none
	if n := len(took); n > 0 {
		out.TaskMean = capcli.Figure(float64(total) / float64(n))
		out.TaskP50, out.TaskP90 = capcli.Figure(serving.Percentile(took, 50)), capcli.Figure(serving.Percentile(took, 90))
		out.TaskP99 = capcli.Figure(serving.Percentile(took, 99))
		if usd := float64(r.Summary.USD); usd > 0 {
			out.USDPerTask = capcli.Figure(usd / float64(n))
		}
	}
	out.CallsMean, out.CallsPeak = overlap(calls, r.Summary.End)
	out.TasksMean, out.TasksPeak = overlap(spans, r.Summary.End)
	return out
}

// span is from a time to another; to is -1 where it has no end.
type span struct{ from, to int64 }

// overlap returns the mean number of spans at once from the first start to end, and the greatest. A span
// that ends as another begins is not at once with it.
func overlap(spans []span, end int64) (mean capcli.Figure, peak int64) {
	type edge struct{ t, by int64 }
	var edges []edge
	first := int64(never)
	for _, s := range spans {
		first = min(first, s.from)
		edges = append(edges, edge{s.from, 1})
		if s.to >= 0 {
			edges = append(edges, edge{s.to, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.by, b.by)) })
	n, area, last := int64(0), 0.0, first
	for _, e := range edges {
		area += float64(n) * float64(e.t-last)
		last = e.t
		n += e.by
		peak = max(peak, n)
	}
	if end <= first {
		return capcli.Figure(math.NaN()), peak
	}
	area += float64(n) * float64(max(0, end-last))
	return capcli.Figure(area / float64(end-first)), peak
}

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
	var flying capcli.Heap[pendingCall] // by the time at which they are done; call is the id of the request
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
