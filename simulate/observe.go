package simulate

import (
	"slices"

	"capcli"
)

// Observer receives each event when it happens. It must not keep the Live. Before the run, the
// engine checks which observers also are a Watcher, Ripener, Settler, Closer or Checker.
type Observer interface {
	Observe(e Event, c *Cluster)
}

// Watcher is an Observer that reads the state of the run, not only its events.
type Watcher interface {
	Watch(v *View) // before the first event
}

// Ripener is an Observer that is told when the patience of a waiting job ends. From then on the job
// may use pools beyond its first rank.
type Ripener interface {
	Ripen(l *Live)
}

// Settler is an Observer that acts at the end of each instant.
type Settler interface {
	Settle()
}

// Closer is an Observer that receives each job that runs or waits at the end of the
// run, running jobs first.
type Closer interface {
	Close(l *Live)
}

// Checker is an Observer that checks its own accounts at the end. Run fails with its
// error.
type Checker interface {
	Check() error
}

// View is read access to a run.
type View struct{ e *engine }

// Now returns the current time of the run.
func (v *View) Now() capcli.Seconds { return v.e.c.now }

// Start returns the date at which the run began. It is known from the first event on.
func (v *View) Start() capcli.Time { return v.e.ledger.rec.Start }

// Cluster returns the cluster of the run.
func (v *View) Cluster() *Cluster { return v.e.c }

// Placement returns the placement of the run.
func (v *View) Placement() Placement { return v.e.cfg.Placement }

// Overflows reports whether l may use pools beyond its first rank now, and whether it
// will never be allowed to.
func (v *View) Overflows(l *Live) (now, never bool) {
	return v.e.opened(l), v.e.cfg.Overflow.patienceOf(l) < 0
}

// IsShort reports whether the nodes of a pool of bought nodes cannot be had now: an order failed, and the
// pool is left alone for a while.
func (v *View) IsShort(p int) bool {
	return v.e.buy.of[p] != nil && v.e.c.now < v.e.buy.of[p].retryAt
}

// watchers are the observers that are a Ripener or a Settler.
type watchers struct {
	ripen  []Ripener
	settle []Settler

	replicas []ReplicaWatcher
}

// watch registers the observers by the interfaces they have.
func (e *engine) watch() {
	if o, learns := e.cfg.Placement.(Observer); learns {
		e.cfg.Observers = append(slices.Clip(e.cfg.Observers), o)
	}
	if o, learns := e.cfg.Delayer.(Observer); learns {
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
		if w, ok := o.(ReplicaWatcher); ok {
			e.watchers.replicas = append(e.watchers.replicas, w)
		}
	}
}

// closeWatch passes the jobs that run or wait at the end to the observers, and lets them check
// themselves.
func (e *engine) closeWatch() error {
	for _, o := range e.cfg.Observers {
		if w, ok := o.(Closer); ok {
			for l := range e.allRunning() {
				w.Close(l)
			}
			for l := range e.allWaiting() {
				w.Close(l)
			}
			for l := range e.delays.allPutOff() {
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
