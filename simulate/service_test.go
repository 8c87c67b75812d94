package simulate_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate"
)

// replayed is a scaler that wants what it was told to.
type replayed struct {
	desired []int
	seen    []simulate.ScaleState
}

func (r *replayed) Desired(s *simulate.ScaleState) int {
	r.seen = append(r.seen, *s)
	if s.Step < len(r.desired) {
		return r.desired[s.Step]
	}
	return r.desired[len(r.desired)-1]
}

// wants returns a scaler that wants these numbers, step by step.
func wants(desired ...int) simulate.NewScaler {
	return func() simulate.Scaler { return &replayed{desired: desired} }
}

// playServices runs services beside jobs.
func playServices(t testing.TB, cfg *simulate.Config) *simulate.Result {
	t.Helper()
	if cfg.List == nil {
		cfg.List = []capcli.Job{}
	}
	if cfg.Policy == nil {
		cfg.Policy = mustPolicy(t, "fifo")
	}
	if cfg.Placement == nil {
		cfg.Placement = mustPlacement(t, "count")
	}
	r, err := simulate.Run(context.Background(), *cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rowsOf returns ready, loading, missing, served, backlog and desired of each step.
func rowsOf(s *simulate.ServiceRun) string {
	var b strings.Builder
	for _, x := range s.Steps {
		fmt.Fprintf(&b, "%d+%d-%d %d/%d>%d ", x.Ready, x.Loading, x.Missing, x.Served, x.Backlog, x.Desired)
	}
	return strings.TrimSpace(b.String())
}

// TestServiceSteps has one service of two GPUs a replica on five GPUs: a decision at the end of a step
// loads in the next, those without room are missing, and loading ones go first.
func TestServiceSteps(t *testing.T) {
	r := playServices(t, &simulate.Config{
		Until: 60, Pools: []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 5}},
		Services: []simulate.Service{{
			Name: "chat", Tenant: "web", GPUs: 2, Length: 10, Load: []int64{3, 9, 9, 2, 0, 0}, PerReplica: 4, Late: 1, Initial: 1, Cold: 10, Scaler: wants(3, 3, 2, 2, 1, 0),
		}},
	})
	s := &r.Services[0]
	if got, want := rowsOf(s), "1+0-0 3/0>3 1+1-1 4/5>3 2+0-1 8/6>2 2+0-0 8/0>2 2+0-0 0/0>1 1+0-0 0/0>0"; got != want {
		t.Errorf("rows\n%s, want\n%s", got, want)
	}
	if s.Requests != 23 || s.Served != 23 || s.Late != 0 || s.Changes != 3 || s.Missing != 20*2*capcli.GPUSecond || s.Held != (60+40)*2*capcli.GPUSecond {
		t.Errorf("figures %+v", s)
	}
	if used := usedIn(r.Record); used != s.Held {
		t.Errorf("the ledger has %d, the service held %d", used, s.Held)
	}
	want := []simulate.ReplicaSpan{{0, 0, 0, 0, -1, -1, -1}, {0, 10, 10, 20, 50, -1, 50}}
	if !slices.Equal(s.Replicas, want) {
		t.Errorf("replicas %+v, want %+v", s.Replicas, want)
	}
}

// TestServiceLeadTime orders one replica more on demand: it pays the lead time once, and the two that are
// there go on without a gap.
func TestServiceLeadTime(t *testing.T) {
	r := playServices(t, &simulate.Config{
		Until: 7200, Pools: []simulate.Pool{{Name: "cloud", Terms: simulate.OnDemand, Nodes: 1, GPUsPerNode: 10, Lead: 600}}, Timeline: true, Hourly: true,
		Services: []simulate.Service{{Name: "chat", GPUs: 1, Initial: 2, Cold: 60, Scaler: wants(append(slices.Repeat([]int{2}, 29), 3)...)}},
	})
	want := []simulate.ReplicaSpan{{0, 0, 0, 0, -1, -1, -1}, {0, 0, 0, 0, -1, -1, -1}, {0, 1800, 2400, 2460, -1, -1, -1}}
	if got := r.Services[0].Replicas; !slices.Equal(got, want) {
		t.Errorf("replicas %+v, want %+v", got, want)
	}
	if used := usedIn(r.Record); used != (2*7200+4800)*capcli.GPUSecond {
		t.Errorf("used %d", used)
	}
}

// TestServiceLosesItsNode: a replica that is lost is wanted anew, and serves no more in the rest of its
// step.
func TestServiceLosesItsNode(t *testing.T) {
	r := playServices(t, &simulate.Config{
		Until: 50, Placement: mustPlacement(t, "consolidate"),
		Pools: []simulate.Pool{{Name: "p", Nodes: 2, GPUsPerNode: 1, Supply: &comings{[]simulate.Change{
			{At: 15, Kind: simulate.Lose, Node: 0}, {At: 30, Kind: simulate.Gain, Node: 0},
		}}}},
		Services: []simulate.Service{{Name: "chat", GPUs: 1, Length: 10, Load: []int64{8, 8, 8, 8, 8}, PerReplica: 4, Initial: 2, Cold: 5}},
	})
	s := &r.Services[0]
	if got, want := rowsOf(s), "2+0-0 8/0>2 2+0-0 6/2>2 1+0-1 4/6>2 1+1-0 4/10>2 2+0-0 8/10>2"; got != want {
		t.Errorf("rows\n%s, want\n%s", got, want)
	}
	if s.Lost != 1 || s.Missing != 15*capcli.GPUSecond || s.Backlog != 10 {
		t.Errorf("figures %+v", s)
	}
}

// TestServiceDisplaces: a peak takes the GPUs of the job that started last, which goes on from its last
// checkpoint when the peak is over. Each row is what the rules make of it.
func TestServiceDisplaces(t *testing.T) {
	for _, c := range []struct {
		name  string
		rules simulate.PreemptRules
		spare int
		want  string
	}{
		{"at once", simulate.PreemptRules{}, 0, "1+0-0 2/0>2 2+0-0 2/0>2 2+0-0 2/0>2; displaced 1, again 20"},
		{"after the grace", simulate.PreemptRules{Grace: 5}, 0, "1+0-0 2/0>2 1+0-1 2/0>2 2+0-0 2/0>2; displaced 1, again 0"},
		{"near the end", simulate.PreemptRules{Spare: 990}, 0, "1+0-0 2/0>2 1+0-1 2/0>2 1+0-1 2/0>2; displaced 0, again 0"},
		{"spared", simulate.PreemptRules{}, 1, "1+0-0 2/0>2 1+0-1 2/0>2 1+0-1 2/0>2; displaced 0, again 0"},
	} {
		r := playServices(t, &simulate.Config{
			Until: 2000, Preempts: c.rules, List: []capcli.Job{
				{ID: "first", GPUs: 2, Run: 1000, Priority: 1, Deadline: capcli.NoTime}, {ID: "second", GPUs: 2, Run: 1000, Priority: 1, Deadline: capcli.NoTime},
			},
			Pools:    []simulate.Pool{{Name: "p", Nodes: 1, GPUsPerNode: 6}},
			Restarts: simulate.Restarts{Mode: simulate.Checkpoint, Classes: []simulate.RestartClass{{Interval: 80}}},
			Services: []simulate.Service{{Name: "chat", GPUs: 2, Length: 90, Load: []int64{2, 2, 2}, PerReplica: 4, Initial: 1, Scaler: wants(2), Displaces: true, Spares: c.spare}},
		})
		s := &r.Services[0]
		s.Steps = s.Steps[:3]
		if got := fmt.Sprintf("%s; displaced %d, again %d", rowsOf(s), s.Displaced, s.Repeated/capcli.GPUSecond); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

// goldenScale is a case of the reference's scalers.
type goldenScale struct {
	Name string
	Case struct {
		DT        capcli.Seconds
		Mu        int64
		ColdSteps int `json:"cold_steps"`
		LateSteps int `json:"late_steps"`
		Initial   int
		Load      []int64
		Losses    [][2]int
	}
	Rows    [][]int64
	Summary struct {
		Requests, Late, Served int64
		ReplicaSteps           int64 `json:"replica_steps"`
		Changes                int
		BacklogEnd             int64 `json:"backlog_end"`
	}
}

// losing is a placement of single GPUs, lowest node first, and the supply that takes the oldest replicas
// away at the steps of a case.
type losing struct {
	nodes  []int32 // of the replicas, oldest first
	losses [][2]int
	dt     capcli.Seconds
	queue  []simulate.Change
}

func (p *losing) Place(c *simulate.Cluster, l *simulate.Live, pools []int, into []simulate.Slice) []simulate.Slice {
	if n := c.NextFree(pools[0], -1); n >= 0 {
		return append(into, c.WholeSlice(l, n))
	}
	return into
}

func (p *losing) Observe(simulate.Event, *simulate.Cluster) {}

func (p *losing) Replica(_ capcli.Seconds, k simulate.Kind, _ *simulate.Service, at []simulate.Slice) {
	if k == simulate.Start {
		p.nodes = append(p.nodes, at[0].Node)
		return
	}
	i := slices.Index(p.nodes, at[0].Node)
	p.nodes = slices.Delete(p.nodes, i, i+1)
}

// Next looks at the replicas a second before they are lost, which a change without effect allows.
func (p *losing) Next() (simulate.Change, bool) {
	if len(p.queue) == 0 {
		if len(p.losses) == 0 {
			return simulate.Change{}, false
		}
		step, lost := p.losses[0][0], p.losses[0][1]
		at := capcli.Seconds(step) * p.dt
		if lost > 0 {
			p.losses[0][1] = -lost
			return simulate.Change{At: at - 1, Kind: simulate.Gain, Node: 0}, true
		}
		for _, n := range p.nodes[:-lost] {
			p.queue = append(p.queue, simulate.Change{At: at, Kind: simulate.Lose, Node: int(n)}, simulate.Change{At: at, Kind: simulate.Gain, Node: int(n)})
		}
		slices.SortStableFunc(p.queue, func(a, b simulate.Change) int { return int(a.Kind) - int(b.Kind) })
		p.losses = p.losses[1:]
	}
	c := p.queue[0]
	p.queue = p.queue[1:]
	return c, true
}

// TestGoldenServiceSteps plays the decisions of the reference's scalers in the engine, with all the
// capacity that they want: every row is the reference's.
func TestGoldenServiceSteps(t *testing.T) {
	files, _ := filepath.Glob(filepath.FromSlash("../../shared/golden/inference/scale/*.json.gz"))
	if len(files) == 0 {
		t.Skip("golden answers are not here")
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		var g goldenScale
		if err := json.NewDecoder(z).Decode(&g); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
		var desired []int
		for _, row := range g.Rows {
			desired = append(desired, int(row[6]))
		}
		fate := &losing{losses: g.Case.Losses, dt: g.Case.DT}
		r := playServices(t, &simulate.Config{
			Until: g.Case.DT * capcli.Seconds(len(g.Case.Load)), Placement: fate, // an observer too
			Pools: []simulate.Pool{{Name: "p", Terms: simulate.OnDemand, Nodes: 200, GPUsPerNode: 1, Supply: fate}},
			Services: []simulate.Service{{
				Name: "s", GPUs: 1, Length: g.Case.DT, Load: g.Case.Load, PerReplica: g.Case.Mu, Late: g.Case.LateSteps, Initial: g.Case.Initial,
				Cold: g.Case.DT * capcli.Seconds(g.Case.ColdSteps), Scaler: wants(desired...),
			}},
		})
		s := &r.Services[0]
		if len(s.Steps) != len(g.Rows) {
			t.Fatalf("%s: %d steps, want %d", g.Name, len(s.Steps), len(g.Rows))
		}
		for i, x := range s.Steps {
			got := []int64{int64(i), x.Load, int64(x.Ready), int64(x.Loading), x.Served, x.Backlog, int64(x.Desired)}
			if !slices.Equal(got, g.Rows[i]) {
				t.Fatalf("%s: row %v, want %v", g.Name, got, g.Rows[i])
			}
		}
		w := &g.Summary
		if s.Requests != w.Requests || s.Late != w.Late || s.Served != w.Served || s.Changes != w.Changes || s.Backlog != w.BacklogEnd ||
			int64(s.Held) != w.ReplicaSteps*int64(g.Case.DT)*1000 && g.Case.Losses == nil {
			t.Errorf("%s: requests %d late %d served %d changes %d backlog %d held %d, want %+v", g.Name, s.Requests, s.Late, s.Served, s.Changes, s.Backlog, s.Held, *w)
		}
	}
}
