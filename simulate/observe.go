package simulate

import (
	"slices"

	"capcli"
)

// Observer is told each event as it happens. It must not keep the Live. What it can
// do beyond that, as Watcher and the like say, is found out before the run begins.
type Observer interface {
	Observe(e Event, c *Cluster)
}

// Watcher is an Observer that looks at the run beyond the events.
type Watcher interface {
	Watch(v *View) // before the first event
}

// Ripener is an Observer that wants to know when the patience of a waiting job
// ends: from then on it may use pools beyond its first.
type Ripener interface {
	Ripen(l *Live)
}

// Settler is an Observer that acts when an instant has settled.
type Settler interface {
	Settle()
}

// Closer is an Observer that is told of each job that waits or runs when the run
// ends: first those that run.
type Closer interface {
	Close(l *Live)
}

// Checker is an Observer that can find its own books wrong: then Run fails.
type Checker interface {
	Check() error
}

// View is a run in progress, to read.
type View struct{ e *engine }

// Now returns the present instant.
func (v *View) Now() capcli.Seconds { return v.e.c.now }

// Start returns instant 0 of the run. It is known from the first event on.
func (v *View) Start() capcli.Time { return v.e.ledger.rec.Start }

// Cluster returns the capacity.
func (v *View) Cluster() *Cluster { return v.e.c }

// Placement returns that of the run.
func (v *View) Placement() Placement { return v.e.cfg.Placement }

// Overflows reports whether l may use pools beyond its first now, and whether it
// never may.
func (v *View) Overflows(l *Live) (now, never bool) {
	return v.e.opened(l), v.e.cfg.Overflow.patienceOf(l) < 0
}

// watchers are the observers that are told more than events.
type watchers struct {
	ripen  []Ripener
	settle []Settler
}

// watch finds out what the observers can do.
func (e *engine) watch() {
	if o, learns := e.cfg.Placement.(Observer); learns {
		e.cfg.Observers = append(slices.Clip(e.cfg.Observers), o)
	}
	e.view.e = e
	for _, o := range e.cfg.Observers {
		if w, ok := o.(Watcher); ok {
			w.Watch(&e.view)
		}
		if w, ok := o.(Ripener); ok {
			e.watchers.ripen = append(e.watchers.ripen, w)
		}
		if w, ok := o.(Settler); ok {
			e.watchers.settle = append(e.watchers.settle, w)
		}
	}
}

// closeWatch tells the observers of the jobs that wait or run at the end.
func (e *engine) closeWatch() error {
	for _, o := range e.cfg.Observers {
		if w, ok := o.(Closer); ok {
			for l := range e.allRunning() {
				w.Close(l)
			}
			for l := range e.allWaiting() {
				w.Close(l)
			}
		}
		if w, ok := o.(Checker); ok {
			if err := w.Check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *engine) tell(k Kind, l *Live, pool, node int) {
	for _, o := range e.cfg.Observers {
		o.Observe(Event{At: e.c.now, Kind: k, Job: l, Pool: pool, Node: node}, e.c)
	}
}
