package queueing

import (
	"encoding/json"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate/serving"
)

// point is a case of the reference's approximation.
type point struct {
	Name      string
	Time      serving.Time
	In        float64 `json:"tokens_in"`
	Out       float64 `json:"tokens_out"`
	Lengths   string
	MaxSeqs   int64 `json:"max_seqs"`
	Lam       float64
	Simulated float64 `json:"sim_mean_e2e_s"`
	HalfWidth float64 `json:"sim_halfwidth_s"`
	Means
}

func (p *point) station(t testing.TB, variation float64) *Station {
	t.Helper()
	s, err := NewStation(Replica{Time: p.Time, Sequences: p.MaxSeqs}, Lengths{In: p.In, Out: p.Out, Variation: variation})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func points(t testing.TB) []point {
	t.Helper()
	var file struct{ Approximation []point }
	if err := json.Unmarshal(shared(t, "closed_forms.json"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Approximation) == 0 {
		t.Fatal("no cases")
	}
	return file.Approximation
}

func TestMeansGolden(t *testing.T) {
	for _, c := range points(t) {
		got, err := c.station(t, 0).Means(c.Lam)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []struct {
			name      string
			got, want float64
		}{
			{"mean_in_system", got.InSystem, c.InSystem},
			{"mean_running", got.Running, c.Running},
			{"mean_waiting", got.Waiting, c.Waiting},
			{"mean_e2e_s", got.E2E, c.E2E},
			{"mean_wait_s", got.Wait, c.Wait},
			{"saturation_rps", got.Saturation, c.Saturation},
			{"load", got.Load, c.Load},
			{"p_wait", got.PWait, c.PWait},
		} {
			if far(f.got, f.want) > 1e-9 && math.Abs(f.got-f.want) > 1e-14 {
				t.Errorf("%s %s at %v: %s = %v, want %v", c.Name, c.Lengths, c.Lam, f.name, f.got, f.want)
			}
		}
		// Where it is said to hold, it is within the mark of the request level.
		if c.Lengths == "exponential" {
			if got, err = c.station(t, 1).Means(c.Lam); err != nil {
				t.Fatal(err)
			}
		}
		if got.Holds && math.Abs(got.E2E/c.Simulated-1) > 0.10 {
			t.Errorf("%s %s at load %.2f: said to hold, %.3f s against %.3f", c.Name, c.Lengths, got.Load, got.E2E, c.Simulated)
		}
	}
}

// anyReplica draws a replica and lengths of any size.
func anyReplica(r *rapid.T) (Replica, Lengths) {
	number := func(name string, most int64) int64 { return rapid.Int64Range(0, most).Draw(r, name) }
	x := Replica{
		Time: serving.Time{
			C0: number("c0", 1e10), Lin: [][2]int64{{number("flat", 1e11), number("slope", 1e9)}, {0, number("slope2", 1e9)}},
			Seq: number("seq", 1e8) + 1, KV: number("kv", 1e6), PA: number("pa", 1e5),
		},
		Sequences:    rapid.SampledFrom([]int64{1, 2, 64, 1024, 2048, 20_000, 1_000_000}).Draw(r, "max_seqs"),
		Chunk:        rapid.SampledFrom([]int64{0, 1, 256, 2048, 8192}).Draw(r, "chunk"),
		PrefillFirst: rapid.Bool().Draw(r, "prefill first"),
	}
	l := Lengths{In: float64(1 + number("in", 200_000)), Out: float64(1 + number("out", 100_000))}
	l.Variation = rapid.SampledFrom([]float64{0, 1, 8}).Draw(r, "variation")
	l.Cached = float64(rapid.Int64Range(0, int64(l.In)).Draw(r, "cached"))
	return x, l
}

// Every mean is a finite number of the right size, at any load.
func TestMeansFinite(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x, l := anyReplica(r)
		s, err := NewStation(x, l)
		if err != nil {
			r.Fatal(err)
		}
		load := rapid.SampledFrom([]float64{1e-9, 0.1, 0.7, 0.85, 0.99, 0.9999, 1, 1.01, 3, 1e6}).Draw(r, "load")
		m, err := s.Means(load * s.most)
		if err != nil {
			r.Fatal(err)
		}
		for name, v := range map[string]float64{
			"in system": m.InSystem, "running": m.Running, "waiting": m.Waiting, "e2e": m.E2E, "wait": m.Wait,
			"ttft": m.TTFT, "tpot": m.TPOT, "saturation": m.Saturation, "load": m.Load, "p_wait": m.PWait,
		} {
			if math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
				r.Errorf("%s is %v", name, v)
			}
		}
		if m.PWait > 1 || m.Running > float64(x.Sequences)*(1+1e-9) || m.Holds != (m.Because == "") || m.Holds && m.Load >= HoldsBelow {
			r.Errorf("%+v", m)
		}
		if whole := m.TTFT + m.TPOT*(l.Out-1); far(whole, m.E2E) > 1e-9 {
			r.Errorf("the parts make %v s, the whole is %v s", whole, m.E2E)
		}
	})
}

// The sum over pieces that the reference writes out equals the closed sum.
func TestPromptPieces(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		x, l := anyReplica(r)
		x.PrefillFirst = false
		l.In = float64(rapid.Int64Range(1, 5000).Draw(r, "short in"))
		l.Cached = min(l.Cached, l.In-1)
		s, err := NewStation(x, l)
		if err != nil {
			r.Fatal(err)
		}
		n := rapid.Int64Range(1, 4096).Draw(r, "n")
		time := func(tokens, kv, pa int64) float64 {
			return (float64(x.Time.C0) + roof(&x.Time, float64(tokens))*1e6 + float64(x.Time.Seq*n) + float64(x.Time.KV)*float64(kv) + float64(x.Time.PA)*float64(pa)) / 1e6
		}
		want := 0.0
		for k := int64(l.Cached); k < int64(l.In); {
			c := min(max(1, s.replica.Chunk-(n-1)), int64(l.In)-k)
			want += time(n-1+c, 0, c*(2*k+c+1)/2) - time(n, 0, 0)
			k += c
		}
		if _, add := s.iteration(float64(n)); math.Abs(add-want) > 1e-9*math.Max(1, math.Abs(want))+1e-6*time(n, 0, 0) {
			r.Errorf("%v us, want %v", add, want)
		}
	})
}

func TestMeansRefuse(t *testing.T) {
	good := Replica{Time: serving.Time{Lin: [][2]int64{{1e9, 1e6}}}, Sequences: 8}
	lengths := Lengths{In: 100, Out: 10}
	change := func(do func(r *Replica, l *Lengths)) error {
		r, l := good, lengths
		r.Time.Lin = [][2]int64{{1e9, 1e6}}
		do(&r, &l)
		_, err := NewStation(r, l)
		return err
	}
	s, err := NewStation(good, lengths)
	if err != nil {
		t.Fatal(err)
	}
	for field, err := range map[string]error{
		"rate":       second(s.Means(0)),
		"max_seqs":   change(func(r *Replica, _ *Lengths) { r.Sequences = 0 }),
		"max_tokens": change(func(r *Replica, _ *Lengths) { r.Chunk = -1 }),
		"time":       change(func(r *Replica, _ *Lengths) { r.Time.Lin = nil }),
		"tokens_in":  change(func(_ *Replica, l *Lengths) { l.In = 0 }),
		"tokens_out": change(func(_ *Replica, l *Lengths) { l.Out = math.NaN() }),
		"cached":     change(func(_ *Replica, l *Lengths) { l.Cached = 101 }),
	} {
		var r *capcli.RequestError
		if !errors.As(err, &r) || r.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, lin := range [][2]int64{{0, 0}, {5, -1}, {-5, 5}} {
		if err := change(func(r *Replica, _ *Lengths) { r.Time.Lin[0] = lin }); err == nil {
			t.Errorf("lin %v is accepted", lin)
		}
	}
}
