package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"capcli"
	"capcli/cmd/shell"
	"capcli/scenarios/decide/plan"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/market"
	"capcli/testdata/shelltest"
)

// calendarCase is a case of terms and calendars: section 4 of golden/commitments.
type calendarCase struct {
	Case struct {
		ID, Name, From, Horizon string
		Demand                  [][3]any
		OnDemand                int64 `json:"on_demand"`
		Offers                  []struct {
			Term string
			Rate int64
			On   []string
		}
		Held []struct {
			Units int64
			Until string
		}
		Tail *float64
	}
	Expected struct {
		End   string `json:"horizon_end"`
		Terms []struct {
			Term, On, End string
		}
		Cost       string
		Optima     [][]int64
		Count      int    `json:"optima_count"`
		BuyNothing string `json:"buy_nothing"`
		Others     []struct {
			Units []int64
			Cost  string
		}
	}
}

func day(t *testing.T, text string) capcli.Time {
	at, err := capcli.ParseTime(text, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// demand returns the GPUs of each day up to the end of the horizon.
func (c *calendarCase) demand(t *testing.T) []float64 {
	from, end := day(t, c.Case.From), day(t, c.Expected.End)
	out := make([]float64, int(end-from)/int(capcli.Day))
	for i := range out {
		at := from + capcli.Time(i)*capcli.Time(capcli.Day)
		for _, d := range c.Case.Demand {
			until, ends := d[1].(string)
			if at >= day(t, d[0].(string)) && (!ends || at < day(t, until)) {
				out[i] += d[2].(float64)
			}
		}
	}
	return out
}

// request returns the market of the case as a user writes it.
func (c *calendarCase) request() market.Request {
	r := market.Request{OnDemand: capcli.USD(c.Case.OnDemand).Decimal()}
	for i, o := range c.Case.Offers {
		text := fmt.Sprintf("offer%d=%s@%s", i, o.Term, capcli.USD(o.Rate).Decimal())
		for _, on := range o.On {
			text += ",on=" + on
		}
		r.Terms = append(r.Terms, text)
	}
	for _, h := range c.Case.Held {
		r.Held = append(r.Held, fmt.Sprintf("%d@..%s", h.Units, h.Until))
	}
	if c.Case.Tail != nil {
		r.After = "tail=" + strconv.FormatFloat(*c.Case.Tail, 'f', -1, 64)
	}
	return r
}

// TestCalendar holds plan curve against the enumeration of every purchase: terms of months and
// years, leap years, held GPUs, and the time after the horizon.
func TestCalendar(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "golden", "commitments", "calendar.json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the cases are not here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	var cases []calendarCase
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	for i := range cases {
		t.Run(cases[i].Case.ID, func(t *testing.T) { cases[i].hold(t) })
	}
}

func (c *calendarCase) hold(t *testing.T) {
	gpus, r := c.demand(t), c.request()
	file := filepath.Join(t.TempDir(), "demand.json")
	doc, err := json.Marshal(map[string]any{"start": c.Case.From, "step": "1d", "values": gpus})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"plan", "curve", file, "--on-demand", r.OnDemand, "-o", "json"}
	for _, x := range r.Terms {
		args = append(args, "--term", x)
	}
	for _, x := range r.Held {
		args = append(args, "--held", x)
	}
	if r.After != "" {
		args = append(args, "--buy", "after="+r.After)
	}
	e, stdout, stderr := shelltest.NewEnv()
	if code := run(context.Background(), e, args); code != shell.ExitDone {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var got curve.Result
	if err := json.Unmarshal(stdout.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Optimum.Cost.Decimal() != trimmed(c.Expected.Cost) || got.Optimum.AllOnDemand.Decimal() != trimmed(c.Expected.BuyNothing) {
		t.Errorf("%s: costs %s and %s on demand, want %s and %s", c.Case.Name, got.Optimum.Cost.Decimal(), got.Optimum.AllOnDemand.Decimal(), c.Expected.Cost, c.Expected.BuyNothing)
	}
	units := make([]int64, len(c.Expected.Terms))
	for _, p := range got.Optimum.Purchases {
		offer, _ := strconv.Atoi(strings.TrimPrefix(p.Term, "offer"))
		units[c.index(offer, p.Start.Time.Date())] += int64(p.GPUs)
	}
	if c.Expected.Count == len(c.Expected.Optima) && !slices.ContainsFunc(c.Expected.Optima, func(o []int64) bool { return slices.Equal(o, units) }) {
		t.Errorf("%s: bought %v, want one of %v", c.Case.Name, units, c.Expected.Optima)
	}
	c.priceOthers(t, r, gpus)
}

// index returns the index, among the terms of the expected vectors, of an offer bought on a day.
func (c *calendarCase) index(offer int, on string) int {
	n := 0
	for i, o := range c.Case.Offers {
		for _, at := range o.On {
			if i == offer && at == on {
				return n
			}
			n++
		}
	}
	return -1
}

// priceOthers prices purchases that are not optimal.
func (c *calendarCase) priceOthers(t *testing.T, r market.Request, gpus []float64) {
	sketch, err := r.Parse()
	if err != nil {
		t.Fatal(err)
	}
	whole, err := plan.NewCurve(day(t, c.Case.From), capcli.Step{Days: 1}, gpus)
	if err != nil {
		t.Fatal(err)
	}
	f, err := sketch.Frame(whole)
	if err != nil {
		t.Fatal(err)
	}
	if whole, err = f.Market.Extend(whole); err != nil {
		t.Fatal(err)
	}
	left, _, err := whole.Serve(f.Held)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range c.Expected.Others {
		var list []plan.Purchase
		n := 0
		for i, x := range c.Case.Offers {
			for _, on := range x.On {
				list = append(list, plan.Purchase{Term: i, From: capcli.Seconds(day(t, on) - whole.Start), Milli: 1000 * o.Units[n]})
				n++
			}
		}
		if got, err := f.Market.Price(left, list); err != nil || got.Decimal() != trimmed(o.Cost) {
			t.Errorf("%s: %v costs %s (%v), want %s", c.Case.Name, o.Units, got.Decimal(), err, o.Cost)
		}
	}
}

// trimmed writes an amount of six places as Decimal does.
func trimmed(text string) string {
	u, err := capcli.ParseUSD(text)
	if err != nil {
		return text
	}
	return u.Decimal()
}
