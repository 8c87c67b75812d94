package agents

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate/serving"
)

// chatService returns replicas like one GPU with a model of 8 billion parameters.
func chatService(replicas int) *serving.Config {
	return &serving.Config{
		Policy: "chunked", Router: "least_loaded", BlockSize: 16, Blocks: 28_000, MaxTokens: 2048, MaxSeqs: 256, MaxLen: 200_000,
		Time: serving.Time{C0: 8e8, Lin: [][2]int64{{5e9, 4e6}, {0, 18e6}}, Seq: 3e6, KV: 44_000, PA: 700}, GPUs: 1, Price: 2.5,
		Replicas: slices.Repeat([]serving.Replica{{Drain: -1, Down: -1}}, replicas),
	}
}

// Each call arrives its tool's time after the last of those that it waits for is done, all calls of a task
// are made, and a task is done with its last call.
func TestPlayLaws(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := Workload{Params: anyParams(r), Seed: rapid.Uint64Range(0, 1000).Draw(r, "seed"), Tasks: rapid.Int64Range(1, 12).Draw(r, "tasks"), Reuses: rapid.Bool().Draw(r, "reuses")}
		w.Params.MaxCalls = min(w.Params.MaxCalls, 60)
		if rapid.Bool().Draw(r, "closed") {
			w.Workflows = rapid.Int64Range(1, 5).Draw(r, "workflows")
			w.Ramp = rapid.SampledFrom([]float64{0, 1, 1000}).Draw(r, "ramp")
		} else {
			w.Rate = rapid.Float64Range(0.01, 10).Draw(r, "rate")
		}
		p, err := newPlayer(&w, 1)
		if err != nil {
			r.Fatal(err)
		}
		res, err := serving.ReplaySource(t.Context(), chatService(2), p)
		if err != nil {
			r.Fatal(err)
		}
		tasks := p.Tasks()
		if int64(len(tasks)) != w.Tasks || len(p.open) > 0 {
			r.Fatalf("%d of %d tasks ended, %d are open", len(tasks), w.Tasks, len(p.open))
		}
		ends := map[sentCall]int64{}
		for id, s := range p.sent {
			ends[s] = res.Served[id].Finish
		}
		last, count := map[int64]int64{}, map[int64]int{}
		for id, s := range p.sent {
			calls := w.Params.Tree(w.Seed + uint64(s.task))
			c, got := calls[s.call], res.Served[id]
			want := tasks[s.task].Arrival
			if c.After[0] >= 0 {
				want = 0
				for _, a := range c.After {
					want = max(want, ends[sentCall{s.task, a}])
				}
				want += c.ToolMS * 1000
			}
			if got.Arrival != want || got.In != c.In || got.Out != c.Out || got.Cached >= got.In || !w.Reuses && got.Cached != 0 {
				r.Errorf("call %d of task %d: %+v; it should arrive at %d: %+v", s.call, s.task, got, want, c)
			}
			last[s.task] = max(last[s.task], got.Finish)
			if count[s.task]++; count[s.task] == len(calls) && tasks[s.task].Finish != last[s.task] {
				r.Errorf("task %d ends at %d, its last call at %d", s.task, tasks[s.task].Finish, last[s.task])
			}
		}
		got := sumUp(tasks, res)
		if w.Workflows > 0 && got.TasksPeak > w.Workflows || got.Finished != w.Tasks || got.Failed != 0 || int(got.Calls) != len(p.sent) {
			r.Errorf("%+v", got)
		}
	})
}

// One agent of three turns alone on a replica whose iterations all take 10 ms: an answer of n tokens takes n
// iterations, and tools take their time between.
func TestPlayByHand(t *testing.T) {
	p := modest()
	p.TurnMin, p.TurnMax, p.Spawn, p.OutMin, p.OutMax, p.ToolMinMS, p.ToolMaxMS = 3, 3, 0, 5, 5, 100, 100
	c := chatService(1)
	c.Time, c.MaxTokens = serving.Time{C0: 1e10, Lin: [][2]int64{{0, 0}}}, 4096
	tasks, got, res, err := Play(t.Context(), c, &Workload{Params: p, Tasks: 2, Workflows: 1, Reuses: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	const turn, tool = 50_000, 100_000
	if tasks[0].Finish != 3*turn+2*tool || tasks[1].Arrival != tasks[0].Finish || tasks[1].Finish != 2*tasks[0].Finish {
		t.Errorf("%+v", tasks)
	}
	// The second prompt is the first, its answer and what the tool gave; the cache has the first two.
	if s := res.Served[1]; s.In != 2500+5+600 || s.Cached != 2505 || res.Served[0].Cached != 2000 {
		t.Errorf("%+v", res.Served[:2])
	}
	if got.CallsPeak != 1 || got.TasksPeak != 1 || float64(got.CallsMean) != 150.0/350 || float64(got.TasksMean) != 1 || float64(got.TaskP99) != 350_000 {
		t.Errorf("%+v", got)
	}
}

// A call that no replica can hold ends its task: nothing after it is sent, and the task is not finished.
func TestPlayFails(t *testing.T) {
	c := chatService(1)
	c.MaxLen = 4000
	w := Workload{Params: modest(), Tasks: 50, Workflows: 5}
	tasks, got, res, err := Play(t.Context(), c, &w, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got.Tasks != 50 || got.Failed == 0 || got.Finished+got.Failed != 50 || res.Summary.Rejected < got.Failed {
		t.Errorf("%+v", got)
	}
	for _, x := range tasks {
		if x.Failed != (x.Finish < 0) {
			t.Errorf("%+v", x)
		}
	}
}

// Tasks without a replica stay open and are counted.
func TestPlayUnserved(t *testing.T) {
	c := chatService(1)
	c.Replicas[0].Down = 2_000_000
	_, got, _, err := Play(t.Context(), c, &Workload{Params: modest(), Tasks: 20, Rate: 5}, 1)
	if err != nil || got.Tasks != 20 || got.Finished == 20 || got.Failed != 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPlaySame(t *testing.T) {
	w := Workload{Params: modest(), Tasks: 40, Rate: 2, Reuses: true}
	_, a, x, err := Play(t.Context(), chatService(2), &w, 3)
	if err != nil {
		t.Fatal(err)
	}
	_, b, y, err := Play(t.Context(), chatService(2), &w, 3)
	if err != nil || *a != *b || !reflect.DeepEqual(x.Served, y.Served) {
		t.Errorf("a second play differs: %+v\n%+v, %v", a, b, err)
	}
	_, d, _, err := Play(t.Context(), chatService(2), &w, 4)
	if err != nil || d.TaskMean == a.TaskMean {
		t.Errorf("another seed gives the same, %v", err)
	}
}

func TestWorkloadCheck(t *testing.T) {
	for field, change := range map[string]func(*Workload){
		"tasks":      func(w *Workload) { w.Tasks = 0 },
		"rate":       func(w *Workload) { w.Rate = -1 },
		"workflows":  func(w *Workload) { w.Workflows = 0 },
		"ramp":       func(w *Workload) { w.Ramp = -1 },
		"turn_alpha": func(w *Workload) { w.Params.TurnAlpha = 0 },
	} {
		w := Workload{Params: modest(), Tasks: 1, Workflows: 1}
		change(&w)
		var r *capcli.RequestError
		if _, err := newPlayer(&w, 1); !errors.As(err, &r) || r.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func BenchmarkPlay(b *testing.B) {
	for b.Loop() {
		_, got, _, err := Play(b.Context(), chatService(4), &Workload{Params: modest(), Tasks: 1000, Workflows: 100, Reuses: true}, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(got.Calls), "calls")
	}
}

// At the pace of a service whose iterations all take as long, requests arrive as they do when they are
// played on it with a replica for each.
func TestRequestsAsPlayed(t *testing.T) {
	c := chatService(64)
	c.Time, c.MaxTokens, c.MaxSeqs = serving.Time{C0: 1e10, Lin: [][2]int64{{0, 0}}}, 1<<20, 1<<20
	for _, w := range []Workload{{Params: modest(), Tasks: 60, Workflows: 7, Ramp: 3, Reuses: true}, {Params: modest(), Tasks: 60, Rate: 0.7}} {
		_, _, played, err := Play(t.Context(), c, &w, 1)
		if err != nil {
			t.Fatal(err)
		}
		// A call that arrives while its replica works waits for the end of the iteration: none does here, for
		// replicas are many.
		got, err := w.Requests(1, func(r serving.Request) int64 { return 10_000 * r.Out }, 1_000_000)
		if err != nil || len(got) != len(played.Served) {
			t.Fatalf("%d requests, %d played, %v", len(got), len(played.Served), err)
		}
		for i, r := range got {
			want := played.Served[i].Request
			if r.Prefix < 1 || r.Prefix > w.Tasks {
				t.Fatalf("request %d has the prefix %d", i, r.Prefix)
			}
			if r.Prefix = 0; r != want {
				t.Fatalf("request %d: %+v, played %+v", i, r, want)
			}
		}
		if _, err := w.Requests(1, func(serving.Request) int64 { return 1 }, 100); err == nil {
			t.Error("over 100 requests are accepted")
		}
	}
}
