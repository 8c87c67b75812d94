package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// A gang of 16 GPUs over two nodes loses all of them when one node goes. It had
// run 5,000 s: work of 3,600 s is in a checkpoint (each takes 60 s). With the
// node back at 6,000 s it takes 100 s to restart and does the other 6,400 s with
// one more checkpoint: the end is at 12,560 s. Another job on a third node is
// left alone.
func TestAGangOnALostNodeRestartsFromItsCheckpoint(t *testing.T) {
	jobs := []capcli.Job{
		{ID: "gang", Tenant: "a", GPUs: 16, Run: 10_000, Deadline: capcli.NoTime},
		{ID: "other", Tenant: "b", GPUs: 8, Run: 9_000, Deadline: capcli.NoTime},
	}
	supply := &script{changes: []simulate.Change{{At: 5000, Kind: simulate.Lose, Node: 1}, {At: 6000, Kind: simulate.Gain, Node: 1}}}
	var seen log
	res, err := simulate.Run(context.Background(), simulate.Config{
		Jobs: stream(jobs), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"), Observers: []simulate.Observer{&seen},
		Pools:    []simulate.Pool{{Name: "spot", Terms: simulate.Reserved, Nodes: 3, GPUsPerNode: 8, Supply: supply}},
		Restarts: simulate.Restarts{Classes: []simulate.RestartClass{{Interval: 3600, Cost: 60, Restart: 100}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "0 arrive gang, 0 arrive other, 0 start gang, 0 start other, 5000 preempt gang, 5000 lose, 6000 gain, 6000 start gang, 9120 finish other, 12560 finish gang"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	s := res.Record.Months[0].Pools[0]
	for _, tt := range []struct {
		name      string
		got, want capcli.GPUTime
	}{
		{"offered", s.Offered, 24 * 12_560},
		{"used", s.Used, 16*(5000+6560) + 8*9120},
		{"down", s.Down, 8 * 1000},
		{"blocked", s.Blocked, 8 * 1000}, // the other node of the gang, while it waits
		{"idle", s.Idle, 8 * 3440},       // the third node, after its job
		{"lost", res.Record.Months[0].Use[0][0].Lost, 16 * (5000 - 3600 + 100 + 60)},
		{"redone", res.Redone, 16*(5000-3600+100+60) + 8*120},
		{"goodput", res.Goodput, 16*10_000 + 8*9000},
	} {
		if tt.got != tt.want*capcli.GPUSecond {
			t.Errorf("%s is %d GPU-seconds, want %d", tt.name, tt.got/capcli.GPUSecond, tt.want)
		}
	}
	if err := s.Balance(); err != nil {
		t.Error(err)
	}
	if res.Jobs.Losses != 1 || res.Jobs.Preemptions != 1 {
		t.Errorf("%d losses, %d preemptions; want 1 and 1", res.Jobs.Losses, res.Jobs.Preemptions)
	}
}

// A job that was promised a node which is lost within the lead time has not
// started: its wait is to the start that came true. One for which the period
// ends first has not waited to its end either.
func TestAStartThatNeverCame(t *testing.T) {
	jobs := []capcli.Job{
		{ID: "a", Tenant: "t", GPUs: 8, Run: 1000, Deadline: capcli.NoTime},
		{ID: "b", Tenant: "t", GPUs: 8, Run: 1000, Submit: 1450, Deadline: capcli.NoTime},
	}
	var ends []string
	supply := &script{changes: []simulate.Change{{At: 50, Kind: simulate.Lose}, {At: 400, Kind: simulate.Gain}}}
	res, err := simulate.Run(context.Background(), simulate.Config{
		Start: 0, Until: 1550, Jobs: stream(jobs), Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "count"),
		Pools: []simulate.Pool{{Name: "spot", Terms: simulate.Spot, Nodes: 1, GPUsPerNode: 8, Lead: 100, Supply: supply}},
		Observers: []simulate.Observer{onFinish(func(l *simulate.Live) {
			ends = append(ends, fmt.Sprintf("%s %d to %d, waited %d, queued %d", l.ID, l.FirstStart, l.Ended, l.Wait(), l.Queued))
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(ends, "; "), "a 500 to 1500, waited 500, queued 500"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if w := res.Wait; w.Started != 1 || w.Jobs != 2 || w.KnowsRank(100) || w.P50 != 500 || res.Tenants[0].Wait.MeanStarted != 500 || res.Jobs.Running != 0 || res.Jobs.Starting != 1 {
		t.Errorf("%+v, waits %+v, of the tenant %+v; want 1 starting and one wait of 500", res.Jobs, res.Wait, res.Tenants[0].Wait)
	}
}

// onFinish is an observer of jobs' ends.
type onFinish func(*simulate.Live)

func (f onFinish) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Finish {
		f(e.Job)
	}
}

// script is a supply that says what it was told to.
type script struct{ changes []simulate.Change }

func (s *script) Next() (c simulate.Change, ok bool) {
	if len(s.changes) == 0 {
		return c, false
	}
	c, s.changes = s.changes[0], s.changes[1:]
	return c, true
}

// log notes events in words.
type log []string

func (g *log) Observe(e simulate.Event, _ *simulate.Cluster) {
	text := fmt.Sprintf("%d %s", e.At, e.Kind)
	if e.Job != nil {
		text += " " + e.Job.ID
	}
	*g = append(*g, text)
}
