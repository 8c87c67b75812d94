package simulate

import "capcli"

// parts are what only some runs have. A part that a run does not have is empty: it registers nothing, and
// what others ask of it has the answer of nothing.
type parts struct {
	guard      guard
	shapes     shapes
	svc        services
	stages     *stageRun
	defrag     defrag
	win        windows
	buy        buying
	gate       gate
	topo       *topo
	moving     moving
	contention contention
	delays     delays
	gpus       gpuFailures
	preempts   preempts
	savings    savings
}

// What a part may register, in the order in which a job and an instant meet it.
type (
	stepper  interface{ step() }               // before the events of an instant
	holder   interface{ putOff(l *Live) bool } // l, which has arrived, waits outside its queue
	joiner   interface{ joined(l *Live) }      // l has joined its queue
	starter  interface{ started(l *Live) }     // l has its GPUs
	beginner interface {                       // the same, after the observers know; the stay ends at a time
		began(l *Live, ends capcli.Seconds)
	}
	stopper interface{ stopped(l *Live) } // l has given its GPUs back
	ender   interface{ ended(l *Live) }   // l has finished, or was given up
	loser   interface{ lose(n int) }      // node n is lost
	settler interface{ settle() }         // at the end of an instant
)

// hooks are what the parts of a run have registered.
type hooks struct {
	step   []stepper
	hold   []holder
	join   []joiner
	start  []starter
	begin  []beginner
	stop   []stopper
	end    []ender
	lose   []loser
	settle []settler
}

// add registers what p does.
func (h *hooks) add(p any) {
	register(&h.step, p)
	register(&h.join, p)
	register(&h.start, p)
	register(&h.begin, p)
	register(&h.stop, p)
	register(&h.end, p)
	register(&h.lose, p)
	register(&h.settle, p)
}

// register adds p to the list if it is one of its kind.
func register[T any](list *[]T, p any) {
	if x, ok := p.(T); ok {
		*list = append(*list, x)
	}
}

// openParts registers the parts that the run has. The table is their order: at the end of an instant
// replicas get room first, then the queues have their turns, and what the parts after them do follows.
func (e *engine) openParts() {
	for _, p := range []struct {
		has  bool
		part any
	}{
		{e.guard.after > 0, &e.guard},
		{e.shapes.looks != nil, &e.shapes},
		{len(e.cfg.Services) > 0, &e.svc},
		{true, allTurns{e}},
		{e.stages != nil, e.stages},
		{e.cfg.Defragment.Every > 0, &e.defrag},
		{len(e.win.list) > 0, &e.win},
		{len(e.buy.pools) > 0, &e.buy},
		{e.gate.on, &e.gate},
		{len(e.contention.links) > 0, &e.contention},
		{e.moving.of != nil, &e.moving},
		{e.cfg.Delayer != nil, &e.delays},
	} {
		if p.has {
			e.hooks.add(p.part)
		}
	}
}

// allTurns are the turns of the queues, as one of the parts.
type allTurns struct{ e *engine }

func (t allTurns) settle() { t.e.turns() }

// notes are what a part knows of jobs that are live, by their slot.
type notes[T any] struct{ list []note[T] }

type note[T any] struct {
	job   uint64 // number of the job; the slot of a job that is gone goes to another
	value T
}

// noteOf returns what is known of l, to read and to write. It is valid until the next call.
func (n *notes[T]) noteOf(l *Live) *T {
	for int(l.slot) >= len(n.list) {
		n.list = append(n.list, note[T]{})
	}
	x := &n.list[l.slot]
	if x.job != l.number {
		*x = note[T]{job: l.number}
	}
	return &x.value
}

// get returns what is known of l; nothing is known of a copy that no slot stands for.
func (n *notes[T]) get(l *Live) (none T) {
	if int(l.slot) >= len(n.list) || n.list[l.slot].job != l.number {
		return none
	}
	return n.list[l.slot].value
}
