package scenarios

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/prices"
	"capcli/simulate"
)

const priceListHead = "provider,region,machine,gpu,gpus,term,payment,usd_per_hour,usd_per_gpu_hour,free,currency,date,source\n"

func pools(lines ...string) string {
	return "capcli: scenario/v1\nperiod: 2027-01-01 to 2027-12-31\ncapacity:\n  - {" + strings.Join(lines, "}\n  - {") + "}\n"
}

func parsed(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A key is the price of one GPU, of a machine with eight as of one with one.
func TestPricesByKey(t *testing.T) {
	s := parsed(t, pools(
		"name: a, kind: reserved, fenced: true, gpus: 8, price: gcp/us-central1/a3-highgpu-8g/1y",
		"name: b, kind: reserved, fenced: true, gpus: 8, price: {key: gcp/us-central1/h100/3y}, on_demand_price: aws/us-east-1/p5.48xlarge/on_demand",
		"name: c, kind: on_demand, price: gcp/us-central1/h100/on_demand",
		"name: d, kind: spot, max_gpus: 8, price: {key: gcp/us-central1/a3-highgpu-8g/spot, at: 2025-03-20}",
		"name: e, kind: owned, gpus: 1, price: 1.5",
	))
	rates, err := s.Rates(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][2]string{{"7.672959", "11.06125"}, {"4.858048", "6.88"}, {"11.06125", "11.06125"}, {"2.552879", "11.06125"}, {"1.50", "11.06125"}} {
		if got := [2]string{rates[i].Price.Decimal(), rates[i].OnDemand.Decimal()}; got != want {
			t.Errorf("pool %s costs %v, want %v", s.Capacity[i].Name, got, want)
		}
	}
	var told []string
	for _, a := range s.Assumptions() {
		told = append(told, a.Pool+" "+a.Field+" "+a.Key+" "+a.Date)
	}
	want := "a price gcp/us-central1/a3-highgpu-8g/1y 2026-07-30, b price gcp/us-central1/a3-highgpu-8g/3y 2026-07-30, " +
		"b on_demand_price aws/us-east-1/p5.48xlarge/on_demand 2026-07-20, c price gcp/us-central1/a3-highgpu-8g/on_demand 2026-07-30, " +
		"d price gcp/us-central1/a3-highgpu-8g/spot 2025-03-13"
	if got := strings.Join(told, ", "); got != want {
		t.Errorf("assumptions:\n%s\nwant\n%s", got, want)
	}
}

func TestKeysThatAreWrong(t *testing.T) {
	for _, x := range []struct{ pool, want string }{
		{"kind: owned, gpus: 8, price: gpc/us-central1/a3-highgpu-8g/1y", `4:35  no price has the key "gpc/us-central1/a3-highgpu-8g/1y": there is no provider "gpc"; did you mean "gcp/us-central1/a3-highgpu-8g/1y"?`},
		{"kind: owned, gpus: 8, price: {key: gcp/us-central1/h100/2y}", `4:41  no price has the key`},
		{"kind: owned, gpus: 8, on_demand_price: gcp/us-central1/l4/on_demand", "name the machine"},
		{"kind: owned, gpus: 8, price: {key: gcp/us-central1/h100/1y, histori: true}", `did you mean "history"?`},
		{"kind: owned, gpus: 8, price: {}", "key is missing"},
		{"kind: owned, gpus: 8, price: {key: gcp/us-central1/h100/1y, at: 2020-01-01}", "the first price of gcp/us-central1/a3-highgpu-8g/1y is of 2024-05-17, after 2020-01-01"},
		{"kind: owned, gpus: 8, price: {key: gcp/us-central1/h100/1y, at: 30d}", "at is the day of a price"},
		{"kind: spot, max_gpus: 8, price: {key: gcp/us-central1/h100/spot, at: 2026-01-01, history: true}", "leave one out"},
		{"kind: owned, gpus: 8, price: {key: gcp/us-central1/h100/on_demand, history: true}", "is fixed when it is bought"},
		{"kind: owned, gpus: 8, price: 1, price_path: [{from: 2027-02-01, change: -1%}]", "price_path is for on_demand and spot"},
		{"kind: on_demand, price_path: [{from: 2027-02-01, change: -1%}]", "needs a price to begin from"},
		{"kind: on_demand, price: 1, price_path: [{from: 2027-02-01}]", "one of them"},
		{"kind: on_demand, price: 1, price_path: [{from: 2027-02-01, change: -1%, price: 2}]", "one of them"},
		{"kind: on_demand, price: 1, price_path: [{change: -1%}]", "from is missing"},
		{"kind: on_demand, price: 1, price_path: [{from: 2027-02-01, change: -100%}]", "leaves nothing"},
		{"kind: on_demand, price: 1, price_path: [{from: 2027-02-01, change: -0.44}]", "want a share such as -44%"},
		{"kind: on_demand, price: 1, price_path: [{from: 2027-02-01, change: nan%}]", "want a share such as -44%"},
		{"kind: on_demand, price: 1, price_path: [{from: 2027-02, change: -1%}, {from: 2027-02-01, change: -1%}]", "must go on in time"},
	} {
		_, err := Parse("s.yaml", []byte(pools(x.pool)))
		if err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s\ngot %v\nwant …%s…", x.pool, err, x.want)
		} else if n := strings.Count(err.Error(), "s.yaml:"); n != 1 {
			t.Errorf("%s\ngot %d faults, want the one:\n%v", x.pool, n, err)
		}
	}
	_, err := Parse("s.yaml", []byte("capcli: scenario/v1\ncapacity: [{kind: on_demand, price: 1, price_path: [{from: 30d, change: -1%}]}]\n"))
	if err == nil || !strings.Contains(err.Error(), "from is counted from the start, but there is no period") {
		t.Errorf("got %v", err)
	}
}

// A price file of the scenario goes before the catalogue, and one that is given
// beside before both. What is in neither is a fault at its place.
func TestOwnPriceFile(t *testing.T) {
	text := "prices: own.csv\n" + pools("kind: reserved, gpus: 8, price: acme/dc1/box/1y", "kind: reserved, gpus: 8, price: gcp/us-central1/a3-highgpu-8g/1y")
	open := func(name string) ([]byte, error) {
		if name != "own.csv" {
			return nil, errors.New("no file " + name)
		}
		return []byte(priceListHead + "acme,dc1,box,H100,8,1y,,16,,,,2026-10-01,offer 17\ngcp,us-central1,a3-highgpu-8g,H100,8,1y,,40,,,,2026-10-01,contract\n"), nil
	}
	s := parsed(t, text)
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if _, err := s.Config(nil, Options{Open: open}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	rates, err := s.Rates(Options{Open: open})
	if err != nil || rates[0].Price.Decimal() != "2.00" || rates[1].Price.Decimal() != "5.00" {
		t.Errorf("got %v, %v", rates, err)
	}
	if a := s.Assumptions(); len(a) != 2 || !strings.Contains(a[0].Text, "from own.csv:2, dated 2026-10-01 (offer 17)") {
		t.Errorf("got %+v", a)
	}
	beside, err := prices.Parse("beside.csv", []byte(priceListHead+"acme,dc1,box,H100,8,1y,,8,,,,2026-11-01,offer 18\n"))
	if err != nil {
		t.Fatal(err)
	}
	s, err = ParseWith(beside, "s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Set("seed", "7"); err != nil {
		t.Fatal(err)
	}
	rates, err = s.Rates(Options{Open: open})
	if err != nil || rates[0].Price.Decimal() != "1.00" || rates[1].Price.Decimal() != "5.00" {
		t.Errorf("got %v, %v", rates, err)
	}
	s = parsed(t, strings.Replace(text, "acme/dc1/box/1y", "acme/dc1/bax/1y", 1))
	if _, err = s.Rates(Options{Open: open}); err == nil || !strings.Contains(err.Error(), `s.yaml:5:38  no price has the key "acme/dc1/bax/1y"`) || !strings.Contains(err.Error(), `did you mean "acme/dc1/box/1y"?`) {
		t.Errorf("got %v", err)
	}
	s = parsed(t, text)
	if _, err = s.Rates(Options{Open: func(string) ([]byte, error) { return []byte("a,b\n"), nil }}); err == nil || !strings.Contains(err.Error(), "own.csv:1:1  unknown column") {
		t.Errorf("got %v", err)
	}
}

// steadily is one GPU held for the first hours of every so many.
func steadily(start capcli.Time, held, every, times capcli.Seconds) capcli.Jobs {
	return func(yield func(capcli.Job, error) bool) {
		for i := range times {
			if !yield(capcli.Job{ID: fmt.Sprint(i), GPUs: 1, Submit: start + capcli.Time(i*every*capcli.Hour), Run: held * capcli.Hour}, nil) {
				return
			}
		}
	}
}

// billed runs a scenario and gives what each pool costs.
func billed(t *testing.T, s *Scenario, jobs capcli.Jobs) *billing.Invoice {
	t.Helper()
	c, err := s.Config(jobs, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rates, err := s.Rates(Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := &jobCosts{rates: rates}
	c.Observers = append(c.Observers, sum)
	r, err := simulate.Run(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	inv, err := billing.Price(r.Record, rates)
	if err != nil {
		t.Fatal(err)
	}
	if sum.cost != inv.Total.Direct {
		t.Errorf("the jobs cost %s, the invoice %s", sum.cost.Decimal(), inv.Total.Direct.Decimal())
	}
	return inv
}

type jobCosts struct {
	rates []billing.Rate
	cost  capcli.USD
}

func (j *jobCosts) Observe(e simulate.Event, _ *simulate.Cluster) {
	if e.Kind == simulate.Finish {
		c, _ := billing.JobCost(e.Job.Holds(), j.rates)
		j.cost += c
	}
}

// A price that falls in the middle of a month, and in the middle of a job, is
// exact: 240 h at $1 and 240 h at 56 cents, then 12 h at 28.
func TestPriceFallsMidMonth(t *testing.T) {
	s := parsed(t, pools("kind: on_demand, price: 1, price_path: [{from: 2027-01-11, change: -44%}, {from: 20d, change: -50%}, {from: 2028-01, price: 9}]"))
	inv := billed(t, s, steadily(s.Period.Start, 492, 1, 1))
	if got := inv.Total.Cost.Decimal(); got != "377.76" {
		t.Errorf("got %s, want 377.76", got)
	}
	if got := inv.Total.Equivalent.Decimal(); got != "377.76" {
		t.Errorf("on demand it is %s, want 377.76", got)
	}
}

// Usage is billed at the last dated price at or before it, and changes come on
// top of it.
func TestHistoryOfAPrice(t *testing.T) {
	text := "capcli: scenario/v1\nperiod: 2025-06-22 to 2025-06-25\ncapacity:\n  - {kind: on_demand, price: {key: aws/us-east-1/p5.48xlarge/on_demand, history: true}"
	s := parsed(t, text+"}\n")
	if got := billed(t, s, steadily(s.Period.Start, 48, 1, 1)).Total.Cost.Decimal(); got != "460.08" { // 24 × 12.29 + 24 × 6.88
		t.Errorf("got %s, want 460.08", got)
	}
	s = parsed(t, text+", price_path: [{from: 12h, change: +100%}]}\n")
	if got := billed(t, s, steadily(s.Period.Start, 48, 1, 1)).Total.Cost.Decimal(); got != "772.68" { // 12 × 12.29 + 12 × 24.58 + 24 × 13.76
		t.Errorf("got %s, want 772.68", got)
	}
	s = parsed(t, text+", price_path: [{from: 12h, price: 1}]}\n")
	if got := billed(t, s, steadily(s.Period.Start, 48, 1, 1)).Total.Cost.Decimal(); got != "183.48" { // 12 × 12.29 + 36 × 1
		t.Errorf("got %s, want 183.48", got)
	}
}

// Where on-demand falls by d at month τ of L, a committed GPU pays from the use
// ρ / [(τ + (L-τ)(1-d)) / L]. At just this use both cost the same, to the
// millionth: .807692 = 21/26, .636792 = 135/212 and .535007 = 405/757.
func TestBreakEvenUnderAPriceFall(t *testing.T) {
	for _, x := range []struct {
		rho               string
		months, fall      capcli.Seconds
		held, every       capcli.Seconds
		share, cost, from string
	}{
		{"0.63", 12, 6, 21, 26, "0.807692", "196.56", "2027-01-07T12:00:00Z"},
		{"0.45", 36, 12, 135, 212, "0.636792", "3434.40", "2027-04-17T00:00:00Z"},
		{"0.45", 36, 23, 405, 757, "0.535007", "12263.40", "2028-12-26T11:00:00Z"},
	} {
		head := "capcli: scenario/v1\nperiod: 2027-01-01 to 2030-12-31\ncapacity:\n  - "
		until := x.months * x.every // a month is one cycle of use
		committed := parsed(t, head+fmt.Sprintf("{kind: reserved, gpus: 1, price: %s, until: %dh}\n", x.rho, until))
		metered := parsed(t, head+fmt.Sprintf("{kind: on_demand, price: 1, price_path: [{from: %s, change: -44%%}]}\n", x.from))
		if at := metered.Period.Start + capcli.Time(x.fall*x.every*capcli.Hour); at.String() != x.from {
			t.Fatalf("month %d begins at %s", x.fall, at)
		}
		a := billed(t, committed, steadily(committed.Period.Start, x.held, x.every, x.months)).Total.Cost
		b := billed(t, metered, steadily(metered.Period.Start, x.held, x.every, x.months)).Total.Cost
		if a.Decimal() != x.cost || a != b {
			t.Errorf("%s: committed costs %s, on demand %s, want %s of both", x.rho, a.Decimal(), b.Decimal(), x.cost)
		}
		if got := fmt.Sprintf("%.6f", float64(x.held)/float64(x.every)); got != x.share {
			t.Errorf("share %s, want %s", got, x.share)
		}
	}
}

func TestParseChange(t *testing.T) {
	for text, want := range map[string]int64{"-44%": -440_000, "+12.5%": 125_000, "12.5 %": 125_000, "-0.0001%": -1, "0%": 0, "−3%": -30_000, "10000%": 100_000_000} {
		if got, err := ParseChange(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", "-44", "44,5%", "1e3%", "--4%", "-100%", "10001%", "1.23456%", "∞%", "99999999999999999999%", "."} {
		if got, err := ParseChange(text); err == nil {
			t.Errorf("%q gave %d, want an error", text, got)
		}
	}
	for _, x := range [][3]int64{{1_000_000, -440_000, 560_000}, {3, -500_000, 2}, {9_223_372_036_854, 100_000_000, 931_560_575_722_254}} {
		if got := changed(capcli.Rate(x[0]), x[1]); got != capcli.Rate(x[2]) {
			t.Errorf("%d changed by %d is %d, want %d", x[0], x[1], got, x[2])
		}
	}
}

// A price of another GPU, or of other terms, is told and no fault.
func TestPriceDoubts(t *testing.T) {
	for _, x := range []struct{ pool, want string }{
		{"kind: reserved, gpus: 8, gpu_model: H100, term: 12mo, price: gcp/us-central1/h100/1y", ""},
		{"kind: reserved, gpus: 8, gpu_model: NVIDIA H100 80GB HBM3, price: gcp/us-central1/h100/on_demand", ""},
		{"kind: reserved, gpus: 8, gpu_model: A100, price: aws/us-east-1/p4de.24xlarge/1y", ""},
		{"kind: owned, gpus: 8, gpu_model: V100, price: 1", ""},
		{"kind: reserved, gpus: 8, gpu_model: A100, price: gcp/us-central1/h100/1y", "its GPUs are A100, and gcp/us-central1/a3-highgpu-8g/1y is the price of H100"},
		{"kind: reserved, gpus: 8, term: 3y, price: gcp/us-central1/h100/1y", "its term is 3y"},
		{"kind: reserved, gpus: 8, price: gcp/us-central1/h100/spot", "its kind is reserved"},
		{"kind: on_demand, price: gcp/us-central1/h100/1y", "it is paid while held"},
		{"kind: on_demand, price: gcp/us-central1/h100/spot", "its kind is on_demand"},
		{"kind: owned, gpus: 8, price: 1, on_demand_price: gcp/us-central1/h100/1y", "which is no on-demand price"},
	} {
		got := strings.Join(parsed(t, pools(x.pool)).PriceDoubts(), "; ")
		if (x.want == "") != (got == "") || !strings.Contains(got, x.want) {
			t.Errorf("%s: got %q, want …%s…", x.pool, got, x.want)
		}
	}
	_, err := ParsePortfolio("p.yaml", []byte("capcli: portfolio/v1\ncommitments: [{id: a, kind: owned, price: gcp/us-central1/h100/1y}]\n"))
	if err == nil || !strings.Contains(err.Error(), "a key of a price is not read here") {
		t.Errorf("got %v", err)
	}
}
