package mix_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/play"
)

// remembered is a Memory in maps, which counts.
type remembered struct {
	lock         sync.Mutex
	parts        map[string][]byte
	hits, misses int
	spoil        bool // whether what is loaded is damaged
}

func (m *remembered) Load(key string) ([]byte, bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	b, ok := m.parts[key]
	if ok {
		m.hits++
	} else {
		m.misses++
	}
	if m.spoil && len(b) > 3 {
		b = b[:len(b)/2]
	}
	return b, ok
}

func (m *remembered) Store(key string, part []byte) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.parts[key] = bytes.Clone(part)
}

// madeLog is a log of three weeks: on workdays some jobs of an hour or more, which overlap.
func madeLog() []byte {
	var b bytes.Buffer
	b.WriteString("job_id,submit,run_s,gpus\n")
	rng := capcli.Seed(3).Stream("log")
	for day := range 21 {
		for k := range 12 {
			at := capcli.Time(1_798_761_600) + capcli.Time(day)*capcli.Time(capcli.Day) + capcli.Time(8*3600+rng.IntN(10*3600))
			fmt.Fprintf(&b, "%d-%d,%s,%d,%d\n", day, k, at, 3600+rng.IntN(4*3600), 1<<rng.IntN(4))
		}
	}
	return b.Bytes()
}

// plannedWith plans a made log under futures, with a limit on the p95 wait and a price.
func plannedWith(t *testing.T, m mix.Memory, limit, price string, opened *int) []byte {
	t.Helper()
	log := madeLog()
	open := func(name string) (trace.Input, io.Closer, error) {
		*opened++
		return trace.Input{Name: name, R: bytes.NewReader(log), At: bytes.NewReader(log), Size: int64(len(log))}, io.NopCloser(nil), nil
	}
	const text = "capcli: scenario/v1\nname: p\ncapacity:\n  - {name: base, kind: reserved, gpus: 8, price: PRICE}\n  - {name: burst, kind: on_demand, price: 4}\noverflow: {patience: 30m}\npolicy: easy\n"
	maker := &play.Maker{Logs: &play.Logs{Open: open}}
	c, err := maker.Case(t.Context(), &play.Question{
		Kept: &play.ScenarioText{YAML: []byte(strings.Replace(text, "PRICE", price, 1)), File: "p.yaml"}, Trace: "jobs.csv",
	})
	if err != nil {
		t.Fatal(err)
	}
	q := mix.NewRequest(c)
	q.Vary, q.Max, q.Runs = []string{"capacity.base.gpus=0,8,16,32", "overflow.patience=0,30m,2h"}, []string{"wait_p95=" + limit}, 3
	q.Risk, q.Memory, q.Inputs = plan.Risk{Kind: plan.CVaR, Level: 950_000}, m, "made log"
	source := &futures.Source{DemandError: "20%", HalfLife: "10d", Paths: 3, Seed: 5}
	if err := source.Parse(); err != nil {
		t.Fatal(err)
	}
	q.Ahead = func(past []capcli.Job) (*futures.Set, error) { return mix.AroundPast("jobs.csv", past, source) }
	r, err := mix.Plan(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMemoryChangesNothing plans without a memory, with an empty one, with a full one, and with one
// whose parts are damaged: the documents are the same. Another limit and another price are answered
// from the same simulations.
func TestMemoryChangesNothing(t *testing.T) {
	n := 0
	for _, q := range []struct{ limit, price string }{{"30m", "2.20"}, {"10m", "2.20"}, {"30m", "3.10"}} {
		want := plannedWith(t, nil, q.limit, q.price, &n)
		m := &remembered{parts: map[string][]byte{}}
		if got := plannedWith(t, m, q.limit, q.price, &n); !bytes.Equal(got, want) {
			t.Fatalf("%v: an empty memory changes the plan:\n%s\nwant\n%s", q, got, want)
		}
		m.hits, m.misses = 0, 0
		if got := plannedWith(t, m, q.limit, q.price, &n); !bytes.Equal(got, want) {
			t.Fatalf("%v: a full memory changes the plan:\n%s\nwant\n%s", q, got, want)
		}
		if m.misses > 0 || m.hits == 0 {
			t.Errorf("%v: the same plan again misses %d parts and finds %d", q, m.misses, m.hits)
		}
		m.spoil = true
		if got := plannedWith(t, m, q.limit, q.price, &n); !bytes.Equal(got, want) {
			t.Errorf("%v: a damaged memory changes the plan", q)
		}
	}
	m := &remembered{parts: map[string][]byte{}}
	plannedWith(t, m, "30m", "2.20", &n)
	before, runs := len(m.parts), 0
	for key := range m.parts {
		if strings.HasPrefix(key, "run|") {
			runs++
		}
	}
	if runs == 0 {
		t.Error("no simulation was kept")
	}
	m.hits, m.misses = 0, 0
	plannedWith(t, m, "45m", "2.40", &n)
	if added := len(m.parts) - before; added > before/4 {
		t.Errorf("another limit and price add %d parts to %d", added, before)
	}
}
