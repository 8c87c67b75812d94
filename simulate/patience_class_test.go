package simulate_test

import (
	"testing"

	"capcli"
	"capcli/simulate"
)

// One reserved GPU is busy for 1000 s. Jobs of the class that may wait stay 300 s for it, or until it is free, and go on
// demand; jobs of others go at once.
func TestPatienceOfAClass(t *testing.T) {
	job := func(id, class string, at capcli.Time, run capcli.Seconds) capcli.Job {
		return capcli.Job{ID: id, Class: class, GPUs: 1, Submit: at, Run: run, Start: capcli.NoTime, End: capcli.NoTime, Eligible: capcli.NoTime, Deadline: capcli.NoTime}
	}
	waits := map[string]capcli.Seconds{}
	_, err := simulate.Run(t.Context(), simulate.Config{
		List: []capcli.Job{job("first", "", 0, 1000), job("patient", "waits", 100, 50), job("other", "always", 100, 50), job("last", "waits", 900, 50)},
		Pools: []simulate.Pool{
			{Name: "base", Terms: simulate.Reserved, Nodes: 1, GPUsPerNode: 1},
			{Name: "flex", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 100},
		},
		Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
		Overflow:  simulate.Overflow{Patience: []simulate.Patience{{Class: "waits", Wait: 300}, {}}, CommittedFirst: true},
		Observers: []simulate.Observer{startWatch(waits)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]capcli.Seconds{"first": 0, "patient": 300, "other": 0, "last": 100} {
		if waits[id] != want {
			t.Errorf("%s waits %d s, want %d", id, waits[id], want)
		}
	}
}

// startWatch notes how long jobs wait.
type startWatch map[string]capcli.Seconds

func (w startWatch) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Start {
		w[e.Job.ID] = e.At - e.Job.Submitted
	}
}
