package spend

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"capcli"
	"capcli/scenarios/money/billing"
	"capcli/scenarios/money/focus"
	"capcli/testdata/golden"
)

// midnight returns the start of a day.
func midnight(t testing.TB, text string) capcli.Time {
	t.Helper()
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t.Fatal(err)
	}
	return capcli.TimeOf(d)
}

// focusBill writes a bill in FOCUS; each row is start, end, effective, billed, list, commitment, status, tags.
func focusBill(rows ...string) string {
	return "ChargePeriodStart,ChargePeriodEnd,EffectiveCost,BilledCost,ListCost,CommitmentDiscountId,CommitmentDiscountStatus,Tags,ChargeCategory,BillingCurrency\n" +
		strings.Join(rows, "\n") + "\n"
}

// days returns a row for each day from first up to and without end, each of cost dollars.
func days(t testing.TB, first, end string, cost float64, project string) (out []string) {
	for a := midnight(t, first); a < midnight(t, end); a += capcli.Time(capcli.Day) {
		out = append(out, fmt.Sprintf(`%s,%s,%g,0,%g,,,"{""project"":""%s""}",Usage,USD`, a, a+capcli.Time(capcli.Day), cost, 2*cost, project))
	}
	return out
}

// watchBill returns what a bill in FOCUS says.
func watchBill(t testing.TB, text string, r Request, cash bool, by ...string) (*Result, error) {
	t.Helper()
	b := NewBook(by, cash)
	if _, _, err := billing.ReadUse("bill.csv", strings.NewReader(text), billing.UseOptions{By: by, Rows: b.AddRow}); err != nil {
		return nil, err
	}
	return Watch(context.Background(), b, r)
}

// find returns a series of the result.
func find(t testing.TB, r *Result, by, name string) *Series {
	t.Helper()
	for i := range r.Series {
		if s := &r.Series[i]; s.By == by && s.Name == name {
			return s
		}
	}
	t.Fatalf("no series %s %s", by, name)
	return nil
}

const usd = capcli.Dollar

// Two projects, all of January and half of February, by hand. Search costs $10 a day in January and
// $20 in February; ads costs $4 a day. An unused commitment costs $31 over January, which is $1 a day.
func TestByHand(t *testing.T) {
	rows := slices.Concat(days(t, "2027-01-01", "2027-02-01", 10, "search"), days(t, "2027-02-01", "2027-02-15", 20, "search"), days(t, "2027-01-01", "2027-02-15", 4, "ads"),
		[]string{`2027-01-01T00:00:00Z,2027-02-01T00:00:00Z,31,0,0,ri-1,Unused,,Usage,USD`, `2027-02-03T00:00:00Z,2027-02-04T00:00:00Z,9,0,18,ri-1,Used,"{""project"":""search""}",Usage,USD`})
	r, err := watchBill(t, focusBill(rows...), Request{Grain: "month", Model: "snaive", Budgets: []Budget{{"project", "ads", 112 * usd}, {"project", "ad", usd}}}, false, "project")
	if err != nil {
		t.Fatal(err)
	}
	all, search, ads, unused := find(t, r, "all", "all"), find(t, r, "project", "search"), find(t, r, "project", "ads"), find(t, r, "project", "(unused)")
	for _, v := range []struct {
		what      string
		got, want capcli.USD
	}{
		{"all", all.Cost, (310 + 280 + 180 + 31 + 9) * usd},
		{"search in January", search.Periods[0].Cost, 310 * usd},
		{"search in February", search.Periods[1].Cost, 289 * usd},
		{"search, change", *search.Periods[1].Change, (289 - 140) * usd},
		{"ads, change", *ads.Periods[1].Change, 0},
		{"unused in January", unused.Periods[0].Cost, 31 * usd},
		{"unused, same days", *unused.Outlook.Before, 14 * usd},
		{"search, last day", *search.Outlook.LastDay, 20 * usd},
		{"ads, forecast", *ads.Outlook.Forecast, 112 * usd},
		{"ads, low", *ads.Outlook.Low, 112 * usd},
		{"ads, high", *ads.Outlook.High, 112 * usd},
		{"commitment used in February", r.Commitments[0].Used, 9 * usd},
		{"commitment unused in February", r.Commitments[0].Unused, 0},
		{"unused in February", r.Month.Unused, 0},
	} {
		if v.got != v.want {
			t.Errorf("%s: got %s, want %s", v.what, v.got.Decimal(), v.want.Decimal())
		}
	}
	if got, want := *search.Periods[1].Share, 149.0/140; math.Abs(got-want) > 1e-12 {
		t.Errorf("search rose by %v, want %v", got, want)
	}
	// At list prices search is 14 x 40 + 18 and ads 14 x 8 in February; the commitment covered 18 of it.
	if got, want := *r.Month.Coverage, 18.0/(560+18+112); math.Abs(got-want) > 1e-12 {
		t.Errorf("coverage %v, want %v", got, want)
	}
	if r.Month.Days != 28 || r.Month.DaysLeft != 14 || search.Periods[0].Change != nil {
		t.Errorf("got %+v and %+v", r.Month, search.Periods[0])
	}
	if got := *ads.Outlook.Chance; got != 0 {
		t.Errorf("a cost that is its budget passes it with %v", got)
	}
	if text := strings.Join(r.Notes, "\n"); !strings.Contains(text, `the budget of project "ad" is of nothing in the use`) || !strings.Contains(text, "14 of 28 days of 2027-02 are over") {
		t.Errorf("notes:\n%s", text)
	}
}

// Cash counts what is invoiced.
func TestCash(t *testing.T) {
	r, err := watchBill(t, focusBill(`2027-01-01T00:00:00Z,2027-01-02T00:00:00Z,3,0,0,,,,Usage,USD`, `2027-01-01T00:00:00Z,2027-01-02T00:00:00Z,0,70,0,c,,,Purchase,USD`), Request{Grain: "day"}, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Series[0].Cost; got != 70*usd || r.View != "cash" {
		t.Errorf("got %s %s, want 70 in cash", got.Decimal(), r.View)
	}
}

// A whole month needs no forecast; less than two weeks of days allow none.
func TestHowMuchIsKnown(t *testing.T) {
	for _, c := range []struct {
		end  string
		want string // Why
		cost capcli.USD
	}{
		{"2027-02-01", "", 310 * usd},
		{"2027-01-14", "13 whole days of cost, 14 are needed", 0},
		{"2027-01-15", "", 310 * usd},
	} {
		r, err := watchBill(t, focusBill(days(t, "2027-01-01", c.end, 10, "a")...), Request{Grain: "week", Model: "mean"}, false, "project")
		if err != nil {
			t.Fatal(err)
		}
		o := r.Series[0].Outlook
		if o.Why != c.want || (o.Forecast == nil) != (c.want != "") || o.Forecast != nil && *o.Forecast != c.cost {
			t.Errorf("until %s: got %+v", c.end, o)
		}
	}
}

// A last day of which only hours are over counts to what was spent, and not to the days of the forecast.
func TestPartOfADay(t *testing.T) {
	rows := append(days(t, "2027-01-01", "2027-01-21", 10, "a"), `2027-01-21T00:00:00Z,2027-01-21T06:00:00Z,500,0,0,,,,Usage,USD`)
	r, err := watchBill(t, focusBill(rows...), Request{Grain: "month", Model: "mean"}, false)
	if err != nil {
		t.Fatal(err)
	}
	// Eleven days are left, of $10 each: 310 in all, and no less than the 700 that was spent.
	if o := r.Series[0].Outlook; o.Spent != 700*usd || *o.Forecast != 700*usd || r.Month.DaysLeft != 11 {
		t.Errorf("got %s and %s, %d days left", o.Spent.Decimal(), o.Forecast.Decimal(), r.Month.DaysLeft)
	}
}

func TestPeriods(t *testing.T) {
	for _, c := range []struct{ grain, from, to, want string }{
		{"week", "2026-12-30", "2027-01-12", "2026-W53 false 2027-W01 true 2027-W02 false"},
		{"month", "2028-01-31", "2028-03-01", "2028-01 false 2028-02 true"},
		{"day", "2028-02-28", "2028-03-01", "2028-02-28 true 2028-02-29 true"},
	} {
		var got []string
		for _, p := range periodsOf(c.grain, midnight(t, c.from), midnight(t, c.to)) {
			got = append(got, fmt.Sprint(p.Name, " ", p.Whole))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%s: got %s, want %s", c.grain, text, c.want)
		}
	}
	// Thirty days of March against all 28 of February; a whole March against a whole February.
	for _, c := range []struct {
		end  string
		want capcli.USD
	}{{"2027-03-31", 30 - 28}, {"2027-04-01", 31 - 28}, {"2027-03-11", 0}} {
		r, err := watchBill(t, focusBill(days(t, "2027-02-01", c.end, 1, "a")...), Request{Grain: "month", Model: "mean"}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := *r.Series[0].Periods[1].Change; got != c.want*usd {
			t.Errorf("until %s: change %s, want %d", c.end, got.Decimal(), c.want)
		}
	}
}

// Whatever is used, the values of each key sum to everything in each period, everything is the
// invoice to the millionth, and a period's costs are those of its days.
func TestSums(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var b strings.Builder
		b.WriteString("start,seconds,units,gpu_model,tenant,tag_project,env,price\n")
		for range rapid.IntRange(1, 25).Draw(rt, "lines") {
			fmt.Fprintf(&b, "%d,%d,%d,H100,%s,%s,%s,%d.37\n", 1798761600+3600*rapid.Int64Range(0, 24*40).Draw(rt, "hour"), rapid.IntRange(1, 500_000).Draw(rt, "seconds"), rapid.IntRange(1, 9).Draw(rt, "units"),
				rapid.SampledFrom([]string{"", "x", "y"}).Draw(rt, "tenant"), rapid.SampledFrom([]string{"", "p", "q"}).Draw(rt, "project"), rapid.SampledFrom([]string{"prod", "test"}).Draw(rt, "env"), 2)
		}
		by := []string{"tenant", "project", "env"}
		pf := billing.Portfolio{Commitments: []billing.Commitment{{
			ID: "ri", Start: 1798761600, End: 1798761600 + 86400*365, Scope: billing.Scope{GPUModel: "H100"},
			Fees: billing.Fees{Upfront: 1000 * usd, Hourly: 3_333_333}, Product: billing.ReservedInstance{Units: 2000},
		}}}
		priced := func() *billing.Request {
			use, rep, err := billing.ReadUse("use.csv", strings.NewReader(b.String()), billing.UseOptions{By: by})
			if err != nil {
				rt.Fatal(err)
			}
			return &billing.Request{Use: use, Read: rep, Portfolio: pf, From: capcli.NoTime, Until: capcli.NoTime}
		}
		want, err := billing.State(priced())
		if err != nil {
			rt.Fatal(err)
		}
		sums := map[string]capcli.USD{}
		for _, grain := range Grains {
			book := NewBook(by, false)
			if err := book.Price(priced()); err != nil {
				rt.Fatal(err)
			}
			r, err := Watch(context.Background(), book, Request{Grain: grain, Model: "mean"})
			if err != nil {
				rt.Fatal(err)
			}
			for _, key := range append([]string{"all"}, by...) {
				var sum capcli.USD
				parts := make([]capcli.USD, len(r.Periods))
				for _, s := range r.Series {
					if s.By != key {
						continue
					}
					sum += s.Cost
					for k := range parts {
						parts[k] += s.Periods[k].Cost
					}
				}
				for k, p := range parts {
					if p != r.Series[0].Periods[k].Cost {
						rt.Fatalf("%s %s: the values of %s sum to %s, want %s", grain, r.Periods[k].Name, key, p.Decimal(), r.Series[0].Periods[k].Cost.Decimal())
					}
				}
				// The invoice of another split among payers is rounded at other places, by less than a millionth for each row.
				if d := sum - want.Total.Effective; d > 1000 || d < -1000 {
					rt.Fatalf("%s: the values of %s sum to %s, the invoice is %s", grain, key, sum.Decimal(), want.Total.Effective.Decimal())
				}
				if before, has := sums[key]; has && before != sum {
					rt.Fatalf("%s: %s by %s, another grain says %s", key, sum.Decimal(), grain, before.Decimal())
				}
				sums[key] = sum
			}
		}
	})
}

// Ranges of 80 % hold about 80 % of months that were drawn: a level, a weekly rhythm and noise.
func TestRange(t *testing.T) {
	if golden.Short() {
		t.Skip("many fits")
	}
	const tries = 120
	held := 0
	for try := range tries {
		rng := capcli.Seed(try).Stream("months")
		b := NewBook(nil, false)
		first := midnight(t, "2027-01-01")
		var month capcli.USD
		for i := range 31 + 28 + 31 { // January to March
			cost := 100 + 10*rng.NormFloat64()
			if i%7 >= 5 {
				cost -= 40
			}
			u := roundUSD(cost)
			if i >= 59 {
				month += u
			}
			if i >= 69 {
				continue // after ten days of March
			}
			d := first + capcli.Time(i)*capcli.Time(capcli.Day)
			b.widen(d, d+capcli.Time(capcli.Day))
			if err := b.book(b.group(nil, false), focus.AmountOf(u), d, d+1); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Watch(context.Background(), b, Request{Grain: "month", Seed: capcli.Seed(try)})
		if err != nil {
			t.Fatal(err)
		}
		o := r.Series[0].Outlook
		if month >= *o.Low && month <= *o.High {
			held++
		}
	}
	t.Logf("%d of %d ranges held", held, tries)
	if share := float64(held) / tries; share < 0.68 || share > 0.92 {
		t.Errorf("ranges of 80 %% held %.0f %% of the months", 100*share)
	}
}

// The same use gives the same bytes on any number of cores.
func TestCores(t *testing.T) {
	text := focusBill(slices.Concat(days(t, "2027-01-01", "2027-02-10", 10, "a"), days(t, "2027-01-05", "2027-02-10", 7, "b"), days(t, "2027-01-05", "2027-02-10", 7, "c"))...)
	var first []byte
	for _, n := range []int{1, 4} {
		before := runtime.GOMAXPROCS(n)
		r, err := watchBill(t, text, Request{Grain: "week", Seed: 7}, false, "project")
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = got
		} else if string(got) != string(first) {
			t.Errorf("another number of cores gives\n%s\nnot\n%s", got, first)
		}
	}
}

func TestParseBudgets(t *testing.T) {
	got, err := ParseBudgets([]string{"100k", "project:a=b=1.5M", "env:prod=12.34"}, []string{"project", "env"})
	want := []Budget{{"all", "all", 100_000 * usd}, {"project", "a=b", 1_500_000 * usd}, {"env", "prod", 12_340_000}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, bad := range [][]string{{"x"}, {"0"}, {"-3"}, {"a=4"}, {"team:x=4"}, {"project:=4"}, {"5", "6"}, {"project:a=4", "project:a=4"}, {"9e9"}, {"9999999999B"}} {
		if got, err := ParseBudgets(bad, []string{"project"}); err == nil {
			t.Errorf("%q: got %v, want an error", bad, got)
		}
	}
}

func TestWindow(t *testing.T) {
	b := NewBook(nil, false)
	b.widen(midnight(t, "2027-01-05"), midnight(t, "2027-01-10"))
	if err := b.Window(midnight(t, "2027-01-06"), capcli.NoTime); err == nil {
		t.Error("a later begin leaves cost out")
	}
	if err := b.Window(capcli.NoTime, midnight(t, "2027-01-09")); err == nil {
		t.Error("an earlier end leaves cost out")
	}
	if err := b.Window(midnight(t, "2027-01-01"), midnight(t, "2027-01-31")); err != nil || b.from != midnight(t, "2027-01-01") || b.to != midnight(t, "2027-01-31") {
		t.Errorf("got %s to %s, %v", b.from, b.to, err)
	}
}

// Any bill is refused, or its parts sum to its whole.
func FuzzBill(f *testing.F) {
	f.Add([]byte(focusBill(days(f, "2027-01-01", "2027-01-20", 10, "a")...)))
	f.Add([]byte(focusBill(`2027-01-01T00:00:00Z,2027-03-02T00:00:00Z,-3.7,0,0,ri-1,Unused,"{""project"":7}",Usage,EUR`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := watchBill(t, string(text), Request{Grain: "month", Model: "mean"}, false, "tenant")
		if err != nil {
			return
		}
		var sum capcli.USD
		for _, s := range r.Series[1:] {
			sum += s.Cost
		}
		if d := sum - r.Series[0].Cost; d != 0 {
			t.Errorf("the tenants sum to %s, all to %s", sum.Decimal(), r.Series[0].Cost.Decimal())
		}
	})
}
