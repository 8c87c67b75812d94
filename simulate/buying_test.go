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
