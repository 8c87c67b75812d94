package simulate_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// playBought plays jobs, each {submit, GPUs, run}, on one on-demand pool of bought nodes of 8 GPUs.
func playBought(t *testing.T, buy simulate.Buying, nodes int, jobs [][3]int, more ...func(*simulate.Config)) *simulate.Result {
	t.Helper()
	var list []capcli.Job
	for i, j := range jobs {
		list = append(list, capcli.Job{ID: fmt.Sprint("j", i), Tenant: "a", Submit: capcli.Time(j[0]), GPUs: j[1], Run: capcli.Seconds(j[2]), Deadline: capcli.NoTime})
	}
	cfg := simulate.Config{
		Pools:  []simulate.Pool{{Name: "od", Terms: simulate.OnDemand, Nodes: nodes, GPUsPerNode: 8, Buy: &buy}},
		Policy: mustPolicy(t, "fifo"), Placement: mustPlacement(t, "consolidate"), List: list, Hourly: true, Timeline: true,
	}
	for _, m := range more {
		m(&cfg)
	}
	r, err := simulate.Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lives writes the nodes of a run: place ordered-came-ended billed from-to+beyond.
func lives(r *simulate.Result) string {
	var b strings.Builder
	for _, n := range r.Record.Nodes {
		fmt.Fprintf(&b, "%d:%d-%d-%d=%d..%d", n.Node, n.Ordered, n.Came, n.Ended, n.From, n.To)
		if n.Beyond > 0 {
			fmt.Fprintf(&b, "+%d", n.Beyond)
		}
		if n.Lost {
			b.WriteString("!")
		}
		b.WriteString(" ")
	}
	return strings.TrimSpace(b.String())
}

func fixed(lead capcli.Seconds) func(int64) capcli.Seconds {
	return func(int64) capcli.Seconds { return lead }
}

// Cases worked by hand. The span is of GPU-seconds: offered, used, idle, blocked, down.
func TestBoughtByHand(t *testing.T) {
	until := func(at capcli.Seconds) func(*simulate.Config) {
		return func(c *simulate.Config) { c.Start, c.Until = 0, at }
	}
	tests := []struct {
		name  string
		buy   simulate.Buying
		nodes int
		jobs  [][3]int
		until capcli.Seconds
		lives string
		span  [5]int64
		wait  float64
	}{
		{
			"one GPU is billed as eight",
			simulate.Buying{Lead: fixed(60), Idle: 30},
			2,
			[][3]int{{0, 1, 100}, {300, 8, 10}},
			0,
			"0:0-60-190=60..190 0:300-360-370=360..370",
			[5]int64{8*130 + 8*10, 100 + 80, 8*130 - 100, 0, 0},
			60,
		},
		{
			"from the order",
			simulate.Buying{Lead: fixed(60), Idle: 30, FromOrder: true},
			2,
			[][3]int{{0, 1, 100}},
			400,
			"0:0-60-190=0..190",
			[5]int64{8 * 190, 100, 8*130 - 100, 0, 8 * 60},
			60,
		},
		{
			"two share a node, and the second starts at once",
			simulate.Buying{Lead: fixed(60), Idle: 30},
			2,
			[][3]int{{0, 4, 100}, {100, 4, 100}},
			400,
			"0:0-60-230=60..230",
			[5]int64{8 * 170, 800, 8*170 - 800, 0, 0},
			30,
		},
		{
			"one that fits on what is ordered orders none",
			simulate.Buying{Lead: fixed(60), Idle: 30},
			2,
			[][3]int{{0, 4, 100}, {10, 4, 100}},
			400,
			"0:0-60-190=60..190",
			[5]int64{8 * 130, 800, 8*130 - 800, 0, 0},
			55,
		},
		{
			"by the hour",
			simulate.Buying{Idle: 30, Unit: 3600},
			2,
			[][3]int{{0, 8, 3600}, {10000, 8, 10}},
			20000,
			"0:0-0-3630=0..7200 0:10000-10000-10040=10000..13600",
			[5]int64{8 * 10800, 8 * 3610, 8*10800 - 8*3610, 0, 0},
			0,
		},
		{
			"a minimum",
			simulate.Buying{Least: 60, Unit: 25},
			2,
			[][3]int{{0, 8, 10}},
			400,
			"0:0-0-10=0..75",
			[5]int64{8 * 75, 80, 8 * 65, 0, 0},
			0,
		},
		{
			"billed beyond the end",
			simulate.Buying{Unit: 3600},
			2,
			[][3]int{{0, 8, 10}, {100, 1, 20}},
			110,
			"0:0-0-10=0..110+3490 0:100-100-110=100..110+3590",
			[5]int64{8 * 7200, 80 + 10, 8*7200 - 90, 0, 0},
			0,
		},
		{
			"warm",
			simulate.Buying{Lead: fixed(60), Warm: 1},
			2,
			[][3]int{{10, 8, 100}, {20, 8, 30}},
			200,
			"0:0-0-200=0..200 1:20-80-110=80..110",
			[5]int64{8 * 230, 8 * 130, 8 * 100, 0, 0},
			30,
		},
		{
			"a gang over nodes",
			simulate.Buying{Lead: fixed(60), Idle: 5},
			4,
			[][3]int{{0, 20, 100}},
			400,
			"0:0-60-165=60..165 1:0-60-165=60..165 2:0-60-165=60..165",
			[5]int64{24 * 105, 2000, 24*105 - 2000, 0, 0},
			60,
		},
		{
			"a gang waits for its last node",
			simulate.Buying{Lead: func(n int64) capcli.Seconds { return []capcli.Seconds{10, 200}[n] }, Idle: 5},
			2,
			[][3]int{{0, 16, 100}},
			400,
			"0:0-10-305=10..305 1:0-200-305=200..305",
			[5]int64{8*295 + 8*105, 1600, 16 * 5, 8 * 190, 0},
			200,
		},
		{
			"no more than there may be",
			simulate.Buying{Lead: fixed(60), Idle: 5},
			1,
			[][3]int{{0, 8, 100}, {0, 8, 100}},
			400,
			"0:0-60-265=60..265",
			[5]int64{8 * 205, 1600, 8 * 5, 0, 0},
			110,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var more []func(*simulate.Config)
			if tt.until > 0 {
				more = append(more, until(tt.until))
			}
			r := playBought(t, tt.buy, tt.nodes, tt.jobs, more...)
			if got := lives(r); got != tt.lives {
				t.Errorf("nodes %s, want %s", got, tt.lives)
			}
			s := r.Bought[0].Span
			got := [5]int64{int64(s.Offered / 1000), int64(s.Used / 1000), int64(s.Idle / 1000), int64(s.Blocked / 1000), int64(s.Down / 1000)}
			if got != tt.span {
				t.Errorf("GPU-seconds %v, want %v", got, tt.span)
			}
			if r.Wait.Mean != tt.wait {
				t.Errorf("mean wait %g s, want %g s", r.Wait.Mean, tt.wait)
			}
		})
	}
}

// shortIn is a shortage from one time to another.
type shortIn [2]capcli.Seconds

func (s shortIn) Available(at capcli.Seconds, _, n int) (int, capcli.Seconds) {
	switch {
	case at < s[0]:
		return n, s[0]
	case at < s[1]:
		return 0, s[1]
	}
	return n, 1 << 40
}

// spotBeside adds a pool of bought spot nodes after that on demand.
func spotBeside(buy simulate.Buying) func(*simulate.Config) {
	return func(c *simulate.Config) {
		c.Pools = append(c.Pools, simulate.Pool{Name: "spot", Terms: simulate.Spot, Nodes: 2, GPUsPerNode: 8, Rank: 1, Buy: &buy})
	}
}

// An order that fails leaves the pool alone for three minutes; with a pool after it, that one is tried at
// once. A gang that would get only a part of its nodes orders none.
func TestBoughtShortage(t *testing.T) {
	short := simulate.Buying{Lead: fixed(60), Shortage: shortIn{0, 200}}
	r := playBought(t, short, 2, [][3]int{{0, 8, 100}})
	if got := lives(r); got != "0:360-420-520=420..520" || r.Bought[0].Tries != 2 || r.Bought[0].Refused != 2 {
		t.Errorf("nodes %s, %d tries, %d refused", got, r.Bought[0].Tries, r.Bought[0].Refused)
	}
	if b := r.Bought[0]; b.ShortWait != 360 || b.LeadWait != 60 {
		t.Errorf("waited %d s for the shortage and %d s for the lead", b.ShortWait, b.LeadWait)
	}
	r = playBought(t, short, 2, [][3]int{{0, 8, 100}, {250, 8, 30}}, spotBeside(simulate.Buying{Lead: fixed(10)}))
	if got := lives(r); got != "0:0-10-110=10..110 0:250-310-340=310..340" || r.Record.Nodes[0].Pool != 1 || r.Record.Nodes[1].Pool != 0 {
		t.Errorf("with spot: %s", got)
	}
	one := simulate.Buying{Shortage: atMost(1)}
	r = playBought(t, one, 4, [][3]int{{0, 16, 100}}, spotBeside(simulate.Buying{}))
	if got := lives(r); got != "0:0-0-100=0..100 1:0-0-100=0..100" || r.Record.Nodes[0].Pool != 1 || r.Bought[0].Refused != 1 {
		t.Errorf("a gang of two nodes, of which one is to be had: %s", got)
	}
}

// atMost is a pool that can have so many nodes.
type atMost int

func (m atMost) Available(at capcli.Seconds, have, n int) (int, capcli.Seconds) {
	return min(n, max(0, int(m)-have)), at + 1000
}

// withChanges adds a supply that takes a node away and brings its place back.
func withChanges(changes ...simulate.Change) func(*simulate.Config) {
	return func(c *simulate.Config) { c.Pools[0].Supply = &comings{changes} }
}

// A lost node is billed to its loss, and its job orders another. One with notice takes no new work and is
// given back when it is empty.
func TestBoughtLosses(t *testing.T) {
	buy := simulate.Buying{Lead: fixed(60), Unit: 3600, Idle: 50}
	r := playBought(t, buy, 2, [][3]int{{0, 8, 100}}, withChanges(simulate.Change{At: 100, Kind: simulate.Lose}, simulate.Change{At: 5000, Kind: simulate.Gain}))
	if got := lives(r); got != "0:0-60-100=60..100! 1:100-160-260=160..260+3500" || r.Bought[0].Lost != 1 {
		t.Errorf("a loss: %s", got)
	}
	buy.Unit = 0
	r = playBought(t, buy, 2, [][3]int{{0, 4, 100}, {110, 4, 20}}, withChanges(simulate.Change{At: 100, Kind: simulate.Drain}, simulate.Change{At: 300, Kind: simulate.Lose}, simulate.Change{At: 301, Kind: simulate.Gain}))
	if got := lives(r); got != "0:0-60-160=60..160 1:110-170-190=170..190" {
		t.Errorf("a notice: %s", got)
	}
}

// Two nodes, each with a job of 3 GPUs left at 100: the second node's job moves to the first, at the cost
// of a checkpoint and a restart, and the second is given back. A job that cannot save its work stays.
func TestBoughtConsolidation(t *testing.T) {
	jobs := [][3]int{{0, 3, 1000}, {0, 5, 100}, {0, 3, 1000}, {0, 5, 100}}
	saves := func(c *simulate.Config) {
		c.Restarts = simulate.Restarts{Mode: simulate.Checkpoint, Classes: []simulate.RestartClass{{Interval: 500, Cost: 5, Restart: 20}}}
	}
	buy := simulate.Buying{Idle: 10, Consolidate: 50}
	r := playBought(t, buy, 3, jobs, saves)
	// Both are quiet since 100, looked at each 50 s: at 150 the first of them moves. Its work of 150 s is saved;
	// 25 s of pause, the 850 s left, and one more checkpoint after 500 s make 880 s from 150 on.
	if got := lives(r); got != "0:0-0-150=0..150 1:0-0-1030=0..1030" || r.Bought[0].Moved != 1 || r.Bought[0].Emptied != 1 {
		t.Errorf("nodes %s, %d moved", got, r.Bought[0].Moved)
	}
	r = playBought(t, buy, 3, jobs)
	if r.Bought[0].Moved != 0 {
		t.Errorf("%d jobs without checkpoints moved", r.Bought[0].Moved)
	}
}

// listed is a scaler that wants given numbers of nodes, step by step.
type listed struct {
	want []int
	seen *[]simulate.ScaleState
}

func (s listed) Desired(state *simulate.ScaleState) int {
	*s.seen = append(*s.seen, *state)
	return s.want[min(state.Step, len(s.want)-1)]
}

// A scaler sees what is held and what waits at the end of each step. More nodes are ordered at once; fewer
// call orders off first and then take empty nodes.
func TestBoughtScaler(t *testing.T) {
	var seen []simulate.ScaleState
	buy := simulate.Buying{Lead: fixed(150), Step: 100, Scaler: func() simulate.Scaler { return listed{[]int{2, 3, 1, 1, 0}, &seen} }}
	r := playBought(t, buy, 4, [][3]int{{20, 8, 300}}, func(c *simulate.Config) { c.Start, c.Until = 0, 1000 })
	if got := lives(r); got != "0:100-250-550=250..550 1:100-250-300=250..300 2:200--1-300=-1..-1" {
		t.Errorf("nodes %s", got)
	}
	type view struct {
		ready, loading        int
		load, served, backlog int64
		pending               capcli.GPUTime
	}
	want := []view{{0, 0, 8000, 0, 8000, 2400_000}, {0, 2, 8000, 0, 8000, 2400_000}, {2, 1, 4000, 4000, 0, 0}, {1, 0, 8000, 8000, 0, 0}, {1, 0, 8000, 8000, 0, 0}, {0, 0, 4000, 4000, 0, 0}, {0, 0, 0, 0, 0, 0}}
	for i, w := range want {
		s := seen[i]
		if got := (view{s.Ready, s.Loading, s.Load, s.Served, s.Backlog, s.Pending}); got != w {
			t.Errorf("step %d: %+v, want %+v", i, got, w)
		}
	}
}
