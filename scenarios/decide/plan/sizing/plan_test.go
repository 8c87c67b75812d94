package sizing

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"capcli"
	"capcli/simulate/serving"
)

// steady is a service whose requests come at equal distances, and take 10 ms for the prompt and 10 ms for
// each further token: one at a time, since max_seqs is 1.
func steady(gap int64, n int) *Request {
	c := serving.Config{
		Policy: "chunked", Router: "least_loaded", Time: serving.Time{Lin: [][2]int64{{10_000_000_000, 0}}}, BlockSize: 16, Blocks: 1000,
		MaxTokens: 512, MaxSeqs: 1, MaxLen: 1000, GPUs: 2,
	}
	r := &Request{Service: "steady", Input: "steady.csv", Choices: []Choice{{Rate: 2 * capcli.Dollar, Config: c}}}
	for i := range n {
		r.Load = append(r.Load, serving.Request{Arrival: int64(i) * gap, In: 100, Out: 5})
	}
	return r
}

func plan1(t *testing.T, r *Request) *Result {
	t.Helper()
	out, err := r.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A request takes 50 ms of a replica. One every 10 ms fills five replicas; with four the queue grows.
func TestStory(t *testing.T) {
	r := steady(10_000, 2000)
	r.Max = []string{"ttft_p99=10ms"}
	out := plan1(t, r)
	if out.Replicas == nil || *out.Replicas != 5 || *out.GPUs != 10 || out.Bound.Replicas != 5 || out.Bound.By != "tokens" && out.Bound.By != "sequences" {
		t.Fatalf("got %v replicas, bound %+v, want 5: %s", out.Replicas, out.Bound, out.Says)
	}
	if got := len(out.Tried); got != 5 {
		t.Errorf("%d tried, want each of 1 to 5", got)
	}
	// 10 GPUs at $2: 100 requests a second are 360,000 an hour of 105 tokens.
	c := out.Costs[0]
	if c.PerHour != 20*capcli.Dollar || math.Abs(c.PerThousand.Float()-20.0/360) > 1e-4 || math.Abs(c.PerMillion.Float()-20/(0.36*105)) > 1e-3 {
		t.Errorf("costs are %+v, %v, %v", c, c.PerThousand, c.PerMillion)
	}
}

// What must hold at growth: five replicas serve what comes up to now, and no more.
func TestGrowth(t *testing.T) {
	r := steady(10_100, 3000)
	r.Max, r.Growth = []string{"ttft_p99=10ms"}, []string{"0%", "20%", "2x"}
	out := plan1(t, r)
	var sizes []int
	for _, g := range out.Growth {
		sizes = append(sizes, *g.Replicas)
	}
	if !slices.Equal(sizes, []int{5, 6, 10}) {
		t.Errorf("sizes of growth are %v, want 5, 6 and 10", sizes)
	}
	if !out.Growth[0].Holds || out.Growth[1].Holds {
		t.Error("the size of today holds today's load and not 20 % more")
	}
	if h := out.Headroom; h.Holds < 1 || h.Holds > 1.01 || h.Breaks > 1.02 || h.Breaks <= h.Holds {
		t.Errorf("headroom is %+v, want it to break right above 1.01", h)
	}
}

// A token takes 10 ms, so no fleet makes one in 9, nor a first one.
func TestNothingKeepsThePromise(t *testing.T) {
	for _, max := range []string{"ttft_p99=9ms", "tpot_p95=9999us", "e2e_mean=49ms"} {
		r := steady(10_000, 1200)
		r.Max = []string{max}
		out := plan1(t, r)
		err := out.NoPlan()
		if !errors.Is(err, capcli.NoPlan) || out.Replicas != nil || !strings.Contains(err.Error(), "the nearest to") {
			t.Fatalf("%s: got %v, %v", max, out.Replicas, err)
		}
		if s := &out.Choices[0]; !s.Proven && max != "e2e_mean=49ms" {
			t.Errorf("%s: it is not proven", max)
		}
	}
	r := steady(10_000, 1200)
	r.Load[7].In = 2000
	r.Load[8].In = 2000
	r.Max = []string{"rejected_share=0.1%", "ttft_p50=1s"}
	out := plan1(t, r)
	if err := out.NoPlan(); err == nil || !strings.Contains(err.Error(), "2 of 1,200 requests are rejected") {
		t.Errorf("got %v", err)
	}
	r.Max = []string{"ttft_p99=10ms"}
	if out = plan1(t, r); out.Replicas == nil || !strings.HasPrefix(out.Says, "Drops 2 of 1,200 requests") {
		t.Errorf("a plan that drops requests says %q", out.Says)
	}
}

// A limit on GPUs binds where the promises need more.
func TestSizeLimit(t *testing.T) {
	r := steady(10_000, 1200)
	r.Max = []string{"ttft_p99=10ms", "gpus=8"}
	out := plan1(t, r)
	if err := out.NoPlan(); err == nil || !strings.Contains(err.Error(), "gpus <= 8 binds") {
		t.Errorf("got %v", err)
	}
}

// The cheapest of two GPUs: one is twice as fast at less than twice the price.
func TestCheapestChoice(t *testing.T) {
	r := steady(10_000, 2000)
	fast := r.Choices[0]
	fast.GPUModel, fast.Rate = "fast", 3*capcli.Dollar
	fast.Config.Time.Lin = [][2]int64{{5_000_000_000, 0}}
	bad := Choice{GPUModel: "small", Fault: "the weights do not fit"}
	r.Choices[0].GPUModel = "slow"
	r.Choices = append(r.Choices, fast, bad)
	r.Max = []string{"ttft_p99=10ms"}
	out := plan1(t, r)
	if *out.Best != 1 || *out.Replicas != 3 || out.Choices[2].Why != "the weights do not fit" {
		t.Errorf("got choice %d with %d replicas", *out.Best, *out.Replicas)
	}
}

// Two GPUs at $2 an hour against tokens: a replica does 20 requests a second, 72,000 an hour, and costs $4
// for them. At $1 per million tokens 105 tokens are $0.000105; $4 are 38,095 requests an hour.
func TestBreakEven(t *testing.T) {
	r := steady(100_000, 2000) // 10 a second, 36,000 an hour
	r.Max, r.API = []string{"ttft_p99=10ms"}, "1"
	out := plan1(t, r)
	b := out.BreakEven
	if b == nil || b.Requests == nil || math.Abs(*b.Load-38095.0/36000) > 0.001 || *b.Replicas != 1 || b.Cheaper != "api" {
		t.Fatalf("got %+v", b)
	}
	if want := *b.Load * out.Traffic.PerMonth; math.Abs(*b.Requests-want) > 1 {
		t.Errorf("break-even at %g requests, want %g", *b.Requests, want)
	}
	r.API = "0.1" // $4 are 380,950 requests an hour, and a replica does 72,000
	if b = plan1(t, r).BreakEven; b.Requests != nil {
		t.Errorf("at a tenth of the price got %+v", b)
	}
}

// A load of a day: 22 quiet hours and two busy ones. What is busy for 2 of 24 hours is not worth a term
// whose price is half.
func TestHours(t *testing.T) {
	r := steady(1, 1)
	r.Load = r.Load[:0]
	for h := range int64(24) {
		gap := int64(2_000_000)
		if h == 16 || h == 17 {
			gap = 20_000
		}
		for us := int64(0); us < hourMicros; us += gap {
			r.Load = append(r.Load, serving.Request{Arrival: h*hourMicros + us, In: 100, Out: 5})
		}
	}
	r.Max, r.Hourly = []string{"ttft_p99=10ms"}, true
	r.Market.Terms = []string{"12mo=1"}
	out := plan1(t, r)
	if *out.Replicas != 3 || len(out.Hours) != 24 {
		t.Fatalf("%d replicas, %d hours", *out.Replicas, len(out.Hours))
	}
	for i, h := range out.Hours {
		want := 1
		if i == 16 || i == 17 {
			want = 3
		}
		if *h.Replicas != want {
			t.Errorf("hour %d needs %d replicas, want %d", i, *h.Replicas, want)
		}
	}
	s := out.Split
	if s.Base != 2 || s.Peak != 6 {
		t.Fatalf("got %+v", s)
	}
	// 2 GPUs at $1 all hours, 4 at $2 in 2 of 24.
	want := capcli.USDOf((2 + 4*2*2.0/24) * 8766)
	if d := s.PerYear - want; d < -capcli.Dollar || d > capcli.Dollar {
		t.Errorf("costs %s a year, want %s", s.PerYear, want)
	}
}

// Wrong requests are refused before anything is played.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		change func(*Request)
		want   string
	}{
		{func(*Request) {}, "no slo and no promise"},
		{func(r *Request) { r.Max = []string{"ttft_p99"} }, "want METRIC=VALUE"},
		{func(r *Request) { r.Max = []string{"ttft_p99=200"} }, "has no unit"},
		{func(r *Request) { r.Max = []string{"ttft_p101=1s"} }, "unknown metric"},
		{func(r *Request) { r.Max = []string{"ttft_p=1s"} }, "unknown metric"},
		{func(r *Request) { r.Max = []string{"speed=1s"} }, "have ttft_p99"},
		{func(r *Request) { r.Min = []string{"ttft_p99=1s"} }, "--max"},
		{func(r *Request) { r.Max = []string{"slo_share=99%"} }, "--min"},
		{func(r *Request) { r.Min = []string{"slo_share=199%"} }, "no share"},
		{func(r *Request) { r.Max = []string{"ttft_p99=1s", "ttft_p99=2s"} }, "two limits"},
		{func(r *Request) { r.Max, r.Share = []string{"ttft_p99=1s"}, "99%" }, "slo limits"},
		{func(r *Request) { r.Max, r.Growth = []string{"ttft_p99=1s"}, []string{"20"} }, "growth"},
		{func(r *Request) { r.Max, r.API = []string{"ttft_p99=1s"}, "in=x" }, "api-price"},
		{func(r *Request) { r.Max, r.API = []string{"ttft_p99=1s"}, "0" }, "break-even"},
		{func(r *Request) { r.Max, r.Search = []string{"ttft_p99=1s"}, "fast" }, "search"},
		{func(r *Request) { r.Max, r.Load = []string{"ttft_p99=1s"}, nil }, "found none"},
	} {
		r := steady(1000, 10)
		c.change(r)
		_, err := r.Plan(t.Context())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want it to say %q", err, c.want)
		}
	}
}

// A percentile of few requests is said to be that.
func TestTooFew(t *testing.T) {
	r := steady(1_000_000, 50)
	r.Max = []string{"ttft_p99=10ms"}
	if notes := plan1(t, r).Notes; !strings.Contains(strings.Join(notes, "\n"), "too few requests") {
		t.Errorf("notes are %q", notes)
	}
	r = steady(1_000_000, 1000)
	r.Max = []string{"ttft_p99=10ms"}
	if notes := plan1(t, r).Notes; strings.Contains(strings.Join(notes, "\n"), "too few requests") {
		t.Errorf("notes of enough are %q", notes)
	}
}
