package traffic

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/simulate/serving"
)

// checkNear fails unless got is within so many standard errors of want.
func checkNear(t *testing.T, what string, got, want, deviation float64, errors float64) {
	t.Helper()
	if math.Abs(got-want) > errors*deviation {
		t.Errorf("%s is %.6g, want %.6g ± %.3g", what, got, want, errors*deviation)
	}
}

// Draws have the mean and the variance of their laws.
func TestLawsOfCounts(t *testing.T) {
	const n = 40_000
	rng := capcli.Seed(3).Stream("laws")
	for _, c := range []struct {
		name           string
		draw           func() int64
		mean, variance float64
	}{
		{"poisson 0.3", func() int64 { return poisson(rng, 0.3) }, 0.3, 0.3},
		{"poisson 9.9", func() int64 { return poisson(rng, 9.9) }, 9.9, 9.9},
		{"poisson 10", func() int64 { return poisson(rng, 10) }, 10, 10},
		{"poisson 60,000", func() int64 { return poisson(rng, 60_000) }, 60_000, 60_000},
		{"binomial 5", func() int64 { return binomial(rng, 50, 0.1) }, 5, 4.5},
		{"binomial 80", func() int64 { return binomial(rng, 100, 0.8) }, 80, 16},
		{"binomial 1000", func() int64 { return binomial(rng, 60_000, 1.0/60) }, 1000, 1000 * 59.0 / 60},
		{"clustered", func() int64 { return dispersed(rng, 100, 4) }, 100, 400},
		{"regular", func() int64 { return dispersed(rng, 100, 0.25) }, 100, 25},
		{"gamma 0.25", func() int64 { return int64(1e6 * gamma(rng, 0.25)) }, 0.25e6, 0.25e12},
		{"gamma 7", func() int64 { return int64(1e6 * gamma(rng, 7)) }, 7e6, 7e12},
	} {
		sum, squares := 0.0, 0.0
		for range n {
			v := float64(c.draw()) - c.mean
			sum += v
			squares += v * v
		}
		sd := math.Sqrt(c.variance)
		checkNear(t, "the mean of "+c.name, c.mean+sum/n, c.mean, sd/math.Sqrt(n), 4)
		checkNear(t, "the variance of "+c.name, squares/n, c.variance, c.variance*math.Sqrt(10.0/n), 4)
	}
}

// The distribution function of Poisson draws is that of the law (chi-square over the values).
func TestPoissonIsPoisson(t *testing.T) {
	for _, mean := range []float64{4, 25} {
		const n = 50_000
		rng := capcli.Seed(9).Stream("chi")
		seen := map[int64]int{}
		for range n {
			seen[poisson(rng, mean)]++
		}
		chi, cells := 0.0, 0
		for k := range int64(80) {
			want := n * math.Exp(float64(k)*math.Log(mean)-mean-logFactorial(float64(k)))
			if want < 10 {
				continue
			}
			chi += (float64(seen[k]) - want) * (float64(seen[k]) - want) / want
			cells++
		}
		if limit := float64(cells) + 4*math.Sqrt(2*float64(cells)); chi > limit {
			t.Errorf("mean %v: chi-square is %.1f over %d cells, want under %.1f", mean, chi, cells, limit)
		}
	}
}

func TestCurveKeepsItsMeanAndItsPeak(t *testing.T) {
	c := Curve{Rate: 100, DaySwing: 4, PeakFrom: 16, PeakTo: 18, Weekend: 0.5, Start: capcli.NoTime}
	sum, least, most := 0.0, math.Inf(1), 0.0
	for m := range 7 * 1440 {
		rate := c.At(capcli.Seconds(m)*60 + 30)
		sum += rate
		if m < 5*1440 {
			least, most = min(least, rate), max(most, rate)
		}
	}
	checkNear(t, "the mean of a week", sum/(7*1440), 100, 0.01, 1)
	checkNear(t, "the peak", most, c.Top(), 1e-9, 1)
	checkNear(t, "the peak over the least", most/least, 4, 1e-3, 1)
	checkNear(t, "the peak's closed form", c.Top(), 100*7/(6*((2+22*0.625)/24)), 1e-9, 1)
	for _, h := range []capcli.Seconds{16, 17, 18} {
		checkNear(t, "the rate at the peak", c.At(h*3600), most, 1e-9, 1)
	}
	if c.At(15*3600) >= most || c.At(19*3600) >= most || c.At(15*3600) != c.At(19*3600) {
		t.Error("the peak is not from 16 to 18 h, or not symmetric")
	}
	checkNear(t, "Saturday", c.At(5*86400+17*3600), most/2, 1e-9, 1)
	c.AtPeak, c.Growth = true, 0.02
	checkNear(t, "the stated peak", c.At(17*3600), 100*math.Pow(1.02, 17*3600/month), 1e-9, 1)
	checkNear(t, "a year's growth", c.At(364*86400+17*3600)/c.At(17*3600), math.Pow(1.02, 364*86400/month), 1e-9, 1)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	c = Curve{Rate: 1, AtPeak: true, DaySwing: 4, PeakFrom: 12, PeakTo: 12, Zone: berlin, Start: capcli.Time(1735689600)} // 2025-01-01
	checkNear(t, "noon in winter", c.At(11*3600), 1, 1e-9, 1)
	checkNear(t, "noon in summer", c.At(200*86400+10*3600), 1, 1e-9, 1)
}

func demand(rate float64) Demand {
	return Demand{
		Name: "chat", Curve: Curve{Rate: rate, DaySwing: 4, PeakFrom: 2, PeakTo: 3, Start: capcli.NoTime},
		Tokens: Tokens{In: Length{Median: 512, Quantile: 0.95, At: 2048}, Out: Length{Mean: 200}, Cached: 0.3},
	}
}

func drawDemand(t *testing.T, d Demand) *Drawn {
	t.Helper()
	s, err := Draw(d, 11)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// countBy counts requests by step.
func countBy(t *testing.T, list []serving.Request, length capcli.Seconds, n int) []int64 {
	t.Helper()
	out := make([]int64, n)
	last := int64(0)
	for _, r := range list {
		if r.Arrival < last || r.In < 1 || r.Out < 1 || r.Cached > r.In {
			t.Fatalf("%+v after %d", r, last)
		}
		last = r.Arrival
		out[r.Arrival/second/int64(length)]++
	}
	return out
}

// The counts of each step are the requests in it, for every law and every step, and do not depend on
// what was asked before.
func TestCountsAreTheRequests(t *testing.T) {
	points := []Point{{0, 3}, {95, 20}, {1000, 0}, {2000, 8}, {7300, 0}}
	for _, c := range []struct {
		name string
		d    Demand
	}{
		{"poisson", demand(7)},
		{"rare", demand(0.01)},
		{"gamma", func() Demand { d := demand(7); d.Arrivals, d.CV = Gamma, 3; return d }()},
		{"rare gamma", func() Demand { d := demand(0.02); d.Arrivals, d.CV = Gamma, 0.5; return d }()},
		{"even", func() Demand { d := demand(2.7); d.Arrivals = Even; return d }()},
		{"points", func() Demand { d := demand(1); d.Curve = Curve{Points: points, Shift: 30}; return d }()},
		{"even points", func() Demand {
			d := demand(1)
			d.Curve, d.Arrivals = Curve{Points: points, Repeat: 7300, Scale: 0.5}, Even
			return d
		}()},
	} {
		s := drawDemand(t, c.d)
		const until = 14400
		list, err := Collect(s, until, 1e6)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			t.Fatal(c.name, ": no request")
		}
		for _, length := range []capcli.Seconds{15, 60, 90, 600, 3600} {
			want := countBy(t, list, length, int(until/length))
			for _, source := range []Source{s, drawDemand(t, c.d)} {
				if got, err := source.Counts(length, int(until/length)); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s in steps of %s: counts %v, requests %v (%v)", c.name, length, got, want, err)
				}
			}
		}
		again, err := Collect(drawDemand(t, c.d), until/2, 1e6)
		if err != nil || !slices.Equal(again, list[:len(again)]) {
			t.Errorf("%s: a shorter time has other requests: %v", c.name, err)
		}
		if expected := s.Expected(until); math.Abs(float64(len(list))-expected) > 5*math.Sqrt(max(1, s.spread))*math.Sqrt(expected)+1 {
			t.Errorf("%s: %d requests, %.0f expected", c.name, len(list), expected)
		}
	}
}

func TestEvenHasExactSums(t *testing.T) {
	d := demand(1.37)
	d.Arrivals, d.Curve.DaySwing = Even, 1
	s := drawDemand(t, d)
	counts, err := s.Counts(60, 1440)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for i, n := range counts {
		if sum += n; math.Abs(float64(sum)-1.37*60*float64(i+1)) > 0.51 {
			t.Fatalf("%d requests by minute %d", sum, i+1)
		}
	}
	list, err := Collect(s, 600, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range list {
		if want := (float64(i) + 0.5) / 1.37 * 1e6; math.Abs(float64(r.Arrival)-want) > 2 {
			t.Fatalf("request %d comes at %d, want %.0f", i, r.Arrival, want)
		}
	}
}

// Poisson gaps are exponential (Kolmogorov-Smirnov), and gamma gaps have the variation that was asked for.
func TestGaps(t *testing.T) {
	for _, c := range []struct {
		rate, cv float64
		law      Arrivals
	}{{20, 1, Poisson}, {0.3, 1, Poisson}, {20, 2, Gamma}, {20, 0.5, Gamma}, {0.3, 3, Gamma}, {20, 1, Gamma}} {
		d := demand(c.rate)
		d.Curve.DaySwing, d.Arrivals, d.CV = 1, c.law, c.cv
		var gaps []float64
		last := -1.0
		for r := range drawDemand(t, d).Requests(capcli.Seconds(40_000 / c.rate)) {
			if last >= 0 {
				gaps = append(gaps, float64(r.Arrival)-last)
			}
			last = float64(r.Arrival)
		}
		slices.Sort(gaps)
		n := float64(len(gaps))
		sum, squares, ks := 0.0, 0.0, 0.0
		for i, g := range gaps {
			sum, squares = sum+g, squares+g*g
			ks = max(ks, math.Abs(1-math.Exp(-g*c.rate/1e6)-(float64(i)+0.5)/n))
		}
		mean := sum / n
		cv := math.Sqrt(squares/n-mean*mean) / mean
		if math.Abs(cv-c.cv) > 0.05*c.cv {
			t.Errorf("%s at %v/s: gaps vary by %.3f, want %.2f", c.law, c.rate, cv, c.cv)
		}
		if limit := 1.95 / math.Sqrt(n); c.cv == 1 && ks > limit {
			t.Errorf("%s at %v/s: Kolmogorov-Smirnov %.4f over %.4f", c.law, c.rate, ks, limit)
		}
	}
}

func TestLengths(t *testing.T) {
	sigma := math.Log(4) / 1.6448536269514722
	for _, c := range []struct {
		name string
		l    Length
		want Quantiles
	}{
		{"fixed", Length{Fixed: 77}, Quantiles{77, 77, 77, 77, 77, 77}},
		{"log-normal", Length{Median: 512, Quantile: 0.95, At: 2048}, Quantiles{Mean: 512 * math.Exp(sigma*sigma/2), P50: 512, P95: 2048}},
		{"by mean", Length{Median: 100, Mean: 200}, Quantiles{Mean: 200, P50: 100}},
		{"exponential", Length{Mean: 200}, Quantiles{Mean: 200, P50: 139, P95: 598}},
		{"within bounds", Length{Median: 512, Quantile: 0.95, At: 2048, Max: 512}, Quantiles{Max: 512}},
	} {
		d := Tokens{In: c.l, Out: Length{Fixed: 1}}
		if err := d.Check(); err != nil {
			t.Fatal(err)
		}
		got := d.sumUp().In
		for _, v := range []struct{ got, want float64 }{
			{got.Mean, c.want.Mean}, {float64(got.P50), float64(c.want.P50)}, {float64(got.P95), float64(c.want.P95)}, {float64(got.Max), float64(c.want.Max)},
		} {
			if v.want > 0 && math.Abs(v.got-v.want) > 0.005*v.want+0.5 && !(c.want.Max == 0 && v.got == float64(got.Max)) {
				t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
			}
		}
		drawer := d.drawer()
		rng := capcli.Seed(5).Stream("draw")
		sum, squares := 0.0, 0.0
		const n = 40_000
		for range n {
			in, _, _, _ := drawer.draw(rng)
			sum, squares = sum+float64(in), squares+float64(in)*float64(in)
		}
		sd := math.Sqrt(max(0, squares/n-sum/n*sum/n))
		checkNear(t, c.name+": the mean of draws", sum/n, got.Mean, sd/math.Sqrt(n)+0.002*got.Mean, 4)
	}
}

func TestWrongDemands(t *testing.T) {
	for name, change := range map[string]func(d *Demand){
		"rate":       func(d *Demand) { d.Curve.Rate = 0 },
		"day_swing":  func(d *Demand) { d.Curve.DaySwing = 0.5 },
		"growth":     func(d *Demand) { d.Curve.Growth = -1 },
		"weekend":    func(d *Demand) { d.Curve.Weekend = -1 },
		"peak":       func(d *Demand) { d.Curve.PeakFrom = 25 },
		"tokens_in":  func(d *Demand) { d.Tokens.In = Length{} },
		"tokens_out": func(d *Demand) { d.Tokens.Out = Length{Median: 5} },
		"cached":     func(d *Demand) { d.Tokens.Cached = 1.5 },
		"cv":         func(d *Demand) { d.Arrivals = Gamma },
	} {
		d := demand(1)
		change(&d)
		_, err := Draw(d, 1)
		request, ok := err.(*capcli.RequestError) //nolint:errorlint // it is not wrapped
		if !ok || request.Field != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Draw(Demand{Curve: Curve{Rate: 1}, Tokens: demand(1).Tokens, Arrivals: "poison"}, 1); err == nil {
		t.Error("an unknown law was taken")
	}
}

// fourRows is a trace of 4 requests in 10 s.
func fourRows() *requests.Trace {
	return &requests.Trace{Input: "f", Start: requests.NoStart, Models: []string{"", "a", "b"}, Rows: []requests.Row{
		{Arrival: 0, In: 10, Out: 1, Cached: 4, Model: 1}, {Arrival: 4e6, In: 20, Out: 2, Model: 2}, {Arrival: 4e6, In: 30, Out: 3, Model: 1}, {Arrival: 8e6, In: 40, Out: 4, User: 3},
	}}
}

func TestReplay(t *testing.T) {
	play := func(o Replay, until capcli.Seconds) (arrivals, ins []int64) {
		t.Helper()
		tr := fourRows()
		s, err := Play(tr, o, 1)
		if err != nil {
			t.Fatal(err)
		}
		for r := range s.Requests(until) {
			arrivals, ins = append(arrivals, r.Arrival/1e5), append(ins, r.In)
		}
		if counts, err := s.Counts(1, int(until)); err != nil || fmt.Sprint(counts) != fmt.Sprint(countBy(t, slices.Collect(s.Requests(until)), 1, int(until))) {
			t.Errorf("%+v: counts %v, %v", o, counts, err)
		}
		if !slices.Equal(tr.Rows, fourRows().Rows) {
			t.Error("the trace was changed")
		}
		return arrivals, ins
	}
	for _, c := range []struct {
		name     string
		o        Replay
		until    capcli.Seconds
		arrivals []int64
	}{
		{"as it is", Replay{Cached: -1}, 100, []int64{0, 40, 40, 80}},
		{"cut", Replay{Cached: -1}, 8, []int64{0, 40, 40}},
		{"twice as fast", Replay{Speed: 2, Cached: -1}, 100, []int64{0, 20, 20, 40}},
		{"repeated", Replay{Repeat: RepeatOwn, Cached: -1}, 15, []int64{0, 40, 40, 80, 100, 140, 140}},
		{"repeated each 12 s", Replay{Repeat: 12, Cached: -1}, 17, []int64{0, 40, 40, 80, 120, 160, 160}},
		{"later", Replay{Shift: 5e6, Cached: -1}, 100, []int64{50, 90, 90, 130}},
		{"begun before", Replay{Shift: -4e6, Repeat: RepeatOwn, Cached: -1}, 7, []int64{0, 0, 40, 60}},
		{"of one model", Replay{Model: "a", Cached: -1}, 100, []int64{0, 40}},
		{"half", Replay{Scale: 0.5, Cached: -1}, 100, nil},
	} {
		arrivals, ins := play(c.o, c.until)
		if c.name == "half" {
			if len(ins) != 2 {
				t.Errorf("half of 4 requests are %v", ins)
			}
			continue
		}
		if !slices.Equal(arrivals, c.arrivals) {
			t.Errorf("%s: %v, want %v", c.name, arrivals, c.arrivals)
		}
	}
	s, err := Play(fourRows(), Replay{Cached: 0.5, Scale: 2.5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := s.Counts(1000, 1); err != nil || n[0] != 10 {
		t.Errorf("2.5 times 4 requests are %v, %v", n, err)
	}
	if l := s.Lengths(); l.Cached.Max != 20 || l.In.Max != 40 || s.Users() != 1 {
		t.Errorf("%+v, %d users", l, s.Users())
	}
	if s, err = Play(fourRows(), Replay{Cached: -1, Spread: 1}, 1); err != nil {
		t.Fatal(err)
	}
	spread := slices.Collect(s.Requests(100))
	for i, r := range spread {
		if want := []int64{0, 4e6, 4e6, 8e6}[i]; r.Arrival < want || r.Arrival >= want+1e6 {
			t.Errorf("request %d spread over a second comes at %d", i, r.Arrival)
		}
	}
	if len(spread) != 4 || spread[1].Arrival == spread[2].Arrival {
		t.Errorf("spread over a second: %+v", spread)
	}
	for _, o := range []Replay{{Scale: -1}, {Speed: math.NaN()}, {Model: "c"}, {Repeat: 3}, {Shift: -1e9}, {Scale: 1e-9}} {
		if _, err := Play(fourRows(), o, 1); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

// A year at a thousand requests a second is counted in well under a second, and holds no requests.
func TestAYearIsCounted(t *testing.T) {
	s := drawDemand(t, demand(1000))
	at := time.Now()
	counts, err := s.Counts(60, 365*1440)
	if err != nil {
		t.Fatal(err)
	}
	sum := int64(0)
	for _, n := range counts {
		sum += n
	}
	want := 1000 * 365 * 86400.0
	checkNear(t, "the requests of a year", float64(sum), want, math.Sqrt(want), 4)
	t.Logf("%d requests in %v", sum, time.Since(at))
}
