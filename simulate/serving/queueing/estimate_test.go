package queueing

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate/serving"
)

// chatReplica returns a replica like one GPU with a model of 8 billion parameters, and the lengths of a chat.
func chatReplica() (Replica, Lengths) {
	return Replica{
		Time:      serving.Time{C0: 8e8, Lin: [][2]int64{{5e9, 4e6}, {0, 18e6}}, Seq: 3e6, KV: 44_000, PA: 700},
		Sequences: 256,
	}, Lengths{In: 1000, Out: 250}
}

func TestEstimateOneStep(t *testing.T) {
	r, l := chatReplica()
	station, err := NewStation(r, l)
	if err != nil {
		t.Fatal(err)
	}
	want, err := station.Means(12)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Estimate(t.Context(), &Request{Replica: r, Lengths: l, Length: 3600, Steps: []Step{{Rate: 48, Ready: 4}}, GPUs: 2, Price: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct {
		name      string
		got, want float64
	}{
		{"e2e", got.E2E, want.E2E},
		{"ttft", got.TTFT, want.TTFT},
		{"tpot", got.TPOT, want.TPOT},
		{"load", got.PeakLoad, want.Load},
		{"utilisation", got.Utilisation, want.Load},
		{"requests", got.Requests, 48 * 3600},
		{"served", got.Served, 48 * 3600},
		{"tokens out", got.TokensOut, 48 * 3600 * 250},
		{"GPU hours", got.GPUHours, 8},
		{"usd", got.USD, 24},
		{"running", got.Steps[0].Running, want.Running},
	} {
		if far(f.got, f.want) > 1e-12 {
			t.Errorf("%s is %v, want %v", f.name, f.got, f.want)
		}
	}
	if !got.Holds || got.HoldsShare != 1 || got.Because != "" {
		t.Errorf("%+v", got)
	}
}

// An hour of too many requests waits and is served in the next one: 2 a second too many for an hour.
func TestEstimateBacklog(t *testing.T) {
	r, l := chatReplica()
	station, err := NewStation(r, l)
	if err != nil {
		t.Fatal(err)
	}
	most := station.most
	got, err := Estimate(t.Context(), &Request{Replica: r, Lengths: l, Length: 3600, Steps: []Step{
		{Rate: most + 2, Ready: 1}, {Rate: most - 4, Ready: 1}, {Rate: most / 2, Ready: 1}, {Rate: 1, Ready: 0},
	}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second, last := got.Steps[0], got.Steps[1], got.Steps[3]
	if far(first.Backlog, 7200) > 1e-9 || second.Backlog > 1e-6 || first.Holds || second.Holds || !got.Steps[2].Holds {
		t.Errorf("%+v", got.Steps)
	}
	// The backlog grows to 7200 in the first hour: 3600 wait in the mean of it. It is gone after half of the second.
	if want := 3600 * 3600 / first.Served; far(first.Wait, want) > 1e-9 {
		t.Errorf("the first hour waits %v s, want %v", first.Wait, want)
	}
	if want := 3600 * 1800 / second.Served; far(second.Wait, want) > 0.01 || second.Wait < want {
		t.Errorf("the second hour waits %v s, want a little over %v", second.Wait, want)
	}
	if last.Served != 0 || last.Backlog != 3600 || got.Backlog != 3600 || got.StepsOver != 2 || got.StepsDense != 1 || got.Holds || got.Because == "" {
		t.Errorf("%+v", got)
	}
}

// Requests are served or wait, whatever the load, and every mean is a finite number.
func TestEstimateBalance(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x, l := anyReplica(r)
		x.Sequences = min(x.Sequences, 256)
		station, err := NewStation(x, l)
		if err != nil {
			r.Fatal(err)
		}
		q := Request{Replica: x, Lengths: l, Length: rapid.Float64Range(0.1, 1e5).Draw(r, "step"), Steps: make([]Step, rapid.IntRange(1, 20).Draw(r, "steps"))}
		for i := range q.Steps {
			q.Steps[i] = Step{
				Rate: min(1e12, station.most*rapid.SampledFrom([]float64{0, 0.001, 0.5, 1, 3, 30}).Draw(r, "rate")), Ready: rapid.Int64Range(0, 5).Draw(r, "ready"),
				In: float64(rapid.Int64Range(0, 3000).Draw(r, "in")), Out: float64(rapid.Int64Range(0, 300).Draw(r, "out")),
			}
		}
		got, err := Estimate(t.Context(), &q, nil)
		if err != nil {
			r.Fatal(err)
		}
		if far(got.Served+got.Backlog, got.Requests) > 1e-7 && got.Requests > 0 {
			r.Errorf("%v served and %v wait of %v", got.Served, got.Backlog, got.Requests)
		}
		v := reflect.ValueOf(*got)
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Float64 && (math.IsNaN(f.Float()) || math.IsInf(f.Float(), 0) || f.Float() < 0) {
				r.Errorf("%s is %v", v.Type().Field(i).Name, f)
			}
		}
		if got.Served > 0 && got.E2E < got.Wait-1e-9*got.E2E {
			r.Errorf("%v s from end to end, %v of them waiting", got.E2E, got.Wait)
		}
	})
}

// year returns a year of minutes: a swing of a day and of a week around 1,000 requests a second, with noise
// in rates and, where varied, in lengths.
func year(steps int, varied bool) *Request {
	r, l := chatReplica()
	q := &Request{Replica: r, Lengths: l, Length: 60, Steps: make([]Step, steps), GPUs: 1, Price: 2.5}
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range q.Steps {
		day := 1 + 0.5*math.Sin(2*math.Pi*float64(i)/1440) + 0.1*math.Sin(2*math.Pi*float64(i)/10080)
		s := &q.Steps[i]
		s.Rate = 1000 * day * (1 + 0.05*rng.NormFloat64())
		s.Ready = int64(s.Rate/18) + 1 + rng.Int64N(20)
		if varied {
			s.In, s.Out = l.In*(1+0.1*rng.NormFloat64()), l.Out*(1+0.1*rng.NormFloat64())
		}
	}
	return q
}

// The grid gives the means that are worked out one by one, within the error that it states.
func TestGridError(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	r, _ := chatReplica()
	for _, c := range []struct {
		Replica
		Lengths
	}{
		{r, Lengths{In: 1000, Out: 200, Cached: 300}},
		{Replica{Time: r.Time, Sequences: 500, Chunk: 512}, Lengths{In: 300, Out: 20}},
		{Replica{Time: r.Time, Sequences: 32, PrefillFirst: true}, Lengths{In: 2000, Out: 50}},
		{Replica{Time: r.Time, Sequences: 1}, Lengths{In: 10, Out: 1}},
	} {
		station, err := NewStation(c.Replica, c.Lengths)
		if err != nil {
			t.Fatal(err)
		}
		q := &Request{Replica: c.Replica, Lengths: c.Lengths, Length: 1e6}
		for range 500 {
			q.Steps = append(q.Steps, Step{Ready: 1, Rate: station.most * (1 - math.Exp(-10*rng.Float64()))})
		}
		answer := func(gridFrom int) *Result {
			e := &estimate{request: q, outlines: map[Lengths]*Station{}, gridFrom: gridFrom}
			if err := errors.Join(e.flow(), e.evaluate(t.Context(), nil)); err != nil {
				t.Fatal(err)
			}
			return e.result()
		}
		exact, grid := answer(501), answer(1)
		if exact.GridError != 0 || grid.GridError != gridError {
			t.Fatalf("errors are said to be %v and %v", exact.GridError, grid.GridError)
		}
		worst := 0.0
		for i := range exact.Steps {
			a, b := &exact.Steps[i], &grid.Steps[i]
			for _, f := range [][2]float64{{a.E2E, b.E2E}, {a.TTFT, b.TTFT}, {a.TPOT, b.TPOT}, {a.Running, b.Running}} {
				worst = max(worst, far(f[1], f[0]))
			}
			if a.Holds != b.Holds || a.Load != b.Load {
				t.Errorf("step %d: %+v\ngrid %+v", i, a, b)
			}
		}
		t.Logf("%d sequences: worst error of the grid %.2g", c.Sequences, worst)
		if !(worst <= gridError) {
			t.Errorf("%d sequences: an error of %v, said to be at most %v", c.Sequences, worst, gridError)
		}
	}
}

// Summing from the likeliest state outwards gives what summing all states does.
func TestNearOccupancy(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x, l := anyReplica(r)
		s, err := NewStation(x, l)
		if err != nil {
			r.Fatal(err)
		}
		lam := s.most * rapid.Float64Range(1e-6, 0.9999).Draw(r, "load")
		a, b := s.nearOccupancy(lam), s.occupancy(lam)
		for _, f := range [][2]float64{{a.running, b.running}, {a.waiting, b.waiting}, {a.prompt, b.prompt}, {a.full, b.full}} {
			if math.Abs(f[0]-f[1]) > 1e-9*f[1]+1e-9 {
				r.Fatalf("%+v, all states %+v", a, b)
			}
		}
	})
}

func TestEstimateSameOnAnyCores(t *testing.T) {
	q := year(3000, true)
	a, err := Estimate(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	b, err := Estimate(t.Context(), q, nil)
	if err != nil || !reflect.DeepEqual(a, b) {
		t.Errorf("another result on one core, %v", err)
	}
}

func TestEstimateRefuses(t *testing.T) {
	r, l := chatReplica()
	for field, q := range map[string]Request{
		"step":     {Replica: r, Lengths: l, Steps: []Step{{Rate: 1, Ready: 1}}},
		"load":     {Replica: r, Lengths: l, Length: 60},
		"rate":     {Replica: r, Lengths: l, Length: 60, Steps: []Step{{Rate: -1, Ready: 1}}},
		"ready":    {Replica: r, Lengths: l, Length: 60, Steps: []Step{{Rate: 1, Ready: -1}}},
		"max_seqs": {Lengths: l, Length: 60, Steps: []Step{{Rate: 1, Ready: 1}}},
	} {
		_, err := Estimate(t.Context(), &q, nil)
		var e *capcli.RequestError
		if !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func BenchmarkYear(b *testing.B) {
	for _, c := range []struct {
		name   string
		varied bool
	}{{"one law of lengths", false}, {"lengths vary", true}} {
		q := year(525_600, c.varied)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				r, err := Estimate(b.Context(), q, nil)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.Evaluated), "states")
			}
		})
	}
}

func BenchmarkMeans(b *testing.B) {
	r, l := chatReplica()
	s, err := NewStation(r, l)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		s.means(s.most * 0.7)
	}
}
