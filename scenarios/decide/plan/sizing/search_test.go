package sizing

import (
	"compress/gzip"
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"capcli/simulate/serving"
)

// reference is the configuration of a service as the reference writes it.
type reference struct {
	Policy, Router string
	Time           serving.Time
	BlockSize      int64 `json:"block_size"`
	Blocks         int64
	Watermark      int64
	MaxTokens      int64 `json:"max_tokens"`
	MaxSeqs        int64 `json:"max_seqs"`
	MaxLen         int64 `json:"max_len"`
	GPUs           int64
	Price          float64
	SLO            serving.SLO
}

func (c *reference) config() serving.Config {
	return serving.Config{
		Policy: c.Policy, Time: c.Time, BlockSize: c.BlockSize, Blocks: c.Blocks, Watermark: c.Watermark, MaxTokens: c.MaxTokens,
		MaxSeqs: c.MaxSeqs, MaxLen: c.MaxLen, Router: c.Router, GPUs: c.GPUs, Price: c.Price, SLO: c.SLO,
	}
}

type minimalCase struct {
	Name     string
	Config   reference
	Share    int64 `json:"share_permille"`
	Replicas int
	Tried    [][2]int64
	Rows     [][4]int64
}

func (c *minimalCase) load() []serving.Request {
	var out []serving.Request
	for _, r := range c.Rows {
		out = append(out, serving.Request{Arrival: r[0], In: r[1], Out: r[2], Cached: r[3]})
	}
	return out
}

func minimalCases(t *testing.T) []minimalCase {
	t.Helper()
	f, err := os.Open("../../../../../shared/golden/inference/minimal.json.gz")
	if err != nil {
		t.Skipf("no reference answers here: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var out []minimalCase
	if err := json.NewDecoder(z).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestReference finds the fleets of the reference and every number that it tried on the way; from the
// bound on, the same fleets.
func TestReference(t *testing.T) {
	for _, c := range minimalCases(t) {
		z := &sizer{ctx: t.Context(), config: c.Config.config(), load: c.load(), promises: []Promise{sloPromise(c.Share*1000, &serving.SLO{})}}
		f, err := z.search(exact)
		if err != nil || f.best == nil {
			t.Fatalf("%s: %+v, %v", c.Name, f, err)
		}
		var tried [][2]int64
		for i := range f.tries {
			tried = append(tried, [2]int64{int64(f.tries[i].Replicas), f.tries[i].Met})
		}
		if f.best.Replicas != c.Replicas || !slices.Equal(tried, c.Tried) {
			t.Errorf("%s: got %d, tried %v, want %d, %v", c.Name, f.best.Replicas, tried, c.Replicas, c.Tried)
		}
		if f.bound.Replicas > c.Replicas {
			t.Errorf("%s: the bound is %d replicas, and %d keep the promise", c.Name, f.bound.Replicas, c.Replicas)
		}
		for _, how := range []Search{bound, bisect} {
			if g, err := z.search(how); err != nil || g.best == nil || g.best.Replicas != c.Replicas {
				t.Errorf("%s, %s: got %+v, %v", c.Name, searchNames[how], g, err)
			}
		}
		t.Logf("%s: %d replicas; bound %d (%s), enough %d", c.Name, c.Replicas, f.bound.Replicas, f.bound.By, f.limits.enough)
	}
}

// world makes a random small service and its requests.
func world(r *rand.Rand) *sizer {
	z := &sizer{config: serving.Config{
		Policy: []string{"chunked", "prefill_first"}[r.IntN(2)], Router: []string{"least_loaded", "round_robin"}[r.IntN(2)],
		Time:      serving.Time{C0: r.Int64N(2e9), Lin: [][2]int64{{r.Int64N(8e9), 0}, {r.Int64N(2e9), 1 + r.Int64N(40e6)}}, Seq: r.Int64N(5e6), KV: r.Int64N(1e5), PA: r.Int64N(3000)},
		BlockSize: 16, Blocks: 40 + r.Int64N(400), MaxTokens: 600, MaxSeqs: 1 + r.Int64N(30), MaxLen: 500, GPUs: 1,
	}}
	if z.config.Policy == "chunked" {
		z.config.MaxTokens = 32 + r.Int64N(600)
	}
	at := int64(0)
	for range 40 + r.IntN(120) {
		at += int64(r.ExpFloat64() * 30_000)
		if r.IntN(10) == 0 {
			at += 500_000
		}
		z.load = append(z.load, serving.Request{Arrival: at, In: 1 + r.Int64N(400), Out: 1 + r.Int64N(60), Cached: r.Int64N(50) * r.Int64N(2)})
	}
	share := 900_000 + 10_000*r.Int64N(10)
	switch r.IntN(5) {
	case 0:
		z.promises = []Promise{{Metric: "ttft", of: ttft, ppm: share, limit: 20_000 + r.Int64N(200_000)}}
	case 1:
		z.promises = []Promise{{Metric: "e2e", of: e2e, ppm: share, limit: 200_000 + r.Int64N(1_000_000)}}
	case 2:
		z.promises = []Promise{{Metric: "ttft", of: ttft, ppm: share, limit: 20_000 + r.Int64N(200_000)}, {Metric: "tpot", of: tpot, ppm: share, limit: 5_000 + r.Int64N(20_000)}}
	case 3:
		z.promises = []Promise{{Metric: "mean", of: ttft, limit: 20_000 + r.Int64N(100_000)}}
	default:
		z.config.SLO = serving.SLO{TTFT: 20_000 + r.Int64N(200_000), TPOT: 5_000 + r.Int64N(20_000)}
		z.promises = []Promise{sloPromise(share, &z.config.SLO)}
	}
	return z
}

// TestBoundsHold plays random small worlds: no fleet below the bound keeps the promises, none does where
// that is said to be proven, and from enough replicas on every request is served as if it were alone.
func TestBoundsHold(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tight, none, above := 0, 0, 0
	for i := range 300 {
		z := world(r)
		z.ctx = t.Context()
		l, err := z.limits()
		if err != nil {
			t.Fatal(err)
		}
		b := leastReplicas(&z.config, z.load, z.promises)
		least := 0
		for n := 1; n <= l.enough+2; n++ {
			got, err := z.try(n)
			if err != nil {
				t.Fatal(err)
			}
			if got.Holds && least == 0 {
				least = n
			}
			if got.Holds && (n < b.Replicas || l.impossible) {
				t.Fatalf("world %d: %d replicas hold, and %+v, impossible %v", i, n, b, l.impossible)
			}
			if n >= l.enough && !slices.EqualFunc(got.Promises, l.alone.Promises, func(a, b Kept) bool { return a.micros == b.micros && a.Over == b.Over && a.Holds == b.Holds }) {
				t.Fatalf("world %d: %d replicas give %+v, alone %+v", i, n, got.Promises, l.alone.Promises)
			}
		}
		f, err := z.search(exact)
		if err != nil || (f.best == nil) != (least == 0) || f.best != nil && f.best.Replicas != least {
			t.Fatalf("world %d: the search found %+v, %v; %d is the least", i, f.best, err, least)
		}
		switch least {
		case 0:
			none++
		case b.Replicas:
			tight++
		default:
			above++
		}
	}
	t.Logf("%d worlds without a size, %d whose bound is the answer, %d above it", none, tight, above)
	if none == 0 || tight == 0 || above == 0 {
		t.Error("the worlds leave out a case")
	}
}
